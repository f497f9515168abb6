#!/usr/bin/env bash
# How a run uses a batch system, simulated by a few small programs; sim batch, sweep and status.
. "${BASH_SOURCE[0]%/*}/lib.sh"
scenario s.lua
run=("$SIM" run s.lua --threads 1)
mkdir fake
play() { # play NAME TEXT: a command that says TEXT
  printf '#!/bin/sh\nprintf "%%s\\n" "%s"\n' "$2" >"fake/$1"
  chmod +x "fake/$1"
}
export PATH=$PWD/fake:$PATH
unset "${!SLURM_@}" "${!PBS_@}" "${!LSB_@}" CUDA_VISIBLE_DEVICES SGE_ROOT JOB_ID

# --wall auto: without a job, without a limit, or where none can be told; and the message of each system.
expect 0 "not in a batch job, no limit" "${run[@]}" --wall auto -o plain
play squeue UNLIMITED
SLURM_JOB_ID=7 expect 0 "Slurm's job 7 has no limit" "${run[@]}" --wall auto -o unlimited
play squeue nonsense
SLURM_JOB_ID=7 expect 0 "squeue -h -j 7 -o %L gives no time limit: none is set" "${run[@]}" --wall auto -o unknown
play squeue 1-00:59:30
SLURM_JOB_ID=7 SLURM_ARRAY_JOB_ID=5 SLURM_ARRAY_TASK_ID=0 \
  expect 0 "Slurm's job 5_0 ends in 24 h 59 min (squeue -h -j 5_0 -o %L)" "${run[@]}" --wall auto -o days
[ "$(key job days)" = 5_0 ] || fail "the job is not in status.json"
SLURM_JOB_ID=7 SLURM_JOB_END_TIME=$(($(date +%s) + 100)) expect 0 "(SLURM_JOB_END_TIME)" "${run[@]}" --wall auto -o told
PBS_JOBID=7.host PBS_WALLTIME=90000 expect 0 "PBS's job 7.host ends in" "${run[@]}" --wall auto -o pbs
play qstat "    Resource_List.walltime = 02:00:00
    resources_used.walltime = 00:30:00"
PBS_JOBID=7.host expect 0 "ends in 90 min 00 s (qstat -f 7.host)" "${run[@]}" --wall auto -o pbs2
play bjobs "1:30 L"
LSB_JOBID=7 LSB_JOBINDEX=3 expect 0 "LSF's job 7_3 ends in 90 min 00 s (bjobs -o time_left 7[3])" "${run[@]}" --wall auto -o lsf
play qstat "hard resource_list:         h_rt=9000000,mem=2G"
JOB_ID=7 SGE_ROOT=/sge SGE_TASK_ID=undefined expect 0 "Grid Engine's job 7 ends in" "${run[@]}" --wall auto -o sge

# The run stops in time, ten seconds ahead. Of these a tenth, and twice the time of a checkpoint, are kept.
started=$SECONDS
SLURM_JOB_ID=7 SLURM_JOB_END_TIME=$(($(date +%s) + 4)) \
  expect 75 "a checkpoint takes" "${run[@]}" --set n=700 --set steps=100000000 --wall auto -o limited
((SECONDS - started <= 60)) || fail "stopped long after the limit: $((SECONDS - started)) s" # a busy machine may delay it
# A limit that has passed: one checkpoint, no more.
SLURM_JOB_ID=7 SLURM_JOB_END_TIME=1000000000 expect 0 "" "${run[@]}" --wall auto -o over || true
play squeue 0:00
SLURM_JOB_ID=7 expect 75 "the limit of the job is over" "${run[@]}" --set n=700 --set steps=100000000 --wall auto -o past
play squeue 1-00:59:30

# Cores: those that the job was given, unless more are requested.
SLURM_JOB_ID=7 SLURM_CPUS_PER_TASK=1 expect 0 ", 1 thread," "$SIM" run s.lua -o one

# A job that was given a GPU does not silently run without one, for any model and build. GPU number 0 is one GPU; a
# count of 0 is none.
if ! "$SIM" info | grep -q '^cuda .*memory free'; then
  for model in nbody collision diffusion option; do
    "$SIM" new "$model" >new.lua
    SLURM_JOB_ID=7 SLURM_JOB_GPUS=0 expect 69 "was given a GPU" "$SIM" run new.lua -o nogpu
    SLURM_JOB_ID=7 SLURM_JOB_GPUS=0 expect 69 "was given a GPU" "$SIM" run new.lua -o nogpu --ranks 2
  done
  SLURM_JOB_ID=7 SLURM_JOB_GPUS=0 CUDA_VISIBLE_DEVICES=0 expect 69 "was given a GPU" "${run[@]}" -o nogpu
  PBS_JOBID=7.host PBS_NGPUS=1 expect 69 "was given a GPU" "${run[@]}" -o nogpu
  [ ! -e nogpu ] || fail "a folder was made without a GPU"
  PBS_JOBID=7.host PBS_NGPUS=0 expect 0 "" "${run[@]}" -o counted
  SLURM_JOB_ID=7 SLURM_JOB_GPUS=0 expect 0 "" "${run[@]}" --device cpu -o withoutgpu
fi

# Locks of other machines, by their text and their age.
lock() { printf 'host far, process 1, %ssince 2026-01-01 00:00:00 +0000, machine elsewhere, tick 5\n' "$1" >over/.lock; }
lock ""
expect 73 "in use by another run (host far, process 1, since 2026" "$SIM" resume over
[ "$("$SIM" status over | awk 'NR == 2 { print $2 }')" = done ] || fail "status of a done run"
touch -d '10 minutes ago' over/.lock
expect 0 "gave no sign of life for" "$SIM" resume over
grep -q ', ended ' over/.lock || fail "the lock is not given back"
lock "Slurm job 7, restart 1, "
SLURM_JOB_ID=8 expect 73 "Slurm job 7, restart 1" "$SIM" resume over
SLURM_JOB_ID=7 SLURM_RESTART_COUNT=1 expect 73 "in use" "$SIM" resume over
SLURM_JOB_ID=7 SLURM_RESTART_COUNT=2 expect 0 "which was this job before it was requeued" "$SIM" resume over

# sim sweep: every combination once, with the bits of single runs. Killed and started again it does the rest.
grid=(sweep s.lua --set n=20,30 --set steps=10 --seed 1..3 --threads 1)
expect 0 "6 runs: 6 done, 0 stopped, 0 failed" "$SIM" "${grid[@]}" -o grid
[ "$(wc -l <grid/sweep.csv)" = 7 ] || fail "sweep.csv: $(cat grid/sweep.csv)"
head -n 1 grid/sweep.csv | grep -q '^run,n,steps,seed,state,exit,digest,energy\.' || fail "columns: $(head -n 1 grid/sweep.csv)"
sed -n 6p grid/sweep.csv | grep -q "^run_0005,30,10,2,done,0,$(digest grid/run_0005)," || fail "row 5: $(sed -n 6p grid/sweep.csv)"
"${run[@]}" --set n=30 --set steps=10 --seed 2 -o single >/dev/null
same single grid/run_0005 "a run of a sweep"
expect 0 "6 done (some before)" "$SIM" "${grid[@]}" -o grid
expect 73 "holds another sweep" "$SIM" "${grid[@]}" --set kind=single -o grid
expect 65 "expected one of" "$SIM" sweep s.lua --set scheme=leapfrog,none -o bad
[ ! -e bad ] || fail "a sweep whose last run is wrong left a folder"
expect 65 "3 runs: 2 done, 0 stopped, 1 failed" "$SIM" sweep s.lua --set steps=10 --set scheme=leapfrog,none,yoshida4 -o bad
grep -q 'expected one of' bad/logs/run_0002.log || fail "the log of the run that failed"
long=(sweep s.lua --set n=700 --set steps=3000 --seed 1..2 --threads 1 --jobs 2)
"$SIM" "${long[@]}" -o killed >/dev/null 2>&1 &
pid=$!
until_true 120 test -e killed/run_0001/status.json
kill -TERM $pid
code=0
wait $pid || code=$?
[ "$code" = 75 ] || [ "$code" = 0 ] || fail "a sweep that was told to stop: exit $code"
expect 0 "2 done" "$SIM" "${long[@]}" -o killed
"${run[@]}" --set n=700 --set steps=3000 --seed 2 -o calm >/dev/null
same calm killed/run_0002 "a run of a sweep that was stopped"

# --no-progress applies to all runs. USR1 in a sweep of a job with a limit is left to the runs.
expect 0 "6 done (some before)" "$SIM" "${grid[@]}" --no-progress -o grid
SLURM_JOB_ID=7 SLURM_JOB_END_TIME=$(($(date +%s) + 15)) "$SIM" "${long[@]/#steps=*/steps=100000000}" --wall auto -o warned >output 2>&1 &
pid=$!
until_true 120 test -e warned/run_0002/status.json
kill -USR1 $pid
code=0
wait $pid || code=$?
[ "$code" = 75 ] || fail "a sweep that was warned: exit $code"
# The first run that stops for the limit says so. The sweep then stops the other run, which may have reached the limit
# too.
grep -qh "the limit of the job is near: [0-9]* s are left" warned/logs/run_000?.log || fail "a warned sweep stopped its runs: $(cat warned/logs/*)"

# sim status: a table of many runs, and a line for a folder without a run.
expect 66 "no run" "$SIM" status grid/run_000? fake
[ "$(grep -c '^grid.* done *100 % ' output)" = 6 ] || fail "six runs are done"

# State of runs: a run that ended early has done the part that its newest checkpoint holds, and has no expected end.
stand() { # stand STATE KEYS: the columns state, done and ends
  mkdir -p stands
  printf '{"state": "%s", "time": 9, "t_end": 10, "updated": "u"%s}\n' "$1" "$2" >stands/status.json
  "$SIM" status stands | awk 'NR == 2 { $1 = ""; print }'
}
[ "$(stand failed ', "exit_code": 74')" = " failed 74 0 % u" ] || fail "a run that saved nothing: $(stand failed ', "exit_code": 74')"
[ "$(stand running ', "checkpoint_step": 3, "checkpoint_time": 3, "expected_end": "e", "rate": 2')" = " lost 30 % u" ] || fail "a lost run"
[ "$(stand stopped ', "exit_code": 75, "checkpoint_step": 9, "checkpoint_time": 9, "expected_end": "e"')" = " stopped 75 90 % u" ] ||
  fail "a stopped run"
[ "$(stand done ', "exit_code": 0, "stop_when": true')" = " done 100 % u" ] || fail "a run that is done"
# A health figure may have the name of any key. Earlier versions wrote it beside the other keys.
named='"health": {"state": 1, "exit_code": 2, "checkpoint_time": 3, "updated": 4}'
[ "$(stand failed ", $named, \"exit_code\": 74")" = " failed 74 0 % u" ] || fail "health figures named as keys"
[ "$(stand done ', "error": 1e-3, "exit_code": 0')" = " done 100 % u" ] || fail "a health figure beside the keys"

# A name, a state or a host with control characters: the terminal must receive none of them.
mkdir $'esc\e[31m' && printf '{"state": "done", "exit_code": 0, "host": "h\\u001b]0;x\\u0007", "job": "j\\r7"}\n' >$'esc\e[31m/status.json'
expect 0 '\x1b[31m' "$SIM" status $'esc\e[31m'
grep -qF 'h\x1b]0;x\x07' output || fail "the host of a status: $(cat output)"
LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]' output && fail "status printed a control character"
cp s.lua $'s\e[31m.lua'
expect 0 '\x1b[31m' "$SIM" check $'s\e[31m.lua'
LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]' output && fail "check printed a control character"

# One value, as a string or as JSON; and files that are no status.
"${run[@]}" --set steps=10 -o valued >/dev/null
[ "$("$SIM" status --value digest valued)" = "$(digest valued)" ] || fail "sim status --value digest"
[[ $("$SIM" status valued --value health valued) =~ ^\{\"error\":\ [0-9.e-]+\}$'\n'\{ ]] || fail "$("$SIM" status --value health valued)"
[ "$("$SIM" status --value phase valued)" = "" ] || fail "a key that is absent"
expect 64 "does not take --value" "$SIM" info --value digest
printf '{"state": "done"\n' >stands/status.json
expect 66 "is not the status of a run: not JSON in line 2" "$SIM" status stands
printf '{"digest": 1}\n' >stands/status.json
expect 66 'it has no "state"' "$SIM" status --value digest stands

# A FIFO or a device where a file is expected is refused at once; `expect` would wait for 120 s.
waits() { # waits CODE TEXT COMMAND...
  local before=$SECONDS
  expect "$@"
  ((SECONDS - before < 60)) || fail "waited for $((SECONDS - before)) s: ${*:3}"
}
tiny=(sweep s.lua --set n=20 --set steps=10 --threads 1 --seed)
mkdir -p odd device links/logs
mkfifo odd/status.json
waits 66 "not a regular file" "$SIM" status odd
ln -s /dev/zero device/status.json
waits 66 "not a regular file" "$SIM" status device
rm -rf odd && mkdir odd && mkfifo odd/sweep.txt
waits 66 "not a regular file" "$SIM" "${tiny[@]}" 1 -o odd
rm odd/sweep.txt && mkdir -p odd/logs odd/run_0001 && mkfifo odd/logs/run_0001.log
waits 73 "run_0001.log: not a regular file" "$SIM" "${tiny[@]}" 1 -o odd
rm -r odd/logs && mkfifo odd/run_0001/status.json odd/run_0001/tables.h5
waits 73 "1 failed" "$SIM" "${tiny[@]}" 1 -o odd
# A sweep writes nothing outside its folder.
echo mine >precious && mkdir elsewhere
for name in sweep.txt logs run_0001 logs/run_0001.log; do
  rm -rf links && mkdir -p links
  case $name in
    sweep.txt) ln -s ../precious links/sweep.txt ;;
    logs/*) mkdir links/logs && ln -s ../../precious "links/$name" ;;
    *) ln -s ../elsewhere "links/$name" ;;
  esac
  waits 73 "$name: is a symbolic link" "$SIM" "${tiny[@]}" 1 -o links
  [ "$(cat precious)" = mine ] && [ -z "$(ls elsewhere)" ] || fail "a sweep followed links/$name"
done
rm -rf links && mkdir links && ln -s ../precious links/sweep.csv
waits 0 "1 done" "$SIM" "${tiny[@]}" 1 -o links
[ "$(cat precious)" = mine ] && [ ! -L links/sweep.csv ] || fail "sweep.csv was written through a link"

# Each fault gets its line.
for seeds in '1,$(touch pwned),3' '1,-2,3' '1,2 3,4' '1,0x10,3' $'1,2\n,3'; do
  expect 64 "expected an integer from 0 to 2^64 - 1" "$SIM" sweep s.lua --seed "$seeds" --array -o none
  expect 64 "expected an integer from 0 to 2^64 - 1" "$SIM" sweep s.lua --seed "$seeds" -o none
  expect 64 "expected an integer from 0 to 2^64 - 1" "$SIM" sweep s.lua --set "seed=$seeds" --array -o none
done
expect 64 "no sim.param" "$SIM" sweep s.lua --set m=1,2 -o none
expect 64 "has no value" "$SIM" sweep s.lua --set n=3..1 -o none
expect 64 "a value is missing" "$SIM" sweep s.lua --set n=1,,2 -o none
expect 64 "a sweep without parameters" "$SIM" sweep s.lua -o none
expect 64 "--yes" "$SIM" sweep s.lua --set n=1..1000 --seed 1..1000 -o none
expect 64 "the sweep has the runs 1 to 2" "$SIM" sweep s.lua --set n=20,30 --only 3 -o none
expect 64 "5-2 is an empty range" "$SIM" batch s.lua --array 5-2
expect 64 "--array '1-'" "$SIM" batch s.lua --array 1-
expect 64 "--time 'soon'" "$SIM" batch s.lua --time soon
expect 64 "a bare number is minutes to sbatch" "$SIM" batch s.lua --time 60
expect 64 "--time 99999999:00:00: longer than a year" "$SIM" batch s.lua --time 99999999:00:00
expect 64 "task 100000000, the largest number that a cluster accepts is 4000000" "$SIM" batch s.lua --array 0-100000000
expect 64 "a sweep of 4000001 runs" "$SIM" sweep s.lua --seed 1..4000001 --yes --array -o none

# An option without an effect, and two contradictory options, are refused. Without --array nothing is submitted.
pair=(sweep s.lua --seed 1..2 -o none)
for words in "--time 01:00:00" "--partition long" "--account ab1" "--gpus 1" "--cpus 2" "--scheduler pbs"; do
  read -ra given <<<"$words"
  expect 64 "${given[0]} is for the job script: add --array" "$SIM" "${pair[@]}" "${given[@]}"
  expect 0 "" "$SIM" "${pair[@]}" "${given[@]}" --array
done
for words in "--only 1" "--jobs 2" "--wall 60" "--wall auto"; do
  read -ra given <<<"$words"
  expect 64 "${given[0]} cannot be combined with --array" "$SIM" "${pair[@]}" "${given[@]}" --array
done
for command in "batch s.lua" "sweep s.lua --seed 1..2 --array"; do
  read -ra given <<<"$command"
  expect 64 "--threads 4 and --cpus 2" "$SIM" "${given[@]}" --threads 4 --cpus 2
  expect 64 "--gpus 1 and --device cpu" "$SIM" "${given[@]}" --gpus 1 --device cpu
  expect 64 "--gpus 0 and --device cuda:0" "$SIM" "${given[@]}" --gpus 0 --device cuda:0
done
expect 0 "#SBATCH --cpus-per-task=4" "$SIM" batch s.lua --threads 4 --gpus 1
expect 0 "#SBATCH --cpus-per-task=2" "$SIM" batch s.lua --threads 2 --cpus 2
[ ! -e none ] || fail "a sweep ran in silence"
# A single run has all cores, also where a sweep has as many runs as there are cores.
expect 0 "1 run, 1 at once" "$SIM" sweep s.lua --seed 1 --set steps=10 -o alone
alone=$(grep -o 'with [0-9]* threads\{0,1\} each' output)
expect 0 "1 at once $alone" "$SIM" sweep s.lua --seed 1..64 --set steps=10 --only 2 -o task
expect 64 "--partition 'a b'" "$SIM" batch s.lua --partition "a b"
expect 64 "--account" "$SIM" batch s.lua --account $'x\n#SBATCH --mem=0'
expect 64 "--seed: a value is missing in ','" "$SIM" sweep s.lua --seed , -o none
expect 64 "--scheduler 'cron'" "$SIM" batch s.lua --scheduler cron
expect 64 "--wall 'later'" "${run[@]}" --wall later
[ ! -e none ] || fail "a refused sweep left a folder"

# Scripts are valid shell, and contain the given values.
for scheduler in slurm pbs; do
  "$SIM" batch s.lua --set kind=single --array 0-9 --time 02:00:00 --cpus 8 --gpus 1 --scheduler $scheduler >$scheduler.sh
  bash -n $scheduler.sh
done
grep -qx '#SBATCH --time=02:00:00' slurm.sh && grep -qx '#SBATCH --gpus=1' slurm.sh || fail "$(cat slurm.sh)"
grep -q 'run "$scenario" .*--device cuda ' slurm.sh && grep -q 'run "$scenario" .*--device cuda ' pbs.sh ||
  fail "a job with a GPU does not ask for it: $(cat slurm.sh)"
grep -qx '#PBS -J 0-9' pbs.sh && grep -q 'ncpus=8:.*:ngpus=1' pbs.sh || fail "$(cat pbs.sh)"

# Partition and account: as lines of the script, and kept by a chain of PBS jobs, of which each submits the next one.
"$SIM" batch s.lua --partition long --account ab123 >named.sh
grep -qx '#SBATCH --partition=long' named.sh && grep -qx '#SBATCH --account=ab123' named.sh || fail "$(cat named.sh)"
"$SIM" batch s.lua --partition long --account ab123 --scheduler pbs >named.sh
grep -qx '#PBS -q long' named.sh && grep -qx '#PBS -A ab123' named.sh || fail "$(cat named.sh)"
"$SIM" batch s.lua -o chained --scheduler pbs >chained.sh
cat >fake/stops <<STOPS
#!/bin/sh
if [ "\$1" = status ]; then exec "$SIM" "\$@"; fi
mkdir -p chained && echo '{"state": "stopped", "checkpoint_step": 30}' >chained/status.json
exit 75
STOPS
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >"%s/submitted"\n' "$PWD" >fake/qsub
chmod +x fake/stops fake/qsub
play qstat "Job Id: 7.host
    Account_Name = project 9
    queue = workq"
sed "s|^sim=.*|sim=$PWD/fake/stops|" chained.sh >job.sh
PBS_JOBID=7.host PBS_O_QUEUE=route PBS_QUEUE=workq PBS_O_WORKDIR=$PWD bash job.sh >job.log 2>&1 || fail "a chained job: $(cat job.log)"
[ "$(tr '\n' ' ' <submitted)" = "-q route -A project 9 chained.job " ] || fail "the next job: $(cat submitted)"
grep -q '^back into the queue; the next job continues from step 30 in chained$' job.log || fail "the log of a job: $(cat job.log)"
printf '#!/bin/sh\nexit 78\n' >fake/stops
code=0
PBS_JOBID=7.host PBS_O_WORKDIR=$PWD bash job.sh >job.log 2>&1 || code=$?
[ "$code" = 78 ] || fail "a job whose run ends with 78: exit $code"
grep -q '^exit 78: not put back into the queue' job.log || fail "the log of a job that failed: $(cat job.log)"

# Every value is one word of the script, with any characters: the script runs with a sim that lists its arguments.
hostile='a b$(touch pwned)`touch pwned`;touch pwned"q"'"'"''
cat >"text.lua" <<'LUA'
sim.param("text", "x", "any text")
return dofile and nil or sim.nbody { bodies = { sim.plummer { n = 20, mass = 1, radius = 1 } }, gravity = { softening = 0.05 },
  integrate = { dt = 1/1024, t_end = 2/1024 } }
LUA
sed -i 's/dofile and nil or //' text.lua
cp text.lua "$hostile.lua"
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >"%s/given"\n' "$PWD" >fake/lists
printf '#!/bin/sh\nshift\nexec "$@"\n' >fake/srun
chmod +x fake/lists fake/srun
for words in "batch" "batch --scheduler pbs" "sweep --array" "sweep --array --scheduler pbs"; do
  read -ra more <<<"$words"
  "$SIM" "${more[0]}" "$hostile.lua" "${more[@]:1}" --set "text=$hostile" --seed 5 --precision double --device cpu --isa plain \
    --time 01:00:00 -o "$hostile out" >given.sh || fail "no script: $words"
  sed -i "s|^sim=.*|sim=$PWD/fake/lists|" given.sh
  SLURM_ARRAY_TASK_ID=1 PBS_ARRAY_INDEX=1 PBS_O_WORKDIR=$PWD bash given.sh >/dev/null 2>&1 || fail "the script: $words"
  [ ! -e pwned ] || fail "a value of the command line was run: $words"
  for word in "$hostile.lua" "text=$hostile" 5 double cpu plain "$hostile out"; do
    grep -qxF -- "$word" given || fail "$words: '$word' is not a word of: $(cat given)"
  done
done
expect 64 "line break" "$SIM" batch text.lua --set $'text=a\nb'
expect 64 "line break" "$SIM" sweep text.lua --set $'text=a\nb,c' --array

# Tasks that share a run: refusals, and the lines of the script (tests/slurm/ranks.sh submits one).
cat >option.lua <<'LUA'
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, rate = 0.05, maturity = 1, steps = 8,
  payoffs = { sim.european { strike = 100 } }, sampling = { paths = 10000 },
}
LUA
tasks=("$SIM" batch option.lua --device cpu)
expect 64 "--nodes 3 and --ntasks 2: a host without a task would stay idle" "${tasks[@]}" --nodes 3 --ntasks 2
expect 64 "--nodes 2 and --gpus 3: expected as many GPUs on each host" "$SIM" batch option.lua --nodes 2 --gpus 3
gpus=("$SIM" batch option.lua)
for words in "--nodes 2 --gpus 8 --ntasks 4" "--nodes 2 --gpus 2 --ntasks 8" "--gpus 4 --ntasks 1"; do
  read -ra given <<<"$words"
  expect 64 "each task takes one GPU; leave out --ntasks, or give --gpus ${given[-1]}" "${gpus[@]}" "${given[@]}"
done
expect 64 "--gpus 4: job scripts of several tasks are for Slurm; give --gpus 1, or start sim run --gpus 4" "${gpus[@]}" --gpus 4 --scheduler pbs
expect 64 "--gpus 2: a run of a sweep takes one GPU" "$SIM" sweep option.lua --seed 1..2 -o none --array --gpus 2
expect 64 "--ntasks: job scripts of several tasks are for Slurm" "${tasks[@]}" --ntasks 2 --scheduler pbs
expect 64 "--nodes: job scripts of several tasks are for Slurm" "${tasks[@]}" --nodes 2 --scheduler pbs
expect 64 "--ntasks '0': expected an integer from 1 to 256" "${tasks[@]}" --ntasks 0
SIM_MPI=nothing expect 64 'SIM_MPI = "nothing": no MPI plugin' "${tasks[@]}" --nodes 2
expect 0 "#SBATCH --ntasks=1" "${tasks[@]}" --nodes 1
mkdir lonely
cp "$SIM" lonely/sim
expect 64 "srun starts 2 processes, and there is no MPI plugin to join them; build it: mpicc" lonely/sim "${tasks[@]:1}" --nodes 2
for pair in openmpi=pmix mpich=pmi2; do
  [ -e "$(dirname -- "$SIM")/libsim_mpi_${pair%=*}.so" ] || continue
  SIM_MPI=${pair%=*} expect 0 "srun --kill-on-bad-exit=1 --mpi=${pair#*=} --cpus-per-task=3 " "${tasks[@]}" --nodes 2 --ntasks 6 --cpus 3
  grep -qx "export SIM_MPI='${pair%=*}'" output || fail "$(cat output)"
  grep -qx '#SBATCH --nodes=2' output && grep -qx '#SBATCH --ntasks=6' output || fail "$(cat output)"
  grep -qx '#SBATCH --ntasks-per-node=3' output || fail "$(cat output)"
  SIM_MPI=${pair%=*} expect 0 "#SBATCH --ntasks=3" "${tasks[@]}" --nodes 2 --ntasks 3
  ! grep -q 'ntasks-per-node' output || fail "three tasks on two hosts: $(cat output)"
  for words in "--gpus 4" "--nodes 2 --gpus 4" "--gpus 4 --ntasks 4"; do # a task for each GPU
    # shellcheck disable=SC2086
    SIM_MPI=${pair%=*} expect 0 "#SBATCH --ntasks=4" "${gpus[@]}" $words
    grep -qE '^#SBATCH --gpus-per-node=(4|2)$' output && grep -q -- '--device cuda ' output || fail "$words: $(cat output)"
  done
  SIM_MPI=${pair%=*} "$SIM" batch option.lua --device cpu --nodes 2 --ntasks 6 --cpus 3 >output
  # A step that srun ends by a signal has the exit code that the run has written: requeued, or not.
  for code in 75 70 ""; do
    state=running
    [ "$code" != 75 ] || state=stopped
    [ "$code" != 70 ] || state=failed
    rm -rf signalled requeued
    sed -e '/^srun/,/^code=/c code=137' -e "s|^sim=.*|sim='$SIM'|; s|^out=.*|out=signalled|" output >signalled.sh
    mkdir signalled
    echo "{\"state\": \"$state\", \"checkpoint_step\": 3, \"exit_code\": ${code:-0}}" >signalled/status.json
    printf '#!/bin/sh\ntouch "%s/requeued"\n' "$PWD" >fake/scontrol
    chmod +x fake/scontrol
    got=0
    SLURM_JOB_ID=7 bash signalled.sh >log 2>&1 || got=$?
    [ "$got" = "$([ "$code" = 75 ] && echo 0 || echo "${code:-137}")" ] || fail "a killed step of a run that said '$code': $got, $(cat log)"
    [ "$([ -e requeued ] && echo 75)" = "$([ "$code" = 75 ] && echo 75)" ] || fail "a killed step of a run that said '$code' is requeued, or not"
  done
done
