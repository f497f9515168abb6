"""Bodies with a pair law and no radius, such as atoms: lit spheres that nearly touch, coloured by species or speed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simview.hdf5 import Array
from simview.look import Look, chosen_species
from simview.snapshot import Snapshot
from simview.solids import Solids
from simview.style import COLOURS, legend

_ASKED, _WORK = 500, 1 << 26  # bodies whose neighbours are searched; most distances to compute for them


_APART = 0.7  # least ratio of the 5th to the 50th percentile; random points: 0.42 = (ln(1/0.95) / ln 2)^(1/3)


def are_atoms(samples: Sequence[Snapshot], species: Sequence[str]) -> bool:
    """Whether the bodies have a pair law and keep apart: few are much nearer to a neighbour than the median."""
    last = samples[-1]
    if last.parameters.get("pair") in (None, "none") or "radius" in last.particles(species):
        return False
    at = np.concatenate([np.stack(columns, axis=1) for _, columns in last.particles(species).each("x", "y", "z")]).astype(float)
    low, middle = np.percentile(neighbours(at[np.isfinite(at).all(axis=1)]), (5, 50))
    return bool(0 < middle < np.inf and low > _APART * middle)


def neighbours(at: Array) -> Array:
    """The distances to the nearest neighbour of some of the bodies ``[n, 3]``, always the same ones."""
    asked = at[:: max(1, len(at) // min(_ASKED, max(1, _WORK // len(at))))]
    least = []
    for one in asked:
        squares = ((at - one) ** 2).sum(axis=1)
        squares[squares == 0] = np.inf
        least.append(float(squares.min()))
    return np.asarray(np.sqrt(least or [np.inf]))


class Atoms(Solids):
    """Spheres whose radius is half the distance to a neighbour, no property of the bodies: the title gives it."""

    words = "body", "bodies"
    tail = 1.0

    def __init__(self, samples: Sequence[Snapshot], look: Look) -> None:
        self.look, self.species, self.radius = look, chosen_species(samples[-1], look), 0.0
        self.radius = float(np.median(neighbours(self.arrays(samples[-1])[0]))) / 2
        super().__init__(samples, look)
        if len(self.species) > 1:  # colours show species, so that `map` has no effect
            self.options = tuple(name for name in self.options if name != "map")

    def arrays(self, snapshot: Snapshot) -> tuple[Array, Array, Array]:
        """Positions ``[n, 3]``, radii, and values for the colours: speeds, or numbers of several species."""
        known = [name for name in self.species if name in snapshot.species]
        parts = [np.zeros((4, 0))]
        for name, columns in snapshot.particles(known).each("x", "y", "z", "vx", "vy", "vz", every=self.every(snapshot)) if known else []:
            held = np.stack(columns).astype(float)
            value = np.sqrt((held[3:] ** 2).sum(axis=0)) if len(self.species) == 1 else np.full(held.shape[1], float(self.species.index(name)))
            parts.append(np.concatenate([held[:3], value[None]]))
        whole = np.concatenate(parts, axis=1)
        whole = whole[:, np.isfinite(whole).all(axis=0)]
        return whole[:3].T, np.full(whole.shape[1], self.radius), whole[3]

    def key(self, axes: Any, bar: str | None) -> None:
        """A colour bar of the speed, or a legend of the species."""
        if len(self.species) == 1:
            super().key(axes, bar)
            return
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import ListedColormap, NoNorm

        shades = [COLOURS[k % len(COLOURS)] for k in range(len(self.species))]
        self.colours = ScalarMappable(NoNorm(), ListedColormap(shades))
        for name, shade in zip(self.species, shades):
            axes.plot([], [], marker="o", ls="none", ms=4, color=shade, label=name)
        legend(axes, 5, below=True, handlelength=1.2, handletextpad=0.2)

    def numbers(self, snapshot: Snapshot, what: tuple[str, str] = ("body", "bodies")) -> str:
        """How many bodies there are, and the radius that they are drawn with."""
        unit = f" {snapshot.units.text((1,))}" if snapshot.units.names else ""
        return f"{super().numbers(snapshot, what)}, drawn with radius {self.radius:.2g}{unit}"
