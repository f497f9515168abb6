#!/usr/bin/env bash
# The Python package simview on real runs. simview.sh [quick|long]; long: also speed, mypy, the wheel, and the readers
# of other projects (openPMD-viewer, openPMD-api, the validator, PyVista, VTK, yt, pandas), and the page of `simview
# watch` in a real browser (Debian: chromium chromium-driver), also below a Jupyter server.
root=$(cd -- "${BASH_SOURCE[0]%/*}/../.." && pwd)
. "${BASH_SOURCE[0]%/*}/python.sh"
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
kind=${1:-quick}
modules=numpy,h5py,pandas,xarray,matplotlib,PIL,xxhash,imageio_ffmpeg,pytest
packages=(-r "$root/viz/requirements.txt" pytest==8.4.2)
if [ "$kind" = long ]; then
  modules+=,mypy,openpmd_viewer,openpmd_api,openpmd_validator,tables,pyvista,yt,selenium,jupyter_server,jupyter_server_proxy
  packages+=(mypy==1.18.2 openpmd-viewer==1.11.0 openpmd-api==0.17.1.post4 openpmd-validator==1.1.0.6 tables==3.10.1
    pyvista==0.49.1 vtk==9.7.2 yt==4.4.3 selenium
    jupyter-server==2.21.1 jupyter-server-proxy==4.6.0)
fi
python=$(python_with "$modules" "${packages[@]}") ||
  skip "no Python with $modules, and none could be installed (see $BUILD/python.log)"
export SIM MPLCONFIGDIR=$scratch MPLBACKEND=agg
selection=(-m "not long")
if [ "$kind" = long ]; then selection=(); fi
"$python" -m pytest -c "$root/viz/pyproject.toml" --rootdir "$root/viz" "${selection[@]}" "$root/viz/tests" >pytest.log 2>&1 || {
  tail -n 60 pytest.log >&2
  fail "pytest"
}
tail -n 1 pytest.log

if [ "$kind" = long ]; then
  "$python" -m mypy --config-file "$root/viz/pyproject.toml" --cache-dir "$scratch/mypy" "$root/viz/simview" >output ||
    fail "mypy --strict"
  cp -r "$root/viz" package # pip leaves nothing in the sources
  "$python" -m pip wheel --disable-pip-version-check -q --no-deps -w wheel ./package >output 2>&1 || fail "no wheel"
  "$python" -m venv --system-site-packages installed
  installed/bin/pip install --disable-pip-version-check -q --no-deps wheel/*.whl >output 2>&1 || fail "not installed"
  "$python" -c 'import zipfile, sys; sys.exit("simview/py.typed" not in zipfile.ZipFile(sys.argv[1]).namelist())' wheel/*.whl ||
    fail "the wheel lacks py.typed"
  ls wheel/sim_engine_simview-*.whl >output 2>&1 || fail "the wheel has the name of another program of PyPI"
  [ -x installed/bin/simview ] || fail "the wheel brings no command"
fi
