#!/usr/bin/env bash
# plot.sh VENV ARGUMENT...: runs `simview ARGUMENT...` with a Python environment of its own in VENV, made at first use.
# Nothing is installed elsewhere. PYTHON names another interpreter than python3.
set -euo pipefail

here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
venv=$1
shift
wanted=$here/requirements.txt
python=${PYTHON:-python3}
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 MPLBACKEND=${MPLBACKEND:-agg}

say() { printf 'plot: %s\n' "$*" >&2; }

if cmp -s "$wanted" "$venv/requirements.txt" && "$venv/bin/python" -c '' 2>/dev/null; then
  exec "$venv/bin/python" -m simview "$@"
fi
# A Python that has all of it already serves as it is.
if "$python" -c 'import sys, h5py, matplotlib, numpy, pandas, PIL, xarray; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
  exec "$python" -m simview "$@"
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
  say "needs Python 3.10 or later with venv; found $("$python" --version 2>/dev/null || echo none)"
  exit 69
fi
mkdir -p -- "${venv%/*}"
log=$venv.log
say "installing simview's packages in $venv (once, about 250 MB)"
if ! { "$python" -m venv "$venv" && "$venv/bin/python" -m pip install --disable-pip-version-check -r "$wanted"; } \
  >"$log" 2>&1 </dev/null; then
  if ! [ -x "$venv/bin/pip" ]; then
    say "Python's venv does not work here (on Debian: apt-get install python3-venv); see $log"
  else
    say "cannot install h5py, numpy, pandas, xarray, matplotlib, pillow and xxhash, which needs a network once; see $log"
  fi
  exit 69
fi
cp -- "$wanted" "$venv/requirements.txt"
exec "$venv/bin/python" -m simview "$@"
