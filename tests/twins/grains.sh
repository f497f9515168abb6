#!/usr/bin/env bash
# Grains by sim and by an integration in NumPy that shares no code with it. grains.sh [long]; long: more cases, and planted
# faults that must be found.
. "${BASH_SOURCE[0]%/*}/../tools/python.sh"
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
here=${ROOT:?the source tree}/tests/twins
python=$(python_with numpy,h5py numpy h5py) ||
  skip "no Python with NumPy and h5py, and none could be installed (see $BUILD/python.log)"
export OMP_NUM_THREADS=1

# planted KIND CASE CHANGE WHAT: a program that reads its scenario wrongly disagrees.
planted() {
  local code=0
  printf '#!/bin/sh\nsed -i "%s" "$2"\nexec "%s" "$@"\n' "$3" "$SIM" >planted.sh
  chmod +x planted.sh
  "$python" "$here/grains.py" ./planted.sh --kind "$1" --first "$2" --cases 1 >output 2>&1 || code=$?
  [ "$code" = 1 ] || fail "exit $code where a fault was planted: $4"
  grep -q "^DISAGREE $1: " output || fail "no disagreement told: $4"
}
if [ "${1:-}" = long ]; then
  planted servo 7 's/force = /force = 1.4*/; s/pressure = /pressure = 1.4*/' "a plane that presses with 40 % more"
  planted heat 1 's/conductivity = /conductivity = 1.01*/' "heat that flows 1 % faster"
  planted merge 5 's/merge = { /gravity = {0, 0, 0.05}, merge = { /' "mergers in a field of gravity"
  planted hill 1 's/omega = /omega = 1.02*/' "a patch that turns 2 % faster"
  planted shear 4 's/shear_rate = /shear_rate = 1.01*/' "a shear rate that is 1 % higher"
fi

# compare KIND FIRST CASES
compare() {
  "$python" "$here/grains.py" "$SIM" --kind "$1" --first "$2" --cases "$3" >output 2>&1 ||
    fail "sim and NumPy disagree"
  tail -n 3 output
  grep -q "$1 0[, ]" output || compared=$((compared + 1))
}
compared=0
if [ "${1:-}" = long ]; then
  compare servo 1 5
  compare merge 1 5
  for k in 1 7 13 19; do
    compare heat "$k" 1
    compare hill $((k + 2)) 1
    compare shear $((k + 3)) 1
    compare clumps $((k + 4)) 1
  done
  least=14
else # cases that detect the planted faults; of clumps, other stiffness, inertia and weight
  for case in "servo 7" "merge 5" "heat 1" "hill 3" "shear 4" "clumps 5" "clumps 17"; do
    compare "${case% *}" "${case#* }" 1
  done
  least=7
fi
[ "$compared" -ge $least ] || fail "only $compared groups of cases were compared, not $least"
