"""Pictures of bodies: column density, and points with their tracks. A film updates them from frame to frame."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from simview.density import Image, limits, project, smooth
from simview.errors import NotFoundError, UsageError
from simview.hdf5 import Array
from simview.look import Look, axis_label, chosen_species, colour_bar, outside_frame, title, upright
from simview.snapshot import Snapshot
from simview.style import COLOURS, legend, set_title
from simview.tracks import tracks

FEW, SOME = 16, 2000  # most bodies that are drawn with their tracks; most that are drawn as points
DENSITY = "magma"  # colours of a density: dark where there is no mass


class Particles:
    """Base of pictures of particles: species, limits, axes."""

    options: tuple[str, ...] = ("species", "axes", "size")

    def every(self, snapshot: Snapshot) -> int:
        """The n of "one particle in n is drawn": above 1 only with more than `look.most` particles."""
        known = [name for name in self.species if name in snapshot.species]
        return 1 if self.look.most is None else max(1, -(-sum(snapshot.count(name) for name in known) // self.look.most))

    def __init__(self, samples: Sequence[Snapshot], look: Look) -> None:
        self.first = samples[-1]
        self.plane = look.axes or upright(self.first)
        self.look = replace(look, axes=self.plane)
        self.species = chosen_species(self.first, look)
        groups = [self._groups(snapshot) for snapshot in samples]
        count = sum(len(group[0]) for group in groups[0])
        self.centre, self.half = limits(groups, 98.0 if count > SOME else 100.0)
        if FEW < count <= SOME:  # one that flew away does not set the frame
            middle, half = limits(groups, 90.0)
            if 1.5 * half < self.half:
                self.centre, self.half = middle, 1.5 * half
        box = self.first.parameters.get("box")
        if isinstance(box, dict) and isinstance(box.get("size"), (int, float)):  # the periodic cube of bodies
            self.half = float(box["size"]) / 2
            self.centre = self.half, self.half
        if look.size is not None:
            self.half = look.size

    def _groups(self, snapshot: Snapshot) -> list[tuple[Array, Array, Array | None]]:
        """Places in the plane, and masses, of each species."""
        particles = snapshot.particles(self.species)
        names = [*self.plane, "mass"] if "mass" in particles else [*self.plane]
        held = [arrays for _, arrays in particles.each(*names, every=self.every(snapshot))]
        return [(arrays[0], arrays[1], arrays[2] if len(arrays) > 2 else None) for arrays in held]

    def numbers(self, snapshot: Snapshot, what: tuple[str, str] = ("body", "bodies")) -> str:
        """How many particles there are, out of how many where species are left out, and which share is drawn."""
        count = sum(snapshot.count(name) for name in self.species)
        total = sum(snapshot.count(name) for name in snapshot.species)
        words = clumps(snapshot) if count == total else ""
        if not words:
            words = f"{count} of {total} {what[1]}" if count < total else f"{count} {what[count != 1]}"
        every = self.every(snapshot)
        return words + (" (halos not drawn)" if count < total and not self.look.species else "") + (f", one of {every} drawn" if every > 1 else "")

    def frame(self, axes: Any) -> None:
        (cx, cy), half = self.centre, self.half
        if half < 1e-9 * max(abs(cx), abs(cy)):
            raise UsageError(f"size: {half:g} is too small for a picture about {self.plane} = ({cx:.6g}, {cy:.6g})")
        axes.set(xlim=(cx - half, cx + half), ylim=(cy - half, cy + half), aspect="equal")
        axes.set(xlabel=axis_label(self.first, self.plane[0]), ylabel=axis_label(self.first, self.plane[1]))
        axes.locator_params(nbins=6)


def bright_range(image: Image) -> tuple[float, float]:
    """Limits of the colours of a density: 2 % of the mass is fainter, 1 % brighter; three to five decades apart."""
    values = np.sort(image, axis=None).astype(float)
    share = np.cumsum(values)
    if not share[-1] > 0:
        return 0.0, 0.0
    low, high = (float(values[np.searchsorted(share, part * share[-1])]) for part in (0.02, 0.99))
    return float(np.clip(low, high / 1e5, high / 1e3)), high


def clumps(snapshot: Snapshot) -> str:
    """"1 clump of 4 spheres, 8 grains"; empty where no grains hang together. Tables count clumps as one grain."""
    names = snapshot.species
    held = [snapshot.particles(name) for name in names]
    if not any("body" in particles for particles in held):
        return ""
    body = np.concatenate([np.asarray(particles["body"]) for particles in held])
    rigid = len(np.unique(body[body > 0]))
    spheres = int((body > 0).sum())
    words = [f"{rigid} clump{'s' if rigid != 1 else ''} of {spheres} spheres"] if rigid else []
    loose = len(body) - spheres
    if loose or not words:
        words.append(f"{loose} grain{'s' if loose != 1 else ''}")
    return ", ".join(words)


class Density(Particles):
    """Column density of the mass, on a logarithmic scale."""

    options = (*Particles.options, "map", "pixels", "most")

    def __init__(self, samples: Sequence[Snapshot], look: Look) -> None:
        super().__init__(samples, look)
        self.kept: tuple[Snapshot, Image] | None = None
        self.inside = 0
        ranges = [bright_range(self.image(snapshot)) for snapshot in samples]
        if not max(high for _, high in ranges) > 0:
            raise NotFoundError(f"{self.first.path}: nothing within {self.half:g} of the middle")
        self.low, self.high = (float(np.median([ends[k] for ends in ranges if ends[1] > 0])) for k in (0, 1))

    def image(self, snapshot: Snapshot) -> Image:
        """Mass a unit of area; the last image is kept, because it is often needed twice."""
        if self.kept is None or self.kept[0] is not snapshot:
            self.kept = snapshot, self.compute(snapshot)
        return self.kept[1]

    def compute(self, snapshot: Snapshot) -> Image:
        pixels = self.look.pixels
        shape = pixels, pixels
        counts, mass = np.zeros(shape), np.zeros(shape)
        particles = snapshot.particles(self.species)
        names = [*self.plane, "mass"] if "mass" in particles else [*self.plane]
        every = self.every(snapshot)
        for _, (x, y, *weights) in particles.each(*names, every=every):
            weight = weights[0] if weights else np.broadcast_to(1.0, x.shape)
            number = project(x, y, None, self.centre, self.half, pixels)
            counts += number
            constant = len(weight) > 0 and weight.strides == (0,)
            mass += number * float(weight[0]) if constant else project(x, y, weight, self.centre, self.half, pixels)
        self.inside = every * round(float(counts.sum()))
        surface: Image = every * smooth(counts, mass) / np.float64(2 * self.half / pixels) ** 2  # in double: single ends at 3e38
        return surface

    def draw(self, axes: Any, bar: str | None = "right") -> None:
        from matplotlib.colors import LogNorm

        (cx, cy), half = self.centre, self.half
        self.axes = axes
        blank = np.full((self.look.pixels, self.look.pixels), self.low)
        norm = LogNorm(self.low, self.high, clip=True)
        bounds = (cx - half, cx + half, cy - half, cy + half)
        self.artist = axes.imshow(
            blank, origin="lower", norm=norm, cmap=self.look.map or DENSITY, extent=bounds, interpolation="nearest"
        )
        unit = self.first.units.text((-2, 1))
        label = self.first.units.label("surface density", unit)
        colour_bar(axes, self.artist, label, bar, extend="both")
        self.frame(axes)

    def show(self, snapshot: Snapshot) -> None:
        self.artist.set_data(self.image(snapshot))
        outside = 0 if self.every(snapshot) > 1 else snapshot.particles(self.species).count - self.inside
        set_title(self.axes, title(snapshot, self.numbers(snapshot) + outside_frame(outside)))


class Bodies(Particles):
    """Bodies as points, coloured by species; a few bodies with their tracks."""

    def __init__(self, samples: Sequence[Snapshot], look: Look, series: Sequence[Snapshot] = ()) -> None:
        super().__init__(samples, look)
        few = self.first.particles(self.species).count <= FEW
        self.tracks = tracks(series, self.species, self.plane) if few and len(series) > 1 else []
        self.times = np.array([snapshot.time for snapshot in series]) if self.tracks else np.zeros(0)
        self.named = len(self.species) > 1
        if self.tracks and look.size is None:
            merged = np.concatenate([track.line for track in self.tracks] + [track.at for track in self.tracks], axis=1)
            low, high = np.nanmin(merged, axis=1), np.nanmax(merged, axis=1)
            self.centre = float(low[0] + high[0]) / 2, float(low[1] + high[1]) / 2
            self.half = 0.54 * float((high - low).max()) or 1.0

    def inner(self) -> Bodies | None:
        """A second picture, of three or more bodies that stay within a fifth of the first, far inside the others."""
        if len(self.tracks) < 4 or self.look.size is not None:
            return None
        at = np.stack([track.at for track in self.tracks])  # [body, 2, time]
        middle = np.median(at, axis=(0, 2))
        reach = np.sort(np.hypot(*(at - middle[:, None]).transpose(1, 0, 2)).max(axis=1))
        last = int(np.argmax(reach[3:] / np.maximum(reach[2:-1], 1e-300))) + 2
        if not 0 < reach[last] < min(self.half / 5, reach[last + 1] / 2.5):
            return None
        picture = copy(self)
        picture.centre, picture.half, picture.named = (float(middle[0]), float(middle[1])), 1.1 * float(reach[last]), False
        return picture

    def draw(self, axes: Any, bar: str | None = "right") -> None:
        self.axes, self.artists = axes, []
        counts = self.first.particles(self.species).counts
        of_bodies = [i for i, count in enumerate(counts) for _ in range(count)]
        several = len(set(of_bodies)) == 1 and len(of_bodies) <= len(COLOURS)
        self.tails = []
        for body, track in enumerate(self.tracks):
            colour = COLOURS[(body if several else of_bodies[body]) % len(COLOURS)]
            axes.plot(*track.line, color=colour, alpha=0.55, lw=0.7)
            axes.plot(*track.dots, color=colour, alpha=0.55, ls="none", marker=".", ms=1.5)
            self.tails += axes.plot([], [], color=colour, lw=1.8, solid_capstyle="butt")
        size = 4.5 if sum(counts) <= FEW else max(1.0, 3.0 - sum(counts) / 1000)
        for i, name in enumerate(self.species):
            single = counts[i] == 1 and sum(counts) > FEW  # a planet among its moons
            colours = [COLOURS[k % len(COLOURS)] for k in range(counts[i])] if several else COLOURS[i % len(COLOURS)]
            marker = "osD^v"[i // len(COLOURS) % 5]
            artist = axes.scatter(
                np.zeros(counts[i]), np.zeros(counts[i]), s=(6.0 if single else size) ** 2, c=colours, marker=marker,
                linewidths=0, label=name, zorder=3,
            )  # fmt: skip
            self.artists.append(artist)
        if self.named:
            legend(axes, 5, below=True, handlelength=1.2, handletextpad=0.2)
        self.frame(axes)

    def show(self, snapshot: Snapshot) -> None:
        outside = 0
        for artist, (_, arrays) in zip(self.artists, snapshot.particles(self.species).each(*self.plane)):
            at = np.stack(arrays, axis=1)
            artist.set_offsets(at)
            outside += int((np.abs(at - self.centre) > self.half).any(axis=1).sum())
        for line, track in zip(self.tails, self.tracks):
            line.set_data(*track.tail(int(np.abs(self.times - snapshot.time).argmin()), self.half / 3))
        set_title(self.axes, title(snapshot, self.numbers(snapshot) + outside_frame(outside)))
