"""Fields as volumes, against closed formulas of emission and absorption along a ray."""

import numpy as np
import pytest
import write
from matplotlib.figure import Figure
from test_space import cube_of

import simview
from simview.cloud import Cloud, Tones, coarse, march, transparent
from simview.figure import draw, save
from simview.flow import Flow, Vorticity
from simview.look import Look
from simview.maps import Map
from simview.pictures import pictures
from simview.render import Eye, Scene
from simview.volume import Volume

LOW, HIGH = np.full(3, -0.5), np.full(3, 0.5)
SHARE = np.linspace(0, 1, 1024, dtype=np.float32)


def tones(dense, colour=None):
    """Values from 0 to 1 whose optical depth a unit of length is `dense` times their square; white, or of these colours."""
    colour = np.ones((1024, 3)) if colour is None else colour
    return Tones(0.0, 1.0, SHARE, np.asarray(dense * SHARE**2, np.float32), np.asarray(colour, np.float32))


def shown(part):
    """One of the four drawn pixels of each shown one."""
    return part[::2, ::2]


@pytest.mark.parametrize("angles", [(0, 0), (-66, 18), (20, -35, 1.5)])
def test_uniform(angles):
    """Where all values are the same the opacity is 1 - exp(-depth), by the length of the ray in the block."""
    eye = Eye(angles, LOW, HIGH)
    scene = Scene([-0.9, -0.9], [0.9, 0.9], 60)
    mist = march(np.ones((8, 9, 10), np.float32), LOW, HIGH, tones(2.0), eye, scene)
    begin, way, _ = eye.rays(scene.middles())
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.stack([(LOW - begin) / way, (HIGH - begin) / way])
    enter, leave = np.fmax.reduce(ends.min(axis=0), axis=1), np.fmin.reduce(ends.max(axis=0), axis=1)
    long = np.maximum(leave - enter, 0) * np.linalg.norm(way, axis=1)
    assert (long > 0).sum() > 1000
    # Sums of at most 300 numbers in single precision; no ray is long enough (depth 5.3) to be ended early.
    assert np.abs(shown(mist.alpha).reshape(-1) - (1 - np.exp(-2.0 * long))).max() < 300 * 6e-8
    # Without a slope the brightness is the same everywhere: the colour is the opacity times that.
    assert np.allclose(mist.colour, 0.75 * mist.alpha[..., None], atol=1e-5)
    held = shown(mist.depth).reshape(-1)
    assert np.allclose(held[long > 0], (eye.depth(enter) * scene.scale)[long > 0]) and np.isneginf(held[long == 0]).all()


def test_ball():
    """exp(-r^2 / 2 s^2) at a distance b from the middle dims what is behind by k s sqrt(pi) exp(-b^2 / s^2)."""
    n, s, k = 64, 0.12, 8.0
    axis = (np.arange(n) + 0.5) / n - 0.5
    values = np.exp(-(axis[:, None, None] ** 2 + axis[:, None] ** 2 + axis**2) / (2 * s * s)).astype(np.float32)
    scene = Scene([-0.5, -0.5], [0.5, 0.5], 50)
    mist = march(values, LOW, HIGH, tones(k), Eye((-66, 18), LOW, HIGH), scene)
    b2 = (scene.middles() ** 2).sum(axis=1)
    depth = -np.log1p(-shown(mist.alpha).reshape(-1))
    exact = k * s * np.sqrt(np.pi) * np.exp(-b2 / s**2)
    # Values linear between cells of h = s/7.7: relative error of the square at most 2 x 3 h^2/(8 s^2) = 1.3 % at the peak, where
    # the depth is 1.7; the middle rule with steps of 0.7 h is far better; entries of the table: 1e-3 of the greatest value, twice.
    assert np.abs(depth - exact).max() < 0.013 * exact.max() + 2e-3 * exact.max()
    assert exact.max() > 1.6


def test_order():
    """Of two slabs the nearer one hides the farther one: c1 a + (1 - a) a c2, from either side."""
    n = 40
    values = np.zeros((n, 4, 4), np.float32)
    values[: n // 4], values[-n // 4 :] = 0.9, 1.0
    red = np.where(SHARE[:, None] > 0.95, [1.0, 0, 0], [0, 0, 1.0])
    alpha = 1 - np.exp(-3.0 * np.array([0.81, 1.0]) / 4)  # of the blue slab and the red one, a quarter of the block thick
    for azimuth, first in ((0, 1), (180, 0)):  # the eye on the side of large x, and on the other
        scene = Scene([-0.5, -0.5], [0.5, 0.5], 16)
        table = Tones(0.0, 1.0, SHARE, np.where(SHARE > 0.5, 3.0 * SHARE**2, 0).astype(np.float32), red.astype(np.float32))
        mist = march(values, LOW, HIGH, table, Eye((azimuth, 0), LOW, HIGH), scene)
        near, far = (mist.colour[16, 16, 0], mist.colour[16, 16, 2]) if first else (mist.colour[16, 16, 2], mist.colour[16, 16, 0])
        wanted = alpha[first], (1 - alpha[first]) * alpha[1 - first]
        # The brightness is 0.75, but between 0.4 and 1.1 in the cell at the rim of a slab, which is a tenth of it; that cell's
        # place is known to half a cell, a twentieth of the slab.
        assert abs(near / wanted[0] - 0.75) < 0.1 * 0.35 + 0.05 and abs(far / wanted[1] - 0.75) < 0.1 * 0.35 + 0.05
        # Whole opacity does not ask who comes first.
        assert abs(mist.alpha[16, 16] - (1 - np.prod(1 - alpha))) < 0.05 * alpha.max()


def test_objects():
    """A ball in the volume ends the rays, lines behind the volume are dimmed by it, and those before it are not."""
    eye = Eye((0, 0), LOW, HIGH)
    scene = Scene([-0.5, -0.5], [0.5, 0.5], 50)
    scene.spheres(np.zeros((1, 3)), np.array([0.2]), np.array([[1.0, 0, 0]]))
    for depth in (-0.5, 0.5):
        scene.line(np.array([[-0.5, 0.42 * np.sign(depth), depth], [0.5, 0.42 * np.sign(depth), depth]]), (0, 0, 0), 2.0, 0.0)
    scene.mist = march(np.ones((8, 8, 8), np.float32), LOW, HIGH, tones(3.0), eye, scene)
    # Before the ball's middle the block is 0.3 thick, beside the ball 1; a pixel of 0.02 off the middle the ball is 1e-3 farther.
    assert abs(scene.mist.alpha[50, 50] - (1 - np.exp(-3 * 0.3))) < 3e-3 and abs(scene.mist.alpha[10, 10] - (1 - np.exp(-3.0))) < 1e-5
    image = scene.image().astype(float) / 255
    lines = image[[4, 46], 25, :3].max(axis=1)  # the line behind is black below the mist of 0.75, the one before is black
    assert image[25, 25, 0] > image[25, 25, 1] and lines[1] == 0 and abs(lines[0] - 0.75 * (1 - np.exp(-3.0))) < 0.02


def test_transparent():
    """Of a field most of which is at one end that end is transparent; one that spreads about its middle shows both ends."""
    assert [transparent(0, 3, middle) for middle in (0.5, 2.9, 1.4)] == [0, 3, 1.5] and transparent(-2, 2, 0.1) == 0


def test_coarse():
    """Means of blocks keep the sum where the sides are multiples, and a uniform field otherwise."""
    values = np.random.default_rng(3).random((8, 4, 12), np.float32)
    small, n = coarse(values, 6)
    assert n == 2 and small.shape == (4, 2, 6) and np.isclose(small.mean(), values.mean(), rtol=1e-6)
    assert small[1, 0, 2] == pytest.approx(values[2:4, 0:2, 4:6].mean(), rel=1e-6)
    odd, n = coarse(np.ones((7, 5, 3), np.float32), 3)
    assert n == 3 and odd.shape == (3, 2, 1) and (odd == 1).all() and coarse(values, 12)[1] == 1


def test_choice(tmp_path, simview_command):
    """`--volume` draws volumes in place of surfaces and stream lines, and is refused where there is none; the same file each time."""
    run = cube_of(tmp_path, {}, velocity=lambda x, y, z: {"x": -y, "y": x, "z": 0.0}, u=lambda x, y, z: np.exp(-x * x - y * y - z * z))
    kinds = {"velocity": [Cloud, Flow], "velocity,vorticity": [Cloud, Flow, Cloud, Vorticity], "u": [Cloud, Map]}
    for names, wanted in kinds.items():
        found = pictures(run[:], Look(fields=names.split(","), volume=True))
        assert [type(one) for one in found] == wanted, names
    speed, _, turning, _ = pictures(run[:], Look(fields=["velocity", "vorticity"], volume=True))
    y, x = np.meshgrid(*((np.arange(16) - 7.5) / 8,) * 2, indexing="ij")
    assert np.allclose(speed.values(run[0])[:, :, 3], np.hypot(x, y).T, atol=1e-6) and speed.rest == speed.least == 0
    assert np.allclose(turning.values(run[0]), 2, atol=1e-5)  # of a rigid rotation
    assert [type(one) for one in pictures(run[:], Look(fields=["u"], volume=True, view=(30, 20)))] == [Cloud]
    assert [type(one) for one in pictures(run[:], Look(fields=["u"]))] == [Volume, Map]
    with pytest.raises(simview.UsageError, match="volume: wanted True or False, not 'u'"):
        Look(volume="u")
    paths = [tmp_path / f"{i}.png" for i in range(2)]
    for path in paths:
        save(draw(run, look=Look(fields=["u"], volume=True, pixels=60)), path, 50)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    code, _, said = simview_command("plot", tmp_path, "--field", "u", "--volume", "--at", "0", "-o", "a.png")
    assert code == 64 and "--volume" in said


def test_small_changes(tmp_path):
    """A field that changes by a 10^9th of its values is drawn as the same one about zero: single precision alone has 24 bits."""
    images = []
    for name, base in (("zero", 0.0), ("large", 1e6)):
        (tmp_path / name).mkdir()
        run = cube_of(tmp_path / name, {}, u=lambda x, y, z, base=base: base + 2**-10 * np.exp(-4 * (x * x + y * y + z * z)))
        for volume in (True, False):
            (picture,) = pictures(run[:], Look(fields=["u"], volume=volume, view=(-66, 18), pixels=40))
            picture.draw(Figure().add_subplot())
            picture.show(run[0])
            images.append(np.asarray(picture.artist.get_array()).astype(int))
            assert (images[-1][..., 3] > 200).sum() > 50
    # 1e6 in double precision leaves 2^-33 of a change of 2^-10; a 2^-23rd moves few pixels by one step of 256.
    assert all(np.abs(one - other).max() <= 2 for one, other in zip(images[:2], images[2:]))


def test_gaps(tmp_path):
    """Values that are no numbers are transparent, and a field that is the same everywhere is drawn."""
    (tmp_path / "snap").mkdir()
    values = np.zeros((8, 8, 8))
    values[2:6, 2:6, 2:6] = 1
    values[4] = np.nan
    file, group = write.begin(tmp_path / "snap" / "snap_00000000.h5", 0, 0, meshes=True)
    with file:
        write.mesh(group, "u", values, (1.0,) * 3)
        write.mesh(group, "w", np.full((8, 8, 8), 3.0), (1.0,) * 3)
    run = simview.open(tmp_path)
    for name in "uw":
        (picture,) = pictures(run[:], Look(fields=[name], volume=True, view=(-66, 18), pixels=40))
        picture.draw(Figure().add_subplot())
        picture.show(run[0])
        image = np.asarray(picture.artist.get_array())
        assert np.isfinite(image).all() and (image[..., 3] > 200).any()
