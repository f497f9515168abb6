#!/usr/bin/env bash
# Runs of several ranks on GPUs: digests, tables, snapshots and checkpoints have the bytes of one GPU, by peer pointers, by
# NCCL and through the host; restarts with another number of ranks; what is refused.
. "${BASH_SOURCE[0]%/*}/ranks_lib.sh"
gpus=$("$SIM" info | grep -c '^cuda .* GiB free' || true)

option_scenario prices.lua

# ---- options ----

number=0

for set in kind=plain kind=local kind=sobol kind=matched "kind=plain --set error=0.02" "kind=plain --set paths=700"; do
  # shellcheck disable=SC2206 # several words
  run=(prices.lua --set $set)
  one
  number=$((number + 1))
  several $((2 + number % 2)) ""
done

# ---- bodies ----

if "$SIM" run bodies.lua -o probe --gpus 2 --oversubscribe --set n=200 --set steps=1 >output 2>&1; then
  grep -qF "exchange by peer pointers" output || fail "ranks on one GPU do not exchange by peer pointers"
else
  fail "two ranks of bodies.lua"
fi
number=0
while read -r set; do
  # shellcheck disable=SC2206
  run=(bodies.lua --set ${set// / --set })
  one
  number=$((number + 1))
  several $((2 + number % 2)) peer
  several $((3 - number % 2)) staged
  ((gpus < 2)) || several 2 nccl
done <<'SETS'
n=9000
n=9000 kind=single
n=60001 kind=single steps=4
n=3000
n=3000 kind=double
n=9001 kind=double scheme=yoshida4
n=700 kind=double scheme=hermite4
n=2000 form=pair
n=2000 form=external
n=2500 form=box
n=1500 kind=double form=adaptive scheme=hermite4
n=6000 form=adaptive
n=50
SETS
run=(bodies.lua --set n=5200)
one
several 4 peer
run=(bodies.lua --set n=6000)
one
SIM_COMM_DELAY=3000 several 3 peer
SIM_COMM_DELAY=3000 several 2 staged
((gpus < 2)) || SIM_COMM_DELAY=3000 several 2 nccl
several 2 peer --profile

# ---- restart with another number of ranks ----

run=(bodies.lua --set n=6000 --set steps=40 --set every=10)
one
expect 0 "" "$SIM" run "${run[@]}" -o chain --force --gpus 3 --oversubscribe
for ranks in 2 1; do
  rm -f chain/ckpt/ck_000000000040.h5 chain/ckpt/ck_000000000030.h5
  expect 0 "continues from checkpoint ck_000000000020.h5" "$SIM" resume chain --gpus $ranks --oversubscribe
  same one chain "3 ranks, then $ranks"
done

# ---- several hosts, as the ranks say, whose GPU is the same, which NCCL does not take ----

run=(bodies.lua --set n=6000)
one
why="exchange through host memory: the ranks are on several hosts; not by NCCL: "
two=("$SIM" run "${run[@]}" -o many --force --gpus 2 --oversubscribe)
SIM_COMM_HOSTS=2 expect 0 "$why" "${two[@]}"
equal one many "two hosts"
SIM_COMM_HOSTS=2 SIM_NCCL=/nothing expect 0 "$why/nothing is not found (rank 0)" "${two[@]}"
equal one many "two hosts without NCCL"

# ---- measured ----

if ((gpus > 1)); then # three sizes and a weak one on one rank; each makes its device's arrays again
  expect 0 "2 ranks x" "$SIM" bench option --scaling --quick --gpus 2
  [ "$(grep -c ' x .*waited' output)" -ge 7 ] || fail "sim bench --scaling --gpus 2: rows are missing"
fi

# ---- refused ----

expect 64 "$((gpus + 1)) ranks on this host and $gpus GPU" "$SIM" run bodies.lua -o refused --gpus $((gpus + 1))
[ "$(wc -l <output)" = 1 ] || fail "a refusal is told more than once"
expect 64 "each rank has a GPU of its own" "$SIM" run bodies.lua -o refused --ranks 2 --device cuda:0
expect 64 "--gpus 2 and --device cpu" "$SIM" run bodies.lua -o refused --gpus 2 --device cpu
expect 64 "--gpus 2 and --ranks 3" "$SIM" run bodies.lua -o refused --gpus 2 --ranks 3
SIM_COMM_PATH=sideways expect 64 "expected peer, nccl, mpi or staged" "$SIM" run bodies.lua -o refused --gpus 2 --oversubscribe
SIM_NCCL=/nothing SIM_COMM_PATH=nccl expect 69 "SIM_COMM_PATH asks for NCCL: /nothing is not found (rank 0)" \
  "$SIM" run bodies.lua -o refused --gpus 2 --oversubscribe
expect 0 "2 ranks, each " "$SIM" check bodies.lua --gpus 2
