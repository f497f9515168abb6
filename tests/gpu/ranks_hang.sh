#!/usr/bin/env bash
# ranks_hang.sh [WAY...]: a kernel that never ends on one rank, while kernels or the host of the other rank wait for it,
# by each way of exchange. The message names that rank, not the waiting one. All end within 35 s with 81 and one line,
# leave no lock, and the resumed run has the digest of an undisturbed one. The same with one GPU alone, unless ways are
# given.
. "${BASH_SOURCE[0]%/*}/ranks_lib.sh"
. "${BASH_SOURCE[0]%/*}/../cli/ranks_fail_lib.sh"
gpus=$("$SIM" info | grep -c '^cuda .* GiB free' || true)
paths=(peer staged)
((gpus < 2)) || paths+=(nccl) # which takes no GPU twice
(($# == 0)) || paths=("$@")
host=$(uname -n)
unset SIM_DEVICE_TIMEOUT
steps=$((gpus < 2 ? 4000 : 12000))
run=(bodies.lua --set n=9000 --set steps=$steps --set every=$((steps / 20)))
expect 0 "" "$SIM" run "${run[@]}" -o whole --device cuda

hang() { # hang DIR RANK OPTION...: once it has a checkpoint; RANK "": without ranks
  local folder=$1 rank=$2
  shift 2
  rm -f spin
  env SIM_INJECT_SPIN="$PWD/spin" ${rank:+SIM_INJECT_RANK=$rank} "$SIM" run "${run[@]}" -o "$folder" "$@" --no-progress \
    >output 2>&1 &
  pid=$!
  until_true 60 has_checkpoint "$folder"
  touch spin
  begin=$(seconds)
  ended 81 35 "$folder" "$folder"
  awk -v from="$begin" -v to="$(seconds)" -v what="$folder" 'BEGIN { printf "%s: ended after %.1f s\n", what, to - from }'
  grep -E '^sim: (error: )?(rank|GPU) ' output
  [ "$(grep -cE '^sim: (error: )?(rank|GPU) ' output)" = 1 ] || fail "$folder: not one line"
  rm spin
}
named() { # named RANK WHAT
  grep -qE "^sim: (error: )?rank $1 on $host: GPU [0-9]+ has not finished its work for [0-9]+ s \(.*; " output ||
    fail "$2: what the line says"
}
goes_on() { # goes_on DIR OPTION...
  local folder=$1
  shift
  expect 0 "continues from checkpoint" "$SIM" resume "$folder" "$@"
  same whole "$folder" "resumed: $folder"
}

for path in "${paths[@]}"; do
  for rank in 1 0; do
    [ "$path$rank" = peer1 ] || export SIM_DEVICE_TIMEOUT=3 # else the limit that ranks have
    SIM_COMM_PATH=$path hang "${path}_$rank" $rank --gpus 2 --oversubscribe
    unset SIM_DEVICE_TIMEOUT
    named $rank "$path: rank $rank"
    SIM_COMM_PATH=$path goes_on "${path}_$rank" --gpus 2 --oversubscribe
  done
done
(($# == 0)) || exit 0
SIM_DEVICE_TIMEOUT=3 hang alone "" --device cuda
grep -qE "^sim: error: GPU 0 has not finished its work for [34] s " output || fail "alone: what the line says"
goes_on alone --device cuda
