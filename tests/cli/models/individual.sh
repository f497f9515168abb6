#!/usr/bin/env bash
# Individual steps through the program: its messages, the table of levels, restarts at any step.
. "${BASH_SOURCE[0]%/*}/../lib.sh"

cat >steps.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.plummer { n = 150, mass = 1, radius = 0.1 },
                sim.plummer { n = 150, mass = 1, radius = 1, position = {4, 0, 0} },
                { mass = 0, position = {2, 1, 0} } },
  external  = function(x, y, z, t) return 0.05 * (x^2 + y^2 + z^2) * (1 + 0.5 * math.sin(t)) end,
  observe   = { moved = function(body) return body.mass * body.vx end },
  gravity   = { softening = 0.01, solver = sim.param("solver", "direct") },
  integrate = { scheme = "leapfrog", steps = "individual", dt = 1/16, t_end = 1, levels = sim.param("levels", 8) },
  output    = { snapshots = "ends", tables = "every 2 steps", checkpoint = "every 1 steps" },
}
LUA
expect 0 "level_L" "$SIM" describe nbody
expect 0 "at least" "$SIM" check steps.lua
for solver in direct fmm; do
  expect 0 "individual steps of 0.0625 down to 0.000244" "$SIM" run steps.lua -o $solver --set solver=$solver
  grep -q "individual steps: .* forces on a body in a step of 0.0625" output || fail "no line on the steps"
  grep -q "warning" output && fail "a warning where levels suffice"
  cp -r $solver cut
  rm -- $(checkpoints cut | tail -n 2) # the last three are kept
  expect 0 "" "$SIM" resume cut
  same $solver cut "individual steps, $solver"
  rm -rf cut
done

# Bodies that need a shorter step than the shortest one.
expect 0 "bodies want a step below 0.0312, the shortest one" "$SIM" run steps.lua -o rough --set levels=1
[ "$(grep -c 'want a step' output)" = 1 ] || fail "the warning does not come once"

if python3 -c 'import h5py' 2>/dev/null; then
  python3 - <<'PY' || fail "the table levels"
import h5py
levels = h5py.File("direct/tables.h5")["levels"]
names = ("step", "time") + tuple(f"level_{k}" for k in range(9))
assert levels.dtype.names == names, levels.dtype.names
assert len(levels) == 9
for row in levels:
    counts = [row[name] for name in names[2:]]
    assert sum(counts) == 301 and sum(c > 0 for c in counts) >= 3, counts
PY
fi
