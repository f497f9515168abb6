"""Projections: exact counts, and smoothing that keeps the mass."""

import numpy as np
import pytest

from simview.density import limits, project, smooth


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_exact(kind):
    """The same counts as numpy's own histogram. Positions are multiples of 2^-10, so that no rounding differs."""
    rng = np.random.default_rng(3)
    n = 700_001  # more than two chunks, and an odd one
    x, y = (rng.integers(-5000, 5000, (2, n)) / 1024).astype(kind)
    weight = rng.integers(1, 100, n).astype(float)
    edges = np.linspace(-4, 4, 129)
    for w in (None, weight):
        # The last bin of numpy's histogram is closed: keep particles off that edge.
        kept = (x < 4) & (y < 4)
        expected = np.histogram2d(y[kept], x[kept], (edges, edges), weights=None if w is None else w[kept])[0]
        assert np.array_equal(project(x, y, w, (0, 0), 4, 128), expected)


def test_hostile_values():
    x = np.array([0.5, np.nan, np.inf, -np.inf, 1e300, 0.5])
    image = project(x, np.full(6, 0.5), None, (0, 0), 1, 16)
    assert image.sum() == 2 and image[12, 12] == 2
    assert project(x[:0], x[:0], None, (0, 0), 1, 16).sum() == 0
    assert limits([[(x, x, None)]])[0] == (0.5, 0.5)
    assert limits([[(x[1:2], x[1:2], None)]]) == ((0.0, 0.0), 1.0)


def test_same_on_any_threads(monkeypatch):
    x, y = np.random.default_rng(4).normal(size=(2, 600_000))
    images = []
    for threads in (1, 2):
        monkeypatch.setattr("simview.density.cores", lambda: threads)
        images.append(project(x, y, None, (0, 0), 3, 64))
    assert np.array_equal(*images)


def test_smooth_keeps_mass():
    """A cluster well inside: nothing crosses the edge, single precision keeps 1e-7 of each of ~30 terms."""
    x, y = np.random.default_rng(5).normal(size=(2, 3000)) / 8
    counts = project(x, y, None, (0, 0), 1, 200)
    image = smooth(counts, counts)
    assert abs(image.sum() / counts.sum() - 1) < 1e-4
    # A single particle far from the others is spread over many pixels; one of a crowd is not.
    alone = np.zeros((200, 200))
    alone[100, 100] = 1
    assert smooth(alone, alone).max() < 0.1
    alone[100, 100] = 1e4
    assert smooth(alone, alone).max() > 0.3 * 1e4


def test_smooth_does_not_wrap():
    """What is spread over one edge does not come back at the other."""
    alone = np.zeros((192, 192))  # a size that needs no padding for the transform's sake
    alone[0, 0] = 1
    image = smooth(alone, alone)
    assert image[0, 0] == image.max() and image[:, 100:].max() < 1e-6 and image[100:].max() < 1e-6


def test_limits_by_mass():
    """A frame holds 98 % of the mass of a small heavy group, and 98 % of the bodies about a heavy one; not one that flew away."""
    many = np.random.default_rng(5).normal(size=(2, 3000))
    few = np.random.default_rng(6).normal(size=(2, 40)) + [[5], [0]]

    def share(frame, group):
        (cx, cy), half = frame
        return float(((np.abs(group[0] - cx) < half) & (np.abs(group[1] - cy) < half)).mean())

    mass = np.full(3000, 1 / 3000), np.full(40, 2 / 40)
    groups = [(*many, mass[0]), (*few, mass[1])]
    assert share(limits([groups], 98), few) == 1 and share(limits([groups], 98), many) > 0.98
    one = [np.concatenate(parts) for parts in zip(*groups)]  # of one name
    assert share(limits([[tuple(one)]], 98), few) > 0.97
    hole = [(*many, mass[0]), (np.zeros(1), np.zeros(1), np.array([50.0]))]
    assert share(limits([hole], 98), many) > 0.98
    assert limits([[tuple(np.concatenate(parts) for parts in zip(*hole))]], 98)[1] > 2
    assert limits([[(*many, None), (np.array([900.0]), np.zeros(1), None)]], 98)[1] < 4
    assert limits([[(*many, np.zeros(3000))]], 98)[1] == limits([[(*many, None)]], 98)[1]
    assert limits([[(np.zeros(0), np.zeros(0), None)]]) == limits([]) == ((0.0, 0.0), 1.0)
