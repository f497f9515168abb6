#!/usr/bin/env bash
# Runs in a queue that ends them: the bits are those of an undisturbed run.
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
. "${BASH_SOURCE[0]%/*}/lib.sh"
start_slurm
trap 'stop_slurm; cleanup' EXIT
scenario s.lua
form=${1:-short}
# Work for four jobs or more, on a machine of any speed: a job of the short form runs for 3 s, one of the long form for
# 45 s. Measured by processor time, which other programs hardly change.
if [ "$form" = short ]; then seconds=16; else seconds=240; fi
TIMEFORMAT=%U
{ time "$SIM" run s.lua --set n=700 --set steps=3000 -o probe --threads 1 >/dev/null 2>&1; } 2>probe.time
steps=$(awk -v seconds="$seconds" '{ printf "%d", 3000 * seconds / $1 }' probe.time)
args=(--set n=700 --set "steps=$steps" --set "every=every 2 s")

"$SIM" run s.lua "${args[@]}" -o whole --threads 1 >/dev/null

# The script of sim batch: accepted, and requeued until the run is done. In the short form the job's end comes from
# SLURM_JOB_END_TIME, some seconds ahead; in the long one from the queue, whose limits are whole minutes.
"$SIM" batch s.lua "${args[@]}" -o chain --cpus 1 --time 00:01:00 >chain.sh
expect 0 "" sbatch --test-only chain.sh
# The time that is left of a job's limit when its run has ended.
sed -i 's/^code=\$?$/&\necho "exit $code, left $(squeue -h -j "$SLURM_JOB_ID" -o %L)"/' chain.sh
if [ "$form" = short ]; then
  sed -i 's/^set -u$/set -u\nexport SLURM_JOB_END_TIME=$(($(date +%s) + 3))/' chain.sh
fi
finish_job "$(submit chain.sh)" 840
[ "$(key state chain)" = done ] || fail "chain: $(scontrol show job; tail -n 30 "$scratch/slurm/slurmctld.log")"
((requeues >= 3)) || fail "only $requeues requeues"
same whole chain "a chain of $((requeues + 1)) jobs"
grep -q 'a checkpoint takes' chain/run.log || fail "the time of a checkpoint is not said"
! LC_ALL=C grep -q $'[\001-\010\013-\037]' s.*.log || fail "control characters in a log"
grep -q "^back into the queue; the next job continues from step [1-9][0-9]* in chain$" s.*.log || fail "the log of a requeued job"
if [ "$form" != short ]; then # USR1 comes at any time of the last two minutes: a job of one minute gets it at once
  lost=$(sed -n 's/^exit 75, left \(.*\)$/\1/p' s.*.log | awk -F: '{ s = 0; for (i = 1; i <= NF; i++) s = 60 * s + $i; print s }' |
    sort -n | tail -n 1)
  echo "lost at most $lost s a job, over $requeues requeues"
  ((lost <= 15)) || fail "a job lost $lost s: $(grep -E '^(exit|sim:)' s.*.log)"
  exit 0
fi

# A job script of our own, which does not requeue.
job() {
  printf '#!/bin/bash\n#SBATCH --open-mode=append\nsrun %q run s.lua --threads 1' "$SIM"
  printf ' %q' "${args[@]}" "$@"
  printf '\n'
}
started() { [ -s "$1/status.json" ] && [ -n "$(checkpoints "$1")" ]; }

# scancel leaves a good checkpoint.
job -o cancelled --resume=auto >cancelled.sh
id=$(submit cancelled.sh --time=5)
until_true 20 started cancelled
scancel "$id"
finish_job "$id" 30
until_true 10 test "$(key state cancelled)" = stopped
expect 0 "" "$SIM" resume cancelled --threads 1
same whole cancelled "scancel, then resume"

# SIGKILL of the step.
id=$(submit <(job -o killed --resume=auto) --time=5)
until_true 20 started killed
scancel --signal=KILL "$id.0"
finish_job "$id" 30
[ "$("$SIM" status killed | awk 'NR == 2 { print $2 }')" = lost ] || fail "a killed run is not called lost"
finish_job "$(submit <(job -o killed --resume=auto) --time=5)" 60
same whole killed "SIGKILL of the step, then the same line"

# Two jobs in one folder: the message of the second names the first.
id=$(submit <(job -o both --resume=auto) --time=5 --ntasks=1)
until_true 20 started both
SLURM_JOB_ID=999999 expect 73 "Slurm job $id" "$SIM" run s.lua "${args[@]}" -o both --resume=auto
scancel "$id"
finish_job "$id" 30

# An array of seeds is a sweep over seeds.
few=(--set n=200 --set steps=200)
"$SIM" batch s.lua "${few[@]}" --array 1-8 --cpus 1 -o seeds.out >array.sh
id=$(submit array.sh)
for task in 1 2 3 4 5 6 7 8; do finish_job "${id}_$task" 120; done
"$SIM" sweep s.lua "${few[@]}" --seed 1..8 --threads 1 -o seeds >/dev/null
for task in 1 2 3 4 5 6 7 8; do same "seeds.$task.out" "seeds/run_000$task" "task $task of the array"; done
"$SIM" sweep s.lua "${few[@]}" --seed 1..8 --threads 1 -o tasks --array >sweep.sh
id=$(submit sweep.sh)
for task in 1 2 3 4 5 6 7 8; do finish_job "${id}_$task" 120; done
cmp <(cut -d, -f1-5 seeds/sweep.csv) <(cut -d, -f1-5 tasks/sweep.csv) || fail "sweep.csv of the array"

# A scenario that fails is not requeued; nor is, more than twice, a job without a new checkpoint.
echo 'return sim.nbody { bodies = {} }' >bad.lua
sed 's/s\.lua/bad.lua/; s/chain/bad/' chain.sh >bad.sh
finish_job "$(submit bad.sh)" 30
((requeues == 0)) || fail "a scenario that fails was requeued"
printf '#!/bin/sh\nexit 75\n' >stuck
chmod +x stuck
sed "s|^sim=.*|sim=$PWD/stuck|; s/chain/stuck.out/" chain.sh >stuck.sh
finish_job "$(submit stuck.sh)" 120
((requeues == 2)) || fail "$requeues requeues without progress"
