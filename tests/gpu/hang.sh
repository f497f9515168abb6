#!/usr/bin/env bash
# A device that does not finish its work, on the stand-in for the runtime (fake_program.c): alone, and on either of two
# ranks. All processes end within 35 s with 81 and one line that names rank and host, leave no lock, and the run resumes
# from its newest checkpoint. A device that waits for a rank, or computes for long, is not stopped.
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
. "${BASH_SOURCE[0]%/*}/../cli/ranks_fail_lib.sh"
: "${FAULTS:?the library that is preloaded}"
set -m # jobs get their signals undisturbed
unset SIM_DEVICE_TIMEOUT
export FAKE_DEVICES=2 OMP_WAIT_POLICY=passive SIM_COMM_PATH=staged FAKE_HANG=$PWD/hang
host=$(uname -n)

cat >bodies.lua <<'LUA'
local steps = sim.param("steps", 40, "steps")
return sim.nbody {
  bodies    = { sim.plummer { n = 600, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.05, solver = "direct" },
  integrate = { dt = 1/1024, t_end = steps/1024 },
  precision = "single",
  output    = { snapshots = "ends", tables = "every 20 steps", checkpoint = "every 20 steps" },
}
LUA
calm() { # calm OPTION...: a whole run
  expect 0 "" "$SIM" run bodies.lua -o calm --force "$@"
}
calm --device cuda
SIM_DEVICE_TIMEOUT="3 hours" expect 0 'SIM_DEVICE_TIMEOUT = "3 hours" is no number of seconds: ignored' \
  "$SIM" run bodies.lua -o calm --force --device cuda
[ "$(grep -c "SIM_DEVICE_TIMEOUT" output)" = 1 ] || fail "a limit that is no number is told more than once"
calm --gpus 2
grep -qF "exchange through host memory" output || fail "what the line on the exchange says"

start() { # start DIR OPTION...: in the background, until its first checkpoint is there; then the device hangs
  local folder=$1
  shift
  env "${fault[@]}" "$SIM" run bodies.lua --set steps=40000000 -o "$folder" "$@" >output 2>&1 &
  pid=$!
  until_true 60 has_checkpoint "$folder"
  touch hang
  begin=$(seconds)
}
goes_on() { # goes_on DIR OPTION...
  local folder=$1
  shift
  expect 75 "continues from checkpoint" "$SIM" resume "$folder" --wall 1 "$@"
}
told() { # told DIR LINE: one line, as an extended regular expression
  [ "$(grep -cE '^sim: (error: )?(rank|GPU) ' output)" = 1 ] || fail "$1: not one line"
  grep -qE "^sim: (error: )?$2" output || fail "$1: what the line says"
  [ "$(key state "$1")" = failed ] || fail "$1: state $(key state "$1")"
}
where='; a step was abandoned: the run continues from its checkpoint of step [0-9]+'

for rank in 1 0; do # rank 1 by the limit that ranks have: 20 s
  [ "$rank" = 1 ] || export SIM_DEVICE_TIMEOUT=2
  fault=() # the clocks of rank 0 are wrong: its watch does not go by them
  [ "$rank" = 1 ] || fault=(LD_PRELOAD="$FAULTS" FAULT=ahead FAULT_RANK=0)
  FAKE_HANG_RANK=$rank start "rank$rank" --gpus 2
  ended 81 35 "rank$rank" "the GPU of rank $rank hangs"
  text="rank $rank on $host: GPU $rank has not finished its work for 2[0-9]? s \(cuda[A-Za-z]+, last kernel [a-z0-9_]+; SIM_DEVICE_TIMEOUT sets the limit\)"
  if [ "$rank" = 0 ]; then
    text+=$where
  else
    text+="; see why, then: sim resume rank1 \(continues from step [0-9]+\)"
  fi
  told "rank$rank" "$text"
  rm hang
  unset SIM_DEVICE_TIMEOUT
  goes_on "rank$rank" --gpus 2
done

fault=()
SIM_DEVICE_TIMEOUT=2 start alone --device cuda
ended 81 20 alone "a GPU hangs"
told alone "GPU 0 has not finished its work for [23] s .*$where"
rm hang
goes_on alone --device cuda

# At the start nothing is saved.
touch hang
begin=$(seconds)
SIM_DEVICE_TIMEOUT=2 expect 81 "" "$SIM" run bodies.lua -o early --device cuda
[ "$(grep -cE '^sim: (error: )?(rank|GPU) ' output)" = 1 ] || fail "a GPU that hangs at the start: not one line"
grep -qE "^sim: error: GPU 0 has not finished .*; nothing was saved: run the same command again" output ||
  fail "a GPU that hangs at the start: what the line says"
within 20 "$begin" "a GPU that hangs at the start"
rm hang
[ ! -e early ] || fail "a GPU that hangs at the start leaves a folder"

# A device that takes long and then continues. Rank 1 waits for rank 0 meanwhile.
for rank in 0 1; do
  FAKE_HANG_RANK=$rank start slow --gpus 2
  sleep 4
  rm hang
  sleep 1
  kill -s TERM "$pid"
  ended 75 35 slow "a device that takes long"
  rm -r slow
done
