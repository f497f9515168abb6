#!/usr/bin/env bash
# sim bench: a quick table, the same as JSON, and wrong use. Rates are not judged, since the machine may be busy.
. "${BASH_SOURCE[0]%/*}/lib.sh"

expect 0 "ceilings" "$SIM" bench --quick --device cpu --threads 1
for word in nbody collision diffusion fluid option "fp32 multiply-adds" "copy, read + write"; do
  grep -qF -- "$word" output || fail "no '$word' in the table"
done

"$SIM" bench option --quick --json nbody --device cpu --threads 2 >bench.json || fail "sim bench --json"
"$SIM" bench diffusion --quick --scaling --json --device cpu --threads 1 >scaling.json || fail "sim bench --scaling"
python3 - <<'PY' || fail "what sim bench --json says"
import json, math
bench = json.load(open("bench.json"))
assert [(p["device"], p["threads"]) for p in bench["places"]] == [("cpu", 2)], bench["places"]
for ceiling in "copy", "fma32", "fma64", "rsqrt", "fft":
    assert bench["places"][0][ceiling] > 0, ceiling
assert {r["model"] for r in bench["results"]} == {"nbody", "option"}
kernels = {}
for r in bench["results"]:
    assert 0 < r["min"] <= r["median"] <= r["max"] and r["repeats"] >= 2 and r["steps"] >= r["repeats"], r
    # The rate is a step's work over its time. Direct sums count n^2 interactions, each to six digits.
    if r["model"] == "nbody" and "direct" in r["kernel"]:
        assert math.isclose(r["n"] ** 2 / r["seconds_a_step"], r["median"], rel_tol=1e-5), r
    if r.get("share"):
        assert math.isclose(r["median"] * r["counted"] / bench["places"][0][r["ceiling"]], r["share"], rel_tol=1e-4), r
    kernels.setdefault((r["model"], r["kernel"]), []).append(r["n"])
assert len(kernels) == 4 and all(len(set(sizes)) == 3 for sizes in kernels.values()), kernels
scaling = json.load(open("scaling.json"))
[fit] = scaling["exponents"]
points = [(3 * math.log(r["n"]), math.log(r["seconds"])) for r in scaling["results"]]
mean = [sum(p[k] for p in points) / len(points) for k in (0, 1)]
slope = sum((x - mean[0]) * (y - mean[1]) for x, y in points) / sum((x - mean[0]) ** 2 for x, y in points)
assert abs(slope - fit["all"]) < 1e-3, (slope, fit)
PY

expect 64 "nearest is nbody" "$SIM" bench nbodi

# The steps of a scenario, and its tables after them: as many as requested, of the requested problem.
cat >gas.lua <<'LUA'
local n = sim.param("n", 8, "grains")
return sim.collision {
  box = { size = {4.2, 4.2, 4.2}, boundary = "periodic" },
  grains = { sim.lattice { n = n, radius = 0.5, temperature = 0.1 } },
  contact = { law = "linear", stiffness = 1000 }, integrate = { dt = 0.0014, t_end = 1.4 },
}
LUA
expect 0 "80 steps after 30" "$SIM" bench gas.lua --set n=64 --warm 30 --steps 80 --device cpu --threads 1
grep -q '^gas.lua, cpu, 1 thread: .* grain steps/s .* ms a step' output || fail "no rate of a scenario"
tail -n +2 output >tables
for steps in 1 2; do # after as many steps, and after one more
  "$SIM" bench gas.lua --set n=64 --warm 109 --steps $steps --device cpu --threads 2 | tail -n +2 >tables.$steps
done
cmp tables tables.1 || fail "tables after as many steps"
grep -q "collisions [1-9]" tables && ! cmp -s tables tables.2 || fail "tables say nothing of the steps"
expect 64 "the run ends after 1000 steps" "$SIM" bench gas.lua --warm 900 --steps 101 --device cpu
expect 64 "expected both of them or none" "$SIM" bench gas.lua --warm 900
expect 64 "not for a scenario" "$SIM" bench gas.lua --json
expect 64 "not for rows of models" "$SIM" bench nbody --set n=100
expect 66 "scenario.lua" "$SIM" bench scenario.lua
expect 64 "does not take --quick" "$SIM" info --quick
expect 64 "does not take --seed" "$SIM" bench --seed 1
# --device cuda requires a GPU.
expect 69 "cuda" env CUDA_VISIBLE_DEVICES= "$SIM" bench --quick --device cuda option

# A linear diffusion's steps compute nothing: each step's state is timed, also beyond the run's 100 steps. Transforms of
# 65536 cells take more than 0.02 ms (16 operations a cell, 5e10 of them a second), the clock alone less than 0.001 ms.
cat >linear.lua <<'LUA'
return sim.diffusion { grid = { n = {256, 256}, size = {1, 1} }, integrate = { t_end = 1 },
                       fields = { { name = "u", D = 0.01, initial = function(x, y) return sim.box(x, y, 0.2, 0.4) end } } }
LUA
expect 0 "120 steps after 5" "$SIM" bench linear.lua --warm 5 --steps 120 --device cpu --threads 1
grep -o '[0-9.e+-]* ms a step' output | awk '{ exit !($1 > 0.02) }' || fail "the states of a linear diffusion are not timed"
