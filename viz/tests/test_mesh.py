"""Fields, grains and prices, of real runs and in files of the layout that docs/outputs.md of sim describes."""

import numpy as np
import pytest

import simview
from simview.figure import draw, table_panels
from simview.grains import Grains, outlines
from simview.options import reference
from simview.panels import haff, power
from simview.pictures import Look
from simview.run import open as simview_open


def test_field(gray_scott):
    run = simview.open(gray_scott)
    last = run[-1]
    assert last.fields == ("flow/x", "flow/y", "u") and last.species == () and last.time == 100
    u = last.field("u")
    assert u.shape == (24, 32) and u.dims == ("y", "x") and u.unit == "mm^-3 kg" and u.unit_si == 1e9
    x = np.arange(32) + 0.5
    expected = 1.2 + np.cos(2 * np.pi * 3 * x / 32)
    assert np.array_equal(np.asarray(u), np.tile(expected, (24, 1)))
    assert np.array_equal(u[5, 3:7], expected[3:7])
    assert np.array_equal(u.coords["x"], 2 + 0.25 * x) and u.bounds["y"] == (1.0, 13.0)
    data = u.to_xarray()
    assert data.dims == ("y", "x") and data.attrs["units"] == "mm^-3 kg" and data["x"].attrs["units"] == "mm"
    assert float(data["time"]) == 100 and data["time"].attrs["units"] == "min"
    assert last.field("flow/x").unit == "mm min^-1"
    with pytest.raises(simview.NotFoundError, match="is a vector: ask for flow/x or flow/y"):
        last.field("flow")
    with pytest.raises(simview.NotFoundError, match="no field 'w'; there are: flow/x, flow/y, u"):
        last.field("w")


def test_power(gray_scott):
    """A cosine of three periods holds all of its power, 1/2, in shell 3."""
    k, p = power(np.asarray(simview.open(gray_scott)[0].field("u")))
    # An FFT of N = 768 values is good to a few eps log2(N) of the largest amplitude, which is 1.
    assert k[2] == 3 and abs(p[2] - 0.5) < 1e-13 and p.sum() - p[2] < 1e-13


def test_haff():
    time = np.linspace(2, 12, 50)
    exact = 3 / (1 + (time - 2) / 1.7) ** 2
    assert abs(haff(time, exact) - 1.7) < 1e-12  # least squares of an exact line: rounding alone
    assert haff(time, np.exp(-time)) is None and haff(time, np.ones(50)) is None


def test_pictures(gray_scott, option, simview, tmp_path):
    for folder, more in ((gray_scott, ["--width", "column"]), (gray_scott, ["--field", "u", "--only", "picture,spectrum", "-o", "u.pdf"]), (option, [])):
        code, said, fault = simview("plot", folder, *more, "--dpi", "60")
        assert code == 0, fault
        assert (tmp_path / said.strip()).stat().st_size > 3000
    code, said, _ = simview("summary", gray_scott, option)
    assert code == 0 and "u (mm^-3 kg) 24 x 32" in said and "table price" in said
    assert simview("movie", gray_scott, "-o", "u.gif", "--dpi", "50", "--field", "u")[0] == 0


def test_slices(plate, simview, tmp_path):
    """Cells of slices are those of the snapshots, at their places."""
    run = simview_open(plate)
    assert sorted(run.slices) == ["line", "thin"] and run.slices["thin"].steps.tolist() == list(range(11))
    for name, cells in (("thin", np.s_[::5, ::5]), ("line", np.s_[8])):  # 0.5 is the face between cells 7 and 8
        part = run.slices[name]
        assert part.name == f"s_{name}" and part.slices == {} and part.parameters == run.parameters
        for snapshot in run:
            whole, u = snapshot.field("u"), part.at_step(snapshot.step).field("u")
            assert np.array_equal(np.asarray(u), np.asarray(whole)[cells])
            for axis in u.dims:
                step = 5 if name == "thin" else 1
                assert np.allclose(u.coords[axis], whole.coords[axis][::step], rtol=0, atol=1e-15)  # an ulp of 3
    inside = simview_open(f"{plate}/slices/line")
    assert inside.slice_name == "line" and inside[0].field("u").dims == ("x",)
    assert "slice thin" in simview("summary", plate)[1]
    assert simview("plot", f"{plate}/slices/thin", "--dpi", "60")[0] == 0 and (tmp_path / "s_thin.png").exists()


def test_run_on_a_grid(plate):
    """A real run against the exact solution: each wave decays as exp(-D k^2 t). The scheme is exact but for rounding."""
    run = simview.open(plate)
    u, v = (run[-1].field(name).to_xarray() for name in "uv")
    assert u.dims == ("y", "x") and u.shape == (16, 24) and u["x"].attrs["units"] == "mm"
    decay = [np.exp(-D * k**2 * 1.0) for D, k in ((0.01, 2 * np.pi), (0.02, 2 * np.pi / 3))]
    expected = 1 + 0.5 * decay[0] * np.sin(2 * np.pi * u["y"]), decay[1] * np.cos(2 * np.pi * v["x"] / 3)
    for found, exact in zip((u, v), expected):
        assert np.abs(found - exact).max() < 1e-13  # a few dozen roundings of numbers of size 1
    assert run.tables.fields["u_mean"].iloc[-1] == pytest.approx(1, abs=1e-13)


def test_panels(plate, grains, call, simview, tmp_path):
    from simview import open

    names = {folder: set(table_panels(open(folder))) for folder in (plate, grains, call)}
    assert names[plate] == {"fields", "spectra"}
    assert names[call] == {"price", "estimates", "prices", "errors", "deltas", "delta_errors"}
    assert {"energy", "flow.inserted", "flow.inserted_mass", "temperature"} <= names[grains]
    for folder, panels in ((plate, 2 + 2), (grains, 1 + 2), (call, 1)):
        figure = draw(open(folder))  # a colour bar is an inset and does not count
        assert len(figure.axes) == panels, [axes.get_ylabel() for axes in figure.axes]
    assert simview("plot", call, "-o", "c.png", "--only", "price,estimates", "--dpi", "60")[0] == 0


def test_grains(grains):
    """From the side, for something pulls along z; disks of the true size, those far away first."""
    run = simview.open(grains)
    counts = [snapshot.count("grains") for snapshot in run]
    assert counts[0] == 60 and min(counts) < 60
    picture = Grains([run[0]], Look())
    assert picture.plane == "xz"
    places, radius, speed = picture.disks(run[0])
    held = run[0].particles("grains")
    order = np.argsort(-held.y, kind="stable")  # x to the right and z up: the eye is at the least y
    assert np.array_equal(places, np.stack([held.x, held.z], axis=1)[order]) and np.array_equal(radius, held["radius"][order])
    assert np.array_equal(speed, np.sqrt(held["vx"] ** 2 + held["vy"] ** 2 + held["vz"] ** 2)[order])


def test_empty_box(passing, simview, tmp_path):
    """Nobody is there at the start and at the end: the species is, in every snapshot, and pictures are of nothing."""
    run = simview_open(passing)
    counts = [snapshot.particles().count for snapshot in run]
    assert counts[0] == 0 and counts[-1] == 0 and max(counts) > 10
    assert all(snapshot.species == ("rain",) for snapshot in run)
    first = run[0].particles("rain")
    assert first.position.shape == (0, 3) and first["radius"].shape == (0,) and len(first.to_frame()) == 0
    assert simview("movie", passing, "-o", "m.gif", "--dpi", "50")[0] == 0
    assert simview("plot", passing, "-o", "p.png", "--dpi", "50")[0] == 0


def test_outlines():
    about = {"point": [1, 2, 3], "velocity": [0, 0, 0]}
    cone = {"$type": "cone", "axis": [0, 0, 2], "length": 4, "radius": 1, "end_radius": 3, **about}
    lines = list(outlines([cone], "xz", 10))
    assert sorted(line.tolist() for line in lines) == [[[0, -2], [3, 7]], [[2, 4], [3, 7]]]
    assert list(outlines([cone], "xy", 10)) == [] and list(outlines([{**cone, "velocity": [1, 0, 0]}], "xz", 10)) == []
    (ring,) = outlines([{"$type": "cylinder", "axis": [0, 1, 0], "radius": 2, **about}], "xz", 10)
    assert np.allclose(np.hypot(ring[0] - 1, ring[1] - 3), 2)
    (floor,) = outlines([{"$type": "plane", "normal": [0, 0, 1], **about}], "xz", 10)
    assert floor.tolist() == [[11, -9], [3, 3]]


def test_reference(call):
    """Hull's textbook numbers to the four digits of its tables, and where there is no exact price none is given."""
    run = simview.open(call)
    assert abs(reference(run.parameters, 0) - 10.4506) < 5e-5 and abs(reference(run.parameters, 1) - 5.5735) < 5e-5
    price = run.tables.price.iloc[-1]
    assert abs(price["price"] - reference(run.parameters)) < 5 * price["standard_error"]
    other = run.parameters | {"rate": "result = 0.02 + 0.01 * t"}
    assert reference(other) is None
    asset = run.parameters["assets"][0] | {"heston": {"v": 0.04}}
    assert reference(run.parameters | {"assets": [asset]}) is None
    payoff = run.parameters["payoffs"][0] | {"$type": "american"}
    assert reference(run.parameters | {"payoffs": [payoff]}) is None
