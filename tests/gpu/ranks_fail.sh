#!/usr/bin/env bash
# ranks_fail.sh [COUNT [kills]]: a rank on a GPU that is killed, COUNT times (6) at random moments, in turn of the ways of
# exchange; then, unless `kills` is given, one that is frozen, and one that hangs, while kernels or the host wait for it,
# and a signal. All ranks end within 35 s with one exit code and one line, leave no lock, and the resumed run has the
# digest of a calm one. SEED repeats a sequence of kills, and WAYS names the ways.
. "${BASH_SOURCE[0]%/*}/ranks_lib.sh"
. "${BASH_SOURCE[0]%/*}/../cli/ranks_fail_lib.sh"
: "${FAULTS:?the library that is preloaded}"
gpus=$("$SIM" info | grep -c '^cuda .* GiB free' || true)
paths=(peer staged)
((gpus < 2)) || paths+=(nccl) # which takes no GPU twice
[ -z "${WAYS:-}" ] || read -ra paths <<<"$WAYS"
count=${1:-6}
seed=${SEED:-$(date +%s)}
RANDOM=$((seed % 32768))
echo "seed $seed"
host=$(uname -n)

# Ranks that share a GPU wait for its turns.
most=$((gpus < 2 || gpus > 3 ? 3 : gpus))
run=(bodies.lua --set n=9000 --set steps=$((gpus < 2 ? 600 : 6000)) --set every=$((gpus < 2 ? 30 : 300)))

whole=()
for path in "${paths[@]}"; do
  begin=$(seconds)
  SIM_COMM_PATH=$path expect 0 "" "$SIM" run "${run[@]}" -o "calm_$path" --gpus "$most" --oversubscribe
  whole+=("$(awk -v from="$begin" -v to="$(seconds)" 'BEGIN { print to - from }')")
  same "calm_${paths[0]}" "calm_$path" "$path"
done

# ---- killed at random moments ----

lost=0 slowest=0
for ((i = 0; i < count; i++)); do
  rm -rf run
  path=${paths[$((i % ${#paths[@]}))]}
  rank=$((RANDOM % most))
  wait=$(awk -v r="$RANDOM" -v whole="${whole[$((i % ${#paths[@]}))]}" 'BEGIN { printf "%.4f", r / 32768 * whole }')
  start=$(seconds)
  SIM_COMM_PATH=$path "$SIM" run "${run[@]}" -o run --gpus "$most" --oversubscribe >output 2>&1 &
  pid=$!
  sleep "$wait"
  victim=$(rank_of "$pid" $rank)
  begin=$(seconds)
  [ -z "$victim" ] || kill -s KILL "$victim" 2>/dev/null || true
  code=0
  wait "$pid" || code=$?
  what="kill $i of rank $rank of $most by $path after $wait s, seed $seed"
  within 35 "$begin" "$what"
  took=$(awk -v from="$begin" -v to="$(seconds)" 'BEGIN { printf "%.2f", to - from }')
  slowest=$(awk -v a="$slowest" -v b="$took" 'BEGIN { print (a + 0 > b + 0 ? a : b) }')
  case $code in
    0) # it came too late: the machine was busier when the calm runs were made
      whole[i % ${#paths[@]}]=$(awk -v from="$start" -v to="$(seconds)" 'BEGIN { print to - from }')
      ;;
    82)
      lost=$((lost + 1))
      # by peers the fault of a GPU may be told, whose memory has gone
      [ "$(grep -cE '^sim: (rank|GPU) ' output)" = 1 ] || fail "$what: not one line"
      [ "$path" = peer ] || grep -qF "sim: rank $rank on $host: was killed by signal 9 (Killed)" output ||
        fail "$what: what the line says"
      no_lock run "$what"
      SIM_COMM_PATH=$path expect 0 "" "$SIM" run "${run[@]}" -o run --gpus "$most" --oversubscribe --resume=auto
      ;;
    *) fail "$what: exit $code, not 82" ;;
  esac
  same "calm_${paths[0]}" run "$what"
done
((lost > 0)) || fail "no kill met a run"
echo "$lost of $count kills met a run; all ended after $slowest s at most"

[ "${2:-}" != kills ] || exit 0

# ---- frozen, hanging, stopped ----

start() { # start DIR [VARIABLE=VALUE...]: in the background, until its first checkpoint is there
  local folder=$1
  shift
  env SIM_COMM_PATH="$path" "$@" "$SIM" run bodies.lua --set n=9000 --set steps=4000000 --set every=200 -o "$folder" \
    --gpus "$most" --oversubscribe >output 2>&1 &
  pid=$!
  until_true 60 has_checkpoint "$folder"
}
for path in "${paths[@]}"; do
  start "frozen_$path" SIM_COMM_PATIENCE=3
  begin=$(seconds)
  kill -s STOP "$(rank_of "$pid" 1)"
  ended 82 15 "frozen_$path" "$path: a frozen rank"
  grep -qE "^sim: rank 1 on $host: gave no sign of life for [3-9] s and was killed" output || [ "$path" = peer ] ||
    fail "$path: a frozen rank: what the line says"
  expect 75 "continues from checkpoint" "$SIM" resume "frozen_$path" --wall 1

  start "hangs_$path" LD_PRELOAD="$FAULTS" FAULT=hang FAULT_RANK=1 FAULT_FILE="$PWD/hang" SIM_COMM_DELAY=10
  touch hang
  sleep 0.5
  begin=$(seconds)
  kill -s TERM "$pid"
  ended 75 35 "hangs_$path" "$path: a rank that hangs"
  rm hang

  start "stopped_$path"
  begin=$(seconds)
  kill -s TERM "$pid"
  ended 75 20 "stopped_$path" "$path: SIGTERM"
  [ "$(key state "stopped_$path")" = stopped ] || fail "$path: SIGTERM: state $(key state "stopped_$path")"
done
