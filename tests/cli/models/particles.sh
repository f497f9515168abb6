#!/usr/bin/env bash
# Messages about particles: precision that is too coarse, and starts that take long.
. "${BASH_SOURCE[0]%/*}/../lib.sh"

# Numbers of single precision near 1e5 are 0.0078 apart: too coarse for a softening or a radius of 0.5, not for 10.
cat >far.lua <<'LUA'
return sim.nbody {
  precision = sim.param("p", "single", "precision"),
  bodies    = { { mass = 1, position = {1e5, 0, 0} }, { mass = 1, position = {1e5 + 0.5, 0, 0} } },
  gravity   = { softening = sim.param("eps", 0.5, "softening") },
  integrate = { dt = 0.01, t_end = 0.01 },
}
LUA
cat >grains.lua <<'LUA'
return sim.collision {
  precision = "single",
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { { radius = 0.5, density = 1, position = {1e5, 5, 5} }, { radius = 0.5, density = 1, position = {3, 5, 5} } },
  contact   = { law = "linear", contact_time = 0.01, restitution = 0.9, friction = 0.1 },
  integrate = { dt = "auto", t_end = 0.01 },
}
LUA
coarse="numbers near 100000 are 0.0078 apart in single precision"
expect 0 "$coarse" "$SIM" run far.lua --force
for arguments in "--set eps=10" "--set p=mixed" "--set p=double"; do
  # shellcheck disable=SC2086
  expect 0 done "$SIM" run far.lua --force $arguments
  ! grep -q precision: output || fail "a warning with $arguments"
done
expect 0 "$coarse" "$SIM" run grains.lua --force

# A long start (these grains find no positions for a hundred seconds) says what it does, and can be stopped.
cp "${ROOT:?the source tree}/scenarios/hopper.lua" .
"$SIM" run hopper.lua --set filled=1500 --threads 1 -o slow >log 2>&1 &
pid=$!
until_true 120 grep -q "starting: placing grains, [0-9]* %, [0-9]* s" log
until_true 120 test -s slow/status.json
"$SIM" status slow >table
awk 'NR == 2 && $1 == "slow" && $2 == "starting" && $3 == "0" { found = 1 } END { exit !found }' table ||
  fail "status of a start: $(cat table)"
[ "$(key phase slow)" = "placing grains" ] || fail "phase of a start: $(cat slow/status.json)"
kill -s TERM "$pid"
code=0
begun=$SECONDS
wait "$pid" || code=$?
((SECONDS - begun <= 60)) || fail "SIGTERM took $((SECONDS - begun)) s"
[ "$code" = 75 ] || fail "exit $code by SIGTERM"
grep -q "stopped before the first step, while placing grains: nothing was saved" log || fail "$(cat log)"
[ ! -e slow ] || fail "a start that was stopped left its folder"

# The same over an earlier run, whose status.json is then unchanged. In a job, the start ends before the job's limit.
cp -r grains.out earlier
SLURM_JOB_ID=7 SLURM_JOB_END_TIME=$(($(date +%s) + 6)) expect 75 "because the limit of the job is near: nothing was saved" \
  "$SIM" run hopper.lua --set filled=1500 --threads 1 -o earlier --force --wall auto
cmp -s earlier/status.json grains.out/status.json || fail "a start that was stopped left its status in an earlier run"

# g(r) of many bodies up to half of the box: 1e9 pairs a row, of which the estimate of the steps says nothing.
cat >rdf.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.lattice { kind = "fcc", cells = sim.param("cells", 25, "along a side"), temperature = 1 } },
  box       = { size = 42 },
  pair      = function(r2) local s = 1 / r2^3 return 4 * (s^2 - s) end,
  cutoff    = 2.5,
  rdf       = { bins = 50, radius = sim.param("radius", 21, "of g(r)") },
  integrate = { scheme = "leapfrog", dt = 0.005, t_end = 0.2 },
}
LUA
expect 0 'rdf: g(r) up to 21 counts about 1e+09 pairs' "$SIM" check rdf.lua
for set in radius=4 cells=10; do
  "$SIM" check rdf.lua --set $set >said 2>&1 || fail "check with $set"
  ! grep -q 'counts about' said || fail "a warning with $set: $(cat said)"
done
