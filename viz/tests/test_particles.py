"""Pictures of particles: what sets the frame, which grains are drawn, what titles say; and legends beside curves."""

import json

import numpy as np
import pytest
import write

import simview
from simview.bodies import Bodies, Density
from simview.figure import draw, table_panels
from simview.grains import Grains
from simview.look import Look
from simview.pictures import pictures


def snapshot(tmp_path, parts, parameters=None):
    """A run of one snapshot. parts: by species (positions [3, n], radius or None)."""
    (tmp_path / "snap").mkdir(exist_ok=True)
    path = tmp_path / "snap" / "snap_00000000.h5"
    file, group = write.begin(path, 0, 0, particles=True)
    with file:
        for name, (position, radius) in parts.items():
            write.species(group, name, position, radius=radius)
        if parameters:
            del file["provenance/parameters"]
            file["provenance/parameters"] = np.bytes_(json.dumps(parameters))
    return simview.open(tmp_path)


def cube(n, seed=1):
    """Positions in a cube of side 2."""
    return np.random.default_rng(seed).uniform(-1, 1, (3, n))


def test_frame(tmp_path):
    """Two of 300 that flew away do not set the frame, and the title counts them; of four every one is in it."""
    from matplotlib.figure import Figure

    far = cube(300)
    far[0, :2] = 40, -50
    run = snapshot(tmp_path, {"stars": (far, None)})
    picture = Bodies(run[:], Look())
    assert picture.half < 3
    axes = Figure().add_subplot()
    picture.draw(axes)
    picture.show(run[0])
    assert axes.get_title() == "t = 0, 300 bodies, 2 outside the frame"
    run = snapshot(tmp_path, {"stars": (far[:, :4], None)})
    assert Bodies(simview.open(tmp_path)[:], Look()).half > 40


def test_density_counts(tmp_path):
    """The title of a density counts the bodies outside its frame."""
    from matplotlib.figure import Figure

    far = cube(3000)
    far[0, :7] = 40
    run = snapshot(tmp_path, {"stars": (far, None)})
    picture = Density(run[:], Look(size=2.0, pixels=64))
    axes = Figure().add_subplot()
    picture.draw(axes)
    picture.show(run[0])
    assert axes.get_title() == "t = 0, 3000 bodies, 7 outside the frame"
    run = snapshot(tmp_path, {"stars": (far, None), "stars_halo": (cube(6000), None)})
    for width in ("page", "column"):
        figure = draw(run, look=Look(size=2.0, pixels=64), width=width)
        figure.draw_without_rendering()
        title = figure.axes[0].title
        assert title.get_text().replace("\n", " ") == "t = 0, 3000 of 9000 bodies (halos not drawn), 7 outside the frame"
        assert 0 <= title.get_window_extent().x0 and title.get_window_extent().x1 <= figure.bbox.x1


@pytest.mark.parametrize("width", ("page", "column"))
@pytest.mark.parametrize("name", ("globular cluster number {} of the outer halo", "unbroken" * 15 + "{}", "s{}"))
def test_many_species(tmp_path, width, name, recwarn):
    """The legend of many species with long names, and a long title, lie inside the figure and over nothing."""
    run = snapshot(tmp_path, {name.format(i): (cube(4, i), None) for i in range(14)})
    (tmp_path / "status.json").write_text("{}")
    run.provenance["title"] = "A title that tells at length what this run of many clusters is about " * 3
    figure = draw(run, width=width)
    figure.draw_without_rendering()
    assert not [str(warning.message) for warning in recwarn if "layout" in str(warning.message)]
    (axes,) = figure.axes
    at, label = axes.get_legend().get_window_extent(), axes.xaxis.label.get_window_extent()
    assert 0 <= at.x0 and at.x1 <= figure.bbox.x1 and 0 <= at.y0 and at.y1 <= label.y0
    title = figure._suptitle.get_window_extent()
    assert 0 <= title.x0 and title.x1 <= figure.bbox.x1 and title.y0 >= axes.title.get_window_extent().y1
    assert axes.get_window_extent().height > 0.25 * figure.bbox.height


def test_halos(tmp_path):
    """A title says how many bodies are drawn, of how many, and why not all."""
    parts = {"disk": (cube(3000), None), "disk_halo": (cube(6000), None)}
    first = snapshot(tmp_path, parts)[0]
    assert Density([first], Look()).numbers(first) == "3000 of 9000 bodies (halos not drawn)"
    assert Density([first], Look(species=["disk_halo"])).numbers(first) == "6000 of 9000 bodies"
    assert Density([first], Look(species=["disk", "disk_halo"])).numbers(first) == "9000 bodies"


@pytest.mark.parametrize("gravity", (None, [0, 0, 0], [0, 0, -9.81]))
def test_gas(tmp_path, gravity):
    """Of grains that fill a box and lie before each other a slab is drawn, and the title says which; a heap is whole."""
    from matplotlib.figure import Figure

    position = np.random.default_rng(1).random((3, 1000))
    run = snapshot(tmp_path, {"grains": (position, 0.03)}, {"gravity": gravity})
    picture = Grains(run[:], Look(axes="xy"))
    assert picture.cut == (gravity is None or not any(gravity))
    if not picture.cut:
        return
    middle = (position[2].min() + position[2].max()) / 2
    kept = (position[2] <= middle) & (position[2] >= middle - 0.09)
    places, radius, _ = picture.disks(run[0])
    assert len(radius) == kept.sum() and np.array_equal(np.sort(places[:, 0]), np.sort(position[0, kept]))
    axes = Figure().add_subplot()
    picture.draw(axes)
    picture.show(run[0])
    said = f"t = 0, {kept.sum()} of 1000 grains, at {middle - 0.09:.3g} < z < {middle:.3g}"
    assert axes.get_title() == said
    few = snapshot(tmp_path, {"grains": (position[:, :50], 0.03)}, {"gravity": gravity})
    assert not Grains(few[:], Look()).cut


def test_inner(tmp_path):
    """Bodies that keep far inside the others have a picture of their own."""
    (tmp_path / "snap").mkdir()
    radii = np.array([0, 0.4, 0.7, 1, 1.5, 5, 10, 20, 30])
    for i in range(40):
        file, group = write.begin(tmp_path / "snap" / f"snap_{i:08d}.h5", i, i, particles=True)
        angle = 0.9 * i + radii
        turn = np.array([np.cos(angle), np.sin(angle), 0 * angle])
        with file:
            write.species(group, "planets", radii * turn, velocity=0.9 * radii * np.array([-turn[1], turn[0], turn[2]]))
    run = simview.open(tmp_path)
    whole, inner = pictures([run[-1]], Look(), run[:])
    assert whole.half == pytest.approx(0.54 * 60, rel=0.02) and inner.half == pytest.approx(1.65, rel=0.02)
    assert len(pictures([run[-1]], Look(size=2.0), run[:])) == 1  # who gives a size has one picture


def test_columns(clusters, tmp_path):
    """Columns of one unit share an axis; those alone have their own; energies without an error have no panel."""
    time = np.arange(5.0)
    about = {"step": np.arange(5), "time": time}
    (tmp_path / "snap").mkdir()
    path = tmp_path / "tables.h5"
    write.table(path, "energy", {**about, "error": np.full(5, np.nan), "virial_ratio": np.ones(5)})
    write.table(path, "observe", {**about, "length": time + 1, "heat": time / 10}, display={"length": "alone", "heat": "alone"})
    write.table(path, "flow", {**about, "grains": time, "mass": time / 9}, {"mass": "mass"})
    run = simview.open(tmp_path)
    panels = table_panels(run)
    assert list(panels) == ["virial", "flow.grains", "flow.mass", "observe.length", "observe.heat"]
    assert [axes.get_ylabel() for axes in draw(run).axes] == ["about grains", "length", "heat"]
    assert [axes.get_ylabel() for axes in draw(run, only=["observe", "flow"]).axes] == ["length", "heat", "about grains", "about mass"]


def test_labels(tmp_path):
    """An axis says what its columns are: what the first clauses of their descriptions have in common, else their names, else the table."""
    cases = {  # descriptions by name, and the label
        "fluid": ({"disk_fx": "force of the fluid on the body", "disk_fy": "force of the fluid on the body"}, "force of the fluid on the body"),
        "levels": ({"level_0": "bodies with steps of dt / 2^0", "level_1": "bodies with steps of dt / 2^1"}, "bodies with steps of dt"),
        "rings": ({"dispersion_y": "the same, y", "dispersion_z": "the same, z"}, "dispersion"),
        "walls": ({"wall1_force_x": "the same, x", "wall2_force_x": "force of the grains on the wall"}, "force x"),
        "sums": ({"kinetic": "kinetic energy (of all); always"}, "kinetic energy"),
        "force_error": ({"median": "|da| / |a|", "tail": "the same"}, "force error"),
        "observe": ({"width": "the function width of `observe`"}, "width"),
        "momentum": ({"m_x": "total momentum, x", "m_y": "total momentum, y"}, "total momentum"),
        "heat": ({"flux_low": "heat that enters through a side, by time and heat capacity"}, "heat that enters through a side"),
        "orbits": ({"inc_a": "inclination, degrees, 0 to 180", "inc_b": "inclination, degrees, 0 to 180"}, "inclination, degrees, 0 to 180"),
        "long": ({"some_value": "far too many words for a label that stands beside an axis"}, "some_value"),
    }
    time = np.arange(5.0)
    for table, (told, _) in cases.items():
        columns = {"step": np.arange(5), "time": time, **{name: time + i for i, name in enumerate(told)}}
        write.table(tmp_path / "tables.h5", table, columns, told=told)
    # one component of a vector has its own name
    write.table(tmp_path / "tables.h5", "alone", {"step": np.arange(5), "time": time, "p_x": time, "p_y": time}, {"p_y": "length"},
                told={"p_x": "momentum", "p_y": "momentum"})  # fmt: skip
    # "kinetic" is a column of its own, which is 0 and not drawn
    write.table(tmp_path / "tables.h5", "energy", {"step": np.arange(5), "time": time, "kinetic": 0 * time, "rotational": time, "total": time + 1},
                told={"kinetic": "of the motion", "rotational": "kinetic energy of rotation", "total": "kinetic + rotational"})  # fmt: skip
    run = simview.open(tmp_path)
    for table, (_, label) in cases.items():
        assert [axes.get_ylabel() for axes in draw(run, only=[table]).axes] == [label], table
    assert [axes.get_ylabel() for axes in draw(run, only=["alone"]).axes] == ["p_x", "p_y"]
    assert [axes.get_ylabel() for axes in draw(run, only=["energy"]).axes] == ["energy"]


def test_display(tmp_path):
    """The attribute `display` of a column says on which axes it is drawn, and how; a number is not drawn."""
    time = np.arange(1.0, 6)
    columns = {"step": np.arange(5), "time": time, "left": time, "right": 2 * time, "size": 10.0**time, "drift": -(0.1**time),
               "share": 1 / time, "count": time, "mean": -time}  # fmt: skip
    display = {"size": "log", "drift": "error", "share": "ratio", "count": "number", "mean": "alone"}
    write.table(tmp_path / "tables.h5", "own", columns, display=display)
    run = simview.open(tmp_path)
    assert run.tables.own.attrs["display"]["size"] == "log" and run.tables.own.attrs["display"]["left"] == "line"
    assert list(table_panels(run)) == ["own.left", "own.size", "own.drift", "own.share", "own.mean"]
    left, size, drift, share, mean = draw(run, only=["own"]).axes
    assert [axes.get_yscale() for axes in (left, size, drift, share, mean)] == ["linear", "log", "log", "linear", "linear"]
    assert [len(axes.lines) for axes in (left, size, drift, share, mean)] == [2, 1, 1, 2, 1]
    assert (drift.lines[0].get_ydata() > 0).all() and drift.get_ylabel() == "|about drift|"
    assert share.lines[0].get_ydata() == [1, 1]


def test_several_at_zero(tmp_path):
    """Several curves that lie on each other about zero, beside larger ones, are left out; a single one is told."""
    from matplotlib.figure import Figure

    from simview.panels import columns

    write.table(tmp_path / "tables.h5", "bodies", {"step": np.arange(9), "time": np.arange(9.0), "blade": np.arange(9.0),
                                                   **{name: np.full(9, 0.1 + 0.01 * k) for k, name in enumerate(("west", "east"))}})
    run = snapshot(tmp_path, {"stars": (cube(3), None)})
    for names, wanted in ((["blade", "west", "east"], ["blade"]), (["blade", "west"], ["blade", "west"])):
        axes = Figure().add_subplot()
        columns(run, axes, "bodies", names)
        assert [line.get_label() for line in axes.lines] == wanted


def test_long_names(tmp_path):
    """The label of an axis is no longer than the axis."""
    time = np.arange(5.0)
    (tmp_path / "snap").mkdir()
    long = "concentration_of_the_activator_in_the_outer_layer"
    columns = {f"{long}_{what}": time * factor for what, factor in (("min", 1), ("mean", 2), ("max", 3))}
    write.table(tmp_path / "tables.h5", "fields", {"step": np.arange(5), "time": time, **columns})
    figure = draw(simview.open(tmp_path))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    label = axes.yaxis.label.get_window_extent()
    assert 0 <= label.y0 and label.y1 <= figure.bbox.y1 and long in axes.get_ylabel().replace("\n", "")


def test_columns_told_apart(tmp_path):
    """A curve under another one stands out beside it; ticks of numbers close to each other are whole numbers of one string."""
    time = np.arange(5.0)
    (tmp_path / "snap").mkdir()
    kinetic = 5 + time
    columns = {"step": np.arange(5), "time": time, "kinetic": kinetic, "total": 1.001 * kinetic}
    write.table(tmp_path / "tables.h5", "energy", columns | {"gate1_grains": time})
    write.table(tmp_path / "tables.h5", "observe", {"step": np.arange(5), "time": time, "jacobi": -1.5009 + 1e-6 * time})
    figure = draw(simview.open(tmp_path), only=["energy", "observe"])
    figure.draw_without_rendering()
    energy, observe = figure.axes
    kinetic, total, gate = energy.lines
    assert kinetic.get_linewidth() > 2 * total.get_linewidth() == 2 * gate.get_linewidth()
    assert [text.get_text() for text in energy.get_legend().get_texts()] == ["kinetic", "total", "through gate 1"]
    assert observe.yaxis.get_offset_text().get_text() == "" and "1.50089" in observe.get_yticklabels()[-2].get_text()


@pytest.mark.long
def test_legends(grains, plate, call, sweep):
    """No legend lies in its axes, where curves are."""
    from simview.sweep_figure import draw_sweep

    figures = [draw(simview.open(folder), only=only) for folder, only in (
        (grains, ["energy", "flow", "momentum", "walls", "contacts"]), (plate, ["fields", "spectra", "spectrum"]), (call, ["price"]),
    )]  # fmt: skip
    figures.append(draw_sweep(simview.open_sweep(sweep), only=["fields.v_mean"]))
    found = 0
    for figure in figures:
        figure.draw_without_rendering()
        for axes in figure.axes:
            if legend := axes.get_legend():
                at, inside = legend.get_window_extent(), axes.get_window_extent()
                assert at.y0 >= inside.y1 or at.x0 >= inside.x1 or at.y1 <= inside.y0, axes.get_ylabel()
                assert at.x0 >= 0 and at.x1 <= figure.bbox.x1 and at.y1 <= figure.bbox.y1
                found += 1
    assert found >= 8


def test_dollars_in_titles():
    """A single dollar sign begins no formula: a title with one is wrapped like any other."""
    from simview.style import wrap

    assert wrap("A call struck at $100", 6.6, 9) == "A call struck at $100"
    assert "\n" in wrap("A call struck at $100 with a barrier below and a rebate that is paid at once", 1.5, 9)
