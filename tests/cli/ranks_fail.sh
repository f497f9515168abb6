#!/usr/bin/env bash
# ranks_fail.sh [COUNT]: a rank that is killed, COUNT times (8) at random moments; a rank that is frozen or, with a
# COUNT above 8, hangs; other bits on one rank; a clock that is wrong on one rank; a full disk. All ranks end with one exit code and one line,
# leave no lock, and the resumed run has the digest of an undisturbed one. SEED repeats a sequence of kills.
. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/ranks_fail_lib.sh"
: "${FAULTS:?the library that is preloaded}"
count=${1:-8}
seed=${SEED:-$(date +%s)}
RANDOM=$((seed % 32768))
echo "seed $seed"
set -m
export CUDA_VISIBLE_DEVICES="" OMP_WAIT_POLICY=passive
host=$(uname -n)

cat >many.lua <<'LUA'
local steps = sim.param("steps", 10, "steps of 2^22 paths")
local each  = sim.param("each", "every 1 steps", "cadence of checkpoints")
return sim.option {
  assets   = { { spot = 100, vol = 0.2 } }, rate = 0.05, maturity = 1, steps = 4,
  payoffs  = { sim.european { strike = 100 } },
  sampling = { paths = 2^22 * steps },
  output   = { tables = "every 1 steps", checkpoint = each },
}
LUA
run=("$SIM" run many.lua --threads 1)
one_line() { [ "$(grep -c '^sim: rank ' output)" = 1 ] || fail "$1: the rank is not told in one line"; }

begin=$(seconds)
expect 0 "" "${run[@]}" -o calm --ranks 3
whole=$(awk -v from="$begin" -v to="$(seconds)" 'BEGIN { print to - from }')

# ---- ranks with other bits: no checkpoint is ever written from them, which a kill could leave ----

cat >bodies.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.plummer { n = 600, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.05, solver = "direct" },
  integrate = { dt = 1/1024, t_end = 4/1024 },
  output    = { tables = "never", checkpoint = "every 2 steps" },
}
LUA
cat >settling.lua <<'LUA' # ranks divide the cells, and each has all grains
return sim.fluid {
  grid      = { n = {28, 28, 44}, size = {0.014, 0.014, 0.022}, boundary = "wall" },
  viscosity = 1e-4, density = 900, speed = 0.09, mach = 0.15,
  grains    = { sim.random_spheres { n = 4, radius = 1.6e-3, density = 2500 } },
  contact   = { contact_time = 1e-3, restitution = 0.9 },
  integrate = { t_end = 1e-3 },
  output    = { tables = "never", checkpoint = "every 1 steps" },
}
LUA
for scenario in bodies settling; do
  expect 0 "" "$SIM" run $scenario.lua --threads 1 --ranks 2 -o alike
  [ -n "$(checkpoints alike)" ] || fail "$scenario: ranks that are alike write no checkpoint"
  expect 70 "the ranks differ at step 0" env LD_PRELOAD="$FAULTS" FAULT=bits FAULT_RANK=1 \
    "$SIM" run $scenario.lua --threads 1 --ranks 2 -o unlike
  [ -z "$(checkpoints unlike)" ] || fail "$scenario: ranks that differ write a checkpoint"
  rm -rf alike unlike
done

cat >rows.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.plummer { n = 60, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.05, solver = "direct" },
  integrate = { dt = 1/1024, t_end = 1e6 },
  output    = { tables = "every 1 steps", checkpoint = "every 50 steps" },
}
LUA

# ---- killed at random moments ----

lost=0
for ((i = 1; i <= count; i++)); do
  rm -rf run
  wait=$(awk -v r="$RANDOM" -v whole="$whole" 'BEGIN { printf "%.4f", r / 32768 * whole }')
  "${run[@]}" -o run --ranks 3 >output 2>&1 &
  pid=$!
  sleep "$wait"
  rank=$(rank_of "$pid" 2)
  begin=$(seconds)
  [ -z "$rank" ] || kill -s KILL "$rank" 2>/dev/null || true
  code=0
  wait "$pid" || code=$?
  within 35 "$begin" "killed after $wait s"
  what="kill $i after $wait s"
  case $code in
    0) ;;
    82)
      lost=$((lost + 1))
      one_line "$what"
      grep -qF "sim: rank 2 on $host: was killed by signal 9 (Killed)" output || fail "$what: what the line says"
      [ ! -e run ] || [ ! -e run/status.json ] || [ "$(key state run)" = failed ] || fail "$what: state $(key state run)"
      no_lock run "$what"
      expect 0 "" "${run[@]}" -o run --ranks 3 --resume=auto
      ;;
    *) fail "$what: exit $code, not 82" ;;
  esac
  same calm run "$what"
done
((lost > 0)) || fail "no kill met a run"

# ---- frozen, hanging ----

start() { # start DIR [VARIABLE=VALUE...]: in the background, until its first checkpoint is there
  local folder=$1
  shift
  env "$@" "${run[@]}" --set steps=4000 -o "$folder" --ranks 3 >output 2>&1 &
  pid=$!
  until_true 120 has_checkpoint "$folder"
}
goes_on() { # goes_on DIR WHAT: from its newest checkpoint, with another number of ranks
  expect 75 "continues from checkpoint" "$SIM" resume "$1" --ranks 2 --threads 1 --wall 1
}

for rank in 2 0; do
  start "frozen$rank" SIM_COMM_PATIENCE=3
  begin=$(seconds)
  kill -s STOP "$(rank_of "$pid" $rank)"
  ended 82 15 "frozen$rank" "rank $rank frozen"
  one_line "rank $rank frozen"
  grep -qE "^sim: rank $rank on $host: gave no sign of life for [3-9] s and was killed; see why, then: sim resume frozen$rank" output ||
    fail "rank $rank frozen: what the line says"
  [ "$(key state "frozen$rank")" = failed ] || fail "rank $rank frozen: state $(key state "frozen$rank")"
  goes_on "frozen$rank"
done
for fault in "exit0 2" "exit75 1" "exit0 0"; do
  rank=${fault#* } code=${fault% *}
  start early LD_PRELOAD="$FAULTS" FAULT="$code" FAULT_RANK="$rank" FAULT_FILE="$PWD/early.now" SIM_COMM_DELAY=10
  begin=$(seconds)
  touch early.now
  ended 82 15 early "rank $rank: $code"
  one_line "rank $rank: $code"
  grep -qF "sim: rank $rank on $host: ended with exit code ${code#exit} before the end of the run; see why, then: sim resume early" output ||
    fail "rank $rank: $code: what the line says"
  goes_on early
  rm -r early early.now
done
start leaves LD_PRELOAD="$FAULTS" FAULT=leave FAULT_RANK=0 # a library of rank 0 does not end
begin=$(seconds)
kill -s KILL "$(rank_of "$pid" 2)"
ended 82 15 leaves "a rank 0 that does not end"
one_line "a rank 0 that does not end"
goes_on leaves
start stopped
begin=$(seconds)
kill -s STOP "$(rank_of "$pid" 2)"
kill -s TERM "$pid"
ended 82 25 stopped "SIGTERM to a frozen run"
goes_on stopped
suspended_or_hanging() { # takes a minute
  start paused SIM_COMM_PATIENCE=3 # all are stopped, as by a batch system, and then go on
  # shellcheck disable=SC2046 # several processes
  kill -s STOP "$pid" $(ps -o pid= --ppid "$pid")
  sleep 7
  # shellcheck disable=SC2046
  kill -s CONT "$pid" $(ps -o pid= --ppid "$pid")
  sleep 2
  kill -s TERM "$pid"
  begin=$(seconds)
  ended 75 25 paused "a run that was suspended"
  set +m                        # `wait` would return when a job is stopped
  for scenario in many rows; do # the starting process is frozen: ranks notice a death themselves, in a step and between two
    set=()
    if [ $scenario = many ]; then set=(--set steps=4000); fi
    SIM_COMM_PATIENCE=3 "$SIM" run $scenario.lua "${set[@]}" --threads 1 --ranks 3 -o alone_$scenario >output 2>&1 &
    pid=$!
    until_true 120 has_checkpoint alone_$scenario
    kill -s STOP "$pid"
    kill -s KILL "$(rank_of "$pid" 1)"
    begin=$(seconds)
    is_failed() { [ "$(key state alone_$scenario)" = failed ]; }
    until_true 35 is_failed
    is_told() { grep -qE "^sim: rank 1 on $host: has given no sign of life for [0-9]+ s; see why, then: sim resume alone" output; }
    until_true 10 is_told
    kill -s CONT "$pid"
    ended 82 30 alone_$scenario "killed while the starting process is frozen"
  done
  set -m
  # The patience of a stop is that of a step: what follows the last step may take longer and is saved.
  start late LD_PRELOAD="$FAULTS" FAULT=late FAULT_FILE="$PWD/late.now"
  touch late.now
  begin=$(seconds)
  kill -s TERM "$pid"
  ended 75 40 late "a slow end"
  grep -q "^stopped at step" output || fail "a slow end: the last checkpoint was given up"
  start hangs LD_PRELOAD="$FAULTS" FAULT=hang FAULT_RANK=1 FAULT_FILE="$PWD/hang" SIM_COMM_DELAY=10
  touch hang
  sleep 0.5
  begin=$(seconds)
  kill -s TERM "$pid"
  ended 75 30 hangs "a rank that hangs"
  grep -qF "a step was abandoned because it did not end in time" output || fail "a rank that hangs: what the line says"
  rm hang
  goes_on hangs
  for k in 1 2 3; do # also where the others wait for it between two steps, for a row of a table or a checkpoint
    env LD_PRELOAD="$FAULTS" FAULT=hang FAULT_RANK=$((k % 3)) FAULT_FILE="$PWD/hang" SIM_COMM_DELAY=10 \
      "$SIM" run rows.lua --threads 1 --ranks 3 -o rows$k >output 2>&1 &
    pid=$!
    until_true 120 has_checkpoint rows$k
    sleep "0.$RANDOM"
    touch hang
    sleep 0.5
    begin=$(seconds)
    kill -s TERM "$pid"
    ended 75 30 rows$k "a rank that hangs where rows are written"
    rm hang
    goes_on rows$k
  done
  start both LD_PRELOAD="$FAULTS" FAULT=hang FAULT_RANK=0 FAULT_FILE="$PWD/hang" SIM_COMM_DELAY=10
  touch hang # rank 0 does not see that another died
  sleep 0.5
  begin=$(seconds)
  kill -s KILL "$(rank_of "$pid" 2)"
  ended 82 25 both "killed while rank 0 hangs"
  if grep -qE "rank 2 on $host: was killed by signal 9 \(Killed\); a step was abandoned: the run continues from its checkpoint of step [0-9]+" output; then
    [ "$(key state both)" = failed ] || fail "killed while rank 0 hangs: state $(key state both)"
  else # rank 0 hangs between two steps: it is killed, and the starting process speaks
    grep -qF "rank 2 on $host: was killed by signal 9 (Killed); see why, then: sim resume both" output ||
      fail "killed while rank 0 hangs: what the line says"
  fi
  rm hang
  goes_on both
}
((count <= 8)) || suspended_or_hanging

# ---- a wrong clock on one rank: the wall clock decides when outputs are written, never a result ----

for fault in ahead fast stuck; do
  for rank in 0 1; do
    expect 0 "" env LD_PRELOAD="$FAULTS" FAULT=$fault FAULT_RANK=$rank "${run[@]}" --set "each=every 0.3 s" -o clock --force --ranks 3
    same calm clock "clock of rank $rank $fault"
  done
done
expect 75 "the wall limit of 1 s is reached" env LD_PRELOAD="$FAULTS" FAULT=fast FAULT_RANK=1 "${run[@]}" --set steps=4000 -o clock --force --ranks 3 --wall 1

# ---- a full disk ----

mkdir small
mount -t tmpfs -o size=1m none small 2>/dev/null || skip "the full disk: no right to mount a small file system"
mounted=$scratch/small
"${run[@]}" -o small/out --ranks 3 >output 2>&1 &
pid=$!
until_true 120 has_checkpoint small/out
dd if=/dev/zero of=small/filler bs=4k >/dev/null 2>&1 || true
code=0
wait "$pid" || code=$?
[ "$code" = 74 ] || fail "full disk: exit $code, not 74"
grep -q "No space left on device.*; free space, then: sim resume small/out" output || fail "full disk: what to do"
rm small/filler
expect 0 "" "$SIM" resume small/out --ranks 3 --threads 1
same calm small/out "full disk, then room again"
