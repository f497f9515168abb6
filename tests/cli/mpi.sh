#!/usr/bin/env bash
# Runs whose ranks a launcher of MPI has started, for each MPI that has a plugin and a mpirun here: the digests of runs
# of one process, restarts with other numbers, signals, ranks that fail or die, and refusals. The short form has all of it
# for one MPI, and of others what depends on the library and its launcher. `long`: all of it for those, messages of more
# than 2 GiB, and a rank that falls silent.
. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/mpi_lib.sh"
: "${COMPARE:?the program crash_compare}" "${COMM:?the program test_comm}"
form=${1:-short}
unset SIM_MPI
set -m # jobs get their signals undisturbed
export CUDA_VISIBLE_DEVICES= OMP_WAIT_POLICY=passive
find_mpi
option_scenario many.lua
cat >fields.lua <<'LUA'
return sim.diffusion {
  grid      = { n = {20, 18, 10}, size = {1, 1, 1}, x = "no_flux" },
  fields    = { { name = "u", D = 0.01, initial = function(x, y, z) return x * (1 - x) + 0.1 * math.sin(2 * math.pi * z) end } },
  rates     = function(u) return u * (1 - u) end,
  integrate = { scheme = "etdrk4", t_end = 1, rtol = 1e-3 },
  output    = { tables = "every 1 steps", checkpoint = "ends" },
}
LUA
cat >flow.lua <<'LUA'
return sim.fluid {
  grid      = { n = {24, 18, 13}, size = {2.4, 1.8, 1.3} }, viscosity = 0.01, speed = 1,
  initial   = function(x, y, z) return 0.3 * math.sin(3 * x) * math.cos(4 * y + z), 0.2 * math.cos(2 * x + 5 * z), 0 end,
  bodies    = { sim.ball { point = {0.8, 0.5, 0.1}, radius = 0.35, spin = 1 } },
  heat      = { diffusivity = 0.02, initial = function(x, y, z) return math.cos(3 * x + y) end },
  integrate = { dt = 1/64, t_end = 8/64 },
  output    = { snapshots = "ends", tables = "every 1 steps", checkpoint = "ends", slices = { { name = "cut", x = 0.4, when = "ends" } } },
}
LUA
for friction in 0 0.3; do # the fixed-point solver, and the general one
  cat >grains_$friction.lua <<LUA
return sim.collision {
  box       = { size = {1, 1, 1} },
  grains    = { sim.random_spheres { n = 500, radius = 0.04, temperature = 1e-3 } },
  contact   = { contact_time = 0.004, restitution = 0.9, friction = $friction },
  integrate = { t_end = 0.01 },
  output    = { snapshots = "ends", tables = "every 5 steps", checkpoint = "ends" },
}
LUA
done
cat >multipoles.lua <<'LUA'
return sim.nbody {
  bodies    = { sim.plummer { n = 9000, mass = 1, radius = 1 } },
  gravity   = { softening = 0.05, solver = "fmm" },
  integrate = { dt = 1/64, t_end = 2/64 },
  output    = { snapshots = "ends", tables = "every 1 steps", checkpoint = "ends" },
}
LUA
models=(fields flow grains_0 grains_0.3 multipoles)
bodies_scenario "every 100 steps"
run=("$SIM" run many.lua --threads 1)
long=("${run[@]}" --set "paths=$((20000 * 1048576))") # minutes; stopped long before
has_checkpoint() { [ -n "$(checkpoints "$1")" ]; }
begin() { # begin DIR OPTION...: 4 ranks in the background, until the first checkpoint is there
  local folder=$1
  shift
  "${four[@]}" "${long[@]}" -o "$folder" "$@" >output 2>&1 &
  pid=$!
  until_true 120 has_checkpoint "$folder"
}
finish() { # finish: the launcher's exit code in $code, what it took in $SECONDS
  code=0
  SECONDS=0
  wait "$pid" || code=$?
}
check_free() { grep -q ', ended ' "$1/.lock" || fail "$2: the lock was not given back: $(cat "$1/.lock")"; }
lines() { grep '^sim: ' output | grep -vc '^sim: starting: ' || true; } # a busy machine tells of its start

expect 0 "" "${run[@]}" -o one
expect 0 "" "${run[@]}" --set kind=sobol -o sobol
for model in "${models[@]}"; do expect 0 "" "$SIM" run $model.lua --threads 1 -o ${model}_one; done

for mpi in "${mpis[@]}"; do
  use_mpi "$mpi"
  # Of other MPIs than the first the short form has what depends on the library and its launcher.
  whole=false
  if [[ $form = long || $mpi = "${mpis[0]}" ]]; then whole=true; fi
  echo "$mpi: $("${launch[@]}" --version 2>&1 | head -n 2 | tr "\n" " ")"

  if [ "$form" = long ]; then
    free=$(awk '/MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
    if ((free >= 10)); then
      timeout 300 "${launch[@]}" -n 2 "$COMM" "$plugin" large >output 2>&1 || fail "$mpi: a message of more than 2 GiB"
    else
      echo "no message of more than 2 GiB: $free GiB are free, 10 are needed"
    fi
    begin "silent_$mpi"
    kill -s STOP "$(rank_of "silent_$mpi" 2)"
    finish
    [ "$code" = 82 ] || fail "$mpi: a silent rank: exit $code, not 82"
    ((SECONDS >= 28 && SECONDS < 35)) || fail "$mpi: a silent rank was given up after $SECONDS s"
    grep -qE "^sim: rank 2 on .*: has given no sign of life for 30 s" output || fail "$mpi: what a silent rank's line says"
    check_free "silent_$mpi" "$mpi: a silent rank"
    [ "$mpi" != "${mpis[0]}" ] || continue # the short form has the rest
  fi

  # ---- exchange alone ----
  for delay in 0 300; do
    SIM_COMM_DELAY=$delay SIM_COMM_CHUNK=$((delay * 100)) timeout 120 "${launch[@]}" -n 4 "$COMM" "$plugin" exchange \
      >output 2>&1 || fail "$mpi: exchange, delay $delay: exit $?"
    [ "$(grep -c equal output)" = 4 ] || fail "$mpi: exchange of 4 ranks"
  done
  for play in fail fail_several fail_to_leave unlike_small unlike_large unlike_swap; do
    code=0
    timeout 120 "${launch[@]}" -n 4 "$COMM" "$plugin" $play >output 2>&1 || code=$?
    [ "$code" = 7 ] || fail "$mpi: $play: exit $code, not 7"
  done

  # ---- GPU memory by MPI, on the stand-in for the CUDA runtime ----
  if $whole && [ -n "${FAKE_SIM:-}" ]; then
    export FAKE_DEVICES=4
    fake=("$FAKE_SIM" run bodies.lua --threads 1 -o fake --force)
    SIM_MPI=$plugin SIM_COMM_PATH=mpi expect 69 "rank 0 does not say that it takes GPU memory" "${four[@]}" "${fake[@]}"
    [ "$(lines)" = 1 ] || fail "$mpi: an MPI that takes no GPU memory is told more than once"
    if [ "$mpi" = openmpi ]; then # MPICH's headers do not say so
      LD_PRELOAD=$AWARE SIM_COMM_PATH=mpi timeout 120 "${launch[@]}" -n 4 "$FAKE_EXCHANGE" "$plugin" >output 2>&1 ||
        fail "$mpi: GPU memory by MPI: exit $?"
      [ "$(grep -c equal output)" = 4 ] || fail "$mpi: GPU memory by MPI on 4 ranks"
      LD_PRELOAD=$AWARE SIM_MPI=$plugin expect 0 "exchange by MPI, which takes GPU memory" "${four[@]}" "${fake[@]}"
    fi
    for rank in 1 0; do # a GPU that does not finish its work
      rm -rf fake hang
      FAKE_HANG=$PWD/hang FAKE_HANG_RANK=$rank SIM_MPI=$plugin SIM_COMM_PATH=staged SIM_DEVICE_TIMEOUT=2 \
        "${four[@]}" "$FAKE_SIM" run bodies.lua --set steps=40000000 --threads 1 -o fake >output 2>&1 &
      pid=$!
      until_true 120 has_checkpoint fake
      touch hang
      finish
      ((code == 81 && SECONDS < 35)) || fail "$mpi: the GPU of rank $rank hangs: exit $code after $SECONDS s"
      [ "$(grep -cE '^sim: (error: )?rank' output)" = 1 ] || fail "$mpi: the GPU of rank $rank hangs: not one line"
      grep -qE "^sim: (error: )?rank $rank on $(uname -n): GPU $rank has not finished its work for [23] s" output ||
        fail "$mpi: the GPU of rank $rank hangs: what the line says"
      check_free fake "$mpi: the GPU of rank $rank hangs"
      rm hang
    done
    unset FAKE_DEVICES
  fi

  # ---- the same bits ----
  for ranks in $($whole && echo 1 2 3) 4; do
    expect 0 "" "${launch[@]}" -n $ranks "${run[@]}" -o many --force
    [ $ranks = 1 ] || grep -qE "^  $ranks ranks on 1 host, by .*\(plugin $mpi\)$" output || fail "$mpi: the ranks are not told"
    [ "$(grep -c digest output)" = 1 ] || fail "$mpi: several ranks speak"
    same one many "$mpi: $ranks ranks"
    "$COMPARE" one/tables.h5 many/tables.h5 >output 2>&1 || fail "$mpi: $ranks ranks: tables differ"
  done
  for model in "${models[@]:0:$($whole && echo ${#models[@]} || echo 2)}"; do
    expect 0 "" "${four[@]}" "$SIM" run $model.lua --threads 1 -o many --force
    same ${model}_one many "$mpi: $model on 4 ranks"
    pairs=()
    for file in $(cd ${model}_one && find tables.h5 snap slices ckpt -name '*.h5' 2>/dev/null); do
      pairs+=("${model}_one/$file" "many/$file")
    done
    ((${#pairs[@]} >= 8)) || fail "$model: few files to compare"
    "$COMPARE" "${pairs[@]}" >output 2>&1 || fail "$mpi: $model on 4 ranks: the files differ"
  done
  for model in fields $($whole && echo flow grains_0.3); do # what is received is poisoned before
    SIM_COMM_DELAY=20 expect 0 "" "${launch[@]}" -n 3 "$SIM" run $model.lua --threads 1 -o many --force
    same ${model}_one many "$mpi: $model on 3 delayed ranks"
  done
  if $whole; then
    SIM_COMM_DELAY=2000 expect 0 "" "${four[@]}" "${run[@]}" --set kind=sobol -o many --force
    same sobol many "$mpi: delayed ranks"
  fi
  SIM_COMM_CHUNK=1000 expect 0 "" "${four[@]}" "${run[@]}" -o many --force
  same one many "$mpi: exchanges in pieces"
  if $whole; then
    SIM_MPI=$mpi expect 0 "(plugin $mpi)" "${four[@]}" "${run[@]}" -o many --force
    SIM_MPI=$plugin expect 0 "(plugin $mpi)" "${four[@]}" "${run[@]}" -o many --force
  fi

  # ---- the limit, signals, restarts with other numbers ----
  expect 75 "the wall limit of 1 s is reached" "${four[@]}" "${long[@]}" -o "wall_$mpi" --wall 1
  check_free "wall_$mpi" "$mpi: --wall"
  if $whole; then
    expect 75 "continues from checkpoint" "$SIM" resume "wall_$mpi" --ranks 2 --threads 1 --wall 1
  fi
  expect 75 "continues from checkpoint" "${four[@]}" "$SIM" resume "wall_$mpi" --threads 1 --wall 1
  if $whole; then
    expect 75 "continues from checkpoint" "${launch[@]}" -n 3 "${long[@]}" -o "wall_$mpi" --resume=auto --wall 1
  fi
  begin "usr1_$mpi"
  if passes_usr1; then
    kill -s USR1 "$pid"
  else
    echo "$mpi: the launcher does not pass SIGUSR1 on; rank 1 gets it"
    kill -s USR1 "$(rank_of "usr1_$mpi" 1)"
  fi
  finish
  # MPICH's launcher, once it has passed a signal on, takes 0 for the code of each rank that it has not waited for when
  # the last output closes: ranks that end together may give 0.
  [[ $code = 75 || $mpi:$code = mpich:0 ]] || fail "$mpi: SIGUSR1: exit $code, not 75"
  [ "$(key state "usr1_$mpi")" = stopped ] || fail "$mpi: SIGUSR1: state $(key state "usr1_$mpi")"
  begin "term_$mpi"
  kill -s TERM "$(rank_of "term_$mpi" 2)" # one rank; Open MPI's launcher ends with 1 when it gets the signal itself
  finish
  [ "$code" = 75 ] || fail "$mpi: SIGTERM to rank 2: exit $code, not 75"
  check_free "term_$mpi" "$mpi: SIGTERM"

  # ---- ranks that fail or die ----
  if $whole; then
    echo 'return sim.option { assets = 3 }' >bad.lua
    expect 65 "assets" "${four[@]}" "$SIM" run bad.lua -o refused
    [ "$(grep -c assets output)" = 1 ] || fail "$mpi: a fault of the scenario is told more than once"
    expect 73 "one: is not empty" "${four[@]}" "${run[@]}" -o one
    [ "$(lines)" = 1 ] || fail "$mpi: a refusal is told more than once"
  fi
  # shellcheck disable=SC2016 # for the ranks' shells
  expect 66 "sim: rank 2 on $(uname -n): many.lua: No such file" "${four[@]}" bash -c \
    '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" != 2 ] || cd /; exec "$0" run many.lua --threads 1 -o refused' "$SIM"
  [ "$(lines)" = 1 ] || fail "$mpi: a failing rank is told more than once"
  [ ! -e refused ] || fail "$mpi: a refused run leaves a folder"
  begin "killed_$mpi"
  kill -s KILL "$(rank_of "killed_$mpi" 2)"
  finish
  ((code != 0 && code != 75 && SECONDS < 35)) || fail "$mpi: a killed rank: exit $code after $SECONDS s"
  echo "$mpi: a killed rank: exit $code after $SECONDS s"
  if [ "$mpi" = openmpi ]; then # MPICH's launcher kills the others at once
    [ "$(lines)" = 1 ] || fail "$mpi: a killed rank is not told in one line"
    grep -qF "rank 2 on $(uname -n): has ended without a word (killed?); see why, then: sim resume killed_$mpi" output ||
      fail "$mpi: what the line says"
    check_free "killed_$mpi" "$mpi: a killed rank"
  fi
  until_true 120 none_of "killed_$mpi"
  if $whole; then
    expect 75 "continues from checkpoint" "$SIM" resume "killed_$mpi" --ranks 2 --threads 1 --wall 1

    for rank in 2 0; do # the launcher wakes a frozen rank when the others have ended
      SIM_COMM_PATIENCE=3 begin "frozen${rank}_$mpi"
      kill -s STOP "$(rank_of "frozen${rank}_$mpi" $rank)"
      finish
      ((code == 82 && SECONDS < 20)) || fail "$mpi: rank $rank frozen: exit $code after $SECONDS s"
      [ "$(lines)" = 1 ] || fail "$mpi: a frozen rank $rank is not told in one line"
      grep -qF "sim: rank $rank on $(uname -n): has given no sign of life for 3 s" output ||
        fail "$mpi: what the line of a frozen rank $rank says"
    done

    # ---- other commands, runs of their own ----
    expect 64 "mpirun has started 4 processes of sim sweep: start sim sweep alone" "${four[@]}" "$SIM" sweep many.lua --seed 1..2
    [ "$(lines)" = 1 ] || fail "$mpi: sim sweep is refused more than once"
    for ranks in "" "--scaling --ranks 2"; do
      # shellcheck disable=SC2086 # several words
      expect 64 "mpirun has started 4 processes of sim bench: start sim bench alone" "${four[@]}" "$SIM" bench option --quick $ranks
      [ "$(lines)" = 1 ] || fail "$mpi: sim bench $ranks is refused more than once"
    done
    for command in run check; do
      expect 64 "--ranks 2 in one of 4 processes of mpirun: its processes are the ranks; leave out --ranks" \
        "${four[@]}" "$SIM" $command many.lua --ranks 2
      [ "$(lines)" = 1 ] || fail "$mpi: --ranks 2 of sim $command is refused more than once"
    done
    [ ! -e many.out ] || fail "$mpi: a refused run leaves a folder"
    expect 64 "unknown option '--foo'" "${four[@]}" "${run[@]}" --foo
    [ "$(lines)" = 1 ] || fail "$mpi: a wrong option is told more than once"
    expect 0 "ranks       4;" "${four[@]}" "$SIM" check many.lua
    [ "$(grep -c 'no faults' output)" = 1 ] || fail "$mpi: several processes of sim check speak"
    expect 0 "joined by the MPI plugin $mpi" "${four[@]}" "$SIM" info
    # shellcheck disable=SC2016
    expect 0 "" "${four[@]}" bash -c 'exec "$0" run many.lua --threads 1 --ranks 1 --force \
      -o "own_${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}"' "$SIM"
    for rank in 0 1 2 3; do same one "own_$rank" "$mpi: --ranks 1 in rank $rank"; done
  fi

  # ---- the wrong plugin, or none ----
  SIM_MPI=nothing expect 64 'SIM_MPI = "nothing": no MPI plugin' "${four[@]}" "${run[@]}" -o refused
  if $whole; then
    # shellcheck disable=SC2016 # rank 0 comes late: its line is not lost
    SIM_MPI=nothing expect 64 'SIM_MPI = "nothing": no MPI plugin' "${four[@]}" bash -c \
      '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" != 0 ] || sleep 1; exec "$0" run many.lua -o refused' "$SIM"
  fi
  for other in "${mpis[@]}"; do
    [ "$other" != "$mpi" ] || continue
    SIM_MPI=$other expect 64 "sees a world of 1: use the mpirun of" "${four[@]}" "${run[@]}" -o refused
    [ "$(lines)" = 1 ] || fail "$mpi with the plugin $other is told more than once"
    mkdir -p lonely
    cp "$SIM" "${plugin%/*}/libsim_mpi_$other.so" lonely/
    expect 64 "and there is no plugin for it (but $other); build it: mpicc" "${four[@]}" lonely/sim "${run[@]:1}" -o refused
    rm lonely/*.so
    expect 64 "mpirun starts 4 processes, and there is no MPI plugin to join them; build it: mpicc" \
      "${four[@]}" lonely/sim "${run[@]:1}" -o refused
    cp "${plugin%/*}/libsim_mpi_$mpi.so" lonely/libsim_mpi_our_own.so
    expect 0 "(plugin our_own)" "${four[@]}" lonely/sim "${run[@]:1}" -o many --force
    rm lonely/*
  done
  [ ! -e refused ] || fail "$mpi: a refused run leaves a folder"
done
