"""The command: pictures, films, summary; and one clear line with an exit code for what is wrong."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from simview.movie import encoder


def test_plot(clusters, pair, simview, tmp_path):
    code, said, fault = simview("plot", clusters)
    assert (code, said, fault) == (0, "s.png\n", "") and (tmp_path / "s.png").read_bytes()[1:4] == b"PNG"
    one = ("--width", "column", "--species", "left", "--axes", "xz", "--only", "picture", "--pixels", "200")
    for name, head in {"a.pdf": b"%PDF", "a.svg": b"<?xml"}.items():
        assert simview("plot", clusters, "-o", name, *one)[0] == 0
        assert (tmp_path / name).read_bytes().startswith(head)
    assert simview("plot", pair, "-o", "pair.png", "--time", "3", "--only", "picture,virial", "--dpi", "60")[0] == 0


def test_as_a_program(clusters, tmp_path):
    """Started from a shell, with a reader that goes away."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "simview"]
    done = subprocess.run([*command, "plot", "absent"], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (66, "", "simview: absent: no such folder\n")
    many = subprocess.Popen([*command, "summary", *[clusters] * 3], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    many.stdout.close()
    assert many.stderr.read() == b"" and many.wait(60) == 0
    many.stderr.close()


@pytest.mark.long
def test_movie(clusters, pair, simview, tmp_path, monkeypatch):
    from PIL import Image

    from simview.movie import movie, pace
    from simview.runs import open as open_run

    seen = []
    os.register_at_fork(before=lambda: seen.append("fork"))
    monkeypatch.setattr("simview.movie.FRAMES", 5)  # 14 frames, by three processes
    monkeypatch.setattr("simview.movie.cores", lambda: 3)
    assert simview("movie", pair, "-o", "p.gif", "--dpi", "60") == (0, "p.gif\n", "")
    assert seen == []  # they are fresh ones, for forked ones share open font files
    with Image.open(tmp_path / "p.gif") as film:
        assert film.n_frames == 14  # steps 0, 64 ... 800, and the end
        assert film.info["duration"] == 250  # few frames: 4 a second
    assert [pace(frames) for frames in (1, 65, 1000)] == [4, 13, 24]
    movie(open_run(pair), tmp_path / "1.gif", dpi=60, workers=1)
    assert (tmp_path / "p.gif").read_bytes() == (tmp_path / "1.gif").read_bytes()


@pytest.mark.skipif(encoder() is None, reason="neither ffmpeg nor imageio-ffmpeg is installed")
def test_films(clusters, simview, tmp_path):
    """Nobody names a film: MP4 and WebM of the same frames, which a decoder gives back; the same files every time."""
    from simview.figure import heading, spread
    from simview.look import Look
    from simview.movie import Screen
    from simview.pictures import pictures
    from simview.runs import open as open_run

    assert simview("movie", clusters, "--dpi", "60", "--pixels", "100") == (0, "s.mp4\ns.webm\n", "")
    first = {kind: (tmp_path / f"s.{kind}").read_bytes() for kind in ("mp4", "webm")}
    assert first["mp4"][4:8] == b"ftyp" and first["webm"][:4] == b"\x1aE\xdf\xa3"
    assert simview("movie", clusters, "--dpi", "60", "--pixels", "100", "-o", "t.webm") == (0, "t.webm\n", "")
    assert simview("movie", clusters, "--dpi", "60", "--pixels", "100", "-o", "t.mp4") == (0, "t.mp4\n", "")
    run = open_run(clusters)
    screen = Screen(pictures(spread(run, 5), Look(pixels=100), run[:]), heading(run), 60, run[-1])
    drawn = np.stack([screen.frame(snapshot) for snapshot in run])
    for kind, data in first.items():
        assert (tmp_path / f"t.{kind}").read_bytes() == data
        raw = subprocess.run([encoder(), "-loglevel", "error", "-i", f"s.{kind}", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], check=True,
                             capture_output=True).stdout  # fmt: skip
        decoded = np.frombuffer(raw, np.uint8).reshape(drawn.shape)  # as many frames of this size
        # The mean over a frame: colours are kept at half the resolution, and quality 18 or 24 costs a few steps of 256.
        assert np.abs(decoded.astype(float) - drawn).mean() < 6
        apart = [np.abs(decoded[i].astype(float) - drawn[k]).mean() for i in range(5) for k in range(5) if k != i]
        assert min(apart) > max(np.abs(decoded[i].astype(float) - drawn[i]).mean() for i in range(5))  # and in this order


def test_no_encoder(clusters, simview, monkeypatch):
    """Without one a film is a GIF, and any other is refused."""
    monkeypatch.setattr("simview.movie.encoder", lambda: None)
    assert simview("movie", clusters, "--dpi", "50", "--pixels", "50") == (0, "s.gif\n", "")
    code, _, fault = simview("movie", clusters, "-o", "s.webm")
    assert code == 69 and "install it, or imageio-ffmpeg (pip), or name a .gif" in fault


def test_movie_that_breaks(pair, simview, tmp_path, monkeypatch):
    """What goes wrong in a process that draws is told by the one that started it; none of them is left."""
    copy = tmp_path / "bad.out"
    shutil.copytree(pair, copy)
    monkeypatch.setattr("simview.movie.FRAMES", 5)
    monkeypatch.setattr("simview.movie.cores", lambda: 2)
    damaged = sorted((copy / "snap").iterdir())[5]
    whole = damaged.read_bytes()
    for command, said in ((None, damaged.name), ("import os; os._exit(3)", "ended early (exit code 3)")):
        if command:
            damaged.write_bytes(whole)
            monkeypatch.setattr("simview.movie._COMMAND", command)
        else:
            damaged.write_bytes(whole[: len(whole) // 2])
        code, _, fault = simview("movie", copy, "-o", "bad.gif", "--dpi", "50")
        assert code in (65, 70) and said in fault and fault.count("\n") == 1


def test_summary(clusters, simview):
    code, said, _ = simview("summary", clusters)
    assert code == 0
    for text in ("two clusters (nbody)", "done: step 16, t = 0.25 Myr of 0.25", "left 3000, right 40", "9 rows"):
        assert text in said


def wrong(clusters, tmp_path):
    """A copy to damage, with the files of its snapshots."""
    copy = tmp_path / "bad.out"
    shutil.copytree(clusters, copy)
    return copy, sorted((copy / "snap").iterdir())


def test_no_run(clusters, simview, tmp_path):
    (tmp_path / "empty").mkdir()
    for path, text in (("absent.out", "no such folder"), ("empty", "no run of sim"), (clusters / "run.log", "not a folder")):
        for command in ("plot", "movie", "summary"):
            code, said, fault = simview(command, path)
            assert code == 66 and text in fault and fault.count("\n") == 1 and said == ""


def test_no_snapshot_yet(clusters, simview, tmp_path):
    copy, snapshots = wrong(clusters, tmp_path)
    for path in snapshots:
        path.unlink()
    code, _, fault = simview("movie", copy)
    assert code == 66 and "no snapshot yet (the run is done)" in fault
    assert simview("plot", copy)[0] == 0  # there are tables
    (copy / "tables.h5").unlink()
    code, _, fault = simview("plot", copy)
    assert code == 66 and "no snapshot yet" in fault
    assert "none yet" in simview("summary", copy)[1]


@pytest.mark.parametrize("keep", [pytest.param(0, marks=pytest.mark.long), 100, pytest.param(2000, marks=pytest.mark.long), pytest.param(-100, marks=pytest.mark.long)])
def test_cut_short(clusters, simview, tmp_path, keep):
    copy, snapshots = wrong(clusters, tmp_path)
    for victim in (snapshots[-1], copy / "tables.h5"):
        whole = victim.read_bytes()
        victim.write_bytes(whole[:keep])
        code, _, fault = simview("plot", copy)
        assert code == 65 and victim.name in fault and "cut short or damaged" in fault and fault.count("\n") == 1
        code, said, _ = simview("summary", copy)
        assert code == 65 and said.count(f"! {victim}") == 1 and said.count("  ! ") == 1
        victim.write_bytes(whole)


def test_damaged(clusters, simview, tmp_path):
    """Bytes changed all over: never a traceback, whatever they hit. A table's rows are covered by a checksum."""
    copy, snapshots = wrong(clusters, tmp_path)
    whole = snapshots[-1].read_bytes()
    for place in range(100, 20000, 4000):
        snapshots[-1].write_bytes(whole[:place] + bytes(b ^ 0x55 for b in whole[place : place + 400]) + whole[place + 400 :])
        code, _, fault = simview("plot", copy, "--only", "picture", "--pixels", "100", "--dpi", "50")
        assert code in (0, 65, 66) and fault.count("\n") == (code != 0)
    snapshots[-1].write_bytes(whole)
    import h5py

    with h5py.File(copy / "tables.h5") as file:
        place = file["energy"].id.get_chunk_info(0).byte_offset
    table = bytearray((copy / "tables.h5").read_bytes())
    table[place + 40] ^= 1
    (copy / "tables.h5").write_bytes(table)
    code, _, fault = simview("plot", copy)
    assert code == 65 and "tables.h5" in fault
    (copy / "status.json").write_text('{"state": "do')
    assert "status.json" in simview("summary", copy)[1]


def test_usage(clusters, simview):
    cases = {
        ("plot", clusters, "--species", "centre"): (66, "no species 'centre'; there are: left, right"),
        ("plot", clusters, "--field", "u"): (66, "no field 'u'; there are none"),
        ("plot", clusters, "--only", "enrgy"): (66, "no panel 'enrgy'; there are: picture, energy"),
        ("plot", clusters, "--step", "5"): (66, "the nearest is 4"),
        ("plot", clusters, "--axes", "xx"): (64, "wanted two of x, y and z"),
        ("plot", clusters, "-o", "a.bmp"): (64, "no picture format 'bmp'"),
        ("plot", clusters, "-o", "no/such/a.png"): (73, "no/such/a.png"),
        ("movie", clusters, "-o", "a.avi"): (64, ".mp4, .webm or .gif"),
        ("plot",): (64, "required"),
        ("plot", clusters, "--size", "-1"): (64, "--size: wanted a number above 0 (1e-30 to 1e30), not '-1'"),
        ("plot", clusters, "--time", "nan"): (64, "--time: wanted a number, not 'nan'"),
        ("plot", clusters, "--time", "1e9"): (66, "no snapshot near t = 1e+09; they go from t = 0 to 0.25"),
        ("plot", clusters, "--time", "-1"): (66, "no snapshot near t = -1"),
        ("plot", clusters, "--dpi", "1e9"): (64, "--dpi: wanted a number from 10 to 2400"),
        ("movie", clusters, "--every", "1.5"): (64, "--every: wanted 1 or more"),
        ("frobnicate",): (64, "frobnicate"),
    }
    for arguments, (code, text) in cases.items():
        got, _, fault = simview(*arguments)
        assert got == code and text in fault, (arguments, got, fault)
        assert fault.count("\n") == 1


@pytest.mark.long
def test_options_without_meaning(clusters, pair, plate, grains, sweep, simview):
    """An option that changes nothing in what is drawn is refused, and one that does is not."""
    refused = [
        ("plot", sweep, "--time", "1"), ("plot", sweep, "--step", "1"), ("plot", sweep, "--axes", "xz"),
        ("plot", sweep, "--only", "fields.v_mean", "--field", "u"), ("plot", plate, "--axes", "xz"), ("plot", plate, "--size", "3"),
        ("plot", plate, "--field", "v", "--map", "magma"), ("plot", plate, "--only", "fields", "--field", "u"),
        ("plot", plate, "--only", "fields", "--time", "1"), ("plot", plate, "--only", "fields", "--step", "0"),
        ("plot", pair, "--map", "magma"), ("plot", pair, "--pixels", "100"), ("plot", pair, "--only", "energy", "--species", "stars"),
        ("plot", grains, "--axes", "xz", "--pixels", "100"), ("plot", grains, "--at", "0.1"), ("plot", plate, "--at", "0.1"),
        ("plot", clusters, "--view", "30,20"), ("movie", plate, "-o", "a.gif", "--axes", "xz"),
    ]  # fmt: skip
    for arguments in refused:
        code, said, fault = simview(*arguments)
        option = [str(part) for part in arguments if str(part).startswith("--") and part != "--only"][-1]
        assert (code, said) == (64, "") and f"{option} has no meaning for what is drawn" in fault and fault.count("\n") == 1, fault
    taken = [
        ("plot", sweep, "--field", "u", "--map", "magma"), ("plot", plate, "--field", "u", "--map", "magma", "--time", "0.5"),
        ("plot", plate, "--only", "spectrum", "--field", "u", "--step", "0"), ("plot", pair, "--axes", "xz", "--size", "1"),
        ("plot", grains, "--map", "magma", "--axes", "xz"), ("plot", grains, "--view=-30,40", "--pixels", "100", "--size", "0.05"), ("plot", clusters, "--pixels", "100", "--map", "magma", "--step", "4"),
    ]  # fmt: skip
    for arguments in taken:
        code, said, fault = simview(*arguments, "-o", "a.png", "--dpi", "50")
        assert (code, said, fault) == (0, "a.png\n", ""), (arguments, fault)
    code, _, fault = simview("plot", plate, "--species", "foo")
    assert code == 66 and "no species 'foo'; there are no particles" in fault
    code, _, fault = simview("plot", sweep, "--field", "u,v")
    assert code == 64 and "a sheet shows one field, not u, v" in fault
