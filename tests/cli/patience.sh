#!/usr/bin/env bash
# Steps that take minutes: after a signal the run waits 15 s, at the limit of the job not at all. Then the run continues
# from its checkpoint.
. "${BASH_SOURCE[0]%/*}/lib.sh"
export CUDA_VISIBLE_DEVICES=
cat >slow.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.plummer { n = sim.param("n", 60000), mass = 1, radius = 1 } },
  gravity   = { softening = 0.05 },
  integrate = { scheme = "yoshida4", dt = 1/1024, t_end = 4/1024 },
  output    = { snapshots = "never", tables = "every 10 steps", checkpoint = "every 1 step" },
}
LUA
begun() { [ -n "$(checkpoints slow)" ]; }

# The first force takes a third of a step: after it the first step is under way.
"$SIM" run slow.lua --threads 1 -o slow >log 2>&1 &
pid=$!
until_true 300 begun
sleep 1
! grep -q expected_end slow/status.json || fail "an end is expected before a step was made: $(cat slow/status.json)"
started=$SECONDS
kill -s TERM "$pid"
code=0
wait "$pid" || code=$?
took=$((SECONDS - started))
[ "$code" = 75 ] || fail "SIGTERM in a long step: exit $code: $(cat log)"
((took >= 10 && took <= 100)) || fail "SIGTERM in a long step took $took s"
grep -q "a step was abandoned because it did not end in time: the run continues from its checkpoint of step 0" log || fail "$(cat log)"
[ "$(key state slow) $(key exit_code slow) $(key checkpoint_step slow)" = "stopped 75 0" ] || fail "$(cat slow/status.json)"
grep -q ', ended ' slow/.lock || fail "the lock is not given back"
! find slow -name '*.tmp' | grep -q . || fail "a temporary file is left"

# The limit of the job comes within the next attempt of the same step.
SLURM_JOB_ID=7 SLURM_JOB_END_TIME=$(($(date +%s) + 12)) \
  expect 75 "a step was abandoned because the limit of the job is near: the run continues from its checkpoint of step 0" \
  timeout 100 "$SIM" resume slow --threads 1 --wall auto
