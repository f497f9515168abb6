"""Runs that the tests read: real ones of the binary that SIM names, and small files in the same layout."""

import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
matplotlib.use("Agg")

import write  # noqa: E402

SCENARIO = """
return sim.nbody {
  title     = "two clusters",
  bodies    = { sim.plummer { n = 3000, mass = 1, radius = 1, species = "left" },
                sim.plummer { n = 40, mass = 2, radius = 1, species = "right", position = {5, 0, 0} } },
  gravity   = { softening = 0.05 },
  units     = { length = "kpc", mass = "1e10 Msun", time = "Myr" },
  integrate = { dt = 1/64, t_end = 1/4 },
  output    = { snapshots = "every 4 steps", tables = "every 2 steps", checkpoint = "never" },
}
"""
PAIR = """
return sim.nbody {
  title  = "a pair",
  bodies = { { mass = 0.5, position = { 0.5, 0, 0}, velocity = {0,  0.5, 0} },
             { mass = 0.5, position = {-0.5, 0, 0}, velocity = {0, -0.5, 0} } },
  integrate = { scheme = "hermite4", dt = 1/128, t_end = 6.25 },
  output = { snapshots = "every 64 steps", tables = "every 16 steps", checkpoint = "never" },
}
"""


def _sim(folder, text):
    if "SIM" not in os.environ:
        pytest.skip("SIM names no binary")
    folder.mkdir()
    (folder / "s.lua").write_text(text)
    subprocess.run([os.environ["SIM"], "run", "s.lua", "-q"], cwd=folder, check=True, timeout=120)
    return folder / "s.out"


@pytest.fixture(scope="session")
def clusters(tmp_path_factory):
    """Two species with units, five snapshots."""
    return _sim(tmp_path_factory.mktemp("runs") / "clusters", SCENARIO)


@pytest.fixture(scope="session")
def pair(tmp_path_factory):
    """Two bodies on a circle of radius 1/2 with period 2 pi."""
    return _sim(tmp_path_factory.mktemp("runs") / "pair", PAIR)


@pytest.fixture(scope="session")
def gray_scott(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "gray_scott.out"
    write.gray_scott(folder)
    return folder


@pytest.fixture(scope="session")
def option(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "option.out"
    write.option(folder)
    return folder


@pytest.fixture
def simview(tmp_path, monkeypatch, capfd):
    """Runs the command in an empty folder: its exit code, what it says and what it complains about."""
    from simview.cli import main

    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capfd.readouterr()

    return call
