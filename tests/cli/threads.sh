#!/usr/bin/env bash
# The same bits for any number of threads; in double also for any instruction set.
. "${BASH_SOURCE[0]%/*}/lib.sh"
scenario s.lua

# 700 bodies: more than one block of the kernels, and not a multiple of any width.
run=("$SIM" run s.lua --set n=700 --set steps=8 --set every=never)
for setup in "leapfrog double" "leapfrog single" "leapfrog mixed" "hermite4 double"; do
  read -r scheme kind <<<"$setup"
  for threads in 1 2 3 7 16; do
    expect 0 "" "${run[@]}" --set "scheme=$scheme" --set "kind=$kind" -o "$scheme-$kind-$threads" --threads "$threads"
    same "$scheme-$kind-1" "$scheme-$kind-$threads" "$scheme $kind with $threads threads"
  done
done

best=$("$SIM" info | grep -oiE 'avx-?512|avx-?2|plain' | head -n 1 | tr -d - | tr '[:upper:]' '[:lower:]')
for scheme in leapfrog hermite4; do
  for isa in avx2 avx512; do
    case $best-$isa in plain-* | avx2-avx512) continue ;; esac
    expect 0 "" "${run[@]}" --set "scheme=$scheme" --isa plain -o "$scheme-plain" --force
    expect 0 "" "${run[@]}" --set "scheme=$scheme" --isa "$isa" -o "$scheme-$isa"
    same "$scheme-plain" "$scheme-$isa" "$scheme with $isa"
    same "$scheme-double-1" "$scheme-$isa" "$scheme with $isa and one thread"
  done
done

# Threads that wait soon sleep, whatever the environment says: the program has started itself again as the same process.
OMP_WAIT_POLICY=active GOMP_SPINCOUNT=infinity "$SIM" run s.lua --set n=3000 --set steps=100000 --threads 2 -q -o long &
pid=$!
until_true 120 test -s long/status.json # it runs, and has its handlers of signals
tr '\0' '\n' <"/proc/$pid/environ" | grep -q '^GOMP_SPINCOUNT=1000$' || fail "threads spin while they wait"
kill -TERM "$pid"
rc=0
wait "$pid" || rc=$?
((rc == 75)) || fail "exit $rc after SIGTERM"
