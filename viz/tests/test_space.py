"""Pictures in space and of flows, against geometry and formulas."""

import json
import os
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
import write
from matplotlib.figure import Figure
from PIL import Image

import simview
from simview.atoms import Atoms, are_atoms, neighbours
from simview.bodies import clumps
from simview.figure import draw, save
from simview.flow import Flow, Vorticity
from simview.look import Look
from simview.maps import Map
from simview.pictures import pictures
from simview.render import Eye, Scene, view
from simview.snapshot import thinned
from simview.solids import Solids
from simview.streams import Streams, stream_lines
from simview.style import COLOURS
from simview.volume import Volume, march
from simview.walls import shapes

RED, BLUE = np.array([[1.0, 0, 0]]), np.array([[0, 0, 1.0]])


def test_view():
    """Right-handed, of length one, z up in the picture; from above x lies to the right for an eye at azimuth -90."""
    turn = view(-66, 18)
    assert np.allclose(turn @ turn.T, np.eye(3), atol=1e-15) and np.isclose(np.linalg.det(turn), 1)
    assert turn[0, 2] == 0 and turn[1, 2] > 0
    assert np.allclose(view(-90, 90), [[1, 0, 0], [0, 1, 0], [0, 0, 1]], atol=1e-15)


def test_perspective():
    """As a pinhole camera sees it: what lies at a distance h along the axis is D/h times as large as in the middle's plane."""
    rng = np.random.default_rng(3)
    low, high = np.array([1.0, -2, 0]), np.array([3.0, 2, 5])
    eye = Eye((-50, 25, 1.5), low, high)
    distance, turn = 1.5 * np.linalg.norm(high - low), view(-50, 25)
    points = rng.uniform(low, high, (200, 3))
    away = points - ((low + high) / 2 + distance * turn[2])  # from the eye
    along = away @ -turn[2]
    seen = eye.see(points)
    middle = (low + high) / 2 @ turn[:2].T
    assert np.allclose(seen[:, :2] - middle, away @ turn[:2].T * (distance / along)[:, None], rtol=1e-12, atol=1e-12)
    assert np.array_equal(np.argsort(-seen[:, 2]), np.argsort(along))  # the nearer stays nearer
    begin, way, towards = eye.rays(seen[:, :2])
    back = begin + (along - distance)[:, None] * way
    assert np.allclose(back, points, rtol=0, atol=1e-12) and np.allclose(eye.depth(along - distance), seen[:, 2], rtol=0, atol=1e-12)
    assert np.allclose(towards @ turn, -way, atol=1e-15)
    at, radius, kept = eye.spheres(points, np.ones(200))
    assert kept.all() and np.allclose(radius, distance / along) and np.array_equal(at, seen)
    behind = (low + high) / 2 + 1.1 * distance * turn[2]
    assert np.isnan(eye.see(behind)).all() and not eye.spheres(behind[None], np.ones(1))[2].any()
    far = Eye((-50, 25), low, high)
    assert np.array_equal(far.see(points), points @ turn.T) and far.far
    # A ball of radius r before the eye: its rim is where the cone through the eye touches it, r d / sqrt(d^2 - r^2) wide.
    n, r = 48, 0.7
    axis = (np.arange(n) + 0.5) / n * 2 - 1
    values = np.sqrt(axis[:, None, None] ** 2 + axis[:, None] ** 2 + axis**2).astype(np.float32)
    eye = Eye((20, 10, 1), np.full(3, -1.0), np.full(3, 1.0))
    scene = Scene([-1.5, -1.5], [1.5, 1.5], 150)
    depth, normal, _ = march(values, np.full(3, 2 / n), np.full(3, -1.0), r, eye, scene)
    wide = r * eye.distance / np.sqrt(eye.distance**2 - r**2)
    held = np.isfinite(depth)
    # 100 drawn pixels a unit, of which a share of the rim's length (450) is counted or not; the ball's cells: a tenth of a pixel.
    assert abs(held.sum() * 1e-4 - np.pi * wide**2) < 0.5 * 450 * 1e-4
    assert held[150, 150] and depth[150, 150] / scene.scale == pytest.approx(r * eye.distance / (eye.distance - r), abs=0.01)
    assert (np.linalg.norm(normal[held], axis=1) == pytest.approx(1, abs=1e-5)) and normal[150, 150, 2] > 0.99


def test_spheres():
    """A sphere covers pi r^2, the nearer one hides the farther one, and the file is the same every time."""
    images = []
    for _ in range(2):
        scene = Scene([-2, -1], [2, 1], 400)
        scene.spheres(np.array([[0.0, 0, 0]]), np.array([0.5]), RED)
        scene.spheres(np.array([[0.3, 0, 1.0]]), np.array([0.25]), BLUE)
        images.append(scene.image())
    assert images[0].shape == (200, 400, 4) and np.array_equal(*images)
    alpha = images[0][..., 3] / 255
    # The small disk reaches from 0.05 to 0.55: what it adds to the large one is a lens beyond it.
    a, b, d = 0.5, 0.25, 0.3
    x = (d * d + a * a - b * b) / (2 * d)
    shared = a * a * np.arccos(x / a) + b * b * np.arccos((d - x) / b) - d * np.sqrt(a * a - x * x)
    area = np.pi * (a * a + b * b) - shared
    # A pixel is 0.01, drawn by four points: each point of the rim's length (4.1) is off by less than half a step of 0.005.
    assert abs(alpha.sum() * 1e-4 - area) < 4.1 * 0.0025
    assert images[0][100, 230, 2] > images[0][100, 230, 0] and images[0][100, 170, 0] > images[0][100, 170, 2]
    assert scene.depth[200, 400] == pytest.approx(0.5 * 200, abs=0.01)  # 200 drawn pixels a unit; half a pixel off the middle


def test_sphere_behind():
    scene = Scene([-1, -1], [1, 1], 100)
    scene.spheres(np.array([[0.0, 0, 1.0]]), np.array([0.25]), BLUE)
    scene.spheres(np.array([[0.0, 0, 0]]), np.array([0.5]), RED)  # later, but farther
    assert scene.image()[50, 50, 2] > scene.image()[50, 50, 0] and scene.image()[50, 65, 0] > scene.image()[50, 65, 2]


def test_glass():
    """A wall before a sphere is seen through; the same wall where nothing stands behind it is a backdrop."""
    wall = np.array([[[-1, -1, 1.0], [1, -1, 1], [1, 1, 1]], [[-1, -1, 1], [1, 1, 1], [-1, 1, 1]]])
    scene = Scene([-1, -1], [1, 1], 100)
    scene.spheres(np.zeros((1, 3)), np.array([0.5]), RED)
    scene.shell(wall, (1, 1, 1))
    image = scene.image()
    assert image[50, 50, 0] > 1.5 * image[50, 50, 2] and len(set(image[5, 5, :3])) == 1 and image[5, 5, 3] == 255


def test_march():
    """The surface of equal distance from the middle is a sphere of that radius, with its normals."""
    n, radius = 48, 0.3
    x, y, z = np.meshgrid(*((np.arange(n) + 0.5) / n - 0.5,) * 3, indexing="ij")
    scene = Scene([-0.5, -0.5], [0.5, 0.5], 50)
    eye = Eye((-66, 18), np.full(3, -0.5), np.full(3, 0.5))
    depth, normal, above = march(np.sqrt(x**2 + y**2 + z**2).astype(np.float32), np.full(3, 1 / n), np.full(3, -0.5), radius, eye, scene)
    held = np.isfinite(depth)
    u, v = np.meshgrid(*((np.arange(100) + 0.5) / 100 - 0.5,) * 2)
    # Between values linear along an axis a sphere of radius R lies off by up to 3 h^2/(8 R) = 5.4e-4; 4e-3 of steep rays.
    inner = u**2 + v**2 < (0.9 * radius) ** 2
    exact = np.sqrt(np.maximum(radius**2 - u**2 - v**2, 0))
    assert held[inner].all() and np.abs(depth[inner] / scene.scale - exact[inner]).max() < 5.4e-4 / np.sqrt(1 - 0.81) + 1e-4
    assert abs(held.sum() * 1e-4 - np.pi * radius**2) < 2 * np.pi * radius * 0.005
    away = np.stack([u, v, exact], axis=-1)[inner] / radius
    assert (normal[inner] * away).sum(axis=1).min() > 0.999 and not above[inner].any()  # beyond it values are smaller


def test_march_edge():
    """Two sheets that cross have no slit at their edge: each ray that meets one of them within the cells' middles finds it."""
    n, at = 24, (0.03, -0.05)  # x = 0.03 and z = -0.05; x z between them is as linear along the axes as the renderer has it
    x, _, z = np.meshgrid(*((np.arange(n) + 0.5) / n - 0.5,) * 3, indexing="ij")
    scene = Scene([-0.8, -0.8], [0.8, 0.8], 150)
    for angles in ((-66, 18), (20, -35), (-66, 18, 1.5)):
        eye = Eye(angles, np.full(3, -0.5), np.full(3, 0.5))
        depth, _, _ = march((x - at[0]) * (z - at[1]), np.full(3, 1 / n), np.full(3, -0.5), 0.0, eye, scene)
        side = (np.arange(300) + 0.5) / 300 * 1.6 - 0.8
        begin, way, _ = eye.rays(np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2))
        wanted = np.zeros(len(begin), bool)
        for axis, place in zip((0, 2), at):
            along = (place - begin[:, axis]) / way[:, axis]
            wanted |= (np.abs(begin + along[:, None] * way) < 0.5 - 0.5 / n - 1e-6).all(axis=1)
        assert wanted.sum() > 10000 and np.isfinite(depth).reshape(-1)[wanted].all()


def plane(tmp_path, values, parameters=None, step=0):
    """A run of one snapshot with a velocity on a grid of 24 x 16 cells of side 1/8."""
    (tmp_path / "snap").mkdir()
    file, group = write.begin(tmp_path / "snap" / f"snap_{step:08d}.h5", step, 0, meshes=True)
    with file:
        write.mesh(group, "velocity", values, (1 / 8, 1 / 8), powers=(1, 0, -1))
        write.mesh(group, "pressure", np.zeros((16, 24)), (1 / 8, 1 / 8))
        if parameters:
            import json

            del file["provenance/parameters"]
            file["provenance/parameters"] = write.text(json.dumps(parameters))
    return simview.open(tmp_path)


def test_moving_bodies(tmp_path):
    """Where a body moves the cells in bodies are covered, from when sound has passed the box; a body that turns in place is drawn."""
    still = {"$type": "ball", "point": [1, 1, 0], "radius": 0.25, "turning": "result = t"}
    moves = {"$type": "block", "low": [2, 1, 0], "high": [2.5, 1.5, 0], "spin": 1}
    solid = np.zeros((16, 24), bool)
    solid[5:9, 3:7] = True
    for step in (39, 40):
        folder = tmp_path / str(step)
        folder.mkdir()
        run = plane(folder, {"x": np.where(solid, 0, 0.1), "y": np.zeros((16, 24))}, {"bodies": [still, moves]}, step)
        flow = pictures(run[:], Look())[0]
        axes = Figure().add_subplot()
        flow.draw(axes)
        flow.show(run[0])
        flow.show(run[0])
        assert [type(patch).__name__ for patch in axes.patches if patch.get_zorder() == 4] == ["Circle"]
        assert len(axes.images) == (1 if step < 40 else 2)
    assert (~np.ma.getmaskarray(axes.images[1].get_array()) == solid).all()


def test_flow(tmp_path):
    """A vector is drawn as speed with stream lines, and as vorticity: 2 everywhere in a rigid rotation; bodies are drawn."""
    y, x = np.meshgrid((np.arange(16) + 0.5) / 8, (np.arange(24) + 0.5) / 8, indexing="ij")
    run = plane(tmp_path, {"x": -y, "y": x}, {"bodies": [{"$type": "cylinder", "point": [1, 1, 0], "radius": 0.25}]})
    flow, turning = pictures(run[:], Look())
    assert isinstance(flow, Flow) and isinstance(turning, Vorticity)
    flow.span(run[:])  # as a film does
    assert flow.low == 0 and flow.high == pytest.approx(np.hypot(x, y).max())
    assert np.allclose(flow.values(run[0])[0], np.hypot(x, y)) and np.allclose(turning.values(run[0])[0], 2, atol=1e-12)
    axes = Figure().add_subplot()
    flow.draw(axes)
    flow.show(run[0])
    (circle,) = [patch for patch in axes.patches if hasattr(patch, "radius")]
    assert circle.center == (1, 1) and circle.radius == 0.25
    lines = axes.collections[0].get_segments()
    assert len(lines) > 30
    for part in lines:  # along circles about the origin: a part of a line keeps its distance
        assert abs(np.hypot(*part[0]) - np.hypot(*part[-1])) < 0.02
    before = len(axes.get_children())
    flow.show(run[0])
    assert len(axes.get_children()) == before  # a film draws over it
    one, two = (picture for picture in pictures(run[:], Look(fields=["pressure", "velocity"])))
    assert type(one) is Map and isinstance(two, Flow)
    assert {axes.get_title() for axes in draw(run, only="picture").axes} >= {"t = 0"}


def cube_of(folder, parameters, **fields):
    """A run of one snapshot of fields on 16 x 16 x 16 cells of a box of side 2 about the origin; fields: functions of x, y, z."""
    (folder / "snap").mkdir()
    z, y, x = np.meshgrid(*((np.arange(16) - 7.5) / 8,) * 3, indexing="ij")
    file, group = write.begin(folder / "snap" / "snap_00000000.h5", 0, 0, meshes=True)
    with file:
        for name, field in fields.items():
            made = field(x, y, z)
            mesh = {axis: np.broadcast_to(part, x.shape) for axis, part in made.items()} if isinstance(made, dict) else np.broadcast_to(made, x.shape)
            write.mesh(group, name, mesh, (1 / 8,) * 3, offset=[-1.0] * 3, powers=(1, 0, -1))
        del file["provenance/parameters"]
        file["provenance/parameters"] = np.bytes_(json.dumps(parameters))
    return simview.open(folder)


def test_stream_lines(tmp_path):
    """In space: along a rigid rotation with a climb, helices keep their distance from the axis and turn against the clock; they
    spread over the box, and are the same each time. A ball is in the picture."""
    flow = cube_of(tmp_path, {"bodies": [{"$type": "ball", "point": [0, 0, 0], "radius": 0.3}]}, velocity=lambda x, y, z: {"x": -y, "y": x, "z": 0.1})
    shown = pictures(flow[:], Look())
    assert [type(one) for one in shown] == [Streams, Flow, Vorticity]
    assert [type(one) for one in pictures(flow[:], Look(at=0.1))] == [Flow, Vorticity]
    assert [type(one) for one in pictures(flow[:], Look(view=(30, 20)))] == [Streams]
    lines = stream_lines(shown[0].flow(flow[0]), np.full(3, 1 / 8))
    again = stream_lines(shown[0].flow(flow[0]), np.full(3, 1 / 8))
    assert len(lines) > 20 and all(np.array_equal(a, b) for a, b in zip(lines, again))
    ends = []
    for line in lines:
        at = (line - 7.5) / 8
        inside = at[(np.abs(at) < 7.5 / 8).all(axis=1)]  # beyond the outermost middles a field goes on as it is there
        away = np.hypot(inside[:, 0], inside[:, 1])
        # The scheme's error for steps of half a cell, h^5/120 of the turned angle h a step, over 40 steps: far below 1e-2.
        if len(inside) == len(at):
            assert np.ptp(away) < 1e-2
        turned = at[:-1, 0] * at[1:, 1] - at[:-1, 1] * at[1:, 0]
        assert (turned[np.hypot(*at[:-1, :2].T) > 0.1] > 0).all() and (np.diff(at[:, 2]) > 0).all()
        ends.append(at)
    assert (np.ptp(np.concatenate(ends), axis=0) > 1.5).all()
    axes = Figure().add_subplot()
    shown[0].draw(axes)
    shown[0].show(flow[0])
    image = np.asarray(shown[0].artist.get_array())
    middle = image[image.shape[0] // 2, image.shape[1] // 2]
    assert axes.get_title() == "t = 0, stream lines" and (image[..., 3] > 0).mean() > 0.02 and middle[3] == 255
    assert stream_lines(np.zeros((3, 4, 4, 4)), np.ones(3)) == []


def test_velocity_of_diffusion(tmp_path):
    """Fields that a scenario of diffusion names as velocity are drawn as one; u and v alone are concentrations."""
    fields = {"u": lambda x, y, z: -y, "v": lambda x, y, z: x, "w": lambda x, y, z: 0.1, "s": lambda x, y, z: x}
    for k, (parameters, kinds) in enumerate([
        ({"solenoidal": "u, v, w"}, [Streams, Flow, Volume, Map]), ({"integrate": {"velocity": "u, v"}}, [Streams, Flow, Volume, Map]),
        ({"solenoidal": ""}, [Volume, Map] * 4), ({"integrate": {"velocity": "u, q"}}, [Volume, Map] * 4),
    ]):  # fmt: skip
        (tmp_path / str(k)).mkdir()
        run = cube_of(tmp_path / str(k), parameters, **fields)
        shown = pictures(run[:], Look())
        assert [type(one) for one in shown] == kinds, parameters
    run = cube_of(tmp_path, {"solenoidal": "u, v, w"}, **{name: fields[name] for name in "uvw"})
    flow, turning = pictures(run[:], Look(axes="xy"))
    assert isinstance(turning, Vorticity) and np.allclose(turning.values(run[0])[0], 2, atol=1e-12)
    y, x = np.meshgrid(*((np.arange(16) - 7.5) / 8,) * 2, indexing="ij")
    assert np.allclose(flow.values(run[0])[0], np.sqrt(x**2 + y**2 + 0.01))
    assert [type(one) for one in pictures(run[:], Look(fields=["u"]))] == [Volume, Map]


def test_temperature(tmp_path):
    """A fluid that carries a temperature shows it in place of the vorticity, which --field still draws."""
    (tmp_path / "snap").mkdir()
    file, group = write.begin(tmp_path / "snap" / "snap_00000000.h5", 0, 0, meshes=True)
    with file:
        write.mesh(group, "velocity", {"x": np.ones((16, 24)), "y": np.zeros((16, 24))}, (1 / 8, 1 / 8), powers=(1, 0, -1))
        write.mesh(group, "temperature", np.full((16, 24), 3.0), (1 / 8, 1 / 8))
    run = simview.open(tmp_path)
    flow, warm = pictures(run[:], Look())
    assert isinstance(flow, Flow) and type(warm) is Map and (warm.values(run[0])[0] == 3).all()
    assert [type(one) for one in pictures(run[:], Look(fields=["velocity", "vorticity"]))] == [Flow, Vorticity]


def test_outliers(tmp_path):
    """Few values far out do not set the colours; a map that has none keeps its least and greatest value."""
    y, x = np.meshgrid(np.arange(64.0), np.arange(64.0), indexing="ij")
    for name, corner, limits in (("a", 1e6, (0, 126)), ("b", 126, (0, 126))):
        folder = tmp_path / name
        (folder / "snap").mkdir(parents=True)
        values = x + y
        values[63, 63] = corner
        file, group = write.begin(folder / "snap" / "snap_00000000.h5", 0, 0, meshes=True)
        with file:
            write.mesh(group, "u", values, (1.0, 1.0))
        (picture,) = pictures(simview.open(folder)[:], Look())
        assert picture.beyond == (corner > 126) and picture.low >= limits[0] and picture.high <= limits[1]
        assert picture.beyond or (picture.low, picture.high) == limits


def test_contours(tmp_path):
    """A smooth field has contours, which stand for its values; noise has none, also where few of its cells reach a level."""
    for name, smooth in (("a", True), ("b", False), ("c", False)):
        folder = tmp_path / name
        (folder / "snap").mkdir(parents=True)
        y, x = np.meshgrid((np.arange(64) + 0.5) / 64, (np.arange(64) + 0.5) / 64, indexing="ij")
        noise = np.random.default_rng(3).random((64, 64))
        values = x if smooth else noise
        if name == "c":  # 3 % of the cells are beyond the level at 6/11, and all but two corners between 5/11 and 7/11
            values = np.where(noise > 0.97, 0.58, 0.48 + 0.02 * noise)
            values[:3, :4], values[-3:, -4:] = 0, 1
        file, group = write.begin(folder / "snap" / "snap_00000000.h5", 0, 0, meshes=True)
        with file:
            write.mesh(group, "u", values, (1 / 64, 1 / 64))
        run = simview.open(folder)
        (picture,) = pictures(run[:], Look())
        axes = Figure().add_subplot()
        picture.draw(axes)
        picture.show(run[0])
        assert bool(picture.drawn) == smooth
        if smooth:
            for level, path in zip(picture.drawn[0].levels, picture.drawn[0].get_paths()):
                assert np.allclose(path.vertices[:, 0], level, atol=1e-12)  # u = x
            assert len(picture.drawn[0].levels) == 10


@pytest.mark.long
def test_volume(tmp_path, monkeypatch):
    """A field on three axes has a surface of equal value and a plane; --at moves the plane, --view the eye."""
    (tmp_path / "snap").mkdir()
    z, y, x = np.meshgrid(*(np.arange(12.0),) * 3, indexing="ij")
    file, group = write.begin(tmp_path / "snap" / "snap_00000000.h5", 0, 0, meshes=True)
    with file:
        write.mesh(group, "u", np.exp(-((x - 6) ** 2 + (y - 6) ** 2 + (z - 6) ** 2) / 8), (1.0,) * 3)
    run = simview.open(tmp_path)
    assert [type(picture) for picture in pictures(run[:], Look())] == [Volume, Map]
    assert [type(picture) for picture in pictures(run[:], Look(at=2))] == [Map]
    (surface,) = pictures(run[:], Look(view=(0, 90)))
    assert isinstance(surface, Volume)
    made = []
    monkeypatch.setattr("simview.volume.march", lambda *arguments: made.append(1) or march(*arguments))
    (small,) = pictures(run[:], Look(view=(0, 90), pixels=16))
    small.draw(Figure().add_subplot())
    for count in (1, 1, 2):  # drawn once, and anew where the file is another one
        if count == 2:
            os.utime(run[0].path, (0, 0))
        small.show(run[0])
        assert len(made) == count
    paths = [tmp_path / f"{i}.png" for i in range(2)]
    for path in paths:
        save(draw(run, look=Look(pixels=100)), path, 50, small=True)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    figure = Figure()
    axes = figure.add_subplot()
    axes.imshow(np.arange(10000.0).reshape(100, 100), cmap="viridis", extent=(0, 1, 0, 1))
    axes.plot([0, 1], [0.7, 0.1], color=COLOURS[1])  # few pixels beside those of the map
    axes.plot([0, 1], [0.6, 0.1], color=COLOURS[5])
    save(figure, paths[0], 200, small=True)
    with Image.open(paths[0]) as small:
        kept = {tuple(colour) for colour in np.asarray(small.convert("RGB")).reshape(-1, 3).tolist()}
        assert small.mode == "P" and {tuple(bytes.fromhex(colour[1:])) for colour in (COLOURS[1], COLOURS[5], "#ffffff")} <= kept
    with pytest.raises(simview.UsageError, match="only a .png"):
        save(Figure(), tmp_path / "a.pdf", 50, small=True)


def test_level_zero(tmp_path):
    """A field that swings about zero has its surface there, not at what rounding leaves."""
    (tmp_path / "snap").mkdir()
    file, group = write.begin(tmp_path / "snap" / "snap_00000000.h5", 0, 0, meshes=True)
    with file:
        write.mesh(group, "u", np.broadcast_to(np.arange(12.0) - 5.5 + 1e-13, (12, 12, 12)), (1.0,) * 3)
    assert Volume(simview.open(tmp_path)[:], Look(), "u").level == 0


CLUMPS = """
local one, two = { {0, 0, 0, 0.5}, {1, 0, 0, 0.5} }, { {0, 0, 0, 0.5}, {0, 1, 0, 0.5}, {1, 0, 0, 0.5}, {2, 0, 0, 0.5} }
local some = sim.param("some", 2)
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "wall" },
  grains    = { sim.clump { species = "rods", spheres = two, position = {5, 5, 5} },
                some > 0 and sim.clump { spheres = one, position = {2, 2, 2} } or nil, some > 1 and { radius = 0.5, position = {8, 8, 2} } or nil },
  contact   = { stiffness = 1e4 },
  integrate = { t_end = 0.1 },
}
"""


@pytest.mark.parametrize(
    ("some", "words"),
    [(0, "1 clump of 4 spheres"), (1, "2 clumps of 6 spheres"), (2, "2 clumps of 6 spheres, 1 grain")],
)
def test_clumps(scenario_run, some, words):
    """A clump is one grain of the tables, whatever its spheres."""
    run = simview.open(scenario_run(CLUMPS.replace('sim.param("some", 2)', str(some))))
    assert clumps(run[0]) == words
    axes = Figure().add_subplot()
    (picture,) = pictures(run[:1], Look(pixels=50))
    picture.draw(axes)
    picture.show(run[0])
    assert axes.get_title() == f"t = 0, {words}"


def test_solids(grains, passing, tmp_path):
    """Grains are drawn in space, whole and from afar; empty boxes too; flat from the side where axes are named."""
    run = simview.open(grains)
    (picture,) = pictures(run[:], Look(pixels=200))
    assert isinstance(picture, Solids)
    at, radius, _ = picture.arrays(run[0])
    seen = at @ picture.eye.turn.T
    assert len(radius) == 60 and (seen[:, :2] - 0.002 > picture.frame_low).all() and (seen[:, :2] + 0.002 < picture.frame_high).all()
    axes = Figure().add_subplot()
    picture.draw(axes)
    picture.show(run[0])
    first = np.array(axes.images[0].get_array())
    picture.show(run[-1])
    assert (first[..., 3] > 0).any() and not np.array_equal(first, axes.images[0].get_array())
    assert axes.get_title() == f"t = {run[-1].time:.6g}, {run[-1].count('grains')} grains"
    for snapshot in simview.open(passing):
        assert clumps(snapshot) == ""
        empty = pictures([snapshot], Look(pixels=50))[0]
        empty.draw(axes)
        empty.show(snapshot)


def test_walls(tmp_path):
    """Each kind of wall is where its equation says, endless ones as far as the grains, moving ones where they have gone."""
    low, high = np.full(3, -1.0), np.full(3, 2.0)
    axis = np.array([1.0, 2, 2]) / 3

    def corners(wall, time=0.0):
        at = SimpleNamespace(parameters={"walls": [wall]}, time=time, path=tmp_path / "snap" / "snap_0.h5")
        return [triangles.reshape(-1, 3) for triangles, _ in shapes(at, low, high)]

    point = np.array([0.5, 0.25, 0])
    (tube,) = corners({"$type": "cylinder", "point": point.tolist(), "axis": [1, 2, 2], "radius": 0.5})
    along = (tube - point) @ axis
    assert np.allclose(np.linalg.norm(tube - point - along[:, None] * axis, axis=1), 0.5) and np.ptp(along) > 3
    (cone,) = corners({"$type": "cone", "point": [0, 0, 0], "axis": [0, 0, 2], "length": 2, "radius": 1, "end_radius": 3})
    assert np.allclose(np.hypot(cone[:, 0], cone[:, 1]), 1 + cone[:, 2]) and cone[:, 2].max() == 2
    (ball,) = corners({"$type": "ball", "point": [1, 1, 1], "radius": 0.5, "velocity": [1, 0, 0]}, time=2)
    assert np.allclose(np.linalg.norm(ball - [3, 1, 1], axis=1), 0.5)
    (floor,) = corners({"$type": "plane", "point": [0, 0, -0.5], "normal": [0, 0, 1]})
    assert np.allclose(floor[:, 2], -0.5) and np.allclose([floor.min(axis=0)[:2], floor.max(axis=0)[:2]], [low[:2], high[:2]])
    (box,) = corners({"$type": "block", "low": [0, 0, 0], "high": [1, 2, 3]})
    assert len(box) == 36 and np.array_equal(np.unique(box, axis=0), np.unique([[i, 2 * j, 3 * k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], axis=0))
    assert corners({"$type": "ball", "point": [0, 0, 0], "radius": 1, "motion": "result = 1"}) == []
    triangle = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
    (tmp_path / "text.stl").write_text("solid a\nfacet normal 0 0 1\nouter loop\n" + "".join(f"vertex {x:g} {y:g} {z:g}\n" for x, y, z in triangle) + "endloop\nendfacet\nendsolid a\n")
    record = np.zeros(1, [("normal", "<f4", 3), ("at", "<f4", (3, 3)), ("more", "<u2")])
    record["at"] = triangle
    (tmp_path / "binary.stl").write_bytes(bytes(80) + np.uint32(1).tobytes() + record.tobytes())
    for name in ("text.stl", "binary.stl"):
        (mesh,) = corners({"$type": "stl", "path": str(tmp_path / name), "scale": 2, "shift": [0, 0, 1]})
        assert np.allclose(mesh, 2 * triangle + [0, 0, 1])
    assert corners({"$type": "stl", "path": "absent.stl"}) == []


ATOMS = """
return sim.nbody {
  bodies = { sim.lattice { kind = "fcc", cells = 3, temperature = 0.01 } },
  box = { size = 4.8, boundary = "periodic" },
  pair = function(r2) local s = 1 / r2^3 return 4 * (s^2 - s) end,
  cutoff = 2.3,
  integrate = { scheme = "leapfrog", dt = 1e-4, t_end = 1e-4 },
  output = { snapshots = "every 1 steps", checkpoint = "never" },
}
"""


def test_atoms(tmp_path):
    """Atoms of a face-centred lattice: spheres of half the distance to a neighbour, 1.6 / sqrt(2); others are no atoms."""
    (tmp_path / "s.lua").write_text(ATOMS)
    subprocess.run([os.environ["SIM"], "run", "s.lua", "--quiet"], cwd=tmp_path, check=True, capture_output=True)
    run = simview.open(tmp_path / "s.out")
    (picture,) = pictures(run[:1], Look(pixels=100))
    assert isinstance(picture, Atoms) and picture.radius == pytest.approx(0.8 / 2**0.5, rel=1e-3)  # they hardly move in a step
    axes = Figure().add_subplot()
    picture.draw(axes)
    picture.show(run[0])
    assert "108 bodies, drawn with radius 0.57" in axes.get_title().replace("\n", " ")
    assert axes.get_figure().axes[0].child_axes[0].get_ylabel() == "speed"  # of one species
    at = np.random.default_rng(1).uniform(size=(3000, 3))
    low, middle = np.percentile(neighbours(at), (5, 50))
    assert low / middle == pytest.approx((np.log(1 / 0.95) / np.log(2)) ** (1 / 3), abs=0.08)  # 500 draws
    names = run[0].species
    assert are_atoms(run[:1], names)
    (flat,) = pictures(run[:1], Look(axes="xy"))
    assert not isinstance(flat, Atoms)


def test_thinned():
    """One of each n neighbours, always the same ones, without a favourite among them."""
    chosen = thinned(100_001, 7)
    assert len(chosen) == 14_286 and np.array_equal(chosen // 7, np.arange(14_286)) and chosen[-1] <= 100_000
    assert np.array_equal(chosen, thinned(100_001, 7)) and np.array_equal(thinned(5, 1), np.arange(5))
    # Counts of 14285 draws of one in seven: 2041 +- 42; five times that.
    assert (np.abs(np.bincount(chosen[:-1] % 7, minlength=7) - 14_285 / 7) < 5 * 42).all()


def test_few_of_many(tmp_path):
    """A picture of some of the particles: which ones, the whole mass, and what the title says."""
    rng = np.random.default_rng(5)
    (tmp_path / "snap").mkdir()
    file, group = write.begin(tmp_path / "snap" / "snap_00000000.h5", 0, 0, particles=True)
    with file:
        write.species(group, "stars", rng.normal(size=(3, 50_001)), mass=0.5, velocity=rng.normal(size=(3, 50_001)))
    run = simview.open(tmp_path)
    ((_, (x, vy, mass)),) = run[0].particles("stars").each("x", "vy", "mass", every=9)
    stars, chosen = run[0].particles("stars"), thinned(50_001, 9)
    assert np.array_equal(x, stars.x[chosen]) and np.array_equal(vy, stars["vy"][chosen]) and (mass == 0.5).all() and len(mass) == len(chosen)
    (whole,), (some,) = pictures(run[:], Look(size=6.0, pixels=64)), pictures(run[:], Look(size=6.0, pixels=64, most=6000))
    pixel = (12 / 64) ** 2
    # One of 9: all but the last group of 6 stand for 9 each. The blur takes less than a percent over the rim.
    assert some.image(run[0]).sum() * pixel == pytest.approx(9 * 0.5 * len(chosen), rel=0.01)
    assert whole.image(run[0]).sum() * pixel == pytest.approx(0.5 * 50_001, rel=0.01)
    assert "50001 bodies, one of 9 drawn" == some.numbers(run[0]) and whole.numbers(run[0]) == "50001 bodies"


CHAOS = """
return sim.diffusion {
  grid = { n = {32}, size = {22} },
  fields = { { name = "u", linear = function(k2) return k2 - k2^2 end, initial = function(x) return math.cos(2 * math.pi * x / 22) + 0.1 * math.sin(4 * math.pi * x / 22) end } },
  rates = function(u, u_x) return -u * u_x end, lyapunov = { every = 1, start = 10 },
  integrate = { scheme = "etdrk4", dt = 0.1, t_end = 60 }, output = { tables = "every 5", snapshots = "never", checkpoint = "never" },
}
"""


def test_lyapunov_not_known(tmp_path):
    """Before the first interval there is no exponent to draw, and of few intervals no error: the axis says so."""
    (tmp_path / "s.lua").write_text(CHAOS.replace("t_end = 60", "t_end = 15"))
    done = subprocess.run([os.environ["SIM"], "run", "s.lua", "--quiet"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    run = simview.open(tmp_path / "s.out")
    (axes,) = draw(run, only="lyapunov").axes
    assert axes.get_ylabel() == "largest Lyapunov exponent\n(error not known yet)"
    drawn = axes.lines[1].get_ydata()
    assert np.array_equal(np.isfinite(drawn), run.tables.lyapunov["intervals"] > 0) and 0 < np.isfinite(drawn).sum() < len(drawn)


def test_lyapunov(tmp_path):
    """An exponent begins with the first interval. It has a band of one standard error where that is known, and the axis says so."""
    (tmp_path / "s.lua").write_text(CHAOS)
    done = subprocess.run([os.environ["SIM"], "run", "s.lua", "--quiet"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    run = simview.open(tmp_path / "s.out")
    frame = run.tables.lyapunov
    (axes,) = draw(run, only="lyapunov").axes
    assert axes.get_ylabel() == "largest Lyapunov exponent\n± one standard error"
    band = axes.collections[0].get_paths()[0].vertices
    known = frame["error"] > 0
    assert known.any() and frame["error"].isna().any() and (known | frame["error"].isna()).all()
    assert frame["exponent"].isna().tolist() == (frame["intervals"] == 0).tolist() and frame["exponent"].isna().any()
    for sign in (-1, 1):
        ends = np.stack([frame["time"], frame["exponent"] + sign * frame["error"]], axis=1)[known]
        assert all(np.isclose(band, end).all(axis=1).any() for end in ends)
    assert band[:, 0].min() >= frame["time"][known].min()
