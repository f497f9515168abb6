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


PLATE = """
return sim.diffusion {
  title     = "two fields on a plate",
  grid      = { n = {24, 16}, size = {3, 1} },
  fields    = { { name = "u", D = 0.01, initial = function(x, y) return 1 + 0.5 * math.sin(2 * math.pi * y) end },
                { name = "v", D = 0.02, initial = function(x, y) return math.cos(2 * math.pi * x / 3) end } },
  units     = { length = "mm", mass = "kg", time = "s" },
  spectrum  = 8,
  integrate = { dt = 0.1, t_end = 1 },
  output    = { snapshots = "every 0.25", tables = "every 0.1", checkpoint = "never",
                slices = { { name = "thin", stride = 5, when = "every 1 steps" }, { name = "line", y = 0.5, when = "every 0.25" } } },
}
"""
FLOW = """
return sim.fluid {
  title     = "a disc in a channel",
  grid      = { n = {42, 14}, size = {3, 1}, boundary = "wall" },
  viscosity = 0.05, speed = 1,
  initial   = function(x, y) return 3*y*(1 - y), 0 end,
  sides     = { x_low = { profile = function(x, y) return 3*y*(1 - y), 0 end }, x_high = { pressure = 0 } },
  bodies    = { sim.ball { point = {0.9, 0.47, 0}, radius = 0.21 } },
  integrate = { t_end = 0.2 },
  output    = { snapshots = "every 0.1", tables = "never", checkpoint = "never", fields = "vorticity" },
}
"""
BLOCK = """
return sim.diffusion {
  title     = "slices of a block",
  grid      = { n = {12, 10, 7}, size = {1.2, 1, 2.1} },
  fields    = { { name = "u", D = 0.01, noise = 1 } },
  integrate = { dt = 0.1, t_end = 0.5 },
  output    = { snapshots = "every 1 steps", tables = "never", checkpoint = "never", slices = {
    { name = "west", x = 0, when = "every 0.2" }, { name = "middle", y = 0.5, stride = 2, when = "every 1 steps" },
    { name = "floor", z = 0.3, when = "ends" }, { name = "thin", stride = 3, when = "every 0.1" },
    { name = "line", x = 0.55, z = 2, when = "every 0.1" } } },
}
"""
GRAINS = """
return sim.collision {
  title     = "grains that fall through a hole",
  box       = { size = {0.08, 0.08, 0.1}, origin = {-0.04, -0.04, -0.02}, boundary = "open", z_low = "outlet" },
  grains    = { sim.random_spheres { n = 60, radius = 0.002, density = 2500, low = {-0.012, -0.012, 0.005}, high = {0.012, 0.012, 0.03} } },
  walls     = { sim.cone { point = {0, 0, 0}, axis = {0, 0, 1}, length = 0.01, radius = 0.01, end_radius = 0.03 } },
  gravity   = {0, 0, -9.81},
  contact   = { law = "linear", contact_time = 1e-3, restitution = 0.6 },
  integrate = { dt = "auto", t_end = 0.12 },
  output    = { snapshots = "every 0.02", tables = "every 0.01", checkpoint = "never" },
}
"""
PASSING = """
return sim.collision {
  title     = "grains that come into an empty box and leave it empty",
  box       = { size = {0.1, 0.1, 0.1}, boundary = "open", z_low = "outlet" },
  insert    = { sim.inlet { rate = 2000, radii = {0.002, 0.003}, density = 2500, species = "rain",
                            low = {0.03, 0.03, 0.04}, high = {0.07, 0.07, 0.06}, start = 0.03, stop = 0.06 } },
  gravity   = {0, 0, -9.81},
  contact   = { law = "linear", contact_time = 1e-3, restitution = 0.6 },
  integrate = { dt = "auto", t_end = 0.25 },
  output    = { snapshots = "every 0.05", tables = "every 0.05", checkpoint = "never" },
}
"""
CALL = """
local strike = sim.param("strike", 100, "strike")
return sim.option {
  title    = "a call and a put",
  assets   = { { spot = 100, vol = 0.2 } },
  rate     = 0.05,
  maturity = 1,
  payoffs  = { sim.european { strike = strike }, sim.european { strike = strike, type = "put" } },
  greeks   = { delta = true },
  sampling = { paths = 2^14 },
  output   = { tables = "every 1 steps" },
}
"""
SPOTS = """
local F = sim.param("F", 0.03, "feed")
local k = sim.param("k", 0.06, "kill")
return sim.diffusion {
  title     = "spots",
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 2e-5, initial = 1 }, { name = "v", D = 1e-5, initial = 0.3 } },
  rates     = function(u, v) return -u*v^2 + F*(1 - u), u*v^2 - (F + k)*v end,
  integrate = { scheme = "strang", dt = 2, t_end = 40 },
  output    = { snapshots = "ends", tables = "every 20", checkpoint = "never" },
}
"""


def _sim(folder, text, *options):
    if "SIM" not in os.environ:
        pytest.skip("SIM names no binary")
    folder.mkdir()
    (folder / "s.lua").write_text(text)
    command = [os.environ["SIM"], *(options or ("run",)), "s.lua", "-o", "s.out", "-q"]
    subprocess.run(command, cwd=folder, check=True, timeout=120, capture_output=True)
    return folder / "s.out"


@pytest.fixture
def scenario_run(tmp_path):
    """Runs a scenario's text and returns its output folder."""
    return lambda text: _sim(tmp_path / "own", text)


@pytest.fixture(scope="session")
def plate(tmp_path_factory):
    """Two fields on a grid of 16 rows and 24 columns, five snapshots, with units."""
    return _sim(tmp_path_factory.mktemp("runs") / "plate", PLATE)


@pytest.fixture(scope="session")
def flow(tmp_path_factory):
    """A fluid around a disc on a grid of 14 rows and 42 columns, three snapshots."""
    return _sim(tmp_path_factory.mktemp("runs") / "flow", FLOW)


@pytest.fixture(scope="session")
def block(tmp_path_factory):
    """One field of noise on three axes, with planes, a line and every third cell."""
    return _sim(tmp_path_factory.mktemp("runs") / "block", BLOCK)


@pytest.fixture(scope="session")
def grains(tmp_path_factory):
    """Grains whose number changes from snapshot to snapshot."""
    return _sim(tmp_path_factory.mktemp("runs") / "grains", GRAINS)


@pytest.fixture(scope="session")
def passing(tmp_path_factory):
    """Grains of which the first and the last snapshot have none."""
    return _sim(tmp_path_factory.mktemp("runs") / "passing", PASSING)


@pytest.fixture(scope="session")
def call(tmp_path_factory):
    """Two European payoffs, of which the exact prices are known."""
    return _sim(tmp_path_factory.mktemp("runs") / "call", CALL)


@pytest.fixture(scope="session")
def sweep(tmp_path_factory):
    """Six runs over two parameters."""
    axes = ("sweep", "--set", "F=0.03,0.04", "--set", "k=0.05,0.06,0.07")
    return _sim(tmp_path_factory.mktemp("runs") / "sweep", SPOTS, *axes)


@pytest.fixture(scope="session")
def untitled(tmp_path_factory):
    """Two runs of a scenario without a title."""
    text = SPOTS.replace('  title     = "spots",\n', "")
    return _sim(tmp_path_factory.mktemp("runs") / "untitled", text, "sweep", "--set", "F=0.03,0.04")


@pytest.fixture(scope="session")
def prices(tmp_path_factory):
    """Two European payoffs at three strikes."""
    return _sim(tmp_path_factory.mktemp("runs") / "prices", CALL, "sweep", "--set", "strike=90,100,110")


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
def simview_command(simview):
    """The same, where a test needs the package's own name."""
    return simview


@pytest.fixture
def simview(tmp_path, monkeypatch, capfd):
    """Runs the command in an empty folder: its exit code, what it says and what it complains about."""
    from simview.cli import main

    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capfd.readouterr()

    return call
