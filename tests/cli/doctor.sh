#!/usr/bin/env bash
# sim doctor: one line for each fact, also where things are hidden or broken; exit 83 only for a fault.
. "${BASH_SOURCE[0]%/*}/lib.sh"

# shape: every line is SUBJECT ok|none|FAULT TEXT.
shape() {
  local odd
  odd=$(grep -vE '^((program|build|cpu|gpu|mpi|slurm|python|files) +(ok|none|FAULT) +[^ ]|sim: )' output || true)
  [ -z "$odd" ] || fail "not of the form SUBJECT ok|none|FAULT TEXT: $odd"
}
has() { grep -qE "^$1 +$2 +.*$3" output || fail "no line '$1 $2 ... $3'"; }
unset "${!SLURM_@}" "${!PBS_@}" SIM_MPI PMI_RANK PMI_SIZE OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE

# PATH is empty: all tools are reported as absent, and nothing is a fault. (A driver's own faults are not hidden by
# that.)
mkdir bin
code=0
PATH=$PWD/bin "$SIM" doctor >output 2>&1 || code=$?
shape
for subject in build gpu mpi slurm python; do
  found=$(grep -E "^$subject +ok" output | grep -vE '^mpi +ok +plugin|^gpu ' || true)
  [ -z "$found" ] || fail "found in an empty PATH: $found"
done
has build none 'C compiler'
has build none CMake
has mpi none 'mpirun'
has slurm none sbatch
has python none 'no python3'
has program ok HDF5
has files ok 'can be written'
[ "$code" = 0 ] || grep -qE '^gpu +FAULT' output || fail "exit $code in an empty PATH"

# A Python of each kind: one that lacks all packages, one that has them, one that does not run, an old one.
python() { printf '#!/bin/sh\n%s\n' "$1" >bin/python3 && chmod +x bin/python3; }
ask() {
  code=0
  PATH=$PWD/bin:/usr/bin:/bin timeout 60 "$SIM" doctor >output 2>&1 || code=$?
  shape
}
python 'printf "3.11.2\nnumpy simview\n"'
ask
has python ok "$PWD/bin/python3, version 3.11.2"
has python none 'cannot be imported: numpy simview'
python 'printf "3.11.2\n\n"'
ask
has python ok 'simview and all packages'
python 'printf "3.9.2\n\n"'
ask
has python none '3.10 or later'
python 'exit 1'
ask
has python FAULT 'does not run'
[ "$code" = 83 ] || fail "exit $code, not 83, for a Python that does not run"
tail -n 1 output | grep -qE '^sim: .*faults?: see' || fail "the fault is not told at the end"
rm bin/python3

# A real Python: a folder with a package's name is no package, wherever the program is started.
if command -v python3 >/dev/null; then
  mkdir -p packages/simview packages/xarray
  (cd packages && PYTHONPATH='' "$SIM" doctor >../with 2>&1) || true
  (mkdir -p plain && cd plain && PYTHONPATH='' "$SIM" doctor >../without 2>&1) || true
  cmp <(grep '^python' with) <(grep '^python' without) || fail "folders are taken for packages"
  # Another program's package of the same name, from PyPI.
  mkdir -p other/simview
  echo '__version__ = "6.3.1"' >other/simview/__init__.py
  (PYTHONPATH=$PWD/other "$SIM" doctor >output 2>&1) || true
  has python none 'cannot be imported: .*simview.* pip install ./viz'
fi

# A tool must respond, and CMake must be new enough.
tool() { printf '#!/bin/sh\n%s\n' "$2" >"bin/$1" && chmod +x "bin/$1"; }
for name in cc ninja mpirun sbatch; do tool "$name" 'exit 1'; done
tool cmake 'echo cmake version 3.5.1'
ask
[ "$code" = 83 ] || fail "exit $code, not 83, for tools that do not run"
for name in cc ninja; do has build FAULT "bin/$name --version does not answer"; done
has build FAULT 'cmake version 3.5.1.*CMake 3[.0-9]* or later'
has mpi FAULT 'bin/mpirun --version does not answer'
has slurm none 'bin/sbatch --version does not answer: Slurm is installed, and not set up'
tool cmake 'echo cmake version 4.0.2'
ask
has build ok "bin/cmake"
rm bin/cc bin/ninja bin/mpirun bin/sbatch bin/cmake

# A plugin whose MPI exists and is broken.
if [ -e "$(dirname -- "$SIM")/libsim_mpi_openmpi.so" ]; then
  mkdir lonely && cp "$SIM" "$(dirname -- "$SIM")/libsim_mpi_openmpi.so" lonely/
  echo broken >lonely/libmpi.so.40
  code=0
  LD_LIBRARY_PATH=$PWD/lonely lonely/sim doctor >output 2>&1 || code=$?
  has mpi FAULT 'the plugin openmpi does not load: .*libmpi.so.40'
  [ "$code" = 83 ] || fail "exit $code, not 83, for a broken MPI"
  rm -r lonely
fi

# A folder in which nobody can write, not even root.
code=0
(cd /proc && "$SIM" doctor) >output 2>&1 || code=$?
has files FAULT 'cannot be written'
[ "$code" = 83 ] || fail "exit $code, not 83, in /proc"

# A job without the commands of its scheduler, and a launcher without a plugin.
code=0
PATH=$PWD/bin SLURM_JOB_ID=12 "$SIM" doctor >output 2>&1 || code=$?
has slurm FAULT 'job 12: .* no time limit'
[ "$code" = 83 ] || fail "exit $code for a job of unknown limit"
code=0
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 SIM_MPI=$PWD/absent.so "$SIM" doctor >output 2>&1 || code=$?
has mpi FAULT 'absent.so'
[ "$code" = 83 ] || fail "exit $code for a plugin that is not there"

# A folder without write permission; root may write everywhere.
if [ "$(id -u)" != 0 ]; then
  mkdir closed && chmod 500 closed
  (cd closed && "$SIM" doctor >../output 2>&1) && fail "no fault in a folder that cannot be written"
  has files FAULT 'cannot be written'
fi
