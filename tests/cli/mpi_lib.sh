# Sourced: the MPI libraries that have a plugin beside SIM and a launcher here.
# shellcheck shell=bash disable=SC2034,SC2154
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none # containers may not read another process's memory

export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-} # MPI libraries leave memory behind

# launcher_of NAME: its mpirun.
launcher_of() {
  local words='Open MPI' tool
  [ "$1" = openmpi ] || words='HYDRA|MPICH|Intel'
  for tool in "mpirun.$1" "mpiexec.$1" mpirun mpiexec; do
    if command -v "$tool" >/dev/null && "$tool" --version 2>&1 | grep -E "$words" >/dev/null; then
      echo "$tool"
      return
    fi
  done
  return 1
}
# find_mpi: names in mpis[]; skips the test without any.
find_mpi() {
  local name tool
  mpis=()
  for name in openmpi mpich; do
    [ -e "$(dirname -- "$SIM")/libsim_mpi_$name.so" ] || continue
    tool=$(launcher_of "$name") || continue
    if timeout 60 "$tool" -n 2 true >output 2>&1; then
      mpis+=("$name")
    else
      echo "$tool starts no processes here: $(grep -m 1 '[a-z]' output)"
    fi
  done
  rm -f output
  ((${#mpis[@]})) || skip "no MPI here with a plugin and a launcher (Debian: openmpi-bin libopenmpi-dev, mpich libmpich-dev)"
}
# use_mpi NAME: from here on `launch` and `plugin` are of it.
use_mpi() {
  mpi=$1
  also= # once in thousands of starts SIGPIPE ends MPICH's launcher when its processes end at once
  [ "$mpi" != mpich ] || also=141
  launch=("$(launcher_of "$mpi")")
  four=("${launch[@]}" -n 4)
  plugin=$(dirname -- "$SIM")/libsim_mpi_$mpi.so
}

# passes_usr1: whether the launcher passes SIGUSR1 on to its processes. Open MPI 4.1.6 of Ubuntu 24.04 was seen not to.
passes_usr1() {
  local probe passed=true
  rm -f ready
  "${launch[@]}" -n 1 bash -c 'trap "exit 0" USR1; : >ready; for ((k = 0; k < 50; k++)); do sleep 0.1; done; exit 9' \
    >/dev/null 2>&1 &
  probe=$!
  until_true 60 test -e ready
  kill -s USR1 "$probe"
  wait "$probe" || passed=false
  $passed
}

# ranks_of DIR: processes of the run in DIR, without the launchers and without those of tests beside this one.
ranks_of() {
  local process
  for process in $(pgrep -f -- "$SIM.* -o $1( |\$)"); do
    [[ $(readlink "/proc/$process/cwd") = "$scratch"* ]] || continue
    [ "$(readlink "/proc/$process/exe")" != "$SIM" ] || echo "$process"
  done
}
none_of() { [ -z "$(ranks_of "$1")" ]; }
# rank_of DIR N: process of rank N of that run.
rank_of() {
  local process
  for process in $(ranks_of "$1"); do
    grep -qzxE "(OMPI_COMM_WORLD_RANK|PMI_RANK)=$2" "/proc/$process/environ" 2>/dev/null || continue
    echo "$process"
  done
}
# bodies_scenario CADENCE: writes bodies.lua, with checkpoints of this cadence.
bodies_scenario() {
  cat >bodies.lua <<LUA
return sim.nbody {
  bodies    = { sim.plummer { n = 600, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.05, solver = "direct" },
  integrate = { dt = 1/1024, t_end = sim.param("steps", 10, "steps")/1024 },
  precision = "single",
  output    = { tables = "never", checkpoint = "$1" },
}
LUA
}
