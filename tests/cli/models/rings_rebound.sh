#!/usr/bin/env bash
# Grains that attract each other in a patch of a ring have the same paths as in REBOUND; `long`: also the velocity
# dispersion of colliding grains.
. "${BASH_SOURCE[0]%/*}/../lib.sh"
python=$(command -v python3) || { echo "no python3" && exit 77; }
"$python" -m venv peer >log 2>&1 || { echo "no venv: $(tail -n 1 log)" && exit 77; }
peer/bin/pip install -q --disable-pip-version-check rebound==5.2.2 h5py numpy >log 2>&1 ||
  { echo "REBOUND does not install from PyPI: $(tail -n 1 log)" && exit 77; }
peer/bin/python "${ROOT:?the source tree}/tests/cli/models/rings_rebound.py" "$SIM" "$@" || fail "not the results of REBOUND"
