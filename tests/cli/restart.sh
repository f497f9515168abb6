#!/usr/bin/env bash
# A restart is bit-identical to a run that was never stopped.
. "${BASH_SOURCE[0]%/*}/lib.sh"
scenario s.lua

set -m
has_newer() { [ "$(checkpoints chain | tail -n 1)" != "$newest" ]; }
# stop_soon COMMAND...: stops the command after its next checkpoint.
stop_soon() {
  newest=$(checkpoints chain | tail -n 1)
  rm -f output
  "$@" >output 2>&1 &
  pid=$!
  until_true 120 has_newer
  kill -USR1 "$pid" 2>/dev/null || true
  code=0
  wait "$pid" || code=$?
}

for setup in "leapfrog double" "leapfrog single" "leapfrog mixed" "yoshida4 double" "hermite4 double" "hermite4 mixed"; do
  read -r scheme kind <<<"$setup"
  label="$scheme $kind"
  run=("$SIM" run s.lua --set "scheme=$scheme" --set "kind=$kind")
  rm -rf -- whole chain short again

  # Stopped at step 1, and at the last step but one: a run of three steps keeps all its checkpoints.
  expect 0 "" "${run[@]}" -o short --set steps=3 --set every=never
  for step in 1 2; do
    expect 0 "" "${run[@]}" -o again --set steps=3 --set "every=every 1 steps" --force
    same short again "$label, a checkpoint every step"
    for later in 2 3; do
      if ((later > step)); then rm -- "again/ckpt/ck_00000000000$later.h5"; fi
    done
    expect 0 "" "$SIM" resume again
    same short again "$label, restart at step $step of 3"
  done

  # Five times in a row, at any step, each time with another number of threads. A run that ends before the stop is
  # started again with more steps.
  for steps in 6000 24000 96000; do
    expect 0 "" "${run[@]}" -o whole --set "steps=$steps" --set every=never --force
    rm -rf -- chain
    stop_soon "${run[@]}" -o chain --set "steps=$steps" --set "every=every 30 steps" --threads 1
    for threads in 2 3 1 7; do
      [ "$code" = 75 ] || break
      stop_soon "$SIM" resume chain --threads "$threads"
    done
    [ "$code" = 0 ] || break
  done
  [ "$code" = 75 ] || fail "$label, $threads threads, step $(key step chain): exit $code, not 75"
  expect 0 "" "$SIM" resume chain --threads 2
  same whole chain "$label, five restarts"
done

# An adaptive step is part of the state.
cat >adaptive.lua <<'LUA'
return sim.nbody {
  bodies    = { { mass = 3, position = {1, 3, 0} }, { mass = 4, position = {-2, -1, 0} },
                { mass = 5, position = {1, -1, 0} } },
  integrate = { scheme = "hermite4", dt = "adaptive", t_end = 4 },
  output    = { tables = "every 100 steps", checkpoint = "every 50 steps" },
}
LUA
expect 0 "" "$SIM" run adaptive.lua -o adaptive
cp -r adaptive cut
rm -- "$(checkpoints cut | tail -n 1)"
expect 0 "" "$SIM" resume cut
same adaptive cut "an adaptive step"

# With the command of the start, and from a named file.
expect 0 "" "$SIM" run s.lua -o whole --force
cp -r whole again.out
rm -- again.out/ckpt/ck_000000000040.h5
expect 0 "" "$SIM" run s.lua -o again.out --resume
same whole again.out "--resume"
cp -r whole named
expect 0 "" "$SIM" run s.lua -o named --resume=named/ckpt/ck_000000000020.h5
same whole named "--resume=FILE"
expect 0 "" "$SIM" run s.lua -o fresh --resume=auto
same whole fresh "--resume=auto without a run"
expect 0 "" "$SIM" run s.lua -o fresh --resume=auto
same whole fresh "--resume=auto of a run that is done"
expect 66 absent "$SIM" run s.lua -o absent --resume
[ ! -e absent ] || fail "a refused resume left a folder"

# In single precision the instruction set affects the result: a restart keeps it, on a wider processor too.
expect 0 "" "$SIM" run s.lua -o narrow --device cpu --set kind=single --isa plain
cp -r narrow wide
rm -- wide/ckpt/ck_000000000040.h5
cp -r wide other
expect 0 "" "$SIM" resume wide
same narrow wide "the instruction set of the checkpoint"
best=$("$SIM" info | sed -n 's/^isa *\([a-z0-9]*\).*/\1/p')
if [ "$best" != plain ]; then
  expect 0 "began with plain" "$SIM" resume other --isa "$best"
  [ "$(digest other)" != "$(digest narrow)" ] || fail "another instruction set has the same bits: the test sees nothing"
fi

# A checkpoint of another run in the folder is not used, even if its scenario is the same.
cp -r named host && rm -- host/ckpt/ck_000000000040.h5
expect 0 "" "$SIM" run s.lua -o guest
cp guest/ckpt/ck_000000000040.h5 host/ckpt/
expect 0 "belongs to another run than host" "$SIM" resume host
grep -q "continues from checkpoint ck_000000000030.h5" output || fail "went on from another run's checkpoint"
same whole host "a checkpoint of another run beside"
expect 78 "belongs to another run than host" "$SIM" run s.lua -o host --resume=guest/ckpt/ck_000000000020.h5
# A folder without run.id takes the name from its newest checkpoint, and says so once; the same where run.id is damaged.
rm host/run.id
expect 0 "host/run.id: is missing" "$SIM" resume host
cmp -s host/run.id named/run.id || fail "the name of a run is not kept"
printf abc >host/run.id
expect 0 "host/run.id: is not the name of a run" "$SIM" resume host
[ "$(grep -c 'run\.id' output)" = 1 ] || fail "a damaged run.id is told more than once"
cmp -s host/run.id named/run.id || fail "the name of a run is not kept"
expect 0 "" "$SIM" resume host
! grep -q 'run\.id' output || fail "a warning about a good run.id"

# The message names what prevents the lock.
cp -r named locked
rm locked/.lock && mkfifo locked/.lock
expect 73 "locked/.lock: is not a regular file" "$SIM" resume locked
rm locked/.lock && mkdir locked/.lock
expect 73 "locked/.lock: is not a regular file" "$SIM" resume locked
expect 73 "locked/.lock: is not a regular file" "$SIM" run s.lua -o locked --force
[ -d locked/.lock ] || fail "a folder named .lock was removed"
mkdir begun && mkfifo begun/.lock
expect 73 "begun/.lock: is not a regular file" "$SIM" run s.lua -o begun

# The message of exit 78 says what to do.
expect 78 "sim resume continues the original scenario; --force or another -o starts this one" \
  "$SIM" run s.lua -o named --resume --set n=151

# A folder may be moved, and the scenario removed.
cp -r named moved && rm -- moved/ckpt/ck_000000000040.h5
rm s.lua
expect 0 "" env -C / "$SIM" resume "$scratch/moved"
same whole moved "a folder that moved"

# The last step of a fluid passes the end: nothing is left to compute. An end well before the checkpoint is refused.
echo 'return sim.fluid { grid = { n = {8, 8}, size = {8, 8} }, viscosity = 0.1, speed = 0.1,
  integrate = { dt = 0.3, t_end = sim.param("t", 1.0, "end") } }' >fluid.lua
expect 0 "" "$SIM" run fluid.lua -o passed
expect 0 "nothing was left to compute" "$SIM" resume passed
expect 0 "nothing was left to compute" "$SIM" run fluid.lua -o passed --resume=auto
expect 78 "after the end at 0.5" "$SIM" run fluid.lua -o passed --resume=auto --set t=0.5

# Tables are cut back to the checkpoint: no row appears twice.
if python3 -c 'import h5py' 2>/dev/null; then
  python3 - <<'PY' || fail "tables of a resumed run"
import h5py
whole, named = h5py.File("whole/tables.h5"), h5py.File("named/tables.h5")
tables = [name for name in whole if isinstance(whole[name], h5py.Dataset)]
assert "energy" in tables, list(whole)
for name in tables:
    assert (whole[name][:] == named[name][:]).all(), name
    assert (whole[name]["step"][1:] > whole[name]["step"][:-1]).all(), name
PY
fi
