#!/usr/bin/env bash
# Grains on several GPUs, or on ranks that share one: digest, tables, snapshots and checkpoints are the same as on one
# GPU, by peer pointers and through the host. Cases: friction, walls, meshes, laws by name, heat, sheared boxes, classes
# of radii, functions of the scenario; ranks with no grains; restarts with other numbers; what is refused.
here=${BASH_SOURCE[0]%/*}
. "$here/lib.sh"
need_gpu
. "$here/../cli/models/ranks_lib.sh"
. "$here/../cli/models/grains_lib.sh"
export OMP_WAIT_POLICY=passive
alone=(--device cuda)
by=(--oversubscribe --gpus)
run=("$SIM" run grains.lua --force)

for path in peer staged; do
  export SIM_COMM_PATH=$path
  divided "2 3" case=bed
  grep -qF "exchange $([ $path = peer ] && echo by peer pointers || echo through host memory)" output ||
    fail "another way of exchange than $path"
  divided "3" case=bed kind=double hot=4
  divided "2" case=named
  divided "3" case=sizes
  divided "3" case=shear
  divided "2" case=mesh
  divided "3" case=laws kind=double
  divided "2" case=cloud kind=double # all grains in a corner
  divided "3" case=mesh n=6          # two grains: a rank has none
done
unset SIM_COMM_PATH
divided "2" case=bed n=600 steps=200 hot=25 # many migrants at a time
SIM_COMM_DELAY=2000 divided "3" case=bed

# ---- restart with another number of ranks ----

for case in bed mesh; do
  expect 0 "" "${run[@]}" "${alone[@]}" -o whole --set steps=90 --set case=$case
  expect 0 "" "${run[@]}" "${by[@]}" 2 -o chain --set steps=90 --set case=$case
  for ranks in 1 3; do
    rm -- "$(checkpoints chain | tail -n 1)"
    expect 0 "continues from checkpoint" "$SIM" resume chain "${by[@]}" $ranks
    equal whole chain "$case: 2 ranks, then $ranks"
  done
done

# ---- refused, and planned ----

while read -r case what; do
  expect 64 "with $what runs on one GPU only" "$SIM" run grains.lua -o refused "${by[@]}" 2 --set case=$case
done <<'CASES'
flow insert or remove
clumps clumps
ring self_gravity
CASES
expect 0 "2 ranks, each " "$SIM" check grains.lua --set case=bed "${by[@]}" 2
