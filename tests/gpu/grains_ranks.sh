#!/usr/bin/env bash
# grains_ranks.sh PART: grains on several GPUs, or on ranks that share one: digest, tables, snapshots and checkpoints are
# the same as on one GPU. Cases: friction, walls, meshes, laws by name, heat, sheared boxes, classes of radii, functions
# of the scenario, clumps, inlets and outlets, self-gravity; ranks with no grains.
# PART: peer, staged (all cases by this way of exchange), large (many migrants, more grains than are exchanged at a time),
# delays, restarts (with other numbers).
here=${BASH_SOURCE[0]%/*}
. "$here/lib.sh"
part=${1:?which part}
need_gpu
. "$here/../cli/models/ranks_lib.sh"
. "$here/../cli/models/grains_lib.sh"
export OMP_WAIT_POLICY=passive
alone=(--device cuda)
by=(--oversubscribe --gpus)
run=("$SIM" run grains.lua --force)

# The hard cases: grains of inlets that meet a mesh, with laws that are compiled at run time.
rain() {
  run[2]=rain.lua
  divided "$@" law=rain
  run[2]=grains.lua
}

case $part in
  peer | staged)
    export SIM_COMM_PATH=$part
    divided "2 3" case=bed
    grep -qF "exchange $([ "$part" = peer ] && echo by peer pointers || echo through host memory)" output ||
      fail "another way of exchange than $part"
    divided "2 3" case=bed hot=9 # lists are rebuilt in every second step
    divided "3" case=bed kind=double hot=4
    divided "2" case=named
    divided "3" case=sizes
    divided "3" case=shear
    divided "2" case=mesh
    divided "3" case=laws kind=double
    divided "2" case=cloud kind=double # all grains in a corner
    divided "3" case=mesh n=6          # two grains: a rank has none
    divided "2 3" case=clumps steps=240
    divided "2" case=clumps kind=double n=5 # a clump and a grain
    divided "3" case=rods kind=double steps=120
    divided "2 3" case=flow steps=240
    divided "3" case=flow kind=double steps=240 n=4 # one grain at first
    divided "2" case=pile steps=900                 # memory grows
    divided "2" case=drain steps=240
    divided "2 3" case=ring n=60 dt=0.01
    grains rain.lua
    rain "2 3" steps=240
    ;;
  large)
    divided "2" case=bed n=600 steps=200 hot=4
    divided "2" case=clumps n=600 steps=100 hot=9
    divided "3" case=ring n=36000 steps=6 length=200 kind=double
    ;;
  delays)
    export SIM_COMM_DELAY=2000
    for case in bed clumps ring; do divided "3" case=$case n=60 dt=0.01; done
    divided "3" case=flow steps=240
    ;;
  restarts)
    for case in bed mesh clumps flow ring; do
      set=(--set case=$case --set steps=$([ $case = flow ] && echo 360 || echo 90))
      [ $case != ring ] || set+=(--set n=60 --set dt=0.01)
      expect 0 "" "${run[@]}" "${alone[@]}" -o whole "${set[@]}"
      expect 0 "" "${run[@]}" "${by[@]}" 2 -o chain "${set[@]}"
      for ranks in 1 3; do
        rm -- "$(checkpoints chain | tail -n 1)"
        expect 0 "continues from checkpoint" "$SIM" resume chain "${by[@]}" $ranks
        equal whole chain "$case: 2 ranks, then $ranks"
      done
    done
    expect 0 "2 ranks, each " "$SIM" check grains.lua --set case=bed --gpus 2
    ;;
  *) fail "no part $part" ;;
esac
