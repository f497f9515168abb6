"""Paths of bodies through a series of snapshots, where the snapshots resolve the motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simview.errors import UsageError
from simview.hdf5 import Array
from simview.snapshot import Snapshot

POINTS = 24  # points of a track between two snapshots


@dataclass
class Track:
    """The path of one body.

    Attributes
    ----------
    at
        Positions in the snapshots, ``[2, snapshots]``.
    resolved
        Whether the snapshots resolve the motion between one and the next, ``[snapshots - 1]``.
    line
        The path, ``[2, POINTS * (snapshots - 1) + 1]``; NaN where it is not resolved.
    """

    at: Array
    resolved: Array
    line: Array

    @property
    def dots(self) -> Array:
        """Positions at either end of unresolved parts, ``[2, n]``."""
        gap = np.concatenate([[False], ~self.resolved, [False]])
        return self.at[:, gap[1:] | gap[:-1]]

    def tail(self, snapshot: int, length: float) -> Array:
        """The line just before a snapshot, at most `length` long; less where it is not resolved."""
        line = self.line[:, POINTS * snapshot :: -1] if snapshot else self.line[:, :1]
        way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=1)))])
        return line[:, way <= length]  # false for NaN


def tracks(snapshots: Sequence[Snapshot], species: Sequence[str], axes: str) -> list[Track]:
    """The path of each body: the cubic through positions and velocities of two snapshots that resolve the motion.

    They resolve it where the body turns by less than a right angle between them, and where the mean velocity from the
    positions differs from the mean of the two velocities by at most a quarter of their speed. On a circle both differ
    by 0.19 of the speed after a quarter of a turn and by 0.5 or more after whole turns and up to a quarter of a turn,
    so that no turn is missed.
    """
    from simview.series import read_series

    names = ["x", "y", "z", "vx", "vy", "vz"]
    try:
        series = read_series(snapshots, species, names, 1)
    except UsageError:  # the particles are not the same in all snapshots
        return []
    at, speed = (np.stack([series[name].to_numpy() for name in part]).astype(float) for part in (names[:3], names[3:]))
    step = np.diff(series["time"].to_numpy())[None, :, None]  # of [axis, time, body]
    begin, end = speed[:, :-1], speed[:, 1:]
    size = (np.linalg.norm(begin, axis=0) + np.linalg.norm(end, axis=0)) / 2
    stray = np.linalg.norm(np.diff(at, axis=1) / step - (begin + end) / 2, axis=0)
    resolved = ((begin * end).sum(axis=0) >= 0) & (stray <= size / 4)  # [time, body]; false for NaN
    plane = ["xyz".index(axis) for axis in axes]
    s = np.linspace(0, 1, POINTS, endpoint=False)[:, None, None, None]
    cubic = (
        (1 + 2 * s) * (1 - s) ** 2 * at[plane, :-1] + s * (1 - s) ** 2 * step * begin[plane]
        + s**2 * (3 - 2 * s) * at[plane, 1:] + s**2 * (s - 1) * step * end[plane]
    )  # fmt: skip
    found = []
    for body in range(at.shape[2]):
        path = np.moveaxis(cubic[..., body], 0, -1)  # [2, time, points]
        path[:, ~resolved[:, body], 1:] = np.nan
        places = at[plane, :, body]
        line = np.concatenate([path.reshape(2, -1), places[:, -1:]], axis=1)
        found.append(Track(places, resolved[:, body], line))
    return found
