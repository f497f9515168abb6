#!/usr/bin/env bash
# sim doctor: one line a fact, also where things are hidden or broken; exit 83 for a fault alone.
. "${BASH_SOURCE[0]%/*}/lib.sh"

# shape: every line is SUBJECT ok|none|FAULT TEXT.
shape() {
  local odd
  odd=$(grep -vE '^((program|build|cpu|gpu|mpi|slurm|python|files) +(ok|none|FAULT) +[^ ]|sim: )' output || true)
  [ -z "$odd" ] || fail "not of the form SUBJECT ok|none|FAULT TEXT: $odd"
}
has() { grep -qE "^$1 +$2 +.*$3" output || fail "no line '$1 $2 ... $3'"; }
unset "${!SLURM_@}" "${!PBS_@}" SIM_MPI PMI_RANK PMI_SIZE OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE

# Nothing is in PATH: all of it is told as absent, and nothing is at fault. (A driver's own faults are not hidden so.)
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
has python none 'not installed: numpy simview'
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

# A job without the commands of its scheduler, and a launcher without a plugin.
code=0
PATH=$PWD/bin SLURM_JOB_ID=12 "$SIM" doctor >output 2>&1 || code=$?
has slurm FAULT 'job 12: .* no time limit'
[ "$code" = 83 ] || fail "exit $code for a job of unknown limit"
code=0
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 SIM_MPI=$PWD/absent.so "$SIM" doctor >output 2>&1 || code=$?
has mpi FAULT 'absent.so'
[ "$code" = 83 ] || fail "exit $code for a plugin that is not there"

# A folder that cannot be written; root may write everywhere.
if [ "$(id -u)" != 0 ]; then
  mkdir closed && chmod 500 closed
  (cd closed && "$SIM" doctor >../output 2>&1) && fail "no fault in a folder that cannot be written"
  has files FAULT 'cannot be written'
fi
