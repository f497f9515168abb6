"""Last values of runs by the program that stays."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import CALL, PAIR

import simview
import simview.served as served

pytestmark = pytest.mark.skipif("SIM" not in os.environ, reason="SIM names no binary")
BOOK = """
local vol = sim.param("vol", 0.2)
return sim.option { assets = { { spot = 100, vol = vol } }, rate = 0.05, maturity = 1, steps = 1,
  payoffs = { sim.european { strike = 90 }, sim.european { strike = 110 } }, greeks = { vega = true }, sampling = { paths = 2^12 } }
"""
LONG = PAIR.replace("t_end = 6.25", "t_end = 1e6")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Everything temporary lies in a folder of the test, and goes with the programs."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path)
    yield
    served._end_all()
    gc.collect()
    assert os.listdir(tmp_path / "temporary") == []


def test_values():
    """The last rows of a run's tables, with the run's digest, from one program."""
    run = simview.run(BOOK, set={"vol": 0.3}, precision="double", threads=1)
    values = simview.price(BOOK, set={"vol": 0.3}, precision="double", threads=1)
    assert values.digest == run.status["digest"]
    assert values.prices.tolist() == run.tables.prices[["payoff_1", "payoff_2"]].iloc[-1].tolist()
    assert values.errors.tolist() == run.tables.errors[["payoff_1", "payoff_2"]].iloc[-1].tolist()
    assert values.tables["vegas"]["payoff_1"] == run.tables.vegas["payoff_1"].iloc[-1]
    child = next(iter(served._servers.values())).process.pid
    Path("call.lua").write_text(CALL.replace(", sim.european { strike = strike, type = \"put\" }", ""))
    one = simview.price("call.lua", precision="double", threads=1)
    assert one.prices.shape == one.errors.shape == (1,) and "Values of price" in repr(one)
    assert simview.price(BOOK, set={"vol": np.float64(0.2)}, precision="double", threads=1).prices[0] < values.prices[0]
    assert [server.process.pid for server in served._servers.values()] == [child]
    pair = simview.price(PAIR)
    assert pair.tables["energy"]["time"] == 6.25
    with pytest.raises(simview.SimviewError, match="no table price"):
        _ = pair.prices


def test_datasets():
    """A ladder is in the values too, with its axes; a run without one has none."""
    laddered = BOOK.replace("greeks = { vega = true }", "ladder = { spot = { -0.1, 0, 0.1 } }")
    values = simview.price(laddered, threads=1)
    ladder = values.datasets["ladder"]
    shape = [len(ladder["axes"][name]) for name in ladder["price"]["axes"]]
    prices = np.reshape(ladder["price"]["values"], shape)
    assert ladder["axes"]["spot"] == [-0.1, 0, 0.1] and ladder["price"]["axes"][0] == "payoff"
    assert prices.reshape(2, 3)[:, 1] == pytest.approx(values.prices)
    assert simview.price(BOOK, threads=1).datasets == {}


def test_faults():
    """The program's own lines; it goes on after them."""
    with pytest.raises(simview.RunError, match=r"payoffs\[1\].strike: expected a number") as error:
        simview.price(BOOK.replace("strike = 90", "strike = 'x'").replace("strike = 110", "strike = -1"))
    assert error.value.exit_code == 65 and error.value.message.count("\n") == 1
    child = next(iter(served._servers.values())).process.pid
    with pytest.raises(simview.RunError, match="nearest is vol") as error:
        simview.price(BOOK, set={"vl": 0.2})
    assert error.value.exit_code == 64
    with pytest.raises(simview.RunError, match="vol: expected"):
        simview.price(BOOK, set={"vol": -0.2})
    with pytest.raises(simview.UsageError, match="a tab"):
        simview.price(BOOK, set={"vol": "0.2\n"})
    with pytest.raises(simview.UsageError):
        simview.price(BOOK, set=["vol"])
    with pytest.raises(simview.NotFoundError):
        simview.price("none.lua")
    with pytest.raises(simview.RunError, match="--precision 'x'") as error:
        simview.price(BOOK, precision="x")
    assert error.value.exit_code == 64
    with pytest.warns(simview.RunWarning, match="no path of 4096 paid"):
        simview.price(BOOK.replace("strike = 110", "strike = 1e9"))
    assert child in [server.process.pid for server in served._servers.values()]


def test_death():
    """A program that dies is an error of this call, and the next one has another."""
    simview.price(BOOK)
    child = next(iter(served._servers.values())).process
    child.kill()
    child.wait()
    with pytest.raises(simview.RunError, match="ended before its answer") as error:
        simview.price(BOOK)
    assert error.value.exit_code == 128 + signal.SIGKILL and not served._servers
    assert simview.price(BOOK).prices[0] > 0


def test_threads():
    """Calls of several threads take turns."""
    known = {vol: simview.price(BOOK, set={"vol": vol}).prices[0] for vol in (0.1, 0.2, 0.3)}
    wrong = []

    def ask(vol):
        for _ in range(5):
            if simview.price(BOOK, set={"vol": vol}).prices[0] != known[vol]:
                wrong.append(vol)

    asking = [threading.Thread(target=ask, args=(vol,)) for vol in known]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("how", ["end", "kill", *(pytest.param(how, marks=pytest.mark.long) for how in ("kill while it computes", "interrupt"))])
def test_end(how, tmp_path):
    """The program ends with Python, however that ends."""
    text = f"""
import os, signal, simview, simview.served as served, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_price import BOOK, LONG
simview.price(BOOK)
print(next(iter(served._servers.values())).process.pid, flush=True)
how = {how!r}
if how == "kill while it computes" or how == "interrupt":
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGKILL if how[0] == "k" else signal.SIGINT)).start()
    simview.price(LONG)
if how == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
"""
    environment = dict(os.environ, PYTHONPATH=str(Path(__file__).parents[1]), TMPDIR=str(tmp_path))
    got = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=60)
    child = int(got.stdout)
    assert got.returncode == {"end": 0, "interrupt": -signal.SIGINT}.get(how, -signal.SIGKILL), got.stderr
    for _ in range(100):
        if not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2]:
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the program goes on")
