#!/usr/bin/env bash
# viz/plot.sh, which `dev plot` runs: with a Python without packages, and without a network. dev_plot.sh [quick|long];
# long: in a new folder, which takes an installation of all packages; quick: in that of all tests.
root=$(cd -- "${BASH_SOURCE[0]%/*}/../.." && pwd)
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
export MPLCONFIGDIR=$scratch
scenario s.lua
expect 0 "" "$SIM" run s.lua

# No network: an index at an address that does not respond.
export PIP_CONFIG_FILE=/dev/null PIP_RETRIES=0 PIP_TIMEOUT=2
printf '#!/bin/sh\nexec python3 -S "$@"\n' >python # sees no packages, whatever is installed
chmod +x python
expect 69 "needs a network once" env PYTHON="$PWD/python" PIP_INDEX_URL=http://127.0.0.1:9/ bash "$root/viz/plot.sh" "$scratch/none" plot s.out
[ "$(grep -c cannot output)" = 1 ] && [ "$(wc -l <output)" = 2 ] || fail "more than the notice and one line"
expect 69 "Python 3.10" env PYTHON=/bin/false bash "$root/viz/plot.sh" "$scratch/none" plot s.out
unset PIP_CONFIG_FILE PIP_RETRIES PIP_TIMEOUT

venv=${BUILD:?}/simview
if [ "${1:-quick}" = long ]; then venv=$scratch/simview; else export PYTHONPYCACHEPREFIX=$BUILD/pycache; fi
if ! bash "$root/viz/plot.sh" "$venv" plot s.out >output 2>&1 && grep -q "needs a network" output; then skip "no network"; fi
grep -q "^s.png" output || fail "no picture"
expect 0 "s.png" env PIP_INDEX_URL=http://127.0.0.1:9/ bash "$root/viz/plot.sh" "$venv" plot s.out # all there: no network
expect 66 "no such folder" bash "$root/viz/plot.sh" "$venv" plot absent.out
