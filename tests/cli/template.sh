#!/usr/bin/env bash
# The template model: one folder and one CMake line give list, describe, check, run and restart.
. "${BASH_SOURCE[0]%/*}/lib.sh"
cp -- "${TEMPLATE:?the folder of the template model}/decay.lua" decay.lua

expect 0 template "$SIM" list
expect 0 rate "$SIM" describe template
grep -q "rate of decay" output || fail "describe does not give the doc of a parameter"
expect 64 nbody "$SIM" describe nbody
"$SIM" new template >starter.lua || fail "sim new template"
expect 0 "" "$SIM" check starter.lua
expect 0 "" "$SIM" check decay.lua
expect 0 "" "$SIM" run decay.lua -o whole
[ "$(key model whole)" = template ] || fail "model in status.json"

# 2/(1/64) steps. Each multiplies by exp(-rate dt) with a rounding of half an ulp of the factor and half of the product.
[ "$(key step whole)" = 128 ] || fail "not 128 steps"
if python3 -c 'import h5py' 2>/dev/null; then
  python3 - <<'PY' || fail "not the exact solution"
import h5py, math
rows = h5py.File("whole/tables.h5")["size"][:]
assert rows["time"][0] == 0 and rows["time"][-1] == 2 and len(rows) == 9, rows
# 128 products, each with two roundings of 2^-53 (exp within one ulp, the product half): 128 x 1.5 x 2^-52.
assert abs(rows["error"]).max() <= 128 * 1.5 * 2.0**-52, rows["error"]
assert math.isclose(rows["first"][-1] / rows["first"][0], math.exp(-1), rel_tol=1e-13)
PY
fi

cp -r whole split
rm -- split/ckpt/ck_000000000128.h5
expect 0 "" "$SIM" resume split
same whole split "restart of the template"
expect 0 "" "$SIM" run decay.lua -o threads --threads 3
same whole threads "threads of the template"
expect 64 "--ranks 2: sim.template runs on one rank only" "$SIM" run decay.lua -o refused --ranks 2
expect 64 "sim.template runs on one rank only" "$SIM" check decay.lua --ranks 2
[ ! -e refused ] || fail "a refused run leaves a folder"

sed 's/rate  /raet  /' decay.lua >typo.lua
expect 65 "typo.lua:5" "$SIM" run typo.lua
grep -q '"\{0,1\}rate' output || fail "the nearest key is not named"
sed 's/0.5/-1/' decay.lua >range.lua
expect 65 "range.lua:5" "$SIM" check range.lua
