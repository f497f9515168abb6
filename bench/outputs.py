#!/usr/bin/env python3
"""The cost of outputs: processor time and wall time of a run with a hundred snapshots, tables or checkpoints of 10^5
grains, and without. On a busy machine use the processor time: the load of the outputs on the cores.

  bench/outputs.py SIM [SIM...] [--rounds 3] [--threads 2] [--steps 20000] [--grains 100000] [--busy]

--busy runs two loops beside it that do nothing else. Each round runs all SIMs and kinds in turn; the least counts."""
import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

SCENARIO = """local what, n, steps = sim.param("what", "none"), sim.param("n", 100000), sim.param("steps", 20000)
local side, every = (n * math.pi / 1.8)^(1/3), "every " .. math.tointeger(steps) // 100 .. " steps"
local function on(kind) return what == kind and every or "never" end
return sim.collision {
  precision = "single", box = { size = {side, side, side}, boundary = "periodic" },
  grains = { sim.lattice { n = n, radius = 0.5, density = 6 / math.pi, temperature = 0.1 } },
  contact = { law = "linear", stiffness = 1000 }, integrate = { dt = 2^-10, t_end = steps * 2^-10 },
  output = { snapshots = on("snapshots"), tables = on("tables"), checkpoint = on("checkpoint") } }
"""

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("sim", nargs="+")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--steps", type=int, default=20000)
parser.add_argument("--grains", type=int, default=100000)
parser.add_argument("--device", default="cpu")
parser.add_argument("--busy", action="store_true")
arguments = parser.parse_args()
KINDS = "none", "snapshots", "tables", "checkpoint"

busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 if arguments.busy else 0)]
try:
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", ".")) as folder:
        scenario, out = os.path.join(folder, "cost.lua"), os.path.join(folder, "out")
        with open(scenario, "w") as file:
            file.write(SCENARIO)
        least = {}
        for _ in range(arguments.rounds):
            for sim in arguments.sim:
                for kind in KINDS:
                    used, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
                    subprocess.run([sim, "run", scenario, "--set", f"what={kind}", "--set", f"steps={arguments.steps}",
                                    "--set", f"n={arguments.grains}", "--device", arguments.device, "--threads",
                                    str(arguments.threads), "-q", "-o", out], check=True)
                    wall, now = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
                    shutil.rmtree(out)
                    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
                    before = least.get((sim, kind), (wall, cpu))
                    least[sim, kind] = min(wall, before[0]), min(cpu, before[1])
        for sim in arguments.sim:
            wall, cpu = least[sim, "none"]
            print(f"{sim}: without outputs {wall:.2f} s, {cpu:.2f} s of processor time")
            for kind in KINDS[1:]:
                more_wall, more_cpu = least[sim, kind][0] - wall, least[sim, kind][1] - cpu
                print(f"  {kind:<11} +{100 * more_wall / wall:.1f} % ({10 * more_wall:.2f} ms each), "
                      f"{10 * more_cpu:.2f} ms of processor time each")
finally:
    for process in busy:
        process.kill()
        process.wait()
