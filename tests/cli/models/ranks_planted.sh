#!/usr/bin/env bash
# Faults of the exchange, planted on one rank of three (SIM_COMM_FAULT): each is seen, by another digest or by the end of
# the run. A gas has positions that are fractions of the box, which the length of the box does not change.
. "${BASH_SOURCE[0]%/*}/../lib.sh"
. "${BASH_SOURCE[0]%/*}/grains_lib.sh"
export CUDA_VISIBLE_DEVICES='' OMP_WAIT_POLICY=passive

cat >field.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {16, 12, 10}, size = {1, 1, 1} },
  fields    = { { name = "u", D = 0.02, initial = function(x, y, z) return math.sin(2 * math.pi * (x + y + z)) end } },
  rates     = function(u) return u - u^3 end,
  integrate = { scheme = "etdrk2", dt = 1e-3, t_end = 0.02 },
  output    = { snapshots = "never", tables = "never", checkpoint = "ends" },
}
LUA
planted() { # planted FAULTS SCENARIO OPTION...
  local fault code faults=$1
  shift
  local run=("$SIM" run "$@" --threads 1 --force)
  expect 0 "" "${run[@]}" -o one
  expect 0 "" "${run[@]}" -o many --ranks 3
  [ "$(digest one)" = "$(digest many)" ] || fail "$*: another digest without a fault"
  for fault in $faults; do
    code=0
    SIM_COMM_FAULT=$fault timeout -k 5 100 "${run[@]}" -o many --ranks 3 >output 2>&1 || code=$?
    grep -qF "SIM_COMM_FAULT = $fault" output || fail "$*: no warning of $fault"
    [ "$code" != 124 ] || fail "$*: hangs with $fault"
    [ "$code" != 0 ] || [ "$(digest one)" != "$(digest many)" ] || fail "$*: $fault is not seen"
  done
}
planted "short early" grains.lua --set case=gas --set n=400 --set steps=60
planted "ghost short early" grains.lua --set case=bed --set steps=20
planted early field.lua
SIM_COMM_FAULT=late expect 64 "expected ghost, short or early" "$SIM" run field.lua -o refused --ranks 2
