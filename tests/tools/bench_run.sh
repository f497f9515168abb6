#!/usr/bin/env bash
# bench/run.py with stand-ins for programs: LAMMPS by the mpirun of MPICH and of Open MPI. A failure must not remove
# other figures. ROOT: the source tree.
set -euo pipefail
root=${ROOT:?the source tree}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sim-test.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch"
fail() {
  echo "FAILED: $*" >&2
  cat log >&2 2>/dev/null || true
  exit 1
}
mkdir -p build/bench build/cli path
program() { # program PATH: from standard input
  cat >"$1"
  chmod +x "$1"
}
program build/cli/sim <<'SH'
#!/bin/sh
[ "$1" != bench ] || echo "gas.lua, cpu, 2 threads: 9.73e+07 grain steps/s (-0.0 +0.0 %), 1.000 ms a step, 100 steps after 300
  gas: temperature 0.09651
  contacts: coordination 0.2282"
SH
# MPICH's mpirun has no options of Open MPI's.
program path/mpirun <<'SH'
#!/bin/sh
case $1 in
  --version) echo "HYDRA build details:" ;;
  -np) [ "$2" -gt 0 ] && shift 2 && exec "$@" ;;
  *) echo "mpirun: unrecognized argument $1" >&2 && exit 255 ;;
esac
SH
program path/lmp <<'SH'
#!/bin/sh
printf '   Step c_warmth c_mean\n       0 0.1 0\n     300 0.0966 0.228\nLoop time of 3 on 1 procs for 300 steps\n'
printf '   Step c_warmth c_mean\n     300 0.0966 0.228\n     400 %s 0.2282\nLoop time of 2.5 on %s procs for 100 steps\n' \
  "${WARMTH:-0.0965}" "${PROCS:-$(nproc)}"
SH
# figure LABEL: its first value, or the reason why there is none.
figure() {
  python3 -c 'import json, sys
entry = json.load(open("results/cpu.json"))["comparisons"]["gas of 10^5 grains"]
print((entry["values"].get(sys.argv[1]) or [entry["missing"].get(sys.argv[1])])[0])' "$1"
}
measure() {
  rm -rf results
  PATH=$PWD/path:$PATH python3 -B "$root/bench/run.py" --build build --device cpu --only 'gas of 10\^5' --rounds 1 \
    --results results >log 2>&1 || fail "run.py: exit $?"
  [ "$(figure ours)" = 97.3 ] || fail "ours: $(figure ours)"
}
lammps='LAMMPS gran/hooke, double'
measure
[ "$(figure "$lammps")" = 3.89 ] || fail "LAMMPS by MPICH's mpirun: $(figure "$lammps")" # 46^3 * 100 / 2.5
WARMTH=0.2 measure
[[ $(figure "$lammps") == "another answer than ours"* ]] || fail "LAMMPS of another gas: $(figure "$lammps")"
PROCS=99 measure
[[ $(figure "$lammps") == *"of another MPI than mpirun"* ]] || fail "LAMMPS that is alone in each rank: $(figure "$lammps")"

# Open MPI's mpirun, which refuses root without its own option.
program path/lmp <<'SH'
#!/bin/sh
printf '     400 0.0965 0.2282\nLoop time of 2.5 on %s procs for 100 steps\n' "$(nproc)"
SH
program path/mpirun <<'SH'
#!/bin/sh
[ "$1" != --version ] || exec echo "mpirun (Open MPI) 4.1.4"
if [ "$(id -u)" = 0 ]; then [ "$1" = --allow-run-as-root ] && shift || exit 1; fi
[ "$1" = -np ] && shift 2 && exec "$@"
SH
measure
[ "$(figure "$lammps")" = 3.89 ] || fail "LAMMPS by Open MPI's mpirun: $(figure "$lammps")"
echo "each peer has its own figure, or none"
