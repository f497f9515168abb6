#!/usr/bin/env bash
# Signals and the wall limit: a checkpoint, the documented exit code, and a resumed run with the same end.
# signals.sh [long]: long: more signals to runs that start.
. "${BASH_SOURCE[0]%/*}/lib.sh"
early_signals=12
if [ "${1:-}" = long ]; then early_signals=120; fi
set -m # jobs get their signals undisturbed
scenario s.lua
# Long enough that a signal arrives in the middle, short enough to run to the end: a second or two.
export CUDA_VISIBLE_DEVICES= # a GPU is through before a signal comes
plain=("$SIM" run s.lua --set n=300 --set steps="${STEPS:-32000}")
run=("${plain[@]}" --set "every=every 2000 steps")

expect 0 "" "${run[@]}" -o whole

begin() { # begin DIR OPTION...: in the background, until its first checkpoint is there
  local folder=$1
  shift
  rm -f output
  "${run[@]}" -o "$folder" "$@" >output 2>&1 &
  pid=$!
  until_true 120 has_checkpoint "$folder"
}
has_checkpoint() { [ -n "$(checkpoints "$1")" ]; }
finish() { # finish: its exit code in $code
  code=0
  wait "$pid" || code=$?
}

# One run is stopped by each signal in turn, goes on from there until it has written another checkpoint, and has the end
# of an undisturbed run.
newest() { checkpoints "$1" | tail -n 1; }
has_newer() { [ "$(newest stopped)" != "$1" ]; }
begin stopped
for signal in TERM USR1 HUP INT; do
  kill -s "$signal" "$pid"
  finish
  if [ $signal = INT ]; then expected=130; else expected=75; fi
  [ "$code" = $expected ] || fail "SIG$signal: exit $code, not $expected"
  [ "$(key state stopped)" = stopped ] || fail "SIG$signal: state $(key state stopped)"
  [ "$(key exit_code stopped)" = 75 ] || fail "SIG$signal: exit_code in status.json"
  last=$(newest stopped)
  [ "$(basename "$last")" = "$(printf 'ck_%012d.h5' "$(key step stopped)")" ] ||
    fail "SIG$signal: the newest checkpoint is not of the last step"
  "$SIM" resume stopped >output 2>&1 &
  pid=$!
  [ $signal = INT ] || until_true 120 has_newer "$last"
done
finish
[ "$code" = 0 ] || fail "resumed after SIGTERM, SIGUSR1, SIGHUP and SIGINT: exit $code"
same whole stopped "SIGTERM, SIGUSR1, SIGHUP and SIGINT, then resume"
if command -v python3 >/dev/null; then
  python3 - "${run[@]}" -o INT2 <<'PY' || fail "SIGINT: not ended by the signal"
import glob, signal, subprocess, sys, time
run = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
until = time.time() + 60
while not glob.glob("INT2/ckpt/ck_*.h5") and time.time() < until: time.sleep(0.02)
run.send_signal(signal.SIGINT)
sys.exit(run.wait(60) != -signal.SIGINT)
PY
fi

# SIGUSR2 writes a checkpoint, here where no cadence does, and the run continues.
rm -f output
"${plain[@]}" --set every=never -o USR2 >output 2>&1 &
pid=$!
until_true 120 test -f USR2/status.json
kill -s USR2 "$pid"
until_true 120 has_checkpoint USR2
finish
[ "$code" = 0 ] || fail "SIGUSR2: exit $code, not 0"
same whole USR2 SIGUSR2

# At any moment of the start, including the script: the run stops with a checkpoint, or has not begun. A shorter run,
# which on a busy machine may have ended before its signal.
short=("${run[@]/#steps=*/steps=12000}")
expect 0 "" "${short[@]}" -o shorter
# stop_early DELAY RUN...: SIGTERM so many seconds after the program exists; $code 143: it had not begun.
stop_early() {
  local delay=$1
  rm -rf early
  "${@:2}" -o early >output 2>&1 &
  pid=$!
  # Before it becomes the program, the shell's child responds to a signal as the shell does.
  until [ "/proc/$pid/exe" -ef "$SIM" ] || ! kill -0 "$pid" 2>/dev/null; do :; done
  sleep "$delay"
  kill -s TERM "$pid"
  finish
  [ "$code" != 143 ] || [ ! -e early ] || fail "SIGTERM after $delay s: exit 143, and the run had begun"
}
for delay in 0 0.002 0.005 0.01 0.02 0.03 0.05; do
  stop_early "$delay" "${short[@]}"
  if [ "$code" = 143 ]; then continue; fi
  [ "$code" = 75 ] || [ "$code" = 0 ] || fail "SIGTERM after $delay s: exit $code"
  [ "$code" = 0 ] || expect 0 "" "$SIM" resume early
  same shorter early "SIGTERM after $delay s"
done
# No signal is lost while the program restarts itself with settings for its threads.
for ((k = 0; k < early_signals; k++)); do
  stop_early "0.000$((100 + 900 * k / early_signals))" "${run[@]}"
  [ "$code" = 75 ] || [ "$code" = 143 ] || fail "SIGTERM $k in the first millisecond: exit $code"
done

# Nor is a signal that the starting process passes on to a rank without handlers yet. So few bodies are not divided: a
# rank that starts late must not find the other rank at its end.
for ((k = 0; k < early_signals; k++)); do
  rm -rf early
  "${run[@]/#steps=*/steps=640000}" -o early --ranks 2 >output 2>&1 &
  pid=$!
  until [ "/proc/$pid/exe" -ef "$SIM" ] || ! kill -0 "$pid" 2>/dev/null; do :; done
  sleep "0.0$((k % 2))$((k % 10))"
  kill -s "$([ $((k % 2)) = 0 ] && echo HUP || echo TERM)" "$pid"
  finish
  if [ ! -e early ] && { [ "$code" = 143 ] || [ "$code" = 129 ]; }; then continue; fi
  [ "$code" = 75 ] || fail "a signal to a start with --ranks 2: exit $code"
done

# The wall limit.
started=$SECONDS
expect 75 "" "$SIM" run s.lua -o wall --threads 1 --set n=2000 --set steps=1000000 --wall 00:00:02
((SECONDS - started <= 60)) || fail "--wall 00:00:02 took $((SECONDS - started)) s"
[ "$(key state wall)" = stopped ] || fail "--wall: state"
grep -q "the wall limit of 2 s is reached" output || fail "--wall: the message"
# A slow start counts; the message still names the given limit.
{ echo 'local s = 0 for i = 1, 8e7 do s = s + i end' && cat s.lua; } >late.lua
expect 75 "the wall limit of 4 s is reached" \
  "$SIM" run late.lua -o walllate --threads 1 --lua-seconds 60 --set n=2000 --set steps=1000000 --wall 00:00:04

# In a job with a known limit USR1 within its last minutes, as Slurm's --signal sends it, stops nothing: the run's own
# margin does. Earlier, or where no limit is known, it stops the run.
warned() { # warned DIR SECONDS OPTION...: USR1 to a run of a job that ends in so many seconds; $code and $took
  local folder=$1 seconds=$2
  shift 2
  SLURM_JOB_ID=7 SLURM_JOB_END_TIME=$(($(date +%s) + seconds)) "${run[@]/#steps=*/steps=100000000}" -o "$folder" --threads 1 \
    --wall auto "$@" >output 2>&1 &
  pid=$!
  until_true 120 has_checkpoint "$folder"
  took=$SECONDS
  kill -s USR1 "$pid"
  finish
  took=$((SECONDS - took))
  [ "$code" = 75 ] || fail "USR1 in a job of $seconds s: exit $code"
}
warned near 14
grep -q "warned of the limit, which is [0-9]* s away: continues" output || fail "USR1 near the limit: $(cat output)"
grep -q "the limit of the job is near: [0-9]* s are left" output || fail "USR1 near the limit stopped the run"
warned far 1000
! grep -q "continues, and stops in time" output || fail "USR1 far from the limit: $(cat output)"
((took <= 60)) || fail "USR1 far from the limit took $took s"

# A second run in the same folder.
begin busy
expect 73 busy "${run[@]}" -o busy --force
expect 73 busy "$SIM" resume busy
kill -s TERM "$pid"
finish
[ "$code" = 75 ] || fail "the first run was disturbed: exit $code"
# A lock of a dead run is no lock. The share that is done is that of its newest checkpoint.
begin dead
until_true 120 grep -q '"checkpoint_step": [1-9]' dead/status.json
kill -s KILL "$pid"
finish
"$SIM" status dead >table
share=$(awk 'NR == 2 && $2 == "lost" { print $3 }' table)
((${share:-0} > 0 && share < 100)) || fail "status of a lost run: $(cat table)"
awk 'NR == 2 { exit !($3 != "" && NF == 6) }' table || fail "a lost run has a rate or an end: $(cat table)"

# A killed run has its lock until the kernel has freed its memory. Another process that has the file locked stands for
# that here: resume waits for a short while, but not for ever.
hold() {
  rm -f holding
  (exec 9<>dead/.lock && flock 9 && : >holding && exec sleep "$1") &
  holder=$!
  until_true 20 test -e holding
}
hold 30
expect 73 "dead: in use by another run" "$SIM" resume dead
kill "$holder"
hold 0.7
expect 0 "" "$SIM" resume dead
same whole dead "kill -9, then resume at once"

# A run that was suspended until another run took its lock over stops, and writes nothing more.
begin lost
far='host far, process 1, since 2026-01-01 00:00:00 +0000, machine elsewhere, tick 5'
printf '%s\n' "$far" >line && mv line lost/.lock # at once: no reader sees an empty one
before=$(cat lost/status.json)
finish
[ "$code" = 73 ] || fail "a holder that lost its lock: exit $code"
grep -q "lost: this run has lost the folder's lock to host far, process 1" output || fail "the line of a lost lock"
[ "$(cat lost/.lock)" = "$far" ] || fail "a lost lock was written over"
[ "$(cat lost/status.json)" = "$before" ] || fail "status.json was written after the lock was lost"
find lost -name '*.tmp' | grep -q . && fail "a temporary file is left after the lock was lost"
exit 0
