#!/usr/bin/env bash
# A run's folder, its options, and its files.
. "${BASH_SOURCE[0]%/*}/lib.sh"
scenario s.lua

expect 0 "" "$SIM" check s.lua
[ ! -e s.out ] || fail "check wrote something"
expect 0 "" "$SIM" s.lua
for file in snap run.pmd tables.h5 ckpt scenario.lua run.log status.json; do
  [ -e "s.out/$file" ] || fail "no s.out/$file"
done
cmp s.lua s.out/scenario.lua || fail "scenario.lua is not the scenario"
[ "$(cat s.out/run.pmd)" = "snap/snap_%08T.h5" ] || fail "run.pmd"
[ "$(find s.out/snap -type f | wc -l)" = 2 ] || fail "not the first and the last snapshot"
[ "$(find s.out/snap -type f ! -name 'snap_*.h5' | wc -l)" = 0 ] || fail "strangers in snap/"
[ "$(key state s.out)" = done ] || fail "state is not done"
[ "$(key step s.out)" = 40 ] || fail "step is not 40"
[ "$(key exit_code s.out)" = 0 ] || fail "exit_code is not 0"
[ "$(key model s.out)" = nbody ] || fail "model is not nbody"
tail -n 1 output | grep -q "$(digest s.out)" || fail "the last line does not hold the digest"
if LC_ALL=C grep -q '[^[:print:][:space:]]' output || grep -q $'\r' output; then fail "control characters"; fi

# The folder is not overwritten by accident.
expect 73 "s.out" "$SIM" run s.lua
echo mine >s.out/mine.txt
expect 0 "" "$SIM" run s.lua --force
[ "$(cat s.out/mine.txt)" = mine ] || fail "--force removed a file that is not ours"
# A scenario that is refused after the bodies were generated does no harm to the earlier run, and leaves nothing.
cat >same.lua <<'LUA'
local place = { mass = 1, position = {1, 2, 3}, velocity = {0, 0, 0} }
return sim.nbody { bodies = { place, place }, integrate = { dt = 1, t_end = 1 } }
LUA
before=$(digest s.out)
expect 65 "same.lua" "$SIM" run same.lua --force -o s.out
[ "$(digest s.out)" = "$before" ] && [ -e s.out/ckpt/ck_000000000040.h5 ] || fail "a refused --force lost the earlier run"
expect 65 "same.lua" "$SIM" run same.lua
[ ! -e same.out ] || fail "a refused run left a folder"
mkdir other && echo x >other/x
expect 73 other "$SIM" run s.lua -o other
[ "$(cat other/x)" = x ] || fail "another folder was touched"

# --set, --seed, --precision: a run depends on these alone.
expect 0 "" "$SIM" run s.lua -o again
same s.out again "the same run twice"
expect 0 "" "$SIM" run s.lua -o steps --set steps=20
[ "$(key step steps)" = 20 ] || fail "--set steps=20"
expect 0 "" "$SIM" run s.lua -o seeded --seed 5
[ "$(digest seeded)" != "$(digest s.out)" ] || fail "--seed changes nothing"
expect 0 "" "$SIM" run s.lua -o single --precision single
[ "$(digest single)" != "$(digest s.out)" ] || fail "--precision changes nothing"
expect 64 "stepz" "$SIM" run s.lua -o none --set stepz=1
[ ! -e none ] || fail "a refused run left a folder"

# Checkpoints at every step or none: the same bits.
expect 0 "" "$SIM" run s.lua -o every --set "every=every 1 steps"
expect 0 "" "$SIM" run s.lua -o never --set every=never
same s.out every "a checkpoint every step"
same s.out never "no checkpoints"
[ "$(checkpoints every | wc -l)" = 3 ] || fail "not the last three checkpoints are kept"

# Lines for programs.
if command -v python3 >/dev/null; then
  timeout 60 "$SIM" run s.lua -o json --log-json >json.txt 2>json.err || fail "--log-json"
  cat json.txt json.err | python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin]
assert lines and all(isinstance(line, dict) for line in lines)' || fail "a line is not JSON"
  python3 -c '
import json
status = json.load(open("s.out/status.json"))
assert {"state", "digest", "step", "time", "t_end", "exit_code", "model", "host", "pid", "rate", "elapsed"} <= set(status)
for line in open("s.out/run.jsonl"): json.loads(line)' || fail "status.json or run.jsonl"
fi

