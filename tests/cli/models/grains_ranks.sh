#!/usr/bin/env bash
# Grains on ranks: digest, tables, snapshots and checkpoints are the same for every number of ranks. Cases: both
# solvers, friction, walls, meshes, laws by name, inlets, outlets, gates, sheared boxes, rings, clumps, mergers and
# functions of the scenario; restarts with other numbers, delays, and a killed rank. `long`: more cases, and the shipped
# scenarios.
. "${BASH_SOURCE[0]%/*}/../lib.sh"
. "${BASH_SOURCE[0]%/*}/ranks_lib.sh"
. "${BASH_SOURCE[0]%/*}/grains_lib.sh"
: "${ROOT:?the source tree}"
export CUDA_VISIBLE_DEVICES= OMP_WAIT_POLICY=passive
long=${1:-}

run=("$SIM" run grains.lua --threads 1 --force)

# ---- every number of ranks ----

all=${long:+"2 3 4 7"}
divided "2 3 4 7" case=gas n=400 steps=300
grep -qF "fixed-point solver" one/run.log || fail "the gas goes by another solver"
divided "${all:-3}" case=mixed n=400 steps=300
grep -qF "fixed-point solver" one/run.log || fail "the gas of two radii goes by another solver"
divided "${all:-2}" case=elastic n=400 steps=150
divided "${all:-3 7}" case=cloud # most grains on few ranks
divided "2 3 4" case=gas n=20 length=5 # of three slabs, which two ranks cannot share
divided "4" case=gas n=50 length=12    # of eight: a step a sweep
divided "2 3 4 7" case=bed kind=double
divided "${all:-4}" case=bed hot=4
divided "${all:-3}" case=named
divided "${all:-3}" case=sizes
divided "${all:-3 7}" case=shear
divided "${all:-3}" case=ring
divided "${all:-3}" case=flow steps=240
divided "${all:-3}" case=mesh
divided "${all:-4}" case=laws kind=double
divided "2 3 4 7" case=clumps kind=double
divided "${all:-3}" case=clumps steps=240
divided "2 3 4 7" case=merger kind=double
divided "${all:-3}" case=merger steps=240
divided "${all:-3}" case=melt
divided "7" case=gas n=1
divided "7" case=mesh n=6
if [ -n "$long" ]; then
  for case in gas mixed cloud bed named sizes shear ring mesh laws clumps merger melt; do
    for kind in single double; do divided "2 3 4 7 13" case=$case kind=$kind steps=300 n=200; done
  done
  divided "2 3 4 7" case=flow kind=single steps=900
  divided "2 3 4" case=gas n=9 steps=900 length=30
fi

# ---- delays, threads, instruction sets ----

for case in gas bed clumps merger; do
  expect 0 "" "${run[@]}" -o one --set case=$case
  SIM_COMM_DELAY=500 expect 0 "" "${run[@]}" -o many --ranks 3 --set case=$case
  equal one many "$case with delayed ranks"
  expect 0 "" "$SIM" run grains.lua --force -o many --ranks 2 --threads 3 --set case=$case
  equal one many "$case on ranks of 3 threads"
done
expect 0 "" "${run[@]}" -o one --set case=gas
expect 0 "" "${run[@]}" -o many --ranks 2 --isa plain --set case=gas
same one many "ranks of another instruction set"

# ---- restart with another number of ranks, and after a rank was killed ----

for case in gas bed clumps merger ${long:+mixed shear ring mesh laws melt}; do
  expect 0 "" "${run[@]}" -o whole --set steps=90 --set case=$case
  expect 0 "" "${run[@]}" -o chain --set steps=90 --set case=$case --ranks 4
  for ranks in 3 1; do
    rm -- $(checkpoints chain | tail -n 1)
    expect 0 "continues from checkpoint" "$SIM" resume chain --threads 1 --ranks $ranks
    equal whole chain "$case: 4 ranks, then $ranks"
  done
done
rank_of() { # rank_of LAUNCHER N: process of rank N; ranks are started in order
  # shellcheck disable=SC2009 # by parent
  ps -o pid= --ppid "$1" | sort -n | sed -n "$(($2 + 1))p" | tr -d ' '
}
has_checkpoint() { [ -n "$(checkpoints killed)" ]; }
for case in bed ${long:+gas}; do
  SIM_COMM_DELAY=20000 "${run[@]}" -o killed --set steps=90 --set case=$case --ranks 3 >output 2>&1 &
  pid=$!
  until_true 120 has_checkpoint
  kill -s KILL "$(rank_of "$pid" 1)"
  code=0
  wait "$pid" || code=$?
  [ "$code" = 82 ] || fail "a killed rank: exit $code, not 82"
  expect 0 "" "${run[@]}" -o whole --set steps=90 --set case=$case
  expect 0 "continues from checkpoint" "$SIM" resume killed --threads 1 --ranks 2
  equal whole killed "$case: a killed rank, then 2"
  rm -rf killed
done

# ---- the shipped scenarios ----

if [ -n "$long" ]; then
  files=tables.h5 # which rows of a table a checkpoint holds depends on the time that a long run takes
  shipped() {     # shipped RANKS NAME SET...
    local ranks=$1 name=$2
    shift 2
    run=("$SIM" run "$ROOT/scenarios/$name.lua" --threads 1 --force --device cpu)
    divided "$ranks" "$@"
    "$COMPARE" "$(find one/snap -name '*.h5' | sort | tail -n 1)" "$(find many/snap -name '*.h5' | sort | tail -n 1)" \
      >output 2>&1 || fail "$name: snapshots differ"
  }
  shipped "2 3 4 7" granular_gas n=300
  shipped "2 3 4 7" million_spheres n=3000 time=0.4
  shipped "2 3 4 7" shear n=300
  shipped "2 3 4 7" hopper filled=200 rate=300
  shipped "2 3 4 7" moist_column n=150
  shipped "2 3 4 7" clumps n=3
  shipped "2 3 4 7" coagulation n=200 x=0.2
  shipped "2 3 4 7" saturn_rings n=200 orbits=0.02
  shipped "2 3 4 7" drum n=300 turns=0.02
  run=("$SIM" run grains.lua --threads 1 --force)
fi

# ---- check ----

expect 0 "received by a rank in a step, 3 times" "$SIM" check grains.lua --ranks 2
expect 0 "received by a rank in a step, 2 times" "$SIM" check grains.lua --set case=bed --ranks 2
