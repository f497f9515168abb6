#!/usr/bin/env bash
# Runs of several ranks on GPUs (on one, which they share, where there is one): digests, tables, snapshots and checkpoints
# have the bytes of one GPU, by peer pointers and through the host; restarts with another number of ranks; a rank that is
# killed ends all; what is refused.
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

# ---- a rank that is killed, and one that is stopped by a signal ----

rank_of() { # rank_of LAUNCHER N: process of rank N; ranks are started in order
  # shellcheck disable=SC2009 # by parent
  ps -o pid= --ppid "$1" | sort -n | sed -n "$(($2 + 1))p" | tr -d ' '
}
begin() { # begin DIR PATH: in the background, until its first checkpoint is there
  SIM_COMM_PATH=$2 "$SIM" run bodies.lua --set n=9000 --set steps=4000000 --set every=20 -o "$1" --gpus 3 --oversubscribe \
    >output 2>&1 &
  pid=$!
  until_true 60 has_checkpoint "$1"
}
has_checkpoint() { [ -n "$(checkpoints "$1")" ]; }
finish() {
  code=0
  wait "$pid" || code=$?
}
for path in peer staged; do
  for rank in 2 0; do
    begin "killed_$path$rank" $path
    SECONDS=0
    kill -s KILL "$(rank_of "$pid" $rank)"
    finish
    [ "$code" = 82 ] || fail "rank $rank killed, $path: exit $code, not 82"
    ((SECONDS < 35)) || fail "rank $rank killed, $path: it took $SECONDS s"
    grep -q ", ended " "killed_$path$rank/.lock" || fail "rank $rank killed, $path: a lock is left"
    [ $path$rank = peer2 ] || grep -qF "rank $rank on $(uname -n): was killed by signal 9 (Killed)" output ||
      fail "rank $rank killed, $path: what is said" # by peers the fault of a GPU may be told, whose memory has gone
    echo "rank $rank killed, $path: all ended after $SECONDS s: $(grep '^sim: ' output | tail -n 1)"
    expect 75 "continues from checkpoint" "$SIM" resume "killed_$path$rank" --wall 1
  done
done
begin stopped peer
kill -s TERM "$pid"
finish
[ "$code" = 75 ] || fail "SIGTERM: exit $code, not 75"
[ "$(key state stopped)" = stopped ] || fail "SIGTERM: state $(key state stopped)"

# ---- refused ----

expect 64 "$((gpus + 1)) ranks on this host and $gpus GPU" "$SIM" run bodies.lua -o refused --gpus $((gpus + 1))
[ "$(wc -l <output)" = 1 ] || fail "a refusal is told more than once"
expect 64 "each rank has a GPU of its own" "$SIM" run bodies.lua -o refused --ranks 2 --device cuda:0
expect 64 "--gpus 2 and --device cpu" "$SIM" run bodies.lua -o refused --gpus 2 --device cpu
expect 64 "--gpus 2 and --ranks 3" "$SIM" run bodies.lua -o refused --gpus 2 --ranks 3
SIM_COMM_PATH=sideways expect 64 "expected peer or staged" "$SIM" run bodies.lua -o refused --gpus 2 --oversubscribe
expect 0 "2 ranks, each " "$SIM" check bodies.lua --gpus 2
