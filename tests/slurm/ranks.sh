#!/usr/bin/env bash
# One run of four tasks on two nodes of a real Slurm. The script of sim batch, requeued until the run is done, gives the
# digest of a run of one process. Signals reach all tasks; a task that dies ends all; and the results of each --mpi=
# option.
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
. "${BASH_SOURCE[0]%/*}/lib.sh"
export CUDA_VISIBLE_DEVICES= OMP_WAIT_POLICY=passive SIM_MPI=mpich
[ -e "$(dirname -- "$SIM")/libsim_mpi_mpich.so" ] || skip "no plugin for MPICH was built (Debian: libmpich-dev)"
start_slurm 2
trap 'stop_slurm; cleanup' EXIT
[[ $(srun --mpi=list 2>&1) == *pmi2* ]] || skip "this Slurm has no --mpi=pmi2"
cat >s.lua <<'LUA'
local paths = sim.param("paths", BLOCKS * 2^20, "paths")
return sim.option {
  assets   = { { spot = 100, vol = 0.2 } }, rate = 0.05, maturity = 1, steps = 8,
  payoffs  = { sim.european { strike = 100 } },
  sampling = { paths = paths },
  output   = { tables = "every 20 steps", checkpoint = "every 2 steps" },
}
LUA
# some 8 s of work, however busy the machine is: jobs of 3 s must come to an end
sed -i 's/BLOCKS/20/' s.lua
begin=$(date +%s%N)
"$SIM" run s.lua -o rate >/dev/null
blocks=$((20 * 8000 / (($(date +%s%N) - begin) / 1000000 + 1)))
sed -i "s/20 \* 2^20/$((blocks < 40 ? 40 : blocks > 800 ? 800 : blocks)) * 2^20/" s.lua
"$SIM" run s.lua -o whole >/dev/null

# ---- a chain of jobs on two nodes ----

"$SIM" batch s.lua -o chain --nodes 2 --ntasks 4 --cpus 1 --time 00:01:00 >chain.sh
grep -qxF 'srun --kill-on-bad-exit=1 --mpi=pmi2 --cpus-per-task=1 "$sim" run "$scenario" -o "$out" --resume=auto --wall auto --no-progress' \
  chain.sh || fail "the script: $(cat chain.sh)"
expect 0 "" sbatch --test-only chain.sh
sed -i 's/^set -u$/set -u\nexport SLURM_JOB_END_TIME=$(($(date +%s) + 3))/' chain.sh # the job's limit: 3 s
id=$(submit chain.sh)
finish_job "$id" 240
[ "$(key state chain)" = done ] || fail "chain: $(cat s.*.log)"
((requeues >= 1)) || fail "no requeue"
same whole chain "a chain of $((requeues + 1)) jobs on two nodes"
grep -q "4 ranks on 1 host, by MPICH" chain/run.log s.*.log || fail "the ranks are not told: $(cat s.*.log)"

# ---- signals, a killed task, scancel ----

job() { # job FOLDER LAUNCH...: a script of our own
  local folder=$1
  shift
  printf '#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks=4\n%s %q run s.lua --set paths=%d -o %q --resume=auto --threads 1\n' \
    "$*" "$SIM" $((20000 * 1048576)) "$folder"
  printf 'echo $? >%q.code\n' "$folder"
}
started() { [ -s "$1/status.json" ] && [ -n "$(checkpoints "$1")" ]; }
for signal in USR1 TERM; do
  id=$(submit <(job "$signal" srun --mpi=pmi2) --time=5)
  until_true 30 started "$signal"
  scancel --signal="$signal" "$id.0"
  finish_job "$id" 60
  [ "$(cat "$signal.code")" = 75 ] || fail "SIG$signal to the step: exit $(cat "$signal.code"): $(cat slurm-"$id".out)"
  [ "$(key state "$signal")" = stopped ] || fail "SIG$signal: state $(key state "$signal")"
done
id=$(submit <(job cancelled srun --mpi=pmi2) --time=5)
until_true 30 started cancelled
scancel "$id"
finish_job "$id" 60
until_true 10 test "$(key state cancelled)" = stopped
for bad in 0 1; do # with and without --kill-on-bad-exit
  id=$(submit <(job "killed$bad" srun --mpi=pmi2 --kill-on-bad-exit=$bad) --time=5)
  until_true 30 started "killed$bad"
  SECONDS=0
  kill -KILL "$(pgrep -f -- "^$SIM .* -o killed$bad --resume=auto" | sort -n | tail -n 1)"
  finish_job "$id" 60
  ((SECONDS < 35)) || fail "a killed task: the others ended after $SECONDS s"
  code=$(cat "killed$bad.code")
  [ "$code" != 0 ] && [ "$code" != 75 ] || fail "a killed task: exit $code"
  echo "a killed task, --kill-on-bad-exit=$bad: exit $code after $SECONDS s"
  expect 75 "continues from checkpoint" "$SIM" resume "killed$bad" --ranks 2 --threads 1 --wall 1
done

# ---- tasks that cannot find each other ----

few=(run s.lua --set paths=1000 --threads 1)
expect 64 "srun has started 4 processes that cannot find each other: use srun --mpi=pmi2" \
  srun --mpi=none -N2 -n4 "$SIM" "${few[@]}" -o none
[ "$(grep -c '^sim: ' output)" = 2 ] || fail "not told once on each host"
[ ! -e none ] || fail "a refused run leaves a folder"
expect 0 "4 ranks on" srun --mpi=pmi2 -N2 -n4 "$SIM" "${few[@]}" -o few
expect 64 "start sim sweep alone" srun --mpi=pmi2 -n2 "$SIM" sweep s.lua --seed 1..2
expect 0 "ranks       4;" srun --mpi=pmi2 -n4 "$SIM" check s.lua
[ "$(grep -c 'no faults' output)" = 1 ] || fail "sim check speaks more than once"
if [ -e "$(dirname -- "$SIM")/libsim_mpi_openmpi.so" ]; then
  SIM_MPI=openmpi expect 64 "use srun --mpi=pmix" srun --mpi=none -n2 "$SIM" "${few[@]}" -o none
  if [[ $(srun --mpi=list 2>&1) == *pmix* ]]; then
    # The daemons of one host share a folder: one node only.
    SIM_MPI=openmpi expect 0 "2 ranks on 1 host, by Open MPI" srun --mpi=pmix -N1 -n2 "$SIM" "${few[@]}" -o pmix
    same few pmix "Open MPI under srun"
  fi
fi
