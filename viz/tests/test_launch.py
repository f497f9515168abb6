"""Runs of the real binary from Python: results, errors, Ctrl-C, and no folder or process left behind."""

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import CALL, PAIR, SPOTS

import simview
from simview.errors import MEANINGS

pytestmark = pytest.mark.skipif("SIM" not in os.environ, reason="SIM names no binary")
GROWS = """
local a = sim.param("a", 1.0, "growth")
return sim.diffusion { grid = { n = {16, 16}, size = {1, 1} }, fields = { { name = "u", D = 2e-5, initial = 1 } },
  rates = function(u) return a*u*u end, integrate = { scheme = "strang", dt = 2, t_end = 400 },
  output = { snapshots = "ends", tables = "every 20", checkpoint = "never" } }
"""
LONG = PAIR.replace("t_end = 6.25", "t_end = 1e6")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Everything temporary lies in a folder of the test."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path)
    yield
    gc.collect()
    assert os.listdir(tmp_path / "temporary") == []


def test_run(tmp_path):
    Path("s.lua").write_text(CALL)
    run = simview.run("s.lua", set={"strike": np.float64(110.0)}, seed=7)
    frame = run.tables.price
    assert run.parameters["payoffs"][0]["strike"] == 110 and run.provenance["seed"] == 7
    # 110 strike: Black and Scholes 6.0401; five standard errors
    assert abs(frame["price"].iloc[-1] - 6.0401) < 5 * frame["standard_error"].iloc[-1]
    kept = simview.run(CALL, set={"strike": 110}, seed=7, output="kept.out")
    assert kept.path == tmp_path / "kept.out" and kept.status["digest"] == run.status["digest"]
    with pytest.raises(simview.RunError) as error:
        simview.run(CALL, output="kept.out", set={"strike": 90})
    assert "resume=True continues the run in it, force=True replaces" in error.value.message  # as Python has them
    assert error.value.exit_code == 73 and error.value.result.status["digest"] == run.status["digest"]
    assert simview.run(CALL, output="kept.out", force=True).parameters["payoffs"][0]["strike"] == 100


@pytest.mark.parametrize("name", ["resume", "force"])
def test_neither_true_nor_false(name):
    """A checkpoint's name, or a word that means no, is not taken for True."""
    with pytest.raises(simview.UsageError, match=f"{name}: wanted True or False, not 'no'"):
        simview.run(CALL, output="kept.out", **{name: "no"})


def test_what_was_taken_keeps_the_folder():
    """Tables, snapshots and runs of a sweep can be read when the run itself is gone."""
    field = simview.run(SPOTS)[-1].field("u")
    tables = simview.run(SPOTS).tables
    one = simview.sweep(SPOTS, set={"F": [0.03, 0.04], "k": 0.06})[1]
    gc.collect()
    assert field[...].shape == (16, 16) and len(tables.fields) == 3 and one.tables.fields["u_mean"].iloc[-1] > 0
    assert simview.run(SPOTS).map(lambda snapshot: snapshot.step, workers=2) == [0, 20]


def test_sweep(tmp_path):
    seen = []
    sweep = simview.sweep(SPOTS, set={"F": np.array([0.03, 0.04]), "k": 0.06}, output="f.sweep", progress=seen.append)
    assert list(sweep.frame["F"]) == [0.03, 0.04] and set(sweep.frame["state"]) == {"done"}
    assert [status["done"] for status in seen] == [1, 2] and seen[0]["runs"] == 2
    with pytest.raises(simview.RunError, match="1 of the runs failed") as error:
        simview.sweep(GROWS, set={"a": [1e-6, 0.5]})
    assert error.value.exit_code == 80 and list(error.value.result.frame["state"]) == ["done", "failed"]
    with pytest.raises(simview.UsageError, match="at least one value"):
        simview.sweep(SPOTS, set={"F": []})
    with pytest.raises(simview.UsageError, match="without parameters: give set="):
        simview.sweep(SPOTS)
    with pytest.raises(simview.RunError, match=r"strike: expected a number of at least 0, got -1.*exit code 65: bad scenario"):
        simview.sweep(CALL, set={"strike": [90, -1]})


def test_errors():
    Path("bad.lua").write_text("return sim.option { assets = { { spot = -1, vl = 0.2 } }, maturity = 1 }\n")
    with pytest.raises(simview.RunError) as error:
        simview.run("bad.lua")
    assert error.value.exit_code == 65 and error.value.meaning == "bad scenario" and error.value.message.count("\n") == 1
    assert "assets[1].vl: unknown key, nearest is 'vol'" in str(error.value) and error.value.result is None
    for arguments, code, text in (
        ({"set": {"foo": 1}}, 64, "has no sim.param of that name"), ({"options": ["--bogus"]}, 64, "unknown option '--bogus'"),
        ({"device": "cuda:99"}, 69, "cuda:99"),
    ):  # fmt: skip
        with pytest.raises(simview.RunError, match=text) as error:
            simview.run(CALL, **arguments)
        assert error.value.exit_code == code and f"exit code {code}: {MEANINGS[code]}" in str(error.value)
    with pytest.raises(simview.RunError, match="not finite at step") as error:
        simview.run(GROWS, output="diverged.out")
    assert error.value.exit_code == 80 and error.value.result.status["state"] == "failed"
    with pytest.raises(simview.RunError, match="checkpoint") as error:
        simview.run(LONG, output="wall.out", wall=1)
    assert error.value.exit_code == 75 and error.value.result.status["state"] == "stopped"
    assert error.value.message.endswith("stopped before its end; resume=True goes on")
    for wrong in ({"set": 3}, {"set": {"n": None}}, {"progress": 3}, {"options": "-q"}):
        with pytest.raises(simview.UsageError):
            simview.run(CALL, **wrong)
    with pytest.raises(simview.NotFoundError):
        simview.run("absent.lua")
    with pytest.raises(simview.RunError, match="bodies"):  # a text, although of one line
        simview.run("return sim.nbody {}")
    with pytest.raises(simview.RunError, match="bodies"):
        simview.run("local n = 3 return sim.nbody {}")


def test_warnings():
    """What the program warns of is a warning of Python."""
    with pytest.warns(simview.RunWarning):
        with pytest.MonkeyPatch.context() as patch:
            script = Path("warns.sh")
            script.write_text("#!/bin/sh\necho '{\"level\": \"warning\", \"message\": \"far apart\"}' >&2\nexec $REAL \"$@\"\n")
            script.chmod(0o755)
            patch.setenv("REAL", os.environ["SIM"])
            simview.run(CALL, sim=script)


def test_meanings():
    """The exit codes are those that the program names."""
    said = subprocess.run([os.environ["SIM"], "--help"], capture_output=True, text=True, check=True).stdout
    lines = [line.split(None, 1) for line in said[said.index("exit codes:") :].splitlines()[1:] if line[:4].strip().isdigit()]
    assert {int(code): meaning for code, meaning in lines if code != "0"} == MEANINGS


def test_find_sim(monkeypatch, tmp_path):
    real = os.environ["SIM"]
    assert simview.find_sim() == real
    with pytest.raises(simview.MissingToolError, match="the variable SIM names it"):
        monkeypatch.setenv("SIM", str(tmp_path / "none"))
        simview.find_sim()
    assert simview.find_sim(real) == real
    monkeypatch.delenv("SIM")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sim").symlink_to(real)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert simview.find_sim() == str(tmp_path / "bin" / "sim")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("simview.launch._BUILT", tmp_path / "bin" / "sim")
    assert simview.find_sim() == str(tmp_path / "bin" / "sim")
    monkeypatch.setattr("simview.launch._BUILT", tmp_path / "none")
    with pytest.raises(simview.MissingToolError, match="put it on PATH"):
        simview.find_sim()


def test_progress(capfd, monkeypatch):
    seen = []
    simview.run(LONG.replace("1e6", "60"), progress=seen.append)
    times = [status["time"] for status in seen]
    assert times == sorted(times) and seen[0]["t_end"] == 60 and 0 <= times[0]
    assert seen[-1]["state"] == "done" and times[-1] == 60  # also the last state
    monkeypatch.setattr("simview.progress._QUIET", 60.0)  # seconds that a short run may take: the machine may be busy
    simview.run(CALL, progress=True)
    assert capfd.readouterr().err.strip("\r\033[K") == ""  # a short run shows no bar


@pytest.mark.parametrize("output", [None, pytest.param("o.out", marks=pytest.mark.long)])
def test_interrupt(output, tmp_path):
    """Ctrl-C ends the program too; with an output it has saved its state."""
    Path("long.lua").write_text(LONG)
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job in the background ignores it
    code += f"import simview; simview.run('long.lua', output={output!r}, progress=False)"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    python = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, start_new_session=True)
    until = time.monotonic() + 60
    while not (found := [*tmp_path.glob("**/status.json")]) and time.monotonic() < until:
        time.sleep(0.05)
    pid = int(simview.open(found[0].parent).status["pid"])
    time.sleep(0.3)
    os.kill(python.pid, signal.SIGINT)  # of Python alone: a notebook's interrupt
    try:
        assert b"KeyboardInterrupt" in python.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        os.killpg(python.pid, signal.SIGKILL)
        raise
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    if output:
        assert simview.open(output).status["state"] == "stopped" and list((tmp_path / output / "ckpt").glob("ck_*.h5"))
