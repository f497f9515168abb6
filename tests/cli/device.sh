#!/usr/bin/env bash
# Without a visible GPU: an explicit GPU is refused with the reason, "auto" takes the CPU. And --profile there.
. "${BASH_SOURCE[0]%/*}/lib.sh"
scenario s.lua
export CUDA_VISIBLE_DEVICES=

expect 0 "not usable: " "$SIM" info
reason=$(sed -n 's/^cuda  *not usable: //p' output)
case $reason in
  "not compiled in: this build has no CUDA backend" | "no NVIDIA driver") ;;
  "CUDA_VISIBLE_DEVICES is empty, so that no GPU can be seen") ;;
  *) fail "not a reason: $reason" ;;
esac
for device in cuda cuda:0 cuda:GPU-1234abcd; do
  expect 69 "sim: device '$device' is not usable: $reason" "$SIM" run s.lua --device $device
  [ "$(wc -l <output)" = 1 ] || fail "more than one line about $device"
  [ ! -e s.out ] || fail "a refused device leaves a folder"
done
for device in cuda: cuda:x cuda:GPU- cuda:1x cudaa cpu:0; do
  expect 64 -- "$SIM" run s.lua --device $device
done
expect 0 " thread" "$SIM" run s.lua -o auto.out
if [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ] && grep -qi gpu output; then fail "a GPU that is not there is a matter"; fi

# A profile changes nothing; the table and the trace count every step and output.
expect 0 "profile of the host" "$SIM" run s.lua -o profile.out --profile
same auto.out profile.out "with and without a profile"
grep -qE '^  step +40 ' output || fail "not 40 steps in the table"
grep -q 'profile of the host' profile.out/run.log || fail "no table in run.log"
expect 73 "" "$SIM" run s.lua -o profile.out
expect 0 "" "$SIM" run s.lua -o profile.out --force
[ ! -e profile.out/trace.json ] || fail "--force leaves the old trace"
expect 75 "" "$SIM" run s.lua -o cut.out --set steps=4000000 --wall 1
expect 75 "profile of the host" "$SIM" resume cut.out --wall 1 --profile
command -v python3 >/dev/null || skip "no python3 to read the trace"
python3 - cut.out/trace.json <<'PY' || fail "trace.json"
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
spans = [e for e in events if e["ph"] == "X"]
names = {e["name"] for e in spans}
assert {"step", "checkpoint"} <= names, names
assert all(e["dur"] >= 0 and e["ts"] >= 0 and e["pid"] == 1 for e in spans)
assert {e["name"] for e in events if e["ph"] == "M"} == {"process_name", "thread_name"}
PY
