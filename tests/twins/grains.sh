#!/usr/bin/env bash
# Grains by sim and by an integration in NumPy that shares no code with it, and planted faults that must be found.
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
here=${ROOT:?the source tree}/tests/twins
python=$(command -v python3) || { echo "no python3" && exit 77; }
"$python" -m venv peer >log 2>&1 || { echo "no venv: $(tail -n 1 log)" && exit 77; }
peer/bin/pip install -q --disable-pip-version-check h5py numpy >log 2>&1 ||
  { echo "NumPy and h5py do not install from PyPI: $(tail -n 1 log)" && exit 77; }
export OMP_NUM_THREADS=1

# planted KIND CASE CHANGE WHAT: a program that reads its scenario wrongly disagrees.
planted() {
  local code=0
  printf '#!/bin/sh\nsed -i "%s" "$2"\nexec "%s" "$@"\n' "$3" "$SIM" >planted.sh
  chmod +x planted.sh
  peer/bin/python "$here/grains.py" ./planted.sh --kind "$1" --first "$2" --cases 1 >output 2>&1 || code=$?
  [ "$code" = 1 ] || fail "exit $code where a fault was planted: $4"
  grep -q "^DISAGREE $1: " output || fail "no disagreement told: $4"
}
planted servo 7 's/force = /force = 1.4*/; s/pressure = /pressure = 1.4*/' "a plane that presses with 40 % more"
planted heat 1 's/conductivity = /conductivity = 1.01*/' "heat that flows 1 % faster"
planted merge 5 's/merge = { /gravity = {0, 0, 0.05}, merge = { /' "mergers in a field of gravity"
planted hill 1 's/omega = /omega = 1.02*/' "a patch that turns 2 % faster"
planted shear 4 's/shear_rate = /shear_rate = 1.01*/' "a shear rate that is 1 % higher"

# compare KIND FIRST CASES
compare() {
  peer/bin/python "$here/grains.py" "$SIM" --kind "$1" --first "$2" --cases "$3" >output 2>&1 ||
    fail "sim and NumPy disagree"
  tail -n 3 output
  grep -q "$1 0[, ]" output || compared=$((compared + 1))
}
compared=0
compare servo 1 5
compare merge 1 5
for first in 1 7 13 19; do
  compare heat $first 1
  compare hill $((first + 2)) 1
  compare shear $((first + 3)) 1
  compare clumps $((first + 4)) 1
done
[ "$compared" -ge 14 ] || fail "only $compared of 18 groups of cases were compared"
