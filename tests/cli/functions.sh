#!/usr/bin/env bash
# Functions of a scenario in the whole program: described, checked, run, stored, and resumed without Lua.
. "${BASH_SOURCE[0]%/*}/lib.sh"

cat >weights.lua <<'LUA'
local slope = sim.param("slope", 0.25, "of the mass")
local function square(...)
  local sum = 0
  for _, v in ipairs { ... } do sum = sum + v ^ 2 end
  return sum
end
return sim.template {
  n         = 50,
  mass      = function(z, x, y)
    print("once")
    return sim.where(sim.lt(square(x, y, z), 1), 1 + slope * math.exp(-x), sim.max(y, z))
  end,
  integrate = { dt = 1/64, t_end = 2 },
  output    = { snapshots = "ends", tables = "never", checkpoint = "every 16 steps" },
}
LUA

expect 0 "number or function(x, y, z) -> 1 number" "$SIM" describe template
expect 0 "no faults" "$SIM" check weights.lua
[ "$(grep -c once output)" = 1 ] || fail "print was not heard once"
expect 0 "mass: result = where(" "$SIM" check weights.lua -v
expect 0 "" "$SIM" run weights.lua -o whole
if python3 -c 'import h5py' 2>/dev/null; then
  python3 - <<'PY' || fail "the masses, or their text"
import glob, h5py, json, math
snap = h5py.File(sorted(glob.glob("whole/snap/*.h5"))[0])
points = snap["data/0/particles/points"]
x, y, z = (points["position"][k][:] for k in "xyz")
mass = points["mass"][:]
for a, b, c, m in zip(x, y, z, mass):
    near = a * a + b * b + c * c < 1
    # exp of both within an ulp, a product and a sum: below 4 ulp of 1.25.
    assert abs(m - (1 + 0.25 * math.exp(-a) if near else max(b, c))) < 8 * 2.0**-52, (a, b, c, m)
ckpt = h5py.File(sorted(glob.glob("whole/ckpt/*.h5"))[0])
text = json.loads(ckpt["provenance/parameters"][()])["mass"]
assert "0.25 * exp(-x)" in text and "where(" in text, text
PY
fi

# Without the file, and with a file that is no longer Lua: the run continues with the stored graph.
cp -r whole split
for late in 112 128; do rm -f -- "split/ckpt/ck_000000000$late.h5"; done
rm weights.lua
echo 'not Lua' >split/scenario.lua
expect 0 "" "$SIM" resume split
same whole split "restart with functions"

# A number in place of a function, and values that a function may not return.
cat >plain.lua <<'LUA'
return sim.template { n = 5, mass = 2, integrate = { dt = 1/64, t_end = 1/64 } }
LUA
expect 0 "" "$SIM" run plain.lua -o plain
sed 's/mass = 2/mass = function(r) return r end/' plain.lua >input.lua
expect 65 "input.lua:1: mass: unknown input 'r', expected x, y, z" "$SIM" check input.lua
sed 's/mass = 2/rate = function(x) return x end/' plain.lua >number.lua
expect 65 "number.lua:1: rate: expected a number, got a function" "$SIM" check number.lua
sed 's/mass = 2/mass = function(x) if x > 1 then return x end return 1 end/' plain.lua >branch.lua
expect 65 "branch.lua:1: mass: a symbol cannot be compared by < or >: use sim.where" "$SIM" check branch.lua
