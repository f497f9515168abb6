#!/usr/bin/env bash
# kill.sh [COUNT]: kills a run COUNT times (10) by SIGKILL, resumes it each time, and compares digests at the end. Every
# second kill waits until a checkpoint is being written; the others come at a random time. SEED repeats a sequence.
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
count=${1:-10}
seed=${SEED:-$(date +%s)}
RANDOM=$((seed % 32768))
echo "seed $seed"
scenario s.lua
# A checkpoint every two steps, so that half of the time goes into writing them.
arguments=(s.lua --set n=64 --set "steps=${STEPS:-4000}" --set "every=every 2 steps")

expect 0 "" "$SIM" run s.lua --set n=64 --set "steps=${STEPS:-4000}" --set every=never -o whole

# writing: a file that is not yet a checkpoint lies in ckpt/.
writing() { [ -n "$(find run/ckpt -type f ! -name 'ck_*.h5' 2>/dev/null | head -n 1)" ]; }
kills=0 rounds=0 during=0
while ((kills < count)); do
  rm -rf -- run
  rounds=$((rounds + 1))
  command=("$SIM" run "${arguments[@]}" -o run)
  while :; do
    "${command[@]}" >output 2>&1 &
    pid=$!
    if ((kills >= count)); then
      wait "$pid" || fail "kill $kills, seed $seed: the last resume exits $?"
      break
    fi
    sleep "0.$(printf '%03d' $((RANDOM % 200)))"
    if ((kills % 2)); then
      tries=100
      while ((tries-- > 0)); do
        if writing; then
          during=$((during + 1))
          break
        fi
      done
    fi
    kill -KILL "$pid" 2>/dev/null || true
    code=0
    wait "$pid" 2>/dev/null || code=$?
    case $code in
      137) kills=$((kills + 1)) ;;
      0) break ;;
      *) fail "kill $kills, seed $seed: exit $code" ;;
    esac
    # Before the first checkpoint there is nothing to resume: the start is simply repeated.
    if [ -n "$(checkpoints run)" ]; then
      command=("$SIM" resume run)
    else
      command=("$SIM" run "${arguments[@]}" -o run --force)
    fi
  done
  same whole run "after $kills kills, seed $seed"
  [ -z "$(find run/ckpt -type f ! -name 'ck_*.h5')" ] || fail "a temporary file is left, seed $seed"
done
echo "$kills kills ($during while a checkpoint was written) in $rounds runs: equal digests"
