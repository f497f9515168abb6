#!/usr/bin/env bash
# A run by fast multipoles in an external field: it measures the error of its forces, in a table of its own and over its
# restarts. The rows do not change the result.
. "${BASH_SOURCE[0]%/*}/../lib.sh"

cat >field.lua <<'LUA'
local every = sim.param("every", 16, "steps from row to row")
return sim.nbody {
  precision = "double",
  bodies    = { sim.plummer { n = 3000, mass = 1, radius = 1 } },
  external  = function(x, y, z, t) return 5 * (x^2 + y^2 + 2 * z^2) * (1 + 0.1 * math.sin(t)) end,
  gravity   = { solver = "fmm", error = 1e-3, softening = 0.05 },
  integrate = { dt = 1/64, t_end = 2 },
  output    = { snapshots = "never", tables = ("every %d steps"):format(every), checkpoint = "every 48 steps" },
}
LUA

expect 0 "force error: largest measured median" "$SIM" run field.lua -o whole
expect 0 "" "$SIM" run field.lua -o rows --set every=128
same whole rows "more rows"

# The field is far stronger than the forces between bodies: if it were counted, the median would be wrong by orders of
# magnitude.
if python3 -c 'import h5py' 2>/dev/null; then
  python3 - <<'PY' || fail "the table force_error"
import h5py
table = h5py.File("whole/tables.h5")["force_error"]
assert table.dtype.names == ("step", "time", "median", "tail"), table.dtype.names
assert len(table) == 9
assert all(1e-6 < m < 1e-3 and m < t < 1 for m, t in zip(table["median"], table["tail"]))
PY
fi

# The checkpoint at step 96 keeps the measurements of steps 0 and 64, without rows of tables after it.
cp -r rows again
rm -f again/ckpt/ck_000000000128.h5
expect 0 "as the run has begun" "$SIM" resume again
same rows again "resumed"
line() { grep 'force error: largest' "$1"; }
"$SIM" run field.lua -o fresh --set every=128 >first 2>&1
cp -r fresh late && rm -f late/ckpt/ck_000000000128.h5
"$SIM" resume late >second 2>&1
[ "$(line first)" = "$(line second)" ] || fail "the largest errors: $(line first); resumed: $(line second)"

# One distant body puts all others into one cell: "auto" takes direct sums, and "fmm" warns. The message about a
# position that is not finite names its body and the step.
cat >far.lua <<'LUA'
local solver, push = sim.param("solver", "auto", "of gravity"), sim.param("push", 0.0, "acceleration of the far body from 0.1 on")
return sim.nbody {
  precision = "double",
  bodies    = { sim.plummer { n = 12000, mass = 1, radius = 1 }, { mass = 1e-6, position = {1e9, 0, 0} } },
  external  = function(x, y, z, t) return push * sim.step(x - 1e8) * sim.step(t - 0.1), 0, 0 end,
  gravity   = { solver = solver, softening = 0.05 },
  integrate = { dt = 0.125, t_end = 0.25 },
  output    = { snapshots = "never", tables = "never", checkpoint = "never" },
}
LUA
expect 0 "auto: faster than multipoles" "$SIM" run far.lua -o auto
expect 0 "about 12000 of 12001 bodies lie in one smallest cell" "$SIM" run far.lua -o crowd --set solver=fmm
sed 's/far.lua/near.lua/; s/1e9, 0/1e5, 0/; s/1e8/5e4/; s/n = 12000/n = 300/; s/dt = 0.125/dt = 10/; s/t_end = 0.25/t_end = 30/' far.lua >near.lua
expect 80 "the position of body 300 (id, from 0) is not finite at step 2" "$SIM" run near.lua -o near --set solver=fmm --set push=1e308
