#!/usr/bin/env bash
# Two ways to ask the same must agree: run.sh short | minutes N | claims. HOST runs the Lua program, SIM is the program
# under test. DEVICE of the long form: cpu (default) or cuda, which compares the results of both. claims: numbers in
# pages and headers. short: the same cases at every run, after two planted faults that must be found.
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
HOST=$(readlink -f -- "${HOST:?the program twins_host}")
. "$here/../cli/lib.sh"
where=$scratch
# Runs are many and small: kept in memory, where that is allowed.
if [ -w /dev/shm ] && memory=$(mktemp -d /dev/shm/sim-twins.XXXXXX 2>/dev/null); then
  where=$memory
  trap 'rm -rf -- "$memory"; cleanup' EXIT
fi
twins() { "$HOST" "$here/twins.lua" --scratch "$where/t" "$@"; }

# planted TEXT MODEL TWIN CHANGE: a program that reads its scenario wrongly in one of the two ways must be detected.
planted() {
  local code=0
  printf '#!/bin/sh\nsed -i "%s" "$2"\nexec "%s" "$@"\n' "$4" "$SIM" >planted.sh
  chmod +x planted.sh
  twins --sim "$PWD/planted.sh" --model "$2" --twin "$3" --cases 8 --shrink no >output 2>&1 || code=$?
  [ "$code" = 1 ] || fail "exit $code where a fault was planted: $1"
  grep -q "^DISAGREE $2/$3: " output || fail "no disagreement told: $1"
}

case ${1:-short} in
short)
  planted "a force as r^-2.998" nbody "gravity as a function" 's/)^1\.5 end/)^1.499 end/; s/return -(\([^)]*\)) \/ math.sqrt/return -1.001 * (\1) \/ math.sqrt/'
  planted "a payoff of a function that is 1e-6 too much" option named 's/path.last\[1\]/(1.000001 * path.last[1])/'
  planted "a converted payment at a fixed rate" option "own market" 's/= .payment./= [[quanto]]/g'
  twins --sim "$SIM" --seed 7 --cases 80 --report yes || fail "two ways to ask disagree"
  ;;
claims) "$HOST" "$here/claims.lua" --sim "$SIM" --root "$here/../.." --scratch "$where/c" || fail "a page claims what is not so" ;;
minutes) twins --sim "$SIM" --device "${DEVICE:-cpu}" --seed "${SEED:-$(date +%Y%m%d)}" --minutes "${2:?minutes}" --report yes || fail "two ways to ask disagree" ;;
*) fail "short, minutes N or claims" ;;
esac
