#!/usr/bin/env python3
"""The cost of other work on the machine for a run: wall and processor time with one thread and with all, on the machine
as it is and beside two busy loops a core.

    python3 bench/busy.py [build/release/cli/sim]

Many short parallel loops suffer most: a loop ends when its last thread does, and that thread may be waiting for a
processor. The first part is meaningful only where nothing else runs.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

OFF = "output = { snapshots = 'never', tables = 'never', checkpoint = 'never' } }"
SCENARIOS = {
    "nbody, 625 bodies, 1280 steps": """
return sim.nbody { bodies = { sim.plummer { n = 625, mass = 1, radius = 1 } }, gravity = { softening = 0.05 },
  integrate = { dt = 1/1024, t_end = 1280/1024 }, """ + OFF,
    "diffusion, 32^3, 1000 steps": """
return sim.diffusion { precision = 'single', grid = { n = {32, 32, 32}, size = {6, 6, 6}, boundary = 'periodic' },
  fields = { { name = 'u', D = 0.01, initial = function(x, y, z) return math.sin(x) end } },
  rates = function(u) return 0.1 * (u - u^3) end, integrate = { scheme = 'lie', dt = 0.1, t_end = 100 }, """ + OFF,
    "grains with friction, 3000, 500 steps": """
local side = (3000 * math.pi / 6 / 0.3)^(1/3)
return sim.collision { precision = 'single', box = { size = {side, side, side}, boundary = 'periodic' },
  grains = { sim.lattice { n = 3000, radius = 0.5, density = 6 / math.pi, temperature = 0.1 } },
  contact = { law = 'linear', stiffness = 1000, friction = 0.3 }, integrate = { dt = 0.0014, t_end = 0.7 }, """ + OFF,
    "gas, 10^5 grains, 200 steps": """
local side = (100000 * math.pi / 6 / 0.3)^(1/3)
return sim.collision { precision = 'single', box = { size = {side, side, side}, boundary = 'periodic' },
  grains = { sim.lattice { n = 100000, radius = 0.5, density = 6 / math.pi, temperature = 0.1 } },
  contact = { law = 'linear', stiffness = 1000 }, integrate = { dt = 0.0014, t_end = 0.28 }, """ + OFF,
}
REPEATS = 5


def seconds(sim, path, out, threads):
    """Median wall and processor seconds of a run."""
    times = []
    for _ in range(REPEATS):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run([sim, "run", path, "--device", "cpu", "--threads", str(threads), "-q", "--force", "-o", out],
                       check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append((time.monotonic() - start,
                      after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return sorted(times)[REPEATS // 2]


def main():
    sim = sys.argv[1] if len(sys.argv) > 1 else "build/release/cli/sim"
    cores = len(os.sched_getaffinity(0))
    print(f"{cores} cores, median of {REPEATS}: wall s (processor s)")
    print(f"{'':40} {'1 thread':>16} {f'{cores} threads':>16}")
    for busy in (False, True):
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * cores * busy)]
        try:
            print("beside two busy loops a core:" if busy else "as it is:")
            with tempfile.TemporaryDirectory() as folder:
                path, out = os.path.join(folder, "s.lua"), os.path.join(folder, "out")
                for name, text in SCENARIOS.items():
                    with open(path, "w", encoding="ascii") as file:
                        file.write(text)
                    cells = ["%.3f (%.3f)" % seconds(sim, path, out, threads) for threads in (1, cores)]
                    print(f"  {name:38} {cells[0]:>16} {cells[1]:>16}", flush=True)
        finally:
            for loop in loops:
                loop.kill()
            for loop in loops:
                loop.wait()


if __name__ == "__main__":
    main()
