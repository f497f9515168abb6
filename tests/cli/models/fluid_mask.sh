#!/usr/bin/env bash
# The mask `solid` of a fluid with bodies: the cells whose centres lie in them, by a circle and awk; once where bodies rest, in
# every snapshot where one moves; in slices and in grid.hdf, whose vectors have three components; the same for ranks and after
# a restart; and as an input. Cells that it names hold no fluid.
. "${BASH_SOURCE[0]%/*}/../lib.sh"
export OMP_WAIT_POLICY=passive
# DEVICE=cuda: on a GPU, which several ranks share (tests/gpu/fluid_mask.sh)
by=(--oversubscribe --gpus)
[ "${DEVICE:=cpu}" != cpu ] || export CUDA_VISIBLE_DEVICES=
[ "$DEVICE" != cpu ] || by=(--ranks)
# made DIR FILE OPTION...: a run in DIR
made() { expect 0 "" "$SIM" run "$2" --threads 1 -o "$1" "${@:3}"; }
one() { made "$@" --device "$DEVICE"; }
command -v h5dump >/dev/null || skip "no h5dump"

cat >ball.lua <<'LUA'
return sim.fluid {
  grid = { n = {24, 12}, size = {2, 1}, boundary = "periodic", y = "wall" },
  viscosity = 0.05, speed = 0.5, acceleration = {0.05, 0},
  bodies = { sim.ball { point = {0.71, 0.47, 0}, radius = 0.23, velocity = { sim.param("v", 0.0, "of the ball"), 0, 0 } } },
  integrate = { dt = 1/128, t_end = sim.param("t", 0.25, "end") },
  output = { snapshots = "every 2 steps", tables = "every 8 steps", checkpoint = "every 8 steps",
             slices = { { name = "cut", y = 0.47, when = "every 4 steps" } } },
}
LUA

# numbers FILE OBJECT: the values of a dataset, one a line; nothing where there is none.
numbers() { { h5dump -A 0 -m '%.17g' -y -w 1 -d "$2" "$1" 2>/dev/null || true; } | sed -n '/DATA {/,/}/p' | sed -n 's/^ *\([-0-9nN][^ ,]*\),\{0,1\}$/\1/p'; }
mask() { numbers "$1/snap/snap_$(printf %08d "$2").h5" "/data/$2/meshes/solid"; }
# circle STEP SPEED: the cells whose centres the ball holds half a step after that one.
circle() {
  awk -v step="$1" -v v="$2" 'BEGIN { for (j = 0; j < 12; j++) for (i = 0; i < 24; i++) {
    x = (i + 0.5) / 12 - 0.71 - v * (step + 0.5) / 128; y = (j + 0.5) / 12 - 0.47; print (x * x + y * y < 0.23 * 0.23) ? 1 : 0 } }'
}

one still ball.lua
one moved ball.lua --set v=0.4
cmp -s <(mask still 0) <(circle 0 0) || fail "the mask of a ball at rest"
[ "$(circle 0 0 | grep -c 1)" -gt 20 ] || fail "the circle is empty"
[ -z "$(mask still 2)$(mask still 32)" ] || fail "the mask of a ball at rest is stored more than once"
for step in 0 2 16 32; do
  cmp -s <(mask moved $step) <(circle $step 0.4) || fail "the mask of a moving ball at step $step"
  file=moved/snap/snap_$(printf %08d $step).h5
  paste <(mask moved $step) <(numbers "$file" "/data/$step/meshes/velocity/x") <(numbers "$file" "/data/$step/meshes/pressure") |
    awk '$1 == 1 && ($2 != 0 || $3 != 0) { exit 1 }' || fail "step $step: fluid in a cell of the mask"
done
cmp -s <(mask moved 0) <(mask moved 32) && fail "the mask does not move"

# slices: row 5 has the centres 0.4583
row() { circle "$1" "$2" | sed -n '121,144p'; }
cmp -s <(numbers still/slices/cut/snap_00000000.h5 /data/0/meshes/solid) <(row 0 0) || fail "the mask of a slice"
cmp -s <(numbers moved/slices/cut/snap_00000032.h5 /data/32/meshes/solid) <(row 32 0.4) || fail "the mask of a slice that moves"

# grid.hdf: one mask for all steps, or one for each; the third component of vectors is 0
cmp -s <(numbers still/grid.hdf /VTKHDF/PointData/solid) <(circle 0 0) || fail "the mask in grid.hdf"
[ "$(numbers still/grid.hdf /VTKHDF/Steps/PointDataOffsets/solid | sort -u)" = 0 ] || fail "offsets of one mask"
cmp -s <(numbers moved/grid.hdf /VTKHDF/PointData/solid | tail -n 288) <(circle 32 0.4) || fail "the last mask in grid.hdf"
[ "$(numbers moved/grid.hdf /VTKHDF/Steps/PointDataOffsets/solid | tail -n 1)" = 16 ] || fail "offsets of masks"
numbers still/grid.hdf /VTKHDF/PointData/velocity >vectors
[ "$(wc -l <vectors)" = $((17 * 288 * 3)) ] || fail "grid.hdf: vectors of three components"
cmp -s <(tail -n 864 vectors | awk 'NR % 3 == 1') <(numbers still/snap/snap_00000032.h5 /data/32/meshes/velocity/x) || fail "grid.hdf: velocity along x"
cmp -s <(tail -n 864 vectors | awk 'NR % 3 == 2') <(numbers still/snap/snap_00000032.h5 /data/32/meshes/velocity/y) || fail "grid.hdf: velocity along y"
awk 'NR % 3 == 0 && $1 != 0 { exit 1 }' vectors || fail "grid.hdf: velocity along z"
expect 0 "0 faults" "$SIM" verify still
expect 0 "0 faults" "$SIM" verify moved

for ranks in 2 3; do # the same for ranks
  for v in 0.0 0.4; do
    rm -rf ranked
    made ranked ball.lua "${by[@]}" $ranks --set v=$v
    base=still && [ $v = 0.0 ] || base=moved
    same $base ranked "$ranks ranks"
    for step in 0 2 32; do
      cmp -s <(mask $base $step) <(mask ranked $step) || fail "$ranks ranks, speed $v: the mask of step $step"
    done
  done
done

# A run that goes on has the same mask, as the straight run has; where that snapshot is gone, it writes the mask again.
one still ball.lua --set t=0.5 --resume
[ -z "$(mask still 34)" ] || fail "a second mask after a restart"
[ "$(numbers still/grid.hdf /VTKHDF/Steps/Values | wc -l)" = 33 ] || fail "grid.hdf after a restart"
cmp -s <(numbers still/grid.hdf /VTKHDF/PointData/solid) <(circle 0 0) || fail "the mask in grid.hdf after a restart"
rm still/snap/snap_00000000.h5
one still ball.lua --set t=0.75 --resume
! grep HDF5-DIAG output >/dev/null || fail "HDF5 complains of a mask that is not there"
cmp -s <(mask still 66) <(circle 0 0) || fail "no mask after a restart without the first snapshot"
cmp -s <(numbers still/grid.hdf /VTKHDF/PointData/solid) <(circle 0 0) || fail "the mask of the restart in grid.hdf"

# As an input: the cells of the mask are solid.
cat >again.lua <<'LUA'
return sim.fluid { grid = { n = {24, 12}, size = {2, 1}, boundary = "periodic", y = "wall" }, viscosity = 0.05, speed = 0.5, acceleration = {0.05, 0},
  solid = { path = "still/snap/snap_00000066.h5" }, integrate = { dt = 1/128, t_end = 1/128 }, output = { snapshots = "ends" } }
LUA
one again again.lua
cmp -s <(mask again 0) <(circle 0 0) || fail "the mask of a run whose solid cells are a mask"

# Without bodies there is none.
printf 'return sim.fluid { grid = { n = {16, 16}, size = {1, 1} }, viscosity = 0.1, speed = 1, integrate = { t_end = 0.01 } }\n' >open.lua
one open open.lua
[ -f open/snap/snap_00000000.h5 ] && [ -z "$(mask open 0)" ] || fail "a mask without bodies"
echo "masks of bodies are right"
