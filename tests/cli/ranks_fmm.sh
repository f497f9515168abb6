#!/usr/bin/env bash
# Scenarios with forces by multipoles, on several ranks: the digest, tables and snapshots of one rank, with shared and
# individual steps, in a periodic box, with delays, with more ranks than leaves, and after restarts. `long`: more numbers of
# ranks for each.
. "${BASH_SOURCE[0]%/*}/lib.sh"
: "${COMPARE:?the program crash_compare}" "${ROOT:?the source tree}"
export CUDA_VISIBLE_DEVICES= OMP_WAIT_POLICY=passive
numbers="3 7"
if [ "${1:-short}" = long ]; then numbers="2 3 4 7"; fi

# by_multipoles NAME: the scenario with this solver, fractions of time, and many rows and checkpoints.
by_multipoles() {
  sed -e 's/gravity *= {/gravity = { solver = "fmm",/' -e 's/checkpoint = "[^"]*"/checkpoint = "every 2 steps"/' \
    -e 's/tables = "[^"]*"/tables = "every 1 steps"/' -e 's/t_end = 1 }/t_end = sim.param("t_end", 1.0, "") }/' \
    -e 's/"t_end", \([0-9]*\),/"t_end", \1.0,/' "$ROOT/scenarios/$1.lua" >"$1.lua"
  grep -q 'solver = "fmm"' "$1.lua" || fail "$1: no gravity"
}

# A checkpoint also has the rows of tables that are not in their file yet; their number depends on the clock.
equal() { # equal DIR DIR WHAT: digest, tables, snapshots
  local file pairs=()
  same "$1" "$2" "$3"
  (cd "$1" && find tables.h5 snap -name '*.h5' | sort) >files1
  (cd "$2" && find tables.h5 snap -name '*.h5' | sort) >files2
  cmp -s files1 files2 || fail "$3: other files"
  while read -r file; do pairs+=("$1/$file" "$2/$file"); done <files1
  "$COMPARE" "${pairs[@]}" >output 2>&1 || fail "$3: the files differ"
}

# several NAME OPTION...: one rank, then others.
several() {
  local name=$1 ranks
  shift
  by_multipoles "$name"
  expect 0 "fast multipoles" "$SIM" run "$name.lua" --threads 1 -o "$name.1" "$@"
  for ranks in $numbers; do
    expect 0 "$ranks ranks, each 1 thread" "$SIM" run "$name.lua" --threads 1 -o many --force --ranks $ranks "$@"
    equal "$name.1" many "$name on $ranks ranks"
  done
}

several galaxy --set n=150 --set t_end=0.125
several merger --set n=1500 --set t_end=0.125 # 9000 bodies: ranks divide the sort too
several cosmology --set n=8 --set t_end=0.03
several dense_cores --set n=600

SIM_COMM_DELAY=1000 expect 0 "" "$SIM" run galaxy.lua --threads 1 -o many --force --ranks 3 --set n=150 --set t_end=0.125
equal galaxy.1 many "delayed ranks"
expect 0 "" "$SIM" run dense_cores.lua --threads 2 -o many --force --ranks 3 --set n=600
equal dense_cores.1 many "ranks of 2 threads"
expect 0 "" "$SIM" run galaxy.lua --threads 1 -o few --set n=2 --set t_end=0.125
expect 0 "" "$SIM" run galaxy.lua --threads 1 -o many --force --ranks 13 --set n=2 --set t_end=0.125
equal few many "13 ranks, 12 bodies, one leaf"

# ---- restart with another number of ranks ----

drop() { # drop DIR: as if the run had ended two steps ago
  local file
  for file in $(checkpoints "$1" | tail -n 2); do rm -- "$file"; done
}
for name in galaxy dense_cores; do
  options=(--set n=150 --set t_end=0.25)
  [ $name = galaxy ] || options=(--set n=600 --set dt=0.125 --set t_end=0.75)
  expect 0 "" "$SIM" run $name.lua --threads 1 -o whole --force "${options[@]}"
  expect 0 "" "$SIM" run $name.lua --threads 1 -o chain --force --ranks 4 "${options[@]}"
  for ranks in 3 1; do
    drop chain
    expect 0 "continues from checkpoint" "$SIM" resume chain --ranks $ranks --threads 1
    equal whole chain "$name: 4 ranks, then $ranks"
  done
done

# ---- sim check ----

expect 0 "on the fullest rank" "$SIM" check galaxy.lua --ranks 4
