"""The bytes that `sim check --ranks` says a rank receives in a step, against those that `--profile` counts.

traffic.py SIM: a run of more steps less one of fewer; of the rank that receives most. The profile shows three digits, a
hundredth of the difference at most. Direct sums, and the words that ranks agree on, are told to 3 %; multipoles, whose
cells and keys depend on the places of the bodies, and the cells beside a ball to 15 %. Grains are told to 35 %: the plan
knows how densely they lie, not how they move, and takes it that lists are made anew every 100 steps. Ranks of one host
read the grains of others in memory, so that they are said to be on several hosts."""
import os, re, subprocess, sys, tempfile

SIM = sys.argv[1]
NONE = 'output = { snapshots = "never", tables = "never", checkpoint = "never" }'
SCENARIOS = {
    "direct": f"""return sim.nbody {{ precision = "single", bodies = {{ sim.plummer {{ n = 5000, mass = 1, radius = 1 }} }},
      gravity = {{ softening = 0.02, solver = "direct" }},
      integrate = {{ dt = 2^-14, t_end = sim.param("steps", 1) * 2^-14 }}, {NONE} }}""",
    "multipoles": f"""return sim.nbody {{ precision = sim.param("kind", "single"),
      bodies = {{ sim.plummer {{ n = 20000, mass = 1, radius = 1 }} }}, gravity = {{ softening = 0.02, solver = "fmm" }},
      integrate = {{ dt = 2^-14, t_end = sim.param("steps", 1) * 2^-14 }}, {NONE} }}""",
    "etdrk4": f"""return sim.diffusion {{ precision = "double", grid = {{ n = {{256}}, size = {{6.28}} }},
      fields = {{ {{ name = "u", D = 0.01, initial = function(x) return math.sin(x) end }} }},
      rates = function(u) return u - u^3 end,
      integrate = {{ scheme = "etdrk4", dt = 0.01, t_end = 0.01 * sim.param("steps", 1) }}, {NONE} }}""",
    "ball": f"""return sim.fluid {{ precision = "single", grid = {{ n = {{32, 32, 32}}, size = {{1, 1, 1}} }},
      viscosity = 1e-3, speed = 0.1,
      initial = function(x, y, z) return 0.05 * math.sin(6.28318530717958648 * y), 0, 0 end,
      bodies = {{ sim.ball {{ point = {{0.5, 0.5, 0.5}}, radius = 0.2 }} }},
      integrate = {{ t_end = sim.param("steps", 1) / 32 }}, {NONE} }}""",
    "grains": f"""
      local n, fill = sim.param("n", 8000), sim.param("fill", 0.05)
      local side, dt = (n * math.pi / 6 / fill) ^ (1 / 3), 0.0014
      return sim.collision {{
        precision = sim.param("kind", "single"), box = {{ size = {{side, side, side}}, boundary = "periodic" }},
        grains = {{ sim.random_spheres {{ n = n, density = 6 / math.pi, temperature = 0.016, radius = 0.5 }} }},
        contact = {{ law = "linear", stiffness = 1000, friction = 0.3 }},
        integrate = {{ dt = dt, t_end = sim.param("steps", 1) * dt }}, {NONE} }}""",
}
CASES = [  # scenario, parameters, ranks, steps, tolerance
    ("direct", [], 2, 20, 0.03),
    ("direct", [], 3, 20, 0.03),
    ("direct", [], 7, 20, 0.03),
    ("multipoles", [], 2, 4, 0.15),
    ("multipoles", [], 4, 4, 0.15),
    ("multipoles", ["--set", "kind=double"], 3, 4, 0.15),
    ("etdrk4", [], 4, 400, 0.03),
    ("ball", [], 3, 20, 0.15),
    ("grains", ["--set", "fill=0.01"], 2, 200, 0.35),
    ("grains", [], 2, 200, 0.35),
    ("grains", ["--set", "fill=0.5", "--set", "kind=double"], 3, 100, 0.35),
]
SIZES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def sim(*words, **environment):
    environment = {**os.environ, **environment}
    return subprocess.run([SIM, *words], capture_output=True, text=True, check=True, env=environment).stdout


def counted(words, steps, folder, hosts):
    out = sim("run", *words, "--set", f"steps={steps}", "--profile", "-o", f"{folder}/out", "--force",
              SIM_COMM_HOSTS=str(hosts))
    rows = re.findall(r"^ +\d+ \S+ +\S+ s +\S+ % +([\d.]+) (B|KiB|MiB|GiB) +\d+$", out, re.M)
    return max(float(number) * SIZES[unit] for number, unit in rows)


bad = 0
with tempfile.TemporaryDirectory() as folder:
    for name, sets, ranks, steps, tolerance in CASES:
        path = f"{folder}/{name}.lua"
        with open(path, "w") as file:
            file.write(SCENARIOS[name])
        words = [path, *sets, "--ranks", str(ranks), "--threads", "1"]
        number, unit = re.search(r"([\d.]+) (\w+) received by a rank in a step", sim("check", *words)).groups()
        told = float(number) * SIZES[unit]
        hosts = ranks if name == "grains" else 1
        found = (counted(words, steps + steps // 2, folder, hosts) - counted(words, steps // 2, folder, hosts)) / steps
        good = abs(told / found - 1) <= tolerance
        bad += not good
        print("good" if good else "BAD ", name, *sets, f"{ranks} ranks: told {told:.0f}, counted {found:.0f} bytes a step")
sys.exit(bad > 0)
