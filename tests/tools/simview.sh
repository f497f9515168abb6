#!/usr/bin/env bash
# The Python package simview on real runs. simview.sh [quick|long]; long: also speed, mypy, the wheel, and the readers
# of others (openPMD-viewer, openPMD-api, the validator, PyVista, VTK, yt, pandas).
root=$(cd -- "${BASH_SOURCE[0]%/*}/../.." && pwd)
. "${BASH_SOURCE[0]%/*}/python.sh"
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
kind=${1:-quick}
modules=numpy,h5py,pandas,xarray,matplotlib,PIL,pytest
packages=(-r "$root/viz/requirements.txt" pytest==8.4.2)
if [ "$kind" = long ]; then
  modules+=,mypy,openpmd_viewer,openpmd_api,openpmd_validator,tables,pyvista,yt
  packages+=(mypy==1.18.2 openpmd-viewer==1.11.0 openpmd-api==0.17.1.post4 openpmd-validator==1.1.0.6 tables==3.10.1
    pyvista==0.49.1 vtk==9.7.2 yt==4.4.3)
fi
python=$(python_with "$modules" "${packages[@]}") ||
  skip "no Python with $modules, and none could be installed (see $BUILD/python.log)"
export SIM MPLCONFIGDIR=$scratch MPLBACKEND=agg PYTHONDONTWRITEBYTECODE=1
selection=(-m "not long")
if [ "$kind" = long ]; then selection=(); fi
"$python" -m pytest -c "$root/viz/pyproject.toml" --rootdir "$root/viz" "${selection[@]}" "$root/viz/tests" >pytest.log 2>&1 || {
  tail -n 60 pytest.log >&2
  fail "pytest"
}
tail -n 1 pytest.log

# The worked examples: on a small run of the scenario that one is about, and on a small sweep like the other one's.
cat >spot.lua <<'LUA'
local F = sim.param("F", 0.03, "rate at which u is fed")
local k = sim.param("k", 0.06, "rate at which v decays, beside F")
local function spot(x, y) return math.exp(-200 * ((x - 0.6)^2 + (y - 0.6)^2)) end
return sim.diffusion {
  title     = "A spot that is fed",
  grid      = { n = {48, 48}, size = {1.2, 1.2} },
  fields    = { { name = "u", D = 2e-5, initial = function(x, y) return 1 - 0.5 * spot(x, y) end },
                { name = "v", D = 1e-5, initial = function(x, y) return 0.3 * spot(x, y) end } },
  rates     = function(u, v) return -u*v^2 + F*(1 - u), u*v^2 - (F + k)*v end,
  integrate = { scheme = "strang", dt = 2, t_end = 1000 },
  output    = { snapshots = "every 200", tables = "every 100", checkpoint = "never" },
}
LUA
expect 0 "" "$SIM" run "$root/scenarios/galaxy.lua" --set n=60 -o galaxy.out
expect 0 "" "$SIM" sweep spot.lua --set F=0.03,0.05 --set k=0.045,0.06,0.075 -o spot.sweep
example=$root/viz/notebooks
PYTHONPATH=$root/viz expect 0 "" "$python" "$example/galaxy_collision.py" galaxy.out
PYTHONPATH=$root/viz expect 0 "4 of 6 live" "$python" "$example/gray_scott_sweep.py" spot.sweep
[ -s galaxy_encounter.png ] && [ -s gray_scott_sweep.png ] || fail "a worked example leaves no picture"

if [ "$kind" = long ]; then
  "$python" -m mypy --config-file "$root/viz/pyproject.toml" --cache-dir "$scratch/mypy" "$root/viz/simview" >output ||
    fail "mypy --strict"
  cp -r "$root/viz" package # pip leaves nothing in the sources
  "$python" -m pip wheel --disable-pip-version-check -q --no-deps -w wheel ./package >output 2>&1 || fail "no wheel"
  "$python" -m venv --system-site-packages installed
  installed/bin/pip install --disable-pip-version-check -q --no-deps wheel/*.whl >output 2>&1 || fail "not installed"
  "$python" -c 'import zipfile, sys; sys.exit("simview/py.typed" not in zipfile.ZipFile(sys.argv[1]).namelist())' wheel/*.whl ||
    fail "the wheel lacks py.typed"
  [ -x installed/bin/simview ] || fail "the wheel brings no command"
fi
