#!/usr/bin/env bash
# Runs of several ranks: the same digests, tables and checkpoints for every number of ranks; signals to any rank, a rank
# that is killed, restarts with another number of ranks, and refusals.
. "${BASH_SOURCE[0]%/*}/lib.sh"
: "${COMPARE:?the program crash_compare}" "${ROOT:?the source tree}"
set -m # jobs get their signals undisturbed
export CUDA_VISIBLE_DEVICES= OMP_WAIT_POLICY=passive

option_scenario many.lua
run=("$SIM" run many.lua --threads 1)

equal() { # equal DIR DIR WHAT: digest, tables, checkpoints
  local file pairs=("$1/tables.h5" "$2/tables.h5")
  same "$1" "$2" "$3"
  [ "$(checkpoints "$1" | sed "s|^$1||")" = "$(checkpoints "$2" | sed "s|^$2||")" ] || fail "$3: other checkpoints"
  for file in $(checkpoints "$1"); do pairs+=("$file" "$2/ckpt/${file##*/}"); done
  "$COMPARE" "${pairs[@]}" >output 2>&1 || fail "$3: the files differ"
}

# ---- every number of ranks ----

number=0
for set in kind=local kind=sobol kind=matched "kind=plain --set error=0.02" "kind=plain --set paths=700"; do
  number=$((number + 1))
  # shellcheck disable=SC2086 # several words
  expect 0 "" "${run[@]}" --set $set -o "one$number"
  for ranks in 2 3 4 7; do
    # shellcheck disable=SC2086
    expect 0 "" "${run[@]}" --set $set -o many --force --ranks $ranks
    grep -qF "$ranks ranks, each 1 thread" output || fail "$set: the header does not name $ranks ranks"
    equal "one$number" many "$set with $ranks ranks"
  done
done
SIM_COMM_DELAY=2000 expect 0 "" "${run[@]}" --set kind=local -o many --force --ranks 3
equal one1 many "delayed ranks"
expect 0 "" "${run[@]}" --set kind=local -o many --force --ranks 3 --threads 2
equal one1 many "ranks of 2 threads"

# ---- restart with another number of ranks ----

drop() { # drop DIR STEP: as if the run had ended after this step
  local file
  for file in $(checkpoints "$1"); do
    [[ $file == *"$(printf 'ck_%012d.h5' "$2")" ]] || rm -- "$file"
  done
}
several=("${run[@]}" --set kind=plain --set "paths=$((16 * 1048576 / 4))") # 4 steps: the last 3 checkpoints are kept
expect 0 "" "${several[@]}" -o whole
expect 0 "" "${several[@]}" -o chain --ranks 4
for ranks in 3 1 2; do
  drop chain 2
  expect 0 "" "$SIM" resume chain --ranks $ranks --threads 1
  grep -qF "continues from checkpoint ck_000000000002.h5" output || fail "resumed with $ranks ranks from elsewhere"
  same whole chain "4 ranks, then $ranks"
  "$COMPARE" whole/tables.h5 chain/tables.h5 >output 2>&1 || fail "4 ranks, then $ranks: tables differ"
done
drop chain 2
expect 0 "" "${several[@]}" -o chain --resume=auto --ranks 2
same whole chain "--resume=auto with ranks"

# ---- signals and the limit ----

long=("${run[@]}" --set kind=plain --set "paths=$((400 * 1048576))") # 100 s on one core; stopped long before
rank_of() { # rank_of LAUNCHER N: process of rank N; ranks are started in order
  # shellcheck disable=SC2009 # by parent
  ps -o pid= --ppid "$1" | sort -n | sed -n "$(($2 + 1))p" | tr -d ' '
}
begin() { # begin DIR OPTION...: in the background, until its first checkpoint is there
  local folder=$1
  shift
  "${long[@]}" -o "$folder" --ranks 3 "$@" >output 2>&1 &
  pid=$!
  until_true 120 has_checkpoint "$folder"
}
has_checkpoint() { [ -n "$(checkpoints "$1")" ]; }
finish() { # finish: its exit code in $code
  code=0
  wait "$pid" || code=$?
}
check_stopped() { # check_stopped DIR WHAT: stopped, saved, and the folder is free
  [ "$(key state "$1")" = stopped ] || fail "$2: state $(key state "$1")"
  [ "$(basename "$(checkpoints "$1" | tail -n 1)")" = "$(printf 'ck_%012d.h5' "$(key step "$1")")" ] ||
    fail "$2: the newest checkpoint is not of the last step"
  grep -q ", ended " "$1/.lock" || fail "$2: a lock is left"
}

for signal in TERM USR1 HUP; do
  begin "$signal"
  kill -s "$signal" "$pid"
  finish
  [ "$code" = 75 ] || fail "SIG$signal: exit $code, not 75"
  check_stopped "$signal" "SIG$signal"
done
begin INT
kill -s INT "$pid"
finish
[ "$code" = 130 ] || fail "SIGINT: exit $code, not by the signal"
check_stopped INT "SIGINT"
begin other
kill -s TERM "$(rank_of "$pid" 2)"
finish
[ "$code" = 75 ] || fail "SIGTERM to rank 2: exit $code, not 75"
check_stopped other "SIGTERM to rank 2"
expect 75 "the wall limit of 1 s is reached" "${long[@]}" -o wall --ranks 2 --wall 1
check_stopped wall "--wall"
step=$(key step TERM)
expect 75 "continues from checkpoint" "$SIM" resume TERM --ranks 2 --threads 1 --wall 1
(($(key step TERM) > step)) || fail "resume with other ranks made no step"

# ---- a rank that is killed ----

begin killed
kill -s KILL "$(rank_of "$pid" 2)"
finish
[ "$code" = 82 ] || fail "a killed rank: exit $code, not 82"
[ "$(grep -c '^sim: ' output)" = 1 ] || fail "a killed rank is not told in one line"
grep -qF "rank 2 on $(uname -n): was killed by signal 9 (Killed); see why, then: sim resume killed" output || fail "what the line says"
[ "$(key state killed)" = failed ] || fail "a killed rank: state $(key state killed)"
grep -q ", ended " killed/.lock || fail "a killed rank leaves a lock"
begin first
kill -s KILL "$(rank_of "$pid" 0)"
finish
[ "$code" = 82 ] || fail "rank 0 killed: exit $code, not 82"
grep -qF "rank 0 on $(uname -n): was killed by signal 9 (Killed); see why, then: sim resume first" output ||
  fail "rank 0 killed: what the line says"
grep -q ", ended " first/.lock || fail "rank 0 killed: a lock is left"
expect 75 "continues from checkpoint" "$SIM" resume first --ranks 2 --threads 1 --wall 1
begin launcher
ranks=$(ps -o pid= --ppid "$pid")
kill -s KILL "$pid"
finish
none_left() {
  local rank
  for rank in $ranks; do ! kill -0 "$rank" 2>/dev/null || return 1; done
}
until_true 120 none_left

# ---- a restart, of which each rank reads the whole checkpoint: memory for it ----

cat >cube.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {64, 64, 64}, size = {1, 1, 1} }, precision = "double",
  fields    = { { name = "u", D = 1e-3, initial = function(x) return math.sin(2 * math.pi * x) end } },
  integrate = { dt = 1e-3, t_end = sim.param("steps", 2) * 1e-3 },
  output    = { snapshots = "never", tables = "never", checkpoint = "ends" },
}
LUA
expect 0 "" "$SIM" run cube.lua -o cube --ranks 3 --threads 1
if unshare -m true 2>/dev/null; then
  echo "MemAvailable: 3000 kB" >meminfo
  # shellcheck disable=SC2016
  expect 71 "MiB more for each of 2 ranks, 2.9 MiB are free; resume with fewer ranks" unshare -m sh -c \
    'mount --bind meminfo /proc/meminfo && exec "$0" "$@"' "$SIM" run cube.lua -o cube --resume --set steps=4 --ranks 3 --threads 1
  [ "$(grep -c '^sim: ' output)" = 1 ] || fail "no memory for a checkpoint: not one line"
fi
expect 0 "" "$SIM" run cube.lua -o cube --resume --set steps=4 --ranks 3 --threads 1

# ---- measured ----

expect 0 "2 ranks x 1" "$SIM" bench ./many.lua --scaling --ranks 2 --threads 1 --set "paths=$((2000 * 1048576))" --warm 1 --steps 2
[ "$(grep -cE '^  strong many.lua +[12] ranks? ' output)" = 2 ] || fail "sim bench of a scenario on ranks: two rows"
sed -n 's/.*waited *\([0-9]*\) %/\1/p' output | awk '$1 > 100 { exit 1 }' || fail "sim bench: ranks wait longer than they run"
grep -q 'one repeat' output || fail "sim bench --scaling: no word on the spread"
expect 64 "are for a scenario" "$SIM" bench option --scaling --ranks 2 --set steps=4
expect 64 "--quick" "$SIM" bench ./many.lua --quick --scaling --ranks 2

# ---- refused ----

expect 69 "device 'cuda' is not usable" "${run[@]}" -o refused --ranks 2 --device cuda
expect 69 "device 'cuda' is not usable" "${run[@]}" -o refused --gpus 2
expect 64 "--ranks 2 and --device cuda:1: each rank has a GPU of its own" "${run[@]}" -o refused --ranks 2 --device cuda:1
expect 64 "--gpus 2 and --ranks 2" "${run[@]}" -o refused --gpus 2 --ranks 2
expect 64 "--gpus 2 and --device cpu" "${run[@]}" -o refused --gpus 2 --device cpu
expect 64 "--gpus 0" "${run[@]}" -o refused --gpus 0
expect 64 "--gpus is for the job script" "$SIM" sweep many.lua --gpus 2
expect 64 "--ranks '0': expected an integer from 1 to 256" "${run[@]}" -o refused --ranks 0
expect 73 "" "${run[@]}" -o whole --ranks 3 # is in use by a finished run
[ "$(wc -l <output)" = 1 ] || fail "a refusal is told more than once"
expect 64 "2 ranks: pairs within a cutoff run on one rank only" "$SIM" run "$ROOT/scenarios/lj_fluid.lua" -o refused --ranks 2
mkfifo pipe
expect 64 "pipe is not a regular file, and every rank reads it" "$SIM" run pipe -o refused --ranks 2
echo 'return sim.option { assets = 3 }' >bad.lua
"$SIM" run bad.lua -o refused >alone 2>&1 || true
expect 65 "assets" "$SIM" run bad.lua -o refused --ranks 3
cmp -s alone output || fail "faults of a scenario are told otherwise by ranks"
[ ! -e refused ] || fail "a refused run leaves a folder"

# ---- cores of this host ----

# One core, of which the efficiency of two threads cannot be promised; enough cores are not worth a line.
first=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
expect 0 "cores                    1 of this host" taskset -c "$first" "$SIM" check many.lua --ranks 3 --threads 1
if [ "$(nproc)" -ge 2 ]; then # with a quota of one the line names it
  expect 0 "no faults" "$SIM" check many.lua --ranks 2 --threads 1
  ! grep -q "cores  .* of this host for" output || fail "two cores are too few for two threads"
fi

# ---- launchers of MPI ----

# None of these processes really belongs to a launcher: with a plugin it sees a world of 1 (mpi.sh tests the launchers).
for environment in OMPI_COMM_WORLD_SIZE=4 PMI_SIZE=4 "PMIX_RANK=3 OMPI_COMM_WORLD_SIZE=4" \
  "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4"; do
  # shellcheck disable=SC2086
  expect 64 " 4 processes" env $environment "${run[@]}" -o launched
done
# Rank 0 says it for all, where there is a launcher; its variables may also have been left in a shell.
ln -s "$(command -v bash)" mpirun
code=0
PMIX_RANK=3 ./mpirun -c '"$@"; exit $?' - "${run[@]}" -o launched >output 2>&1 || code=$?
[ "$code" = 64 ] || fail "rank 3 of an unknown number: exit $code, not 64"
[ ! -s output ] || fail "a rank above 0 speaks"
for environment in "PMI_RANK=1 PMI_SIZE=4" PMIX_RANK=3 "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4" \
  "SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4"; do
  # shellcheck disable=SC2086
  expect 64 " 4 processes" env $environment "${run[@]}" -o launched
  # shellcheck disable=SC2086
  expect 0 "no faults" env $environment "$SIM" check many.lua
  # shellcheck disable=SC2086
  expect 64 "unknown option '--bogus'" env $environment "$SIM" run many.lua --bogus
done
for environment in OMPI_COMM_WORLD_SIZE=1 PMI_SIZE=1 "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1" "SLURM_NTASKS=4" \
  "SLURM_PROCID=0 SLURM_NTASKS=4"; do
  # shellcheck disable=SC2086
  expect 0 "" env $environment "${run[@]}" --set paths=700 -o launched --force
done
expect 64 "--ranks 2 in one of 4 processes of mpirun" env OMPI_COMM_WORLD_SIZE=4 "${run[@]}" -o refused --ranks 2
[ ! -e refused ] || fail "a run of --ranks in a launcher's process leaves a folder"
expect 0 "" env OMPI_COMM_WORLD_SIZE=4 "${run[@]}" --set paths=700 -o launched --force --ranks 1

# ---- check ----

expect 0 "on the fullest rank" "$SIM" check many.lua --ranks 8
grep -q "before the first step .* received by a rank, 15 times waiting for all" output || fail "what early exercise exchanges"
# What is said of the number of ranks follows from the efficiency beside it.
expect 0 "no faster                than 1 rank" "$SIM" check "$ROOT/scenarios/granular_gas.lua" --ranks 8
expect 0 "the work can be divided among 16" "$SIM" check "$ROOT/scenarios/heat.lua" --ranks 2
grep -qE "efficiency  *about [5-9][0-9] %" output || fail "heat.lua on 2 ranks: $(cat output)"
! grep -q "no faster" output || fail "heat.lua on 2 ranks is no faster"
expect 0 "ranks       8; the work can be divided among 1" "$SIM" check many.lua --set kind=plain --set paths=700 --ranks 8
