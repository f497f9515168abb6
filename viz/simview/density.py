"""Projections of many particles to an image."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simview.hdf5 import Array
from simview.runs import cores

Image = NDArray[np.float64]
_CHUNK = 1 << 18  # particles that fit into the second-level cache


def _bin(x: Array, y: Array, weight: Array | None, low: tuple[float, float], scale: float, pixels: int) -> Image:
    cells = pixels * pixels
    image = np.zeros(cells + 1)  # the last cell collects particles outside the image
    for begin in range(0, len(x), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        column, row = np.floor((x[part] - low[0]) * scale), np.floor((y[part] - low[1]) * scale)
        inside = (column >= 0) & (column < pixels) & (row >= 0) & (row < pixels)  # false for NaN
        cell = np.where(inside, row * pixels + column, cells).astype(np.intp)
        image += np.bincount(cell, None if weight is None else weight[part], cells + 1)
    return image[:cells].reshape(pixels, pixels)


def project(x: Array, y: Array, weight: Array | None, centre: tuple[float, float], half: float, pixels: int) -> Image:
    """Sums particles into a square image, on all cores.

    Parameters
    ----------
    x, y
        Positions, ``[n]``.
    weight
        Contribution of each particle, ``[n]``; None: 1.
    centre, half
        The middle of the square and half its side.
    pixels
        Pixels along a side; at most 4096, where single precision still tells them apart.

    Returns
    -------
    ndarray
        ``[row, column]``, the first row at the bottom.
    """
    low, scale = (centre[0] - half, centre[1] - half), pixels / (2 * half)
    threads = min(cores(), max(1, len(x) // _CHUNK))
    ends = np.linspace(0, len(x), threads + 1).astype(int)
    ranges = [slice(a, b) for a, b in zip(ends[:-1], ends[1:])]

    def work(part: slice) -> Image:
        return _bin(x[part], y[part], None if weight is None else weight[part], low, scale, pixels)

    if threads == 1:
        return work(ranges[0])
    with ThreadPoolExecutor(threads) as pool:
        return np.sum(list(pool.map(work, ranges)), axis=0)  # type: ignore[no-any-return]


class _Blur:
    """Convolution with Gaussians; the image is not periodic."""

    def __init__(self, pixels: int, widest: float) -> None:
        self.pixels = pixels
        self.size = 32 * ((pixels + int(4 * widest) + 31) // 32)
        self.rows = np.fft.fftfreq(self.size)
        self.columns = np.fft.rfftfreq(self.size)

    def forward(self, image: Image, width: float) -> NDArray[Any]:
        gauss = [np.exp(-2 * (np.pi * width * f) ** 2).astype(np.float32) for f in (self.rows, self.columns)]
        spectrum: NDArray[Any] = np.fft.rfft2(image.astype(np.float32), (self.size, self.size))
        return np.asarray(spectrum * gauss[0][:, None] * gauss[1][None, :])

    def back(self, spectrum: NDArray[Any]) -> Image:
        image = np.fft.irfft2(spectrum, (self.size, self.size))[: self.pixels, : self.pixels]
        return np.maximum(image, 0.0)


def smooth(counts: Image, weights: Image, neighbours: float = 8) -> Image:
    """Spreads each pixel's particles by about the distance to their neighbours.

    Single particles far out stay visible as haze, and dense parts keep their detail. Costs a few Fourier transforms,
    however many particles there are. The sum of the weights stays the same, except for parts spread beyond the edge.
    """
    pixels = len(counts)
    widest = pixels / 50
    blur = _Blur(pixels, widest)
    crowd = blur.back(blur.forward(counts, widest)) + 1e-3 / pixels
    # In a pixel with many particles the blurred count is too low; such a pixel needs no smoothing.
    crowd = np.maximum(crowd, np.where(counts > neighbours, counts, 0))
    width = np.clip(np.sqrt(neighbours / (np.pi * crowd)), 0.5, widest)
    step = np.where(counts > 0, np.round(2 * np.log2(width)), 99).astype(int)  # powers of the square root of two
    spectrum = sum(blur.forward(np.where(step == k, weights, 0), 2.0 ** (k / 2)) for k in np.unique(step) if k != 99)
    return blur.back(spectrum) if isinstance(spectrum, np.ndarray) else np.zeros_like(counts)


def limits(samples: Iterable[Sequence[tuple[Array, Array, Array | None]]], share: float = 99) -> tuple[tuple[float, float], float]:
    """The middle, and half the side, of a square that holds `share` percent of the particles and of their mass.

    Each group of each sample counts by itself, so that a small heavy group is whole; a group of less than the rest both of the
    particles and of the mass, such as one body that flew away, does not set the frame.

    Parameters
    ----------
    samples
        Of each snapshot the groups: places along two axes, and masses (None: all alike).
    """
    squares = []
    for groups in samples:
        kept = [_finite(*group) for group in groups]
        total = np.sum([[len(mass), mass.sum()] for _, mass in kept], axis=0)
        for at, mass in kept:
            if len(mass) and (np.array([len(mass), mass.sum()]) > (1 - share / 100) * total).any():
                middle = np.median(at, axis=1)
                away = np.abs(at - middle[:, None]).max(axis=0)
                squares.append((middle, max(float(np.percentile(away, share)), _holding(away, mass, share))))
    if not squares:
        return (0.0, 0.0), 1.0
    low, high = np.min([middle - half for middle, half in squares], axis=0), np.max([middle + half for middle, half in squares], axis=0)
    middle, half = (low + high) / 2, float((high - low).max()) / 2
    widest = max(squares, key=lambda square: square[1])
    if half <= widest[1]:  # it holds all others: no rounding
        middle, half = widest
    return (float(middle[0]), float(middle[1])), 1.05 * half or 1.0


def _finite(x: Array, y: Array, mass: Array | None) -> tuple[Array, Array]:
    """Places ``[2, n]`` and masses of some 100,000 particles, those at finite places."""
    stride = max(1, len(x) // 100_000)
    at = np.stack([x[::stride], y[::stride]]).astype(float)
    held = np.isfinite(at).all(axis=0)
    return at[:, held], (np.ones(len(held)) if mass is None else mass[::stride].astype(float))[held]


def _holding(away: Array, mass: Array, share: float) -> float:
    """The distance within which `share` percent of the mass is; 0 where there is no mass."""
    order = np.argsort(away)
    within = np.cumsum(mass[order])
    return float(away[order][np.searchsorted(within, share / 100 * within[-1])]) if 0 < within[-1] < np.inf else 0.0
