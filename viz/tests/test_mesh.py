"""Fields, grains and prices, of real runs and in files of the layout that docs/outputs.md of sim describes."""

import numpy as np
import pytest
import write
from matplotlib.figure import Figure

import simview
from simview.figure import draw, table_panels
from simview.grains import Grains, outlines
from simview.look import Look
from simview.maps import Map
from simview.options import Column, _draw_column, _names, columns, reference, swept
from simview.panels import haff, power, spectrum
from simview.pictures import pictures
from simview.runs import open as simview_open
from simview.snapshot import Snapshot


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


def test_mask(tmp_path):
    """The cells of bodies: of the first snapshot where they rest, of each one where one moves; pictures of moving ones are by it."""
    import json

    from simview.flow import Flow

    y, x = np.meshgrid(np.arange(12) + 0.5, np.arange(16) + 0.5, indexing="ij")
    for kind, body in (("rest", {"$type": "stl"}), ("move", {"$type": "ball", "point": [5, 6, 0], "radius": 2, "velocity": [1, 0, 0]})):
        folder = tmp_path / kind / "snap"
        folder.mkdir(parents=True)
        masks = [((x - 5 - (i if kind == "move" else 0)) ** 2 + (y - 6) ** 2 < 4).astype("u1") for i in range(3)]
        for i, mask in enumerate(masks):
            file, group = write.begin(folder / f"snap_{i:08d}.h5", i, 1.0 * i, meshes=True)
            flow = {"x": 1.0 - mask, "y": 0 * x}
            write.mesh(group, "velocity", flow, (1.0, 1.0), (1, 0, -1))
            if kind == "move" or i == 0:
                write.mesh(group, "solid", mask, (1.0, 1.0))
            del file["provenance/parameters"]
            file.create_dataset("provenance/parameters", data=np.bytes_(json.dumps({"bodies": [body]})))
            file.close()
        run = simview.open(tmp_path / kind)
        for shot, mask in zip(run, masks):
            assert np.array_equal(np.asarray(shot.solid), mask)
        picture = Flow(list(run), Look(), "velocity")
        assert np.array_equal(picture.solid(run[2]), masks[2] == 1)  # at a step at which news has not crossed the box
    assert simview.open(tmp_path / "rest")[1].fields == ("velocity/x", "velocity/y")


def test_power(gray_scott):
    """A cosine of three periods holds all of its power, 1/2, in shell 3."""
    k, p = power(np.asarray(simview.open(gray_scott)[0].field("u")), (1, 1))
    # An FFT of N = 768 values is good to a few eps log2(N) of the largest amplitude, which is 1.
    assert k[2] == 3 and abs(p[2] - 0.5) < 1e-13 and p.sum() - p[2] < 1e-13


@pytest.mark.parametrize("n, h", (((16, 64), (1.0, 1.0)), ((32, 32), (0.5, 2.0))))
def test_power_of_a_long_box(tmp_path, n, h):
    """On a box of 16 x 64 waves of length 8 along either side share a shell, 8; the label says of which side, as far as all are resolved."""
    from matplotlib.figure import Figure

    y, x = np.meshgrid(*(step * np.arange(count) for count, step in zip(n, h)), indexing="ij")
    for along in (x, y):
        k, p = power(np.cos(2 * np.pi * along / 8), (16, 64))
        # As in test_power: eps log2(1024) of amplitudes of 1.
        assert k[7] == 8 and abs(p[7] - 0.5) < 1e-13 and p.sum() - p[7] < 1e-13
    (tmp_path / "snap").mkdir()
    file, group = write.begin(tmp_path / "snap" / "snap_00000000.h5", 0, 0, meshes=True)
    with file:
        write.mesh(group, "u", np.cos(2 * np.pi * y / 8), h)
    axes = Figure().add_subplot()
    spectrum(simview.open(tmp_path)[0], axes, ["u"])
    shells = axes.lines[0].get_xdata()
    assert axes.get_xlabel().endswith("L: longest side") and shells[-1] == np.ceil(32 / h[1]) - 1  # the coarser side's Nyquist


def test_power_of_a_constant(tmp_path):
    """A field that is constant has no power, which the panel says in place of a curve."""
    from matplotlib.figure import Figure

    (tmp_path / "snap").mkdir()
    file, group = write.begin(tmp_path / "snap" / "snap_00000000.h5", 0, 0, meshes=True)
    with file:
        write.mesh(group, "u", np.full((16, 16), 0.75), (1.0, 1.0))
    axes = Figure().add_subplot()
    spectrum(simview.open(tmp_path)[0], axes, ["u"])
    assert [text.get_text() for text in axes.texts] == ["no power: constant"]
    axes.figure.draw_without_rendering()


def test_film_limits(tmp_path, monkeypatch):
    """No frame of a film leaves its limits, which are those of all its frames, and a slice's film says which slice."""
    import simview.movie as movie

    (tmp_path / "snap").mkdir()
    for i in range(31):
        file, group = write.begin(tmp_path / "snap" / f"snap_{i:08d}.h5", i, i, meshes=True)
        with file:
            values = np.linspace(0, 1, 8) * {13: 5, 17: -3}.get(i, 1)
            write.mesh(group, "u", values, (1.0,))
            write.mesh(group, "w", values + 10 * np.ones((8, 8)), (1.0, 1.0))
    made = []

    def frames(screen, snapshots, workers):
        made.extend(screen[0])
        yield from ()

    monkeypatch.setattr(movie, "_frames", frames)
    movie.movie(simview_open(tmp_path), tmp_path / "u.gif")
    assert [(picture.low, picture.high) for picture in made] == [(-5.0, 5.0), (7.0, 15.0)]  # of both signs: about zero
    made.clear()
    movie.movie(simview_open(tmp_path), tmp_path / "u.gif", every=5)  # neither 13 nor 17 is in it
    assert [(picture.low, picture.high) for picture in made] == [(0.0, 1.0), (10.0, 11.0)]


def test_film_of_a_slice(plate, tmp_path, monkeypatch):
    import simview.movie as movie

    titles = []
    monkeypatch.setattr(movie, "_frames", lambda screen, *_: titles.append(screen[1]) or (None for _ in ()))
    movie.movie(simview_open(f"{plate}/slices/thin"), tmp_path / "u.gif")
    movie.movie(simview_open(plate), tmp_path / "u.gif")
    assert titles == ["two fields on a plate, slice thin", "two fields on a plate"]


@pytest.mark.long
def test_cut_with_contrast(tmp_path):
    """A grid on three axes is cut where its fields differ from place to place; where all planes tell as much, across z."""
    (tmp_path / "snap").mkdir()
    z, y, x = np.meshgrid(*(np.arange(8.0),) * 3, indexing="ij")
    file, group = write.begin(tmp_path / "snap" / "snap_00000000.h5", 0, 0, meshes=True)
    with file:
        write.mesh(group, "u", x + y + 0.5 * z, (1.0,) * 3)
        write.mesh(group, "v", 1.0 * (z > 3), (1.0,) * 3)
        write.mesh(group, "w", x + y + z, (1.0,) * 3)
    run = simview.open(tmp_path)
    shown, _ = _drawn(draw(run, look=Look(fields=["u", "v"], pixels=60), only=["picture"]))
    assert ["surface" in axes.get_title() for axes in shown] == [True, False] * 2
    maps = shown[1::2]
    assert all("y = 4.5" in axes.get_title() and axes.get_ylabel() == "z" for axes in maps) and len(maps) == 2
    assert np.array_equal(maps[1].images[0].get_array(), np.asarray(run[0].field("v"))[:, 4, :])
    for look, title in ((Look(fields=["w"], pixels=60), "z = 4.5"), (Look(axes="yz", pixels=60), "x = 4.5"), (Look(axes="xy", pixels=60), "z = 4.5")):
        maps, _ = _drawn(draw(run, look=look, only=["picture"]))
        assert maps and all(title in axes.get_title() or "surface" in axes.get_title() for axes in maps)
        assert any(title in axes.get_title() for axes in maps)
    maps, _ = _drawn(draw(run, look=Look(fields=["v"], axes="xy", at=1.4), only=["picture"]))
    assert [axes.get_title() for axes in maps] == ["t = 0, z = 1.5"]
    with pytest.raises(simview.UsageError, match="at: 9 is outside the grid, 0 to 8 along z"):
        draw(run, look=Look(fields=["v"], axes="xy", at=9))
    with pytest.raises(simview.UsageError, match="axes 'xx'"):
        draw(run, look=Look(axes="xx"))


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
    assert inside[0].field("u").cut == {"y": 0.53125} and inside[0].field("u").to_xarray().attrs["cut"] == {"y": 0.53125}
    assert run[0].field("u").cut == run.slices["thin"][0].field("u").cut == {}
    assert "slice thin" in simview("summary", plate)[1]
    assert simview("plot", f"{plate}/slices/thin", "--dpi", "60")[0] == 0 and (tmp_path / "s_thin.png").exists()


def _drawn(figure):
    """The figure as it is laid out; its pictures, and its other axes."""
    figure.draw_without_rendering()
    return [axes for axes in figure.axes if axes.images], [axes for axes in figure.axes if not axes.images]


@pytest.mark.long
def test_moments(plate):
    """The first, an early and the last snapshot of each field, with the same colours; one where a time is chosen."""
    run = simview_open(plate)
    maps, _ = _drawn(draw(run))
    assert [axes.get_title() for axes in maps] == ["t = 0 s", "t = 0.5 s", "t = 1 s"] * 2
    for row in maps[:3], maps[3:]:
        assert len({axes.images[0].get_clim() for axes in row}) == 1 and [len(axes.child_axes) for axes in row] == [0, 0, 1]
        for axes, snapshot in zip(row, (run[0], run[2], run[4])):
            field = "u" if row is maps[:3] or axes in maps[:3] else "v"
            assert np.array_equal(axes.images[0].get_array(), np.asarray(snapshot.field(field)))
    maps, _ = _drawn(draw(run, snapshot=run[2]))
    assert [axes.get_title() for axes in maps] == ["t = 0.5 s"] * 2


@pytest.mark.long
def test_slices_say_where(block, plate):
    """A plane says where it lies, in the middle of its cells, and panels of the whole box say so."""
    run = simview_open(block)
    for name, title in (("west", "x = 0.05"), ("floor", "z = 0.45"), ("thin", "z = 1.05")):
        figure = draw(run.slices[name])
        maps, _ = _drawn(figure)
        assert maps and all(axes.get_title().endswith(title) for axes in maps), [axes.get_title() for axes in maps]
        assert figure._suptitle.get_text() == f"slices of a block, slice {name}"
    line = draw(run.slices["line"], only=["picture"]).axes[0]
    assert line.get_title() == "x = 0.55, z = 1.95"
    labels = [axes.get_ylabel() for axes in _drawn(draw(simview_open(f"{plate}/slices/thin")))[1]]
    assert any(label.endswith("of the whole box") for label in labels), labels
    assert not any("whole box" in axes.get_ylabel() for axes in draw(simview_open(plate)).axes)


@pytest.mark.parametrize("width", [pytest.param("page", marks=pytest.mark.long), "column"])
def test_nothing_cut_or_covered(plate, block, width):
    """Colour bars are whole, as long as their picture and clear of its labels, on long and square grids; legends lie on no curve."""
    paths = (plate, block) if width == "page" else (f"{plate}/slices/thin", f"{block}/slices/west")  # a layout takes seconds
    for run in map(simview_open, paths):
        figure = draw(run, look=Look(pixels=60), width=width)
        maps, others = _drawn(figure)
        bars = [(axes, bar) for axes in maps for bar in axes.child_axes]
        assert bars
        whole = figure.bbox.padded(1)  # a pixel for the rounding of the layout
        for axes, bar in bars:
            box, picture = bar.get_tightbbox(), axes.get_window_extent()
            assert whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1, (run, box, whole)
            side = 1 if width == "page" else 0
            length = (picture.width, picture.height)[side]
            assert 0.9 * length < (bar.get_window_extent().width, bar.get_window_extent().height)[side] < 1.001 * length
            assert not bar.get_tightbbox().overlaps(axes.xaxis.label.get_window_extent())
        for axes in others:
            if axes.get_legend():
                assert axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1 - 1


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
    assert names[call] == {"price", "convergence", "estimates", "prices", "errors", "deltas", "delta_errors"}
    assert {"energy", "flow.inserted", "flow.inserted_mass", "temperature"} <= names[grains]
    for folder, panels in ((plate, 2 * 3 + 2), (grains, 1 + 2), (call, 1)):  # of both fields three moments
        figure = draw(open(folder))  # a colour bar is an inset and does not count
        assert len(figure.axes) == panels, [axes.get_ylabel() for axes in figure.axes]
    assert simview("plot", call, "-o", "c.png", "--only", "price,estimates", "--dpi", "60")[0] == 0


def test_budgets(scenario_run):
    """Transfers have both signs: lines over the bins, from 0 on."""
    run = simview.open(scenario_run("""
        return sim.diffusion {
          grid = { n = {32}, size = {2 * math.pi} }, spectrum = 6, transfer = 6,
          fields = { { name = "u", D = 0.1, initial = function(x) return math.sin(x) end } },
          rates = function(u, u_x) return -u * u_x end, forcing = { fields = "u", k = {1, 1}, power = 0.1 },
          integrate = { scheme = "etdrk4", dt = 1/32, t_end = 1, dealias = true }, output = { tables = "every 0.5" },
        }"""))
    assert set(table_panels(run)) == {"fields", "spectra", "transfer", "dissipation", "forcing"}
    figure = draw(run, only=["transfer", "dissipation"])
    for axes, table in zip(figure.axes, ("transfer", "dissipation")):
        (line,) = (line for line in axes.lines if line.get_marker() == "o")
        frame = run.tables[table]
        assert np.array_equal(line.get_xdata(), range(6))
        assert np.allclose(line.get_ydata(), [frame[f"u_{k}"].iloc[1:].mean() for k in range(6)], rtol=1e-14)
    assert figure.axes[0].lines[1].get_ydata().min() < 0 < figure.axes[0].lines[1].get_ydata().max()


def test_budgets_of_a_velocity(scenario_run):
    """Enstrophy by bins, structure functions and Lyapunov exponents have panels of their own."""
    run = simview.open(scenario_run("""
        return sim.diffusion {
          grid = { n = {16, 16}, size = {6, 6} }, solenoidal = "u, v", enstrophy = 5, structure = { separations = 2 },
          fields = { { name = "u", D = 0.1, initial = function(y) return math.sin(math.pi*y/3) end }, { name = "v", D = 0.1, noise = 0.1 } },
          rates = function(u, v, u_x, u_y, v_x, v_y) return -u*u_x - v*u_y, -u*v_x - v*v_y end, lyapunov = { every = 1/4 },
          integrate = { scheme = "etdrk4", dt = 1/32, t_end = 1, dealias = true }, output = { tables = "every 0.5" },
        }"""))
    panels = set(table_panels(run))
    assert {"enstrophy", "enstrophy_transfer", "enstrophy_dissipation"} <= panels
    assert any(name.startswith("structure") for name in panels) and any(name.startswith("lyapunov") for name in panels)
    figure = draw(run, only=["enstrophy_transfer"])
    assert figure.axes[0].get_ylabel().startswith("enstrophy transfer")
    (line,) = (line for line in figure.axes[0].lines if line.get_marker() == "o")
    assert np.array_equal(line.get_xdata(), range(5))
    draw(run)


def test_structure(scenario_run):
    """Structure functions are drawn over the distance, in cells of the grid; of one sine wave both kinds are known."""
    n, size = 16, 4.0
    run = simview.open(scenario_run(f"""
        return sim.diffusion {{
          grid = {{ n = {{{n}, {n}}}, size = {{{size}, {size}}} }}, solenoidal = "u, v", structure = {{ order = 2, separations = 3 }},
          fields = {{ {{ name = "u", D = 0.01, initial = function(y) return math.sin(math.pi*y/2) end }},
                     {{ name = "v", D = 0.01, initial = function(x) return math.sin(math.pi*x/2) end }} }},
          rates = function(u, v) return 0*u, 0*v end,
          integrate = {{ scheme = "etdrk4", dt = 1, t_end = 1 }}, output = {{ tables = "ends" }},
        }}"""))
    (axes,) = draw(run, only=["structure"]).axes
    lines = {line.get_label(): line for line in axes.lines}
    assert axes.get_xlabel() == "r" and axes.get_ylabel().startswith("structure function of order 2")
    r = np.array([1, 2, 4]) * size / n
    wave = np.exp(-2 * 0.01 * (np.pi / 2) ** 2)  # the square of what is left at t = 1
    assert np.allclose(lines["across r"].get_xdata(), r) and axes.get_xscale() == "log"
    assert np.allclose(lines["across r"].get_ydata(), 2 * np.sin(np.pi * r / 4) ** 2 * wave, rtol=1e-12)
    assert np.allclose(lines["along r"].get_ydata(), 0, atol=1e-25)


def test_spectra_beside_transfer(scenario_run):
    """Of a run with many panels the figure has the spectra and the transfer, by the same wave numbers."""
    run = simview.open(scenario_run("""
        return sim.diffusion {
          grid = { n = {32}, size = {2 * math.pi} }, spectrum = 6, transfer = 6,
          fields = { { name = "u", D = 0.1, initial = function(x) return math.sin(x) end } },
          rates = function(u, u_x) return -u * u_x end, observe = { a = function(u) return u end, b = function(u) return u^2 end },
          integrate = { scheme = "etdrk4", dt = 1/32, t_end = 1, dealias = true }, output = { tables = "every 0.5" },
        }"""))
    labels = [axes.get_ylabel() for axes in draw(run).axes]
    assert labels[-3] == "a" and labels[-2].startswith("power") and labels[-1].startswith("transfer")


def test_fields_of_unlike_size(scenario_run):
    """The larger of two fields is drawn over a power of ten, so that the smaller one is no line at zero."""
    run = simview.open(scenario_run("""
        return sim.diffusion {
          grid = { n = {32}, size = {1} }, fields = {
            { name = "T", D = 1e-3, initial = function(x) return 0.5 + 0.5*math.cos(2*math.pi*x) end },
            { name = "w", D = 1e-3, initial = function(x) return 600*math.cos(2*math.pi*x) end } },
          integrate = { t_end = 1 }, output = { tables = "every 0.25" },
        }"""))
    (axes,) = draw(run, only=["fields"]).axes
    lines = {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}
    assert set(lines) == {"T", "w / 1000"}
    frame = run.tables.fields
    drawn = [line.get_ydata() for line in axes.lines]
    assert any(np.allclose(values, frame["w_max"] / 1000, rtol=1e-14) for values in drawn)
    assert any(np.allclose(values, frame["T_max"], rtol=1e-14) for values in drawn)


@pytest.mark.parametrize("low, colours", [(-0.11, "cividis"), (-0.5, "RdBu_r")])
def test_undershoot(tmp_path, low, colours):
    """A concentration of 0 to 1 that undershoots a little has one-sided colours, and a field of both signs has diverging ones."""
    file, group = write.begin(tmp_path / "snap_00000000.h5", 0, 0.0, meshes=True)
    write.mesh(group, "c", np.linspace(low, 1.08, 64).reshape(8, 8), (1.0, 1.0))
    file.close()
    shown = Map([Snapshot(tmp_path / "snap_00000000.h5")], Look(), "c")
    shown.draw(Figure().add_subplot())
    assert shown.image.get_cmap().name == colours


ENSEMBLE = """
return sim.diffusion { members = 3, grid = { n = {16, 12}, size = {4, 3} },
  fields = { { name = "u", D = 1e-3, initial = function(x, y, member) return member * math.cos(math.pi*x/2) end } },
  integrate = { t_end = 1 },
  output = { snapshots = "ends", tables = "ends", slices = { { name = "second", z = 2, when = "ends" } } } }
"""


def test_ensemble(scenario_run):
    """A picture of an ensemble is one member in x and y, the first or the one that is asked for; its spectrum is the members' mean."""
    folder = scenario_run(ENSEMBLE)
    run = simview.open(folder)
    field = run[0].field("u")
    assert field.dims == ("member", "y", "x") and field.bounds["member"] == (0.5, 3.5)
    assert np.array_equal(field.to_xarray()["member"], [1, 2, 3]) and "units" not in field.to_xarray()["member"].attrs
    for at, member in ((None, 1), (3, 3)):
        (shown,) = pictures([run[0]], Look(at=at))
        assert (shown.dims(field), shown.values(run[0])[1]) == (["y", "x"], f"member = {member}")
        assert np.array_equal(shown.values(run[0])[0], field[member - 1])
        assert np.allclose(field[member - 1][0], member * np.cos(np.pi * field.coords["x"] / 2), rtol=1e-12)
    (line,) = (line for line in draw(run, snapshot=run[0], only=["spectrum"]).axes[0].lines)
    assert np.nanmax(line.get_ydata()) == pytest.approx((1 + 4 + 9) / 3 / 2, rel=1e-12)  # the mean square of cosines of 1, 2 and 3
    second = simview.open(folder / "slices" / "second")[0].field("u")
    assert second.dims == ("y", "x") and second.cut == {"member": 2.0} and np.array_equal(second[...], field[1])


def test_ensemble_along_a_line(scenario_run):
    """Members of grids of one axis stand one above the other, at their numbers."""
    run = simview.open(scenario_run("""
        return sim.diffusion { members = 5, grid = { n = {16}, size = {40} },
          fields = { { name = "u", D = 1, initial = function(member) return member end } },
          integrate = { t_end = 1 }, output = { snapshots = "ends", tables = "ends" } }"""))
    axes = draw(run, only=["picture"]).axes[0]
    assert axes.get_ylabel() == "member" and axes.get_ylim() == (0.5, 5.5) and axes.get_aspect() == "auto"
    assert np.array_equal(axes.images[0].get_array()[:, 0], [1, 2, 3, 4, 5])


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


@pytest.mark.long
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


@pytest.mark.parametrize(
    ("results", "names", "of_delta"),
    [("x", ["payoff", "European put 90"], "delta of the payoff"), ("x, 2 * x", ["result 1 of payoff", "result 2 of payoff", "European put 90"], "delta of result 1 of payoff")],
)
def test_names_of_functions(scenario_run, results, names, of_delta):
    """Results of the scenario's own function have the names that messages of sim give them."""
    text = (
        "return sim.option { assets = { { spot = 100, vol = 0.2 } }, rate = 0.05, maturity = 1, steps = 1, sampling = { paths = 4096 },\n"
        f"  payoff = function(path) local x = sim.max(path.last[1] - 100, 0) return {results} end,\n"
        "  payoffs = { sim.european { strike = 90, type = 'put' } }, greeks = { delta = true } }\n"
    )
    run = simview.open(scenario_run(text))
    assert _names(run) == names
    assert swept([run], "price.delta")[0] == of_delta
    assert swept([run], f"prices.payoff_{len(names)}")[0] == "price of the European put 90"


def test_estimates(call, option):
    """The numbers of the terminal: values with bars of one standard error, the exact ones beside them, '?' where nobody knows."""
    run = simview.open(call)
    price, delta = columns(run)
    assert (price.name, delta.name) == ("price", "delta")
    assert price.values.tolist() == run.tables.prices.iloc[-1][["payoff_1", "payoff_2"]].tolist()
    assert price.errors.tolist() == run.tables.errors.iloc[-1][["payoff_1", "payoff_2"]].tolist()
    assert delta.errors.tolist() == run.tables.delta_errors.iloc[-1][["payoff_1", "payoff_2"]].tolist()
    assert np.abs(price.exact - [10.4506, 5.5735]).max() < 5e-5 and np.abs(delta.exact - [0.6368, -0.3632]).max() < 5e-5
    figure = draw(run)
    parts = figure.axes[0].child_axes
    assert [part.get_title() for part in parts] == ["price", "delta", "off, in standard\nerrors of the price"]
    (bars,) = parts[0].collections[1].get_segments(), *()
    ends = [[value - error, value + error] for value, error in zip(price.values, price.errors)]
    assert np.allclose([segment[:, 0] for segment in bars], ends, rtol=1e-14)
    off = next(line for line in parts[2].lines if line.get_marker() == "D").get_xdata()
    assert np.allclose(off, (price.values - price.exact) / price.errors, rtol=1e-14)
    unknown = Column("price", np.array([0.0, 1.5]), np.array([np.nan, 0.25]), np.full(2, np.nan))
    axes = draw(run).axes[0]
    _draw_column(axes, unknown, 2.0)
    assert [note.get_text() for note in axes.texts] == ["0", "± ?", "1.50", "± 0.25"]
    first, second = draw(simview.open(option)).axes  # converges: the price with bars, and how its error falls
    assert first.get_ylabel() == "price ± one standard error" and second.get_ylabel() == "standard error of the price"
    held = simview.open(option).tables.price
    assert len(first.containers[0].lines[0].get_xdata()) == (held["standard_error"] <= 10 * held["standard_error"].iloc[-1]).sum()


def test_reference(call):
    """Hull's textbook numbers to the four digits of its tables, and where there is no exact price none is given."""
    run = simview.open(call)
    assert abs(reference(run.parameters, 0) - 10.4506) < 5e-5 and abs(reference(run.parameters, 1) - 5.5735) < 5e-5
    price = run.tables.price.iloc[-1]
    assert abs(price["price"] - reference(run.parameters)) < 5 * price["standard_error"]
    for greek, known in (("delta", 0.6368), ("gamma", 0.01876), ("vega", 37.524), ("rho", 53.2325), ("theta", -6.4140)):
        assert abs(reference(run.parameters, 0, greek) - known) < 1e-4
    assert reference(run.parameters, 0, "delta_2") is None and reference(run.parameters, 2) is None
    other = run.parameters | {"rate": "result = 0.02 + 0.01 * t"}
    assert reference(other) is None
    for key in ({"heston": {"v": 0.04}}, {"currency": 2}):
        assert reference(run.parameters | {"assets": [run.parameters["assets"][0] | key]}) is None
    payoff = run.parameters["payoffs"][0] | {"$type": "american"}
    assert reference(run.parameters | {"payoffs": [payoff]}) is None
