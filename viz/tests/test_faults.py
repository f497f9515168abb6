"""Whatever is asked of the package: an answer or a `SimviewError` of one line. Wrong arguments go to every method that a
class of the package offers, and every method is asked of folders whose files are damaged, empty, missing or of others."""

import inspect
import math
import shutil
from collections import abc

import h5py
import numpy as np
import pytest

import simview
from simview.hdf5 import verify

WRONG = (None, 3, -1, 10**30, 1.5, math.nan, math.inf, "nope", "", b"x", [], {}, [3], ("x", None), object, lambda: 0, 1j,
         np.array(["x"]), slice("a", None), slice(None, None, 0), True)  # fmt: skip
OPERATORS = ("__getitem__", "__contains__", "__iter__", "__len__", "__repr__", "__dir__")
# What every sequence or mapping of Python has, with Python's own faults.
INHERITED = {name for base in (abc.Sequence, abc.Mapping, dict) for name in dir(base)} - set(OPERATORS)


def members(item):
    """Names of what a user may ask of an object."""
    return [name for name in dir(type(item)) if (name[0] != "_" and name not in INHERITED) or name in OPERATORS]


def consume(value):
    """Iterators are lazy; arrays are as they are."""
    return list(value) if inspect.isgenerator(value) else value


def ask(complaints, what, function, *arguments, **named):
    try:
        return consume(function(*arguments, **named))
    except simview.SimviewError as error:
        if "\n" in str(error) or not str(error).strip():
            complaints.append(f"{what}: {error!r}")
    except Exception as error:
        if what.endswith("map") and callable(arguments[0]):
            return None  # the function's own fault
        complaints.append(f"{what} with {arguments} {named}: {error!r}")


def parts(run):
    """All kinds of objects that a run leads to; those that can be had."""
    found = [run, run.tables, run.slices]
    for snapshot in [*run][-1:]:
        found.append(snapshot)
        if snapshot.species:
            found.append(snapshot.particles())
        found += [snapshot.field(name) for name in snapshot.fields[:1]]
    return found


def ask_all(complaints, item):
    """Everything without arguments, and everything with each wrong argument at each place."""
    for name in members(item):
        if isinstance(inspect.getattr_static(type(item), name, None), property):
            ask(complaints, f"{type(item).__name__}.{name}", getattr, item, name)
            continue
        method = getattr(item, name)
        what = f"{type(item).__name__}.{name}"
        if not callable(method):
            continue
        if name in dict.__dict__ and name not in type(item).__dict__:
            continue  # of `Slices`
        known = [p for p in inspect.signature(method).parameters.values() if p.kind is not p.VAR_KEYWORD]
        if all(p.default is not p.empty or p.kind is p.VAR_POSITIONAL for p in known):
            ask(complaints, what, method)
        for at, parameter in enumerate(known):
            for wrong in WRONG:
                if parameter.kind is parameter.KEYWORD_ONLY:
                    first = [str] if name == "map" else []  # its function
                    ask(complaints, what, method, *first, **{parameter.name: wrong})
                else:
                    ask(complaints, what, method, *["x"] * at, wrong)


@pytest.mark.parametrize("name", ["clusters", "block", "call", "gray_scott"])
def test_wrong_arguments(name, request):
    complaints = []
    for item in parts(simview.open(request.getfixturevalue(name))):
        ask_all(complaints, item)
    assert not complaints, "\n".join(complaints)


def test_wrong_arguments_of_a_sweep(sweep):
    complaints = []
    found = simview.open_sweep(sweep)
    ask_all(complaints, found)
    for wrong in WRONG:
        ask(complaints, "select", found.select, F=wrong)
        ask(complaints, "select", found.select, nope=wrong)
    assert not complaints, "\n".join(complaints)


def test_wrong_paths(clusters, tmp_path):
    (tmp_path / "empty").mkdir()
    paths = [*WRONG, tmp_path / "empty", tmp_path / "absent", clusters / "run.log", "x" * 5000, "a\0b", clusters / "run.log" / "x"]
    for function in (simview.open, simview.open_sweep):
        for path in paths:
            with pytest.raises(simview.SimviewError):
                function(path)


def test_messages(clusters):
    """What a user reads; mappings and sequences keep Python's own kinds of faults too."""
    run = simview.open(clusters)
    cases = {
        "run['x']: snapshots go by number, run[-1]; slices by name": lambda: run["x"],
        "number of a snapshot: wanted an integer, not 1.5": lambda: run[1.5],
        "no snapshot 99: there are 5": lambda: run[99],
        "no slice 'x'; the run has none": lambda: run.slices["x"],
        "time: wanted a number, not 'x'": lambda: run.at_time("x"),
        "time: wanted a number, not nan": lambda: run.at_time(math.nan),
        "step: wanted an integer, not 'x'": lambda: run.at_step("x"),
        "every: wanted 1 or more, not 0": lambda: run.read(every=0),
        "'position' is a vector: ask for position/x": lambda: run.read(names=["position"]),
        "workers: wanted 1 or more, not -1": lambda: run.map(str, workers=-1),
        "map: wanted a function of a snapshot": lambda: run.map(3),
        "wanted the path of a folder, not None": lambda: simview.open(None),
    }
    for text, call in cases.items():
        with pytest.raises(simview.SimviewError) as caught:
            call()
        assert text in str(caught.value)
    assert run.tables.get("nope") is None and not hasattr(run.tables, "nope") and run[0].particles().get("charge") is None
    with pytest.raises(IndexError):
        run[99]
    with pytest.raises(KeyError):
        run.slices["x"]


def test_field_by_any_index(plate):
    """As numpy has it, also what HDF5 has not; a wrong index is the user's fault and no damage."""
    field = simview.open(plate)[-1].field("u")
    whole = np.asarray(field)
    for key in (..., 3, -1, (2, 5), np.s_[10:20, :], np.s_[::-1, 3], np.s_[[5, 2, 2]], np.s_[[1, 3], [2, 4]], np.s_[None, 2],
                np.s_[5:2], whole > 1, np.s_[::2, ::3]):  # fmt: skip
        assert np.array_equal(field[key], whole[key])
    for key in (99, "x", 1.5, (1, 2, 3), np.s_[:, 99]):
        with pytest.raises(simview.UsageError, match="field 'u' of shape"):
            field[key]


def empty_hdf5(path):
    h5py.File(path, "w").close()


def of_another(path):
    if path.suffix == ".json":
        path.write_text('{"state": 3, "time": "x", "t_end": null, "step": [], "model": 7, "digest": {}}')
        return
    with h5py.File(path, "w") as file:
        file["data"] = np.arange(3)
        file["provenance"] = 7
        file["energy"] = np.zeros(3, [("step", "S4")])


def shifted(path):
    content = path.read_bytes()
    path.write_bytes(content[:512] + content[600:] + content[512:600])


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "short": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "text": lambda path: path.write_text("no HDF5"),
    "missing": lambda path: path.unlink(),
    "folder": lambda path: (path.unlink(), path.mkdir()),
    "dangling": lambda path: (path.unlink(), path.symlink_to("nowhere")),
    "empty_hdf5": empty_hdf5,
    "of_another": of_another,
    "shifted": shifted,
}


QUICK = ("cut", "text", "missing", "of_another", "shifted")


@pytest.mark.parametrize("kind", [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.long) for kind in DAMAGE])
def test_damaged_files(clusters, block, kind, simview_command, tmp_path):
    complaints = []
    for source, victims in ((clusters, ["snap/snap_00000008.h5", "snap/snap_00000016.h5", "tables.h5", "status.json"]),
                            (block, ["snap/snap_00000002.h5", "slices/thin/snap_00000002.h5"])):  # fmt: skip
        for victim in victims:
            copy = tmp_path / "bad.out"
            shutil.copytree(source, copy)
            DAMAGE[kind](copy / victim)
            run = simview.open(copy)
            items = [run, run.tables, *run, *run.slices.values()]
            for item in items:
                for name in members(item):
                    if isinstance(inspect.getattr_static(type(item), name, None), property):
                        ask(complaints, f"{kind} {victim}: {name}", getattr, item, name)
            for snapshot in run:
                ask(complaints, f"{kind} {victim}: particles", lambda one: one.particles().to_xarray(), snapshot)
                ask(complaints, f"{kind} {victim}: fields", lambda one: [one.field(f).to_xarray() for f in one.fields], snapshot)
            ask(complaints, f"{kind} {victim}: read", run.read)
            ask(complaints, f"{kind} {victim}: map", run.map, lambda one: one.time, workers=1)
            ask(complaints, f"{kind} {victim}: times", lambda: simview.open(copy).times)
            assert len(simview.open(copy).times) == len(run), (kind, victim)
            code, said, fault = simview_command("summary", copy)
            assert code in (0, 65) and (code == 65) == ("  ! " in said) and fault.count("\n") == (code == 65), (kind, victim, fault)
            unseen = {"short": "status.json", "shifted": "status.json", "of_another": "tables.h5"}  # a newline; good tables
            if kind not in ("missing", "dangling", "empty_hdf5") and unseen.get(kind) != victim:
                assert code == 65 and victim.split("/")[-1] in said, (kind, victim, said)
            shutil.rmtree(copy)
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("kind", sorted({*DAMAGE} - {"empty_hdf5", "of_another", "shifted"}))
def test_damaged_sweep(sweep, kind, simview_command, tmp_path):
    complaints = []
    copy = tmp_path / "bad.sweep"
    for victim in ("sweep.csv", "run_0001/tables.h5", "run_0001/status.json"):
        shutil.copytree(sweep, copy, dirs_exist_ok=True)
        DAMAGE[kind](copy / victim)
        found = ask(complaints, kind, simview.open_sweep, copy)
        for name in ("frame", "parameters", "title", "name"):
            ask(complaints, f"{kind} {victim}: {name}", getattr, found, name) if found is not None else None
        code, _, fault = simview_command("summary", copy)
        assert code in (0, 65, 66) and fault.count("\n") == (code != 0), (kind, victim, code, fault)
        shutil.rmtree(copy)
    assert not complaints, "\n".join(complaints)


@pytest.mark.long
def test_the_rest_is_drawn(pair, simview_command, tmp_path):
    """One damaged file costs itself alone; the exit code tells."""
    copy = tmp_path / "bad.out"
    shutil.copytree(pair, copy)
    victim = sorted((copy / "snap").iterdir())[3]
    victim.write_bytes(victim.read_bytes()[:3000])
    run = simview.open(copy)
    whole = simview.open(pair).times
    assert np.array_equal(np.delete(run.times, 3), np.delete(whole, 3)) and math.isnan(run.times[3])
    (fault,) = run.leave_out_damaged()
    assert str(victim) in fault and np.array_equal(run.times, np.delete(whole, 3))
    assert len(run.map(lambda one: one.time)) == len(whole) - 1 and len(run.refresh()) == len(whole)
    (copy / "tables.h5").write_bytes(b"")
    for command in (("plot",), ("movie", "--dpi", "40", "-o", "bad.gif")):
        code, said, fault = simview_command(*command[:1], copy, *command[1:])
        assert code == 65 and said.startswith("bad.") and (tmp_path / said.strip()).stat().st_size > 1000
        assert f"left out of {said.strip()}: {victim}: cut short" in fault and "and 1 more" in fault and fault.count("\n") == 1
    code, _, fault = simview_command("plot", copy, "--only", "energy")
    assert code == 65 and "tables.h5" in fault


def test_verify(clusters, simview_command, tmp_path):
    """A changed bit in the values of a snapshot: only its digest tells."""
    pytest.importorskip("xxhash")
    copy = tmp_path / "bad.out"
    shutil.copytree(clusters, copy)
    code, said, _ = simview_command("summary", "--verify", copy)
    assert code == 0 and "8 files are as they were written\n" in said  # 5 snapshots, tables.h5, two indexes
    victim = copy / "snap" / "snap_00000008.h5"
    with h5py.File(victim) as file:
        place = file["data/8/particles/left/position/x"].id.get_offset() + 8 * 100
    content = bytearray(victim.read_bytes())
    content[place] ^= 1
    victim.write_bytes(content)
    assert simview_command("summary", copy)[0] == 0
    code, said, fault = simview_command("summary", "--verify", copy)
    assert code == 65 and f"! {victim}: damaged: its digest does not match its content" in said and "1 damaged" in said
    with pytest.raises(simview.DamagedError, match="digest"):
        verify(victim)
    content[place] ^= 1
    for cut in (content[:-512], content[: len(content) // 2], b""):  # the seal alone, and more
        victim.write_bytes(cut)
        with pytest.raises(simview.DamagedError):
            verify(victim)
    victim.write_bytes(content)
    assert verify(victim)
    with h5py.File(victim, "r+") as file:
        file["data/8/particles/left/position/x"][100] = 7
    with pytest.raises(simview.DamagedError, match="changed by another program"):
        verify(victim)
    empty_hdf5(victim)
    assert "7 files are as they were written, 1 carry no digest" in simview_command("summary", "--verify", copy)[1]


def test_particles_that_come_and_go(clusters, tmp_path, simview_command):
    """Values never go to another particle: a series wants the same ids in all snapshots, and a good file is no damage."""
    copy = tmp_path / "bad.out"

    def other_ids(group):
        group["right/id"][3] = 10**6

    def fewer(group):
        for name, item in list(group["right"].items()):
            for path in [name, *(f"{name}/{axis}" for axis in (item if isinstance(item, h5py.Group) else ()))]:
                part = group["right"][path]
                if isinstance(part, h5py.Dataset):
                    values, about = part[:-1], dict(part.attrs)
                    del group["right"][path]
                    group["right"][path] = values
                    group["right"][path].attrs.update(about)
                elif "shape" in part.attrs:
                    part.attrs["shape"] = np.array([39], "u8")

    def none(group):
        del group["right"]

    def more(group):
        group.copy("right", "new")

    for change in (other_ids, fewer, none, more):
        shutil.copytree(clusters, copy)
        victim = copy / "snap" / "snap_00000008.h5"
        content = tmp_path / "new.h5"
        with h5py.File(victim) as old, h5py.File(content, "w") as new:  # without the seal
            for name in old:
                old.copy(name, new)
            new.attrs.update({name: value for name, value in old.attrs.items() if name != "seal"})
            change(new["data/8/particles"])
        content.replace(victim)
        run = simview.open(copy)
        assert run[2].fault() is None, change
        with pytest.raises(simview.UsageError, match="particles come and go between .*00000000.h5 and .*00000008.h5: read them snapshot"):
            run.read()
        shutil.rmtree(copy)
    with pytest.raises(simview.UsageError, match="'id' as a coordinate already"):
        simview.open(clusters).read(names=["id"])


@pytest.mark.parametrize("name", ["time", pytest.param("dt", marks=pytest.mark.long)])
def test_times_that_are_no_numbers(gray_scott, tmp_path, simview_command, name):
    """at_time found a wrong snapshot, silently."""
    copy = tmp_path / "bad.out"
    shutil.copytree(gray_scott, copy)
    victim = copy / "snap" / "snap_00000100.h5"
    for value in (math.nan, math.inf):
        with h5py.File(victim, "r+") as file:
            file["data/100"].attrs[name] = value
        run = simview.open(copy)
        assert math.isnan(run.times[1]) and f"its {name} is {value:g}" in run[1].fault()
        with pytest.raises(simview.DamagedError, match=victim.name):
            run.at_time(50)
        for command in (("plot", copy, "--field", "u", "-o", "a.png", "--dpi", "50"), ("summary", copy)):
            code, said, fault = simview_command(*command)
            assert code == 65 and victim.name in said + fault


def test_a_file_that_is_open(gray_scott, tmp_path):
    """What the user has open with h5py is no damage; HDF5's own reason stands in the message of what is."""
    copy = tmp_path / "s.out"
    shutil.copytree(gray_scott, copy)
    with h5py.File(copy / "snap" / "snap_00000100.h5", "r"):
        run = simview.open(copy)
        assert run[1].time == 50 and run.leave_out_damaged() == [] and len(run) == 3
    (copy / "snap" / "snap_00000100.h5").write_bytes(b"nothing")
    assert "(HDF5 cannot open it: " in simview.open(copy)[1].fault()
    assert "file signature not found" in simview.open(copy)[1].fault()


@pytest.mark.long
def test_a_sweep_without_one_snapshot(sweep, tmp_path, simview_command):
    """The rest is drawn, the cell says why it is empty, the file is named, the exit code tells."""
    from simview.sweep_figure import draw_sweep

    copy = tmp_path / "bad.sweep"
    shutil.copytree(sweep, copy)
    victim = sorted((copy / "run_0002" / "snap").iterdir())[-1]
    victim.write_bytes(victim.read_bytes()[:3000])
    code, said, fault = simview_command("plot", copy, "-o", "a.png", "--dpi", "60")
    assert code == 65 and said == "a.png\n" and f"left out of a.png: {victim}: cut short" in fault and fault.count("\n") == 1
    code, said, fault = simview_command("summary", copy)
    assert code == 65 and f"  ! {victim}: cut short" in said and fault.count("\n") == 1
    found = simview.open_sweep(copy)
    (line,) = found.leave_out_damaged()
    assert str(victim) in line
    figure = draw_sweep(found)
    assert [text.get_text() for axes in figure.axes for text in axes.texts] == ["damaged"]
    assert len([axes for axes in figure.axes if axes.images]) == 5
    assert simview_command("summary", sweep)[0] == 0
    assert found.leave_out_damaged() == [] and [text.get_text() for axes in draw_sweep(found).axes for text in axes.texts] == ["damaged"]


def test_a_sweep_of_prices_without_one_table(prices, tmp_path, simview_command):
    """The prices are in sweep.csv: only the exact one of that run is left out."""
    from simview.sweep_figure import draw_sweep

    copy = tmp_path / "bad.sweep"
    shutil.copytree(prices, copy)
    (copy / "run_0001" / "tables.h5").write_bytes(b"")
    shutil.rmtree(copy / "run_0001" / "ckpt", ignore_errors=True)
    code, said, fault = simview_command("plot", copy, "-o", "a.png", "--dpi", "60")
    assert code == 65 and said == "a.png\n" and "run_0001/tables.h5: cut short" in fault and fault.count("\n") == 1
    found = simview.open_sweep(copy)
    assert len(found.leave_out_damaged()) == 1
    first = draw_sweep(found).axes[0]
    exact = next(line for line in first.lines if line.get_label() == "Black and Scholes")
    assert list(exact.get_xdata()) == [100, 110] and first.get_ylabel().startswith("price of the European call")


def test_a_caller_may_change_what_it_gets(clusters, sweep):
    run, found = simview.open(clusters), simview.open_sweep(sweep)
    frame, table = run.tables.energy, found.frame
    frame["error"], table["F"] = 99.0, 99.0
    run.tables.energy.attrs["units"]["time"] = "h"
    assert (run.tables.energy["error"] < 1).all() and run.tables.energy.attrs["units"]["time"] == "Myr"
    run.provenance["parameters"].clear()
    run.parameters["integrate"]["dt"] = 99
    assert list(found.frame["F"]) == [0.03] * 3 + [0.04] * 3 and run.parameters["integrate"]["dt"] == 1 / 64


def test_arguments_of_figures_and_films(clusters, plate, sweep, tmp_path):
    """Paths as text or as `Path`, one name as text; whatever makes no sense is one line."""
    from simview.figure import draw, save
    from simview.look import Look
    from simview.movie import movie
    from simview.sweep_figure import draw_sweep

    run, found = simview.open(plate), simview.open_sweep(sweep)
    out = str(tmp_path / "a.gif")
    assert movie(run, out, dpi=40, fps=50, workers=1) == len(run)
    figure = draw(run, only="fields", look=Look(fields="u", species=None))
    save(figure, str(tmp_path / "a.png"), 40)
    assert len(figure.axes) == 1 and len(draw_sweep(found, only="fields.v_mean").axes) == 1
    complaints = []
    for name in ("fps", "dpi", "workers", "progress", "look", "every"):
        for wrong in (*WRONG, 0):
            if (wrong is None and name in ("fps", "workers", "progress", "look")) or (name == "progress" and callable(wrong)):
                continue
            if wrong is True or (name == "fps" and wrong in (3, 1.5)) or (name in ("workers", "every") and wrong in (3, 10**30)):
                continue
            ask(complaints, f"movie {name}", movie, run, out, **{"workers": 1, name: wrong})
            with pytest.raises(simview.SimviewError):
                movie(run, out, **{"workers": 1, name: wrong})
    for name in ("species", "axes", "size", "pixels", "map", "fields"):
        for wrong in (-1, math.nan, 10**400, [3], b"x", object, {3: 3}, np.array([1, 2])):
            with pytest.raises(simview.UsageError, match="wanted"):
                Look(**{name: wrong})
    for function, item in ((draw, run), (draw_sweep, found)):
        for name in ("snapshot", "only", "look", "width"):
            for wrong in (3, "x", [3], b"x", [], object):
                if name != "snapshot" or function is draw:
                    ask(complaints, f"{function.__name__} {name}", function, item, **{name: wrong})
                    with pytest.raises(simview.SimviewError):
                        function(item, **{name: wrong})
        ask(complaints, function.__name__, function, 3)
    for wrong in (3, None, object, "a", "a.bmp", "a\0.png"):
        ask(complaints, "save", save, figure, wrong)
        ask(complaints, "movie", movie, run, wrong)
    for wrong in (math.nan, -1, "x", 1e9):
        with pytest.raises(simview.UsageError, match="dpi: wanted a number"):
            save(figure, tmp_path / "a.png", wrong)
    assert not complaints, "\n".join(complaints)
    with pytest.raises(simview.UsageError, match="no run of|too small|no 'x'"):
        draw(run, width="x")


def test_limits_of_films_and_sizes(pair, clusters, simview_command, tmp_path):
    """A GIF holds pauses of up to 655 s, and browsers show none below 0.02 s; lengths that fit no number are refused."""
    for fps in ("0.001", "51", "1e300"):
        code, _, fault = simview_command("movie", pair, "-o", "k.gif", "--fps", fps)
        assert code == 64 and "a .gif film holds 0.002 to 50 frames a second" in fault and fault.count("\n") == 1
    from PIL import Image

    for fps, pause in (("0.002", 500_000), ("50", 20)):
        assert simview_command("movie", pair, "-o", "k.gif", "--fps", fps, "--dpi", "40", "--every", "5")[0] == 0
        with Image.open(tmp_path / "k.gif") as film:
            assert film.info["duration"] == pause
    for size in ("1e300", "1e-300", "1e31"):
        code, _, fault = simview_command("plot", pair, "--size", size)
        assert code == 64 and "--size: wanted a number above 0 (1e-30 to 1e30)" in fault and fault.count("\n") == 1
    for run in (pair, clusters):
        assert simview_command("plot", run, "--size", "1e30", "--only", "picture", "--dpi", "40")[0] == 0
    code, _, fault = simview_command("plot", clusters, "--species", "right", "--size", "1e-20", "--only", "picture")
    assert code == 64 and "is too small for a picture about" in fault
