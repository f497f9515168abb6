#!/usr/bin/env python3
"""Huge and strange numbers in each number of small scenarios: what does the program say?

usage: extremes.py SIM [--model NAME] [--only TEXT] [--seconds 20] [--jobs 2] [--lines]

Replaces each number of the scenarios below in turn by each of VALUES, runs `sim run` under a limit of time, and reports

- runs that do not end, crash, or end with an exit code that is not of a refusal or a divergence,
- runs that end well although a table or a snapshot holds an infinite number, a NaN in a place where the original
  scenario has none, or a number above 1e200 that the scenario does not hold,
- refusals whose output has no line that names the scenario's file or a time, or more than 16 lines.

--lines prints each kind of line once, for a reader to judge. Needs h5py and numpy. Exit status 1: something to mend.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy as np

VALUES = ["1e150", "1e300", "1e-300", "-0.0", "5e-324", "9007199254740992", "-1e150"]
SOUND = {65, 69, 71, 80}

FLUID = """grid = { n = {16, 12}, size = {1.6, 1.2}, boundary = "wall" }, viscosity = 0.05, speed = 1, integrate = { t_end = 0.2 },
  output = { snapshots = "ends", tables = "every 0.1", checkpoint = "never" }"""
GRAINS = """box = { size = {2, 2, 2}, boundary = "wall" }, integrate = { dt = 5e-4, t_end = 0.05 },
  output = { snapshots = "ends", tables = "every 0.02", checkpoint = "never" }"""
BODIES = """output = { snapshots = "ends", tables = "every 0.5", checkpoint = "never" }"""

SCENARIOS = {
    "fluid": [
        """return sim.fluid { %s, density = 1.5, mach = 0.1, acceleration = {0.1, 0.2},
  sides = { y_high = { velocity = {0.5, 0} }, x_low = { velocity = {0.3, 0} }, x_high = { pressure = 0.1 } } }""",
        """return sim.fluid { %s, turbulence = { smagorinsky = 0.1, prandtl = 0.8 },
  heat = { diffusivity = 0.05, x_low = 1.5, x_high = 0.5, reference = 0.25, expansion = 0.1, gravity = {0, -9.81} } }""",
        """return sim.fluid { %s, heat = { diffusivity = 0.05, x_low = 1.5, flux = { x_high = 0.5 } },
  bodies = { sim.cylinder { point = {0.8, 0.6, 0}, radius = 0.2, temperature = 1.25 } } }""",
        """return sim.fluid { %s, collision = "trt", magic = 0.1875, bodies = { sim.cylinder { name = "c", point = {0.8, 0.6, 0},
  radius = 0.2, spin = 0.5, reference = { area = 0.4, length = 0.3, speed = 0.9, centre = {0.7, 0.5, 0}, direction = {1, 0} } } },
  gates = { { name = "g", axis = "x", at = 0.3, y = {0.2, 0.9} } }, probes = { {0.31, 0.41, 0} },
  average = { from = 0.05, every = 2 } }""",
        """return sim.fluid { %s, bodies = { sim.cylinder { name = "c", point = {0.8, 0.6, 0}, radius = 0.2, velocity = {0.1, 0.05, 0} } } }""",
        """return sim.fluid { %s, sides = { x_low = { velocity = {0.3, 0} }, x_high = { pressure = 0.1, sponge = 0.85 } },
  force = function(x, y, t, ux, uy) return 0.1 * ux, 0.2 * t end }""",
        """return sim.fluid { %s, collision = "trt", resistance = function(x, y) return 0.3 * x + 0.7 end }""",
        """return sim.fluid { grid = { n = {16, 12}, size = {1.6, 1.2}, boundary = "wall" }, speed = 1, integrate = { t_end = 0.2 },
  viscosity = function(shear) return 0.05 / (1 + 0.2 * shear) end, acceleration = {0.3, 0.2},
  output = { snapshots = "ends", tables = "every 0.1", checkpoint = "never" } }""",
        """return sim.fluid { grid = { n = {12, 12, 12}, size = {1.2, 1.2, 1.2}, boundary = "wall" }, viscosity = 0.05, speed = 1, density = 1.5,
  integrate = { t_end = 0.05 }, output = { snapshots = "ends", tables = "every 0.02", checkpoint = "never" }, gravity = {0, 0, -0.5},
  grains = { { radius = 0.31, position = {0.61, 0.59, 0.6}, density = 2.5, velocity = {0.1, 0, 0.2}, angular_velocity = {0, 0.3, 0} } },
  contact = { contact_time = 0.02, restitution = 0.7 } }""",
        """return sim.fluid { grid = { n = {12, 12, 12}, size = {1.2, 1.2, 1.2}, boundary = "wall" }, viscosity = 0.05, speed = 1, density = 1.5,
  integrate = { t_end = 0.05 }, output = { snapshots = "ends", tables = "every 0.02", checkpoint = "never" }, gravity = {0, 0, -0.5},
  drag = "schiller_naumann", grains = { { radius = 0.031, position = {0.61, 0.59, 0.6}, density = 2.5, velocity = {0.1, 0, 0.2} } },
  contact = { contact_time = 0.02, restitution = 0.7 } }""",
        """return sim.fluid { grid = { n = {12, 12, 12}, size = {1.2, 1.2, 1.2} }, viscosity = 0.05, speed = 1, spectrum = 4, lattice = "D3Q27",
  initial = function(x, y, z) return 0.3 * math.sin(5.25 * y), 0.1, 0.2 end,
  integrate = { t_end = 0.05 }, output = { snapshots = "ends", tables = "every 0.02", checkpoint = "never", fields = "vorticity, q" } }""",
        """return sim.fluid { grid = { n = {16, 12}, size = {1.6, 1.2}, boundary = "wall" }, viscosity = 0.05, speed = 1,
  sides = { y_high = { velocity = {0.5, 0} } }, steady = 0.01, integrate = { t_end = 0.2 },
  output = { snapshots = "ends", tables = "every 0.1", checkpoint = "never" } }""",
    ],
    "diffusion": [
        """return sim.diffusion { grid = { n = {16, 12}, size = {1.6, 1.2} }, fields = { { name = "u", D = 0.02, axes = {1.5, 0.5, 1},
  decay = 0.3, hyper = 1e-5, drift = {0.2, 0.1, 0}, noise = 0.01, initial = function(x, y) return 0.4 + 0.3 * math.cos(3.9 * x) end } },
  rates = function(u) return 0.9 * u * (1 - u) end, integrate = { scheme = "etdrk4", dt = 0.05, t_end = 0.5 },
  output = { snapshots = "ends", tables = "every 0.1", checkpoint = "never" } }""",
        """return sim.diffusion { grid = { n = {16, 16}, size = {6.3, 6.2} }, solenoidal = "u, v", seed = 3,
  fields = { { name = "u", D = 0.05, noise = 1.5 }, { name = "v", D = 0.05, noise = 1.5 } },
  rates = function(u, v, u_x, u_y, v_x, v_y) return -u * u_x - v * u_y, -u * v_x - v * v_y end,
  forcing = { fields = "u, v", k = {1, 2}, power = 0.7 }, integrate = { scheme = "etdrk4", dt = 0.02, t_end = 0.2, dealias = true },
  output = { snapshots = "ends", tables = "every 0.1", checkpoint = "never" } }""",
        """return sim.diffusion { grid = { n = {16, 16}, size = {6.3, 6.2} }, solenoidal = "u, v", seed = 3,
  fields = { { name = "u", D = 0.05, noise = 1.5 }, { name = "v", D = 0.05, noise = 1.5 } },
  rates = function(u, v, u_x, u_y, v_x, v_y) return -u * u_x - v * u_y, -u * v_x - v * v_y end,
  forcing = { fields = "u, v", k = {1, 2}, power = 0.7, random = true }, lyapunov = { every = 0.1 },
  integrate = { scheme = "etdrk4", dt = 0.02, t_end = 0.2, dealias = true },
  output = { snapshots = "ends", tables = "every 0.1", checkpoint = "never" } }""",
        """return sim.diffusion { grid = { n = {16, 16}, size = {6.3, 6.2} }, solenoidal = "u, v", seed = 3,
  fields = { { name = "u", D = 0.05, noise = 1.5 }, { name = "v", D = 0.05, noise = 1.5 } },
  rates = function(u, v, u_x, u_y, v_x, v_y) return -u * u_x - v * u_y, -u * v_x - v * v_y end,
  integrate = { scheme = "etdrk4", dt = "auto", courant = 0.4, velocity = "u, v", t_end = 0.2, dealias = true },
  output = { snapshots = "ends", tables = "every 0.1", checkpoint = "never" } }""",
        """return sim.diffusion { grid = { n = {16, 12}, size = {1.6, 1.2}, boundary = "no_flux" },
  fields = { { name = "T", D = 0.03, initial = 1.25, sides = { x_low = { robin = { a = 2.5, b = 0.6, g = 3.5 } }, x_high = { slope = 0.7 } } } },
  integrate = { t_end = 0.5 },
  output = { snapshots = "ends", tables = "every 0.1", checkpoint = "never" } }""",
        """return sim.diffusion { grid = { n = {32}, size = {6.3} }, fields = { { name = "u", D = 0.02, initial = 0.3 } },
  rates = function(u) return u - u^3 end, integrate = { scheme = "etdrk4", rtol = 1e-4, dt_max = 0.25, dt_min = 1e-6, t_end = 0.5 },
  output = { snapshots = "ends", tables = "every 0.1", checkpoint = "never" } }""",
        """return sim.diffusion { grid = { n = {32}, size = {6.3} }, fields = { { name = "u", D = 0.02, walls = {0.5, 1.5} } },
  integrate = { t_end = 0.5 }, output = { snapshots = "ends", tables = "every 0.1", checkpoint = "never" } }""".replace(
            "size = {6.3} }", 'size = {6.3}, boundary = "fixed" }'),
    ],
    "nbody": [
        """return sim.nbody { bodies = { { species = "sun", mass = 1.5 }, { species = "p", mass = 0.01,
  orbit = { a = 1.25, e = 0.3, inc = 12, node = 34, peri = 56, M = 78, primary = "sun" } } }, gravity = { G = 1.1 }, orbits = "sun",
  recentre = true, integrate = { scheme = "whfast", dt = 0.05, t_end = 1 }, %s }""",
        """return sim.nbody { bodies = { { species = "sun", mass = 1.5 }, { species = "p", mass = 0.01,
  orbit = { a = 1.25, e = 0.3, inc = 12, node = 34, peri = 56, M = 78 } } }, gravity = { G = 1.1, softening = 0.01 }, orbits = "sun",
  integrate = { scheme = "ias15", dt = "adaptive", dt_max = 0.5, t_end = 1 }, %s }""",
        """return sim.nbody { bodies = { { species = "sun", mass = 1.5, radius = 0.1 }, { species = "p", mass = 0.01, radius = 0.05,
  position = {1.25, 0.1, 0.2}, velocity = {0, 1.05, 0} }, { species = "q", mass = 0.02, radius = 0.03, position = {-1.25, 0.3, 0.1} } },
  merge = true, escape = { radius = 5 }, integrate = { scheme = "ias15", dt = "adaptive", t_end = 1 }, %s }""",
        """return sim.nbody { bodies = { { species = "sun", mass = 1.5 }, { species = "p", mass = 0.01, orbit = { a = -1.25, e = 1.5, M = 10 } } },
  orbits = "sun", integrate = { scheme = "hermite4", dt = "adaptive", eta = 0.02, t_end = 1 }, %s }""",
        """return sim.nbody { bodies = { { species = "sun", mass = 30 }, { species = "p", mass = 0.1, orbit = { a = 8.5, e = 0.1, primary = "sun" } },
  sim.plummer { n = 40, mass = 1.5, radius = 0.9, orbit = { a = 12.5, e = 0.2, primary = "sun" } } }, gravity = { G = 1.1, softening = 0.05 }, orbits = "sun",
  integrate = { scheme = "leapfrog", dt = "adaptive", eta = 0.3, t_end = 0.3 }, %s }""",
        """return sim.nbody { bodies = { { species = "sun", mass = 1.5 }, { species = "p", mass = 0.01, position = {1.25, 0.1, 0.2},
  velocity = {0.1, 1.05, 0.2} } }, gravity = { G = 1.1 }, orbits = "sun", integrate = { scheme = "yoshida4", dt = 0.01, t_end = 1 }, %s }""",
    ],
    "collision": [
        """return sim.collision { %s, grains = { { radius = 0.1, position = {1, 1, 0.11}, velocity = {0.1, 0.2, 0.3}, angular_velocity = {1, 2, 3}, density = 1.5 },
  { radius = 0.12, position = {1, 1, 0.35} } }, gravity = {0, 0.1, -5},
  contact = { law = "hertz", young = 1e4, poisson = 0.3, restitution = 0.8, friction = 0.4,
  rolling = { model = "sds", coefficient = 0.1, stiffness = 2, damping = 1e-3 }, cohesion = { model = "square_well", energy = 1e-5, range = 0.02, edge = 0.005 } },
  walls = { sim.plane { point = {0, 0, 1.5}, normal = {0, 0, -1}, servo = { pressure = 0.1, speed = 0.05 } } } }""",
        """return sim.collision { %s, grains = { { radius = 0.1, position = {1, 1, 0.11}, velocity = {0.1, 0.2, 0.3} }, { radius = 0.12, position = {1, 1, 0.33} } },
  contact = { stiffness = 100, restitution = 0.8, cohesion = { model = "liquid_bridge", surface_tension = 0.01, volume = 1e-6, contact_angle = 0.3 } },
  heat = { conductivity = 0.5, capacity = 20, temperature = function(x, y, z) return 0.7 * x + 1.3 end },
  walls = { sim.plane { point = {0, 0, 1.5}, normal = {0, 0, -1}, temperature = 4, servo = { force = 0.1, speed = 0.05 } } } }""",
        """return sim.collision { box = { size = {2, 2, 2}, origin = {-1, -1, -1}, z_low = "open", z_high = "open" }, integrate = { dt = 1e-3, t_end = 0.05 },
  output = { snapshots = "ends", tables = "every 0.02", checkpoint = "never" }, hill = { omega = 1.5, kappa = 1.25, vertical = 2.5 },
  self_gravity = { G = 0.7, softening = 0.01, error = 1e-3, images = 1, step = 0.002 },
  grains = { { radius = 0.1, position = {0.1, 0.2, 0.11}, velocity = {0.1, 0.2, 0.3} }, { radius = 0.12, position = {0.1, 0.2, 0.35} } },
  contact = { contact_time = 0.02, restitution = 0.8 } }""",
        """return sim.collision { box = { size = {2, 2, 2}, boundary = "open" }, integrate = { dt = 1e-3, t_end = 0.05 },
  output = { snapshots = "ends", tables = "every 0.02", checkpoint = "never" }, merge = { when = "slow", speed = 2.5 },
  grains = { { radius = 0.1, position = {1, 1, 0.51}, velocity = {0.1, 0.2, 0.9} }, { radius = 0.12, position = {1, 1, 0.74} } },
  contact = { contact_time = 0.02, restitution = 0.8 } }""",
        """return sim.collision { %s, grains = { sim.clump { spheres = { {0, 0, 0, 0.1}, {0.15, 0, 0, 0.08} }, density = 1.5, position = {1, 1, 0.3},
  orientation = {1, 0.2, 0.3, 0.4}, velocity = {0, 0, -1.5}, angular_velocity = {1, 2, 3} }, { radius = 0.12, position = {1, 1, 0.7} } },
  contact = { stiffness = 100, restitution = 0.8, friction = 0.4, twisting = { model = "spring_dashpot", coefficient = 0.1 } } }""",
        """return sim.collision { %s, grains = { { radius = 0.1, position = {1, 1, 0.11}, velocity = {0, 0, -0.3} }, { radius = 0.12, position = {1, 1, 0.35} } },
  contact = { law = "hertz", young = 2e3, poisson = 0.3, restitution = 0.8, cohesion = { model = "jkr", surface_energy = 0.01 } } }""",
    ],
}

arguments = argparse.ArgumentParser()
arguments.add_argument("sim")
arguments.add_argument("--model")
arguments.add_argument("--only", default="")
arguments.add_argument("--seconds", type=float, default=20)
arguments.add_argument("--jobs", type=int, default=2)
arguments.add_argument("--lines", action="store_true")
options = arguments.parse_args()

NUMBER = re.compile(r"(?<![\w.\"])-?\d+\.?\d*(?:[eE][-+]?\d+)?(?![\w\"])")


def numbers(text):
    """Places of the numbers that are no part of a string, a name or a power."""
    quoted = [m.span() for m in re.finditer(r'"[^"]*"', text)]
    return [m.span() for m in NUMBER.finditer(text)
            if not any(a <= m.start() < b for a, b in quoted) and text[m.start() - 1] != "^"]


def key_of(text, at):
    """The last `name =` before a place, and which number behind it."""
    names = list(re.finditer(r"(\w+) = ", text[:at]))
    return names[-1].group(1) if names else "?"


def contents(folder):
    """All numbers of tables and the last snapshot: {name: array}."""
    out = {}

    def visit(name, item):
        if not isinstance(item, h5py.Dataset):
            return
        if item.dtype.kind == "f":
            out[re.sub(r"data/\d+/", "data/", name)] = item[...]
        for column in item.dtype.names or ():
            if item.dtype[column].kind == "f":
                out[name + "." + column] = item[...][column]

    snapshots = sorted(os.listdir(folder + "/snap")) if os.path.isdir(folder + "/snap") else []
    for path in ["/tables.h5"] + ["/snap/" + s for s in snapshots[-1:]]:
        if os.path.exists(folder + path):
            with h5py.File(folder + path) as f:
                f.visititems(visit)
    return out


def run(text, folder):
    with open(folder + ".lua", "w") as f:
        f.write(text)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        done = subprocess.run([options.sim, "run", folder + ".lua", "-o", folder, "--no-progress", "--threads", "1", "--device", "cpu"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=options.seconds)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout.decode(errors="replace")


def judge(name, text, folder, usual):
    code, said = run(text, folder)
    if code is None:
        return "no end in %g s" % options.seconds, ""
    lines = [re.sub(r"\S*/", "", w) for w in said.strip().split("\n")]
    if code in SOUND:
        fault = [w for w in lines if ".lua" in w or "t = " in w or "sim: " in w or "error" in w]
        if not fault:
            return "exit %d without a line of its reason: %s" % (code, said[:200]), ""
        if len(lines) > 16:
            return "exit %d with %d lines" % (code, len(lines)), ""
        return None, "\n".join(w for w in fault if "warning" not in w)
    if code != 0:
        return "exit %d: %s" % (code, said[-300:]), ""
    for where, values in contents(folder).items():
        before = usual.get(where)
        if np.isinf(values).any():
            return "exit 0 with an infinite number in %s" % where, ""
        if np.isnan(values).any() and (before is None or not np.isnan(before).any()):
            return "exit 0 with NaN in %s" % where, ""
    return None, ""


def main():
    scratch = tempfile.mkdtemp(prefix="sim-extremes.")
    cases, usual = [], {}
    for model, texts in SCENARIOS.items():
        if options.model and options.model != model:
            continue
        for k, text in enumerate(texts):
            if "%s" in text:
                text = text % {"fluid": FLUID, "collision": GRAINS, "nbody": BODIES}[model]
            folder = "%s/%s%d" % (scratch, model, k)
            code, said = run(text, folder)
            if code != 0:
                print("%s %d itself: exit %s\n%s" % (model, k, code, said), flush=True)
                continue
            usual[model, k] = contents(folder)
            for a, b in numbers(text):
                for value in VALUES:
                    name = "%s %d, %s (at %d) %s -> %s" % (model, k, key_of(text, a), a, text[a:b], value)
                    if options.only in name:
                        cases.append((name, text[:a] + value + text[b:], (model, k)))
    bad, lines = 0, {}

    def one(numbered):
        number, (name, text, which) = numbered
        folder = "%s/c%d" % (scratch, number)
        said = judge(name, text, folder, usual[which])
        shutil.rmtree(folder, ignore_errors=True)
        os.remove(folder + ".lua")
        return name, text, said

    with ThreadPoolExecutor(options.jobs) as pool:
        for name, text, (fault, line) in pool.map(one, enumerate(cases)):
            if fault:
                bad += 1
                print("%s: %s" % (name, fault), flush=True)
            for each in line.split("\n"):
                kind = re.sub(r"-?\d+\.?\d*(e[-+]?\d+)?", "#", re.sub(r"\w+\.lua:\d+: ", "", each))
                if kind not in lines:
                    lines[kind] = "%s\n    %s" % (name, each)
    shutil.rmtree(scratch, ignore_errors=True)
    if options.lines:
        for kind in sorted(lines):
            print(lines[kind])
    print("%d cases, %d to mend, %d kinds of lines" % (len(cases), bad, len(lines)))
    return 1 if bad else 0


sys.exit(main())
