#!/usr/bin/env bash
# Runs with functions of the scenario in the model: their own tables, restarts without Lua, and stop_when.
. "${BASH_SOURCE[0]%/*}/../lib.sh"

cat >laws.lua <<'LUA'
local field = sim.param("field", 0.25, "strength of the swinging field")
local limit = sim.param("limit", 0.0, "of the spread at which the run ends")
return sim.nbody {
  bodies    = { sim.plummer { n = 120, mass = 1, radius = 1,
                              velocity_field = function(x, y, z) return -0.2 * y, 0.2 * x, 0 end } },
  external  = function(x, y, z, t) return 0.1 * (x^2 + y^2 + z^2) - field * x * math.sin(t) end,
  pair      = function(r2) return -math.exp(-r2) / math.sqrt(r2 + 0.01) end,
  observe   = {
    spread = { function(body) return sim.hypot(body.x, body.y) end, reduce = "mean" },
    moved  = function(body) return body.mass * body.vx end,
  },
  stop_when = function(o) return sim.all(sim.gt(o.time, 0.5), sim.lt(o.spread, limit)) end,
  integrate = { scheme = "hermite4", dt = 1/256, t_end = 4 },
  output    = { snapshots = "ends", tables = "every 8 steps", checkpoint = "every 64 steps" },
}
LUA

expect 0 "stop_when" "$SIM" describe nbody
expect 0 "external" "$SIM" describe nbody
expect 0 "no faults" "$SIM" check laws.lua
expect 0 "" "$SIM" run laws.lua -o whole
[ "$(key step whole)" = 1024 ] || fail "the run ended at step $(key step whole)"

# The columns, compared with the snapshot of the end and the built-in table.
if python3 -c 'import h5py' 2>/dev/null; then
  python3 - <<'PY' || fail "the table observe"
import glob, h5py, math
tables = h5py.File("whole/tables.h5")
observe, energy = tables["observe"], tables["energy"]
assert observe.dtype.names == ("step", "time", "spread", "moved"), observe.dtype.names
assert len(observe) == len(energy) == 129 and list(observe["step"]) == list(energy["step"])
assert list(observe["moved"]) == list(energy["momentum_x"])
assert list(observe.attrs["description"])[2] == b"mean over all bodies"
stars = h5py.File(sorted(glob.glob("whole/snap/*.h5"))[-1])["data/1024/particles/stars"]
x, y = stars["position/x"][:], stars["position/y"][:]
mean = math.fsum(math.hypot(a, b) for a, b in zip(x, y)) / len(x)
assert abs(observe["spread"][-1] - mean) < 200 * 2.0**-53 * mean, (observe["spread"][-1], mean)
assert all(math.isnan(e) for e in energy["error"]) and all(math.isfinite(e) for e in energy["total"])
PY
fi

# Killed at any time, and resumed without the file or any Lua text: the same bits, the same rows.
rows() { command -v h5dump >/dev/null || return 0; h5dump -y -w 200 -d /observe "$1/tables.h5" | sed 1d | cksum; }
for late in 192 640 960; do
  cp -r whole "from$late"
  for ((step = late + 64; step <= 1024; step += 64)); do rm -f "from$late/ckpt/$(printf 'ck_%012d.h5' "$step")"; done
done
"$SIM" run laws.lua -o killed >output 2>&1 &
pid=$!
has_checkpoint() { [ -n "$(checkpoints killed 2>/dev/null)" ]; } # any: the first is gone after three more
until_true 120 has_checkpoint
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true
mv laws.lua kept
for folder in killed from960; do
  echo 'not Lua' >"$folder/scenario.lua"
  expect 0 "" "$SIM" resume "$folder"
  same whole "$folder" "$folder, gone on with without Lua"
  [ "$(rows whole)" = "$(rows "$folder")" ] || fail "$folder: other rows"
done
mv kept laws.lua
expect 78 "'external' differs" "$SIM" run laws.lua --set field=0.5 -o from960 --resume

# stop_when: the end, with its last outputs. A resumed run has nothing to do, whatever a kill left of the outputs.
expect 0 "stop_when holds at step" "$SIM" run laws.lua --set limit=1.2 -o stopped
[ "$(key state stopped)" = done ] || fail "state $(key state stopped)"
end=$(key step stopped)
((end > 128 && end < 1024 && end % 8 == 0)) || fail "stop_when ended the run at step $end"
[ "$(checkpoints stopped | tail -n 1)" = "stopped/ckpt/$(printf 'ck_%012d.h5' "$end")" ] || fail "no last checkpoint"
[ -n "$(find stopped/snap -name "snap_*$end.h5")" ] || fail "no last snapshot"
cp -r stopped again
cp -r stopped before
rm "before/ckpt/$(printf 'ck_%012d.h5' "$end")"
expect 0 "nothing was left to compute" "$SIM" resume again
same stopped again "a run that stop_when ended, resumed"
[ "$(key state again)" = done ] || fail "resumed: state $(key state again)"
expect 0 "stop_when holds at step $end" "$SIM" resume before
same stopped before "a run that was killed before its last checkpoint"
[ "$(rows stopped)" = "$(rows before)" ] || fail "other rows"
# At the first row already.
sed 's/sim.all(sim.gt(o.time, 0.5), sim.lt(o.spread, limit))/sim.ge(o.step, 0)/' laws.lua >first.lua
expect 0 "stop_when holds at step 0" "$SIM" run first.lua -o first
expect 0 "nothing was left to compute" "$SIM" resume first

# Messages about functions: the key that they belong to, plain numbers, a formula by print, and values with derivatives
# at a point.
cat >point.lua <<'LUA'
return sim.nbody {
  external  = function(x, y, t) local r = x^2 + 100*y print("r is", r, x) return 0.5*r end,
  observe   = { far = function(body) return sim.step(body.x - 1) end },
  bodies    = { sim.plummer { n = 10, mass = 1, radius = 1 } },
  integrate = { dt = 1/64, t_end = 1 },
}
LUA
expect 0 "r is  x * x + 100 * y  x" "$SIM" check point.lua -v
[ "$(grep -c 'r is' output)" = 1 ] || fail "print was not heard once"
expect 0 "functions at x=3,y=0.5" "$SIM" check point.lua --at x=3,y=0.5
cat >expected <<'END'
external
  result       29.5
    d/dx       3
    d/dy       50
END
grep -q -F -x -f expected output && [ "$(grep -c -F -x -f expected output)" = 4 ] || fail "value and derivatives"
grep -A 2 '^observe.far' output | grep -q 'result *1$' || fail "the value of sim.step"
cat >fields.lua <<'LUA'
return sim.diffusion {
  grid = { n = {8}, size = {1} },
  fields = { { name = "u", D = 1, initial = 0 }, { name = "v", D = 1, initial = function(x) return 100*x end } },
  integrate = { dt = 1/64, t_end = 1/64 },
}
LUA
expect 0 "fields[2] v.initial: result = 100 * x" "$SIM" check fields.lua -v
sed -i 's/100\*x/math.log(x)/' fields.lua
expect 0 "result       NaN" "$SIM" check fields.lua --at x=-1
