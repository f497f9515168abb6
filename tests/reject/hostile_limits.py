"""hostile_limits.py CASE: writes a scenario that is expensive before its script runs, starts `sim check` on it,
and ends with its exit code; or with 1 where it took too much. Processor time is that of all its processes, memory that
of the largest one."""
import os
import resource
import subprocess
import sys

SECONDS, MIB = 6, 256  # the longest takes 1.8 s on a quiet core; two busy ones need twice that
MODEL = """return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { dt = 1/64, t_end = 1/8 },
  typo      = 1,
}
"""
CASES = {
    # 15 MB of constructors that never run, all read for their positions.
    "dead_code": lambda: "if false then local t = {" + "{}," * 5000000 + "} end\n" + MODEL,
    "dead_bindings": lambda: "if false then local function f() " + "a={} " * 3100000 + "end end\n" + MODEL,
    "unknown_keys": lambda: "local t = {}\n"
    "for i = 1, 200000 do t[('k'):rep(47) .. string.format('%08d', i)] = 1 end\n"
    "return sim.nbody(t)\n",
    "nan_rows": lambda: "local x = 0/0\nlocal row = { mass = x, position = { x, x, x }, velocity = { x, x, x } }\n"
    "return sim.nbody { bodies = { sim.each(1190000, function(i) return row end) } }\n",
    "empty_bodies": lambda: "local t, body = {}, sim.exponential_disk {}\nfor i = 1, 490000 do t[i] = body end\n"
    "return sim.nbody { bodies = t }\n",
    "many_bodies": lambda: "local t, body = {}, { mass = 1, position = { 0, 0, 0 } }\n"
    "for i = 1, 160000 do t[i] = body end\nreturn sim.nbody { bodies = t }\n",
    "long_params": lambda: "local s = ('x'):rep(40e6)\nfor i = 1, 4 do sim.param('p' .. i, s) end\n" + MODEL,
    "many_params": lambda: "local s = ('x'):rep(65536)\nfor i = 1, 1000 do sim.param('p' .. i, s) end\n"
    "return sim.nbody { ('x'):rep(4e6) }\n",
}

sim = os.environ["SIM"]
with open(sim, "rb") as program:
    data = program.read()
if b"__asan_init" in data or b"__tsan_init" in data:
    print("a sanitizer needs more time and memory than that", file=sys.stderr)
    sys.exit(125)
with open("s.lua", "w") as scenario:
    scenario.write(CASES[sys.argv[1]]())
code = subprocess.run([sim, "check", "s.lua"], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds, mib = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
if seconds > SECONDS or mib > MIB:
    print(f"{seconds:.2f} s of processor time and {mib:.0f} MiB, at most {SECONDS} s and {MIB} MiB", file=sys.stderr)
    code = 1
sys.exit(code)
