"""The memory that `sim check` tells, against the most that a run took (the kernel's VmHWM), in every model.

memory.py SIM [RANKS...]: one rank takes the planned memory to 5 %, without what the plan says is usually unused
(cells of the multipoles, contacts of grains, links of bodies). Grains that have just been laid on a lattice, or into a
packing that has not settled, have fewer neighbours than those of a gas or a bed: there at most 5 % more is taken than
planned. On several ranks none takes more than 5 % above the plan of the fullest. Ranks of one host
have the fields of sim.diffusion and sim.fluid in common memory, which VmHWM counts for each of them: there the
proportional share (Pss), looked at now and then, stands for the peak."""
import os, re, subprocess, sys, tempfile, time

SIM, RANKS = sys.argv[1], [int(text) for text in sys.argv[2:]] or [1, 2]
SCENARIOS = {
    "diffusion": """return sim.diffusion {
      precision = "double", grid = { n = {96, 96, 96}, size = {6.28, 6.28, 6.28} },
      fields = { { name = "u", D = 0.01, initial = function(x, y, z) return math.sin(x) * math.cos(2 * y) end } },
      rates = function(u) return u - u^3 end,
      integrate = { scheme = "etdrk4", dt = 0.01, t_end = 0.06 }, output = { OUTPUT } }""",
    "fluid": """
    local dx, what = 1 / 64, sim.param("what", "plain")
    local moves = what == "moving" and { velocity = {0.01, 0, 0} } or {}
    return sim.fluid {
      precision = "single", grid = { n = {64, 64, 64}, size = {1, 1, 1} }, viscosity = 1e-3, speed = 0.1,
      initial = function(x, y, z) return 0.05 * math.sin(6.28318530717958648 * y), 0, 0 end,
      bodies = (what == "ball" or what == "moving") and
               { sim.ball { point = {0.5, 0.5, 0.5}, radius = 0.2, velocity = moves.velocity } } or nil,
      heat = what == "heat" and { diffusivity = 1e-3, initial = function(x, y, z) return math.sin(x) end } or nil,
      integrate = { t_end = 10 * dx }, output = { OUTPUT } }""",
    "collision": """
    local friction, kind = sim.param("friction", 0.0), sim.param("kind", "lattice")
    local n = sim.param("n", 100000)
    local fill = kind == "dilute" and 0.02 or kind == "bed" and 0.5 or 0.2424
    local side, wall = (n * math.pi / 6 / fill) ^ (1 / 3), kind == "bed" and "wall" or "periodic"
    local make = kind == "lattice" and sim.lattice or sim.random_spheres
    return sim.collision {
      precision = sim.param("precision", "single"), gravity = kind == "bed" and {0, 0, -0.1} or nil,
      box = { size = {side, side, side}, boundary = "periodic", z_low = wall, z_high = wall },
      grains = { make { n = n, density = 6 / math.pi, temperature = 0.1, radius = 0.5 } },
      contact = { law = "linear", stiffness = 1000, friction = friction > 0 and friction or nil },
      integrate = { dt = 0.0014, t_end = 0.014 }, output = { OUTPUT } }""",
    "nbody": """
    local n = sim.param("n", 40000)
    return sim.nbody {
      precision = "single", bodies = { sim.plummer { n = n, mass = 1, radius = 1 } },
      gravity = { softening = 0.01, solver = n > 50000 and "fmm" or "direct" },
      integrate = { dt = 2^-14, t_end = 2^-13 }, output = { OUTPUT } }""",
    "option": """return sim.option {
      precision = "double", assets = { { spot = 100, vol = 0.2 } }, rate = 0.05, maturity = 1, steps = 50,
      payoffs = { sim.american { strike = 100 } }, sampling = { paths = 262144 }, output = { OUTPUT } }""",
}
NONE = 'snapshots = "never", tables = "never", checkpoint = "never"'
KEPT = 'snapshots = "never", tables = "never", checkpoint = "every 2 steps"'
CASES = [  # scenario, parameters, output, whether it takes 95 % at least, whether ranks have fields in common
    ("diffusion", [], NONE, True, True),
    ("diffusion", [], KEPT, True, True),
    ("fluid", ["what=plain"], NONE, True, True),
    ("fluid", ["what=ball"], NONE, True, True),
    ("fluid", ["what=heat"], NONE, True, True),
    ("fluid", ["what=heat"], KEPT, True, True),
    ("fluid", ["what=moving"], NONE, True, True),
    ("collision", [], NONE, True, False),
    ("collision", ["kind=gas", "friction=0.3", "n=40000"], KEPT, True, False),
    ("collision", ["kind=dilute", "friction=0.3", "precision=double", "n=40000"], NONE, True, False),
    ("collision", ["kind=bed", "friction=0.3", "n=10000"], NONE, False, False),
    ("nbody", [], NONE, True, False),
    ("nbody", ["n=200000"], NONE, True, False),
    ("option", [], 'tables = "never", checkpoint = "never"', True, False),
]


def field(name, text):
    found = re.search(name + r":\s+(\d+) kB", text)
    return int(found.group(1)) * 1024 if found else 0


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


# Pages of the program and its libraries count too. The system maps those that it has around each fault, so that some of
# them are there in one run and not in the next.
MAPPED = 2**20


def planned(arguments):
    out = subprocess.run([SIM, "check", *arguments], capture_output=True, text=True, check=True).stdout
    number, unit = re.search(r"^memory +([\d.]+) (\w+)", out, re.M).groups()
    unused = re.search(r"^ +of it usually unused +([\d.]+) (\w+)", out, re.M)
    return size(number, unit) - (size(*unused.groups()) if unused else 0)


def size(number, unit):
    return float(number) * {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[unit]


def peaks(arguments, ranks):
    """Returns the most of VmHWM and of Pss of any rank."""
    run = subprocess.Popen([SIM, "run", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    most = share = 0
    while True:
        ended, status, used = os.wait4(run.pid, os.WNOHANG)
        if ended:
            break
        children = read(f"/proc/{run.pid}/task/{run.pid}/children").split()
        for process in children if ranks > 1 else [run.pid]:
            most = max(most, field("VmHWM", read(f"/proc/{process}/status")))
            share = max(share, field("Pss", read(f"/proc/{process}/smaps_rollup")))
        time.sleep(0.03)
    if status:
        sys.exit(f"status {status}: {run.stderr.read()}")
    return max(most, used.ru_maxrss * 1024) if ranks == 1 else most, share


bad = 0
with tempfile.TemporaryDirectory() as folder:
    for name, parameters, output, tight, common in CASES:
        path = f"{folder}/{name}.lua"
        with open(path, "w") as file:
            file.write(SCENARIOS[name].replace("OUTPUT", output))
        sets = [word for text in parameters for word in ("--set", text)]
        for ranks in RANKS:
            where = ["--ranks", str(ranks)] if ranks > 1 else []
            plan = planned([path, *sets, *where])
            most, share = peaks([path, *sets, *where, "--threads", "1", "-o", f"{folder}/out", "--force"], ranks)
            took = share if common and ranks > 1 else most
            good = took <= 1.05 * plan + MAPPED and (not tight or ranks > 1 or took >= 0.95 * plan - MAPPED)
            bad += not good
            print(f"{'good' if good else 'BAD '} {name} {' '.join(parameters)}{' kept' if output == KEPT else ''},",
                  f"{ranks} ranks: {took / plan:.3f} of {plan / 1e6:.1f} MB (VmHWM {most / 1e6:.1f})")
sys.exit(bad > 0)
