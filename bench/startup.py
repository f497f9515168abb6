#!/usr/bin/env python3
"""The time of starting `sim`: --version, and a scenario's first step with everything before and after it.

usage: startup.py PATH/TO/sim [--device cpu|gpu] [--rounds R]     prints a JSON object of milliseconds: median and least

On the GPU also with an empty cache of compiled kernels, and whole runs of option scenarios. Programs that do not run
there are left out.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("sim")
parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
parser.add_argument("--rounds", type=int, default=5)
arguments = parser.parse_args()

OUTPUT = 'output = { snapshots = "never", tables = "never", checkpoint = "never" }'


def diffusion(n, scheme):
    return f"""return sim.diffusion {{ precision = "single",
  grid = {{ n = {{{n}, {n}, {n}}}, size = {{1, 1, 1}}, boundary = "periodic" }},
  fields = {{ {{ name = "u", D = 0.01, initial = function(x) return math.sin(2 * math.pi * x) end }} }},
  rates = function(u) return u - u^3 end, integrate = {{ scheme = "{scheme}", dt = 0.125, t_end = 0.125 }}, {OUTPUT} }}
"""


def fluid(n, force):
    return f"""return sim.fluid {{ precision = "single", grid = {{ n = {{{n}, {n}, {n}}}, size = {{1, 1, 1}}, boundary = "periodic" }},
  viscosity = 1e-3, speed = 0.1, initial = function(x, y, z) return 0.05, 0.01 * math.sin(2 * math.pi * z), 0 end, {force}
  bodies = {{ sim.ball {{ point = {{0.5, 0.5, 0.5}}, radius = 0.2 }} }}, integrate = {{ t_end = 1e-9 }}, {OUTPUT} }}
"""


SCENARIOS = {
    "nbody": f"""return sim.nbody {{ bodies = {{ sim.plummer {{ n = 1000, mass = 1, radius = 1 }} }},
  gravity = {{ softening = 0.05 }},
  integrate = {{ dt = 1/1024, t_end = 1/1024 }}, precision = "single", {OUTPUT} }}
""",
    "collision": f"""return sim.collision {{ precision = "single", box = {{ size = {{13, 13, 13}}, boundary = "periodic" }},
  grains = {{ sim.lattice {{ n = 1000, radius = 0.5, density = 2, temperature = 0.1 }} }},
  contact = {{ law = "linear", stiffness = 1000 }}, integrate = {{ dt = 1/1024, t_end = 1/1024 }}, {OUTPUT} }}
""",
    "diffusion": diffusion(64, "lie"),
    "option": f"""return sim.option {{ assets = {{ {{ spot = 100, vol = 0.2 }} }}, rate = 0.05, maturity = 1, steps = 4,
  payoffs = {{ sim.asian {{ strike = 100 }} }}, sampling = {{ paths = 65536 }}, precision = "mixed", {OUTPUT} }}
""",
    "fluid": fluid(64, ""),
    "diffusion 256^3": diffusion(256, "lie"),
    "diffusion 512^3, strang": diffusion(512, "strang"),
    "fluid 256^3": fluid(256, ""),
    "fluid 256^3, force": fluid(256, "force = function(x, y, z, t, ux) return -1e-3 * ux, 1e-3 * math.sin(t), 0 end,"),
}
# with rates or a force that are compiled at their first use; a fluid without is compiled before
COLD = "diffusion 256^3", "diffusion 512^3, strang", "fluid 256^3", "fluid 256^3, force"
# Whole runs of scenarios/ whose kernels are compiled: a sample takes milliseconds.
WHOLE = "european", "own_payoff", "heston_barrier", "american_put", "basket_sobol"
HERE = os.path.dirname(os.path.abspath(__file__))


def milliseconds(command, rounds, caches=None):
    """None if it does not run; a new folder of `caches` for the compiled kernels of each round."""
    times = []
    for _ in range(rounds):
        cache = {"SIM_CACHE": tempfile.mkdtemp(dir=caches)} if caches else {}
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **cache})
        times.append(1e3 * (time.perf_counter() - begin))
        if done.returncode != 0:
            print(f"startup.py: {' '.join(command)}: {done.stderr.strip()}", file=sys.stderr)
            return None
    return {"median": statistics.median(times), "min": min(times)}


def main():
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        if arguments.device == "cpu":
            found["sim --version"] = milliseconds([arguments.sim, "--version"], 4 * arguments.rounds)
        for name, text in SCENARIOS.items():
            if name in COLD and arguments.device == "cpu":
                continue
            scenario = os.path.join(folder, "one.lua")
            with open(scenario, "w") as file:
                file.write(text)
            command = [arguments.sim, "run", scenario, "-q", "--force", "-o", os.path.join(folder, "out"), "--device",
                       "cpu" if arguments.device == "cpu" else "cuda"]
            if name in COLD:
                found[f"first step, {name}, nothing compiled before"] = milliseconds(command, 2, folder)
            found[f"first step, {name}"] = milliseconds(command, arguments.rounds)
        for name in WHOLE if arguments.device == "gpu" else ():
            command = [arguments.sim, "run", os.path.join(HERE, "../scenarios", name + ".lua"), "-q", "--force", "-o",
                       os.path.join(folder, "out"), "--device", "cuda"]
            found[f"{name}.lua, nothing compiled before"] = milliseconds(command, 1, folder)
            found[f"{name}.lua"] = milliseconds(command, 3)
    found = {name: times for name, times in found.items() if times}
    if not found:
        sys.exit("startup.py: nothing ran")
    print(json.dumps(found))


main()
