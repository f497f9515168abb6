#!/usr/bin/env bash
# The worked examples of viz/notebooks, one for each model, as scripts on small runs and sweeps of their scenarios.
# `long`: also as notebooks, each in a Jupyter kernel of its own.
root=$(cd -- "${BASH_SOURCE[0]%/*}/../.." && pwd)
. "${BASH_SOURCE[0]%/*}/python.sh"
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
modules=numpy,h5py,pandas,xarray,matplotlib,PIL
packages=(-r "$root/viz/requirements.txt")
if [ "${1:-quick}" = long ]; then
  modules+=,jupytext,nbclient,ipykernel
  packages+=(jupytext==1.19.6 nbclient==0.11.0 ipykernel==7.4.0)
fi
python=$(python_with "$modules" "${packages[@]}") ||
  skip "no Python with $modules, and none could be installed (see $BUILD/python.log)"
export MPLCONFIGDIR=$scratch PYTHONPATH=$root/viz
unset MPLBACKEND # a kernel has its own
export IPYTHONDIR=$scratch JUPYTER_CONFIG_DIR=$scratch JUPYTER_RUNTIME_DIR=$scratch/runtime
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
expect 0 "" "$SIM" run "$root/scenarios/street.lua" --set n=8 -o street.out
sed 's/t_end = 0.4/t_end = 0.12/' "$root/scenarios/hopper.lua" >hopper.lua
expect 0 "" "$SIM" run hopper.lua --set filled=150 -o hopper.out
expect 0 "" "$SIM" sweep "$root/scenarios/heston_barrier.lua" --set paths=16384 --set strike=80,100,120 --set maturity=0.5,2 -o heston_smile.out
expect 0 "" "$SIM" sweep spot.lua --set F=0.03,0.05 --set k=0.045,0.06,0.075 -o gray_scott.sweep

cat >examples <<'TEXT'
galaxy_collision galaxy.out first encounter at t =
gray_scott_sweep gray_scott.sweep 4 of 6 live
hopper_flow hopper.out Beverloo's law says
eddy_street street.out Strouhal's number 0.
heston_smile heston_smile.out the skew fades with maturity: True
TEXT
pictures() {
  local picture
  for picture in galaxy_encounter gray_scott_sweep hopper_flow eddy_street heston_smile; do
    [ -s "$picture.png" ] || fail "a worked example leaves no picture $picture.png: $1"
    rm "$picture.png"
  done
}

# As scripts, one after another in one Python: the output of each.
MPLBACKEND=agg "$python" - "$root/viz/notebooks" <<'PY' >output 2>&1 || fail "the worked examples as scripts"
import contextlib, io, runpy, sys
folder = sys.argv[1]
for name, data, said in (line.rstrip("\n").split(" ", 2) for line in open("examples")):
    sys.argv = [f"{folder}/{name}.py", data]
    heard = io.StringIO()
    with contextlib.redirect_stdout(heard):
        runpy.run_path(sys.argv[0], run_name="__main__")
    if said not in heard.getvalue():
        sys.exit(f"the script {name} does not say '{said}': {heard.getvalue()}")
PY
pictures script

# As notebooks: the output of each, and that it shows a picture.
[ "${1:-quick}" = long ] || exit 0
"$python" - "$root/viz/notebooks" <<'PY' >output 2>&1 || fail "the worked examples as notebooks"
import sys, jupytext
from nbclient import NotebookClient
for name, data, said in (line.rstrip("\n").split(" ", 2) for line in open("examples")):
    book = jupytext.read(f"{sys.argv[1]}/{name}.py")
    NotebookClient(book, timeout=120, kernel_name="python3").execute()
    shown = [output for cell in book.cells for output in cell.get("outputs", ())]
    text = "".join(output.get("text", "") for output in shown)
    if said not in text:
        sys.exit(f"the notebook {name} does not say '{said}': {text}")
    if not any("image/png" in output.get("data", {}) for output in shown):
        sys.exit(f"the notebook {name} shows no picture")
PY
pictures notebook
