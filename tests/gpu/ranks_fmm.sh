#!/usr/bin/env bash
# Runs by fast multipoles on the GPUs of several ranks (on one, which they share, where there is one): digests, tables (with
# energies and the error of forces), snapshots and checkpoints have the bytes of one GPU, by peer pointers and through the
# host; restarts with another number of ranks; what sim check says.
. "${BASH_SOURCE[0]%/*}/ranks_lib.sh"

number=0
while read -r set; do
  # shellcheck disable=SC2206 # several words
  run=(bodies.lua --set solver=fmm --set ${set// / --set })
  one
  grep -qF "fast multipoles" output || fail "$set: not by multipoles"
  number=$((number + 1))
  several $((2 + number % 2)) peer
  several $((3 - number % 2)) staged
done <<'SETS'
n=20000 kind=single
n=20000 kind=mixed
n=20000 kind=double
n=100001 kind=single steps=4 every=2
n=9000 kind=double scheme=yoshida4 steps=6 every=3
n=20000 kind=single form=external
n=20000 kind=single form=box
n=6000 kind=double form=box
n=20000 kind=mixed form=adaptive
n=20000 kind=single form=individual steps=4 every=2
n=9000 kind=double form=individual steps=4 every=2
n=100 kind=single
n=2 kind=double
SETS

# By the choice of sim; a body of its own leaf on each of 4 ranks, and delays.
run=(bodies.lua --set solver=auto --set n=150000 --set kind=single --set steps=4 --set every=2)
one
grep -qF "fast multipoles" output || fail "150000 bodies: not by multipoles"
several 4 peer
run=(bodies.lua --set solver=fmm --set n=20000)
one
SIM_COMM_DELAY=3000 several 3 peer
SIM_COMM_DELAY=3000 several 2 staged
several 2 peer --profile

# ---- restart with another number of ranks ----

for form in gravity individual; do
  run=(bodies.lua --set solver=fmm --set n=20000 --set form="$form" --set steps=40 --set every=10)
  one
  expect 0 "" "$SIM" run "${run[@]}" -o chain --force --gpus 3 --oversubscribe
  for ranks in 2 1; do
    rm -f chain/ckpt/ck_000000000040.h5 chain/ckpt/ck_000000000030.h5
    expect 0 "continues from checkpoint ck_000000000020.h5" "$SIM" resume chain --gpus "$ranks" --oversubscribe
    same one chain "$form: 3 ranks, then $ranks"
  done
done

# ---- planned ----

expect 0 "received by a rank in a step, 2 times waiting for all" "$SIM" check bodies.lua --set solver=fmm \
  --set n=1000000 --gpus 2
grep -q "efficiency  *about [5-9][0-9] %" output || fail "sim check expects no gain by a second GPU"
