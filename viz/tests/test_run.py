"""Particles, tables and notes of real runs, against what h5py reads."""

import shutil

import h5py
import numpy as np
import pytest
import write

import simview
from simview.tracks import POINTS, tracks


def component(path, step, name):
    with h5py.File(path) as file:
        item = file[f"data/{step}/particles/{name}"]
        return item[:] if isinstance(item, h5py.Dataset) else np.full(item.attrs["shape"], item.attrs["value"])


def test_sequence(clusters):
    run = simview.open(clusters)
    assert len(run) == 5 and list(run.steps) == [0, 4, 8, 12, 16]
    assert np.array_equal(run.times, np.array([0, 4, 8, 12, 16]) / 64)  # all of them exact in binary
    assert run[-1].step == 16 and run[1:3][1].step == 8 and [s.step for s in run] == list(run.steps)
    assert run.at_time(0.14).step == 8 and run.at_time(-0.03).step == 0 and run.at_time(0.28).step == 16
    for time in (-1, -0.032, 0.282, 99):  # beyond half of 1/16
        with pytest.raises(simview.NotFoundError, match="they go from t = 0 to 0.25"):
            run.at_time(time)
    assert run.at_step(12).time == 12 / 64
    with pytest.raises(IndexError):
        run[5]


def test_particles(clusters):
    run = simview.open(clusters)
    last = run[-1]
    path = clusters / "snap" / "snap_00000016.h5"
    assert set(last.species) == {"left", "right"}
    left = last.particles("left")
    assert left.count == 3000 and set(left) == {"id", "mass", "x", "y", "z", "vx", "vy", "vz"}
    assert np.array_equal(left.x, component(path, 16, "left/position/x"))
    assert np.array_equal(left["vz"], component(path, 16, "left/velocity/z"))
    assert np.array_equal(left.mass, component(path, 16, "left/mass"))
    assert left.position.shape == (3000, 3) and np.array_equal(left.position[:, 1], left.y)
    both = last.particles()
    assert both.count == 3040 and np.array_equal(both.x, np.concatenate([last.particles(s).x for s in both.species]))
    assert len(set(both.id)) == 3040
    assert "x" in left and "velocity" in left and "charge" not in left


def test_units(clusters, pair):
    run = simview.open(clusters)
    stars = run[0].particles("right")
    assert stars.units["x"] == "kpc" and stars.units["vx"] == "kpc Myr^-1" and stars.units["mass"] == "(1e10 Msun)"
    assert stars.unit_si("x") == 3.0856775814913673e19
    assert run.tables.energy.attrs["units"]["time"] == "Myr"
    assert run.tables.energy.attrs["units"]["kinetic"] == "kpc^2 (1e10 Msun) Myr^-2"
    assert simview.open(pair)[0].particles().units["vx"] == "length time^-1"


def test_tables(clusters):
    run = simview.open(clusters)
    with h5py.File(clusters / "tables.h5") as file:
        rows = file["energy"][:]
    frame = run.tables.energy
    assert {"energy", "lagrangian"} <= set(run.tables)
    assert list(frame.columns) == list(rows.dtype.names) and len(frame) == 9
    for name in frame.columns:
        assert np.array_equal(frame[name], rows[name])
    assert frame.attrs["description"]["kinetic"].startswith("kinetic energy")
    with pytest.raises(simview.NotFoundError, match="no table 'enrgy'; there are: energy"):
        run.tables["enrgy"]
    with pytest.raises(AttributeError):
        run.tables.enrgy


def test_frames(clusters):
    stars = simview.open(clusters)[-1].particles()
    frame = stars.to_frame()
    assert len(frame) == 3040 and frame.attrs["units"]["x"] == "kpc"
    assert np.array_equal(frame["x"], stars.x) and (frame["species"] == "right").sum() == 40
    data = stars.to_xarray()
    assert np.array_equal(data["vy"], stars["vy"]) and data["vy"].attrs["units"] == "kpc Myr^-1"
    assert np.array_equal(data["id"], stars.id)


def test_series(clusters):
    run = simview.open(clusters)
    for workers in (1, 3):
        data = run.read(names=["x", "vy", "mass"], workers=workers)
        assert data["x"].shape == (5, 3040) and np.array_equal(data["time"], run.times)
        for i, snapshot in enumerate(run):
            for name in data:
                assert np.array_equal(data[name][i], snapshot.particles()[name])
    assert run.read("right", ["z"], every=2)["z"].shape == (3, 40)


def mean(snapshot):
    return float(snapshot.particles("right").x.mean())


def test_map(clusters):
    run = simview.open(clusters)
    expected = [mean(snapshot) for snapshot in run]
    assert run.map(mean, workers=1) == expected and run.map(mean, workers=2) == expected
    assert run.map(lambda snapshot: snapshot.step, workers=2) == list(run.steps)
    with pytest.raises(simview.UsageError, match="what the function returns cannot leave its process"):
        run.map(lambda snapshot: lambda: snapshot, workers=2)


def test_series_follows_ids(clusters, tmp_path):
    """Particles that another snapshot holds in another order keep their place."""
    copy = tmp_path / "s.out"
    shutil.copytree(clusters, copy)
    with h5py.File(copy / "snap" / "snap_00000008.h5", "r+") as file:
        group = file["data/8/particles/right"]
        order = np.random.default_rng(1).permutation(40)
        for name in ("id", "position/x", "position/y", "position/z"):
            group[name][:] = group[name][:][order]
    assert np.array_equal(simview.open(copy).read("right")["x"], simview.open(clusters).read("right")["x"])


def test_provenance(clusters):
    run = simview.open(clusters)
    assert run.model == "nbody" and run.title == "two clusters"
    assert run.provenance["scenario"] == (clusters / "scenario.lua").read_text()
    assert run.parameters["integrate"]["dt"] == 1 / 64
    assert run.status["state"] == "done"


def test_live(clusters, tmp_path):
    """Snapshots come and go, and tables are replaced, while somebody reads."""
    copy = tmp_path / "s.out"
    shutil.copytree(clusters, copy)
    later = (copy / "snap" / "snap_00000016.h5").rename(tmp_path / "later")
    (copy / "snap" / "snap_00000099.h5.tmp").write_bytes(b"half")
    full = (copy / "tables.h5").rename(tmp_path / "full")
    run = simview.open(copy)
    assert len(run) == 4 and len(run.tables) == 0
    later.rename(copy / "snap" / "snap_00000016.h5")
    full.rename(copy / "tables.h5")
    assert len(run) == 4 and len(run.refresh()) == 5
    assert len(run.tables.energy) == 9
    with h5py.File(tmp_path / "shorter", "w") as short, h5py.File(copy / "tables.h5") as file:
        file.copy("energy", short)
        short["energy"].resize((3,))
    (tmp_path / "shorter").rename(copy / "tables.h5")
    assert len(run.tables.energy) == 3
    (copy / "snap" / "snap_00000004.h5").unlink()
    with pytest.raises(simview.NotFoundError, match="replaced"):
        run[1].time
    assert len(run.refresh()) == 4 and run[1].step == 8


def test_opens_no_file(clusters, monkeypatch):
    monkeypatch.setattr(h5py, "File", None)  # whoever calls it fails
    run = simview.open(clusters)
    assert len(run) == 5 and list(run.steps)[-1] == 16 and run[-1].step == 16


def test_tracks(pair):
    """Two bodies on a circle of radius r = 1/2 at unit angular speed, seen every h = 1/2: the cubic between two
    snapshots is off by h^4/384 r = 8e-5 along each axis at most."""
    found = tracks(simview.open(pair)[:], ["stars"], "xy")
    assert len(found) == 2
    for track in found:
        assert track.resolved.all() and track.dots.shape == (2, 0) and track.line.shape == (2, 13 * POINTS + 1)
        assert np.abs(np.hypot(*track.line) - 0.5).max() < 8.2e-5 * np.sqrt(2)
        tail = track.tail(5, 0.3)  # back from the fifth snapshot
        assert np.array_equal(tail[:, 0], track.at[:, 5])
        assert 0.27 < np.hypot(*np.diff(tail, axis=1)).sum() <= 0.3 + 1e-12


@pytest.mark.parametrize("turns", (0.2, 0.8, 1.0, 1.1, 2.0, 4.15))
def test_tracks_of_few_snapshots(tmp_path, turns):
    """A circle seen after `turns` turns each: less than a quarter is a line, all else are the positions alone."""
    (tmp_path / "snap").mkdir()
    for i in range(9):
        file, group = write.begin(tmp_path / "snap" / f"snap_{i:08d}.h5", i, i, particles=True)
        angle = 2 * np.pi * turns * i
        c, s = np.cos(angle), np.sin(angle)
        with file:
            speed = 2 * np.pi * turns * np.array([[-s], [c], [0]])
            write.species(group, "planet", np.array([[c], [s], [0]]), velocity=speed)
    (track,) = tracks(simview.open(tmp_path)[:], ["planet"], "xy")
    if turns < 0.25:
        assert track.resolved.all() and np.abs(np.hypot(*track.line) - 1).max() < 0.02  # h^4/384 with h = 1.26: 0.007
    else:
        assert not track.resolved.any() and np.array_equal(track.dots, track.at)
        drawn = track.line[:, ~np.isnan(track.line[0])]
        assert np.array_equal(drawn, track.at) and track.tail(5, 1).shape == (2, 1)
