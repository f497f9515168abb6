# Sourced by flows_ranks.sh and flows_with_ranks.sh, whose first argument is the part that runs: runs of flow.lua on one GPU
# (`alone`) and on several (`by`), which on one GPU share it. On the stand-in for the runtime (fake_program.c) they test what
# the host does.
# shellcheck shell=bash disable=SC2034
. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/../cli/models/ranks_lib.sh"
part=${1:?which part}
need_gpu
export OMP_WAIT_POLICY=passive
run=("$SIM" run flow.lua --force)
alone=(--device cuda)
by=(--oversubscribe --gpus)

# same_end PATTERN SET...: one to three ranks end with 80 and name the same cell and step, of another rank too.
same_end() {
  local pattern=$1 ranks
  shift
  for ranks in 1 2 3; do
    expect 80 "in cell {" "${run[@]}" -o end "${by[@]}" $ranks "${@/#/--set=}"
    grep -o "$pattern" output | head -n 1 >end$ranks
  done
  cmp end1 end2 && cmp end1 end3 || fail "the ranks name other cells"
}
