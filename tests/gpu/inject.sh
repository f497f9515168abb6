#!/usr/bin/env bash
# The n-th call of the CUDA runtime fails, for some n from the first call of a run to its last: exit 81 with the call
# (or the run never began), no crash and no hang. Saved files are good: the resumed run has the same end.
. "${BASH_SOURCE[0]%/*}/lib.sh"
need_gpu
scenario s.lua
# By its number: a GPU that cannot be opened is not replaced by another.
options=(--device cuda:0 --set steps=30 --set 'every=every 10 steps' --no-progress)
expect 0 "" "$SIM" run s.lua -o whole.out "${options[@]}"
failed=0 good=0
for n in 1 2 3 5 8 13 21 34 55 89 144 233 377; do
  code=0
  rm -f injected
  SIM_INJECT=$n timeout -k 5 60 "$SIM" run s.lua -o "$n.out" "${options[@]}" -q >output 2>&1 || code=$?
  case $code in
    0) # the run has fewer calls, or the call was one that only clears
      [ ! -e injected ] || [ "$(cat injected)" = cudaGetLastError ] || fail "call $n, $(cat injected), failed and nobody saw it"
      same whole.out "$n.out" "call $n" && good=$((good + 1))
      ;;
    69 | 81) failed=$((failed + 1)) ;;
    *) fail "exit $code when call $n failed" ;;
  esac
  if [ "$code" = 81 ]; then
    grep -qE '^sim: GPU 0: [A-Za-z]+ \(.+\): ' output || fail "call $n: no call in the message"
    [ "$(wc -l <output)" -le 3 ] || fail "call $n: more than a line or two"
  fi
  if [ "$code" = 81 ] && [ -n "$(checkpoints "$n.out")" ]; then
    expect 0 "" "$SIM" resume "$n.out"
    same whole.out "$n.out" "resumed after call $n failed"
  fi
  rm -rf -- "$n.out"
done
((failed >= 5)) || fail "only $failed runs failed"
echo "$failed failed as they should, $good went on"
