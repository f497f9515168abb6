#!/usr/bin/env bash
# The snapshots of a run as other programs read them: the openPMD validator, openPMD-viewer, pandas and h5py.
. "${BASH_SOURCE[0]%/*}/python.sh"
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
python=$(python_with openpmd_viewer,openpmd_validator,pandas,h5py,tables -r "${BASH_SOURCE[0]%/*}/../../viz/requirements.txt" \
  openpmd-validator==1.1.0.6 openpmd-viewer==1.11.0 tables==3.10.1) ||
  skip "no Python with openpmd-validator and openpmd-viewer, and none could be installed (see $BUILD/python.log)"

cat >s.lua <<'LUA'
return sim.nbody {
  title     = "two clusters",
  author    = "A. Tester",
  bodies    = { sim.plummer { n = 50, mass = 1, radius = 1, species = "left" },
                sim.plummer { n = 30, mass = 2, radius = 1, species = "right", position = {5, 0, 0} } },
  gravity   = { softening = 0.05 },
  units     = { length = "kpc", mass = "1e10 Msun", time = "Myr" },
  integrate = { dt = 1/64, t_end = 1/4 },
  output    = { snapshots = "every 4 steps", tables = "every 2 steps", checkpoint = "never" },
}
LUA
expect 0 "" "$SIM" run s.lua

for file in s.out/snap/*.h5; do
  "$python" -c 'import sys
from openpmd_validator.check_h5 import check_file
errors, warnings = check_file(sys.argv[1])[:2]
print(errors, "errors", warnings, "warnings")
sys.exit(int(errors != 0))' "$file" >output 2>&1 || fail "the openPMD validator: $file"
done

MPLBACKEND=agg "$python" - <<'PY' || fail "what Python reads"
import glob, h5py, numpy as np, pandas as pd
from openpmd_viewer import OpenPMDTimeSeries
kpc, msun, myr = 3.0856775814913673e19, 1.98840987e30, 3.15576e13

series = OpenPMDTimeSeries("s.out/snap")
assert list(series.iterations) == [0, 4, 8, 12, 16], series.iterations
assert np.allclose(series.t, np.array([0, 4, 8, 12, 16]) / 64 * myr, rtol=1e-9), series.t
assert sorted(series.avail_species) == ["left", "right"], series.avail_species
x, y, z, m, ident = series.get_particle(["x", "y", "z", "mass", "id"], species="right", iteration=16)
assert len(x) == 30 and len(set(ident)) == 30
# The viewer multiplies by unitSI: the sphere of radius 1 kpc is 5 kpc away. 30 bodies scatter by 1/sqrt(30) radii of
# the sphere's half-mass radius of 1.3; ten times that is 2.4.
assert abs(np.median(x) / kpc - 5) < 2.4, np.median(x) / kpc
# Solar masses differ by 1e-4 between tables of constants.
assert np.isclose(np.sum(m), 2e10 * msun, rtol=3e-4), np.sum(m)
ids = [set(series.get_particle(["id"], species=name, iteration=0)[0]) for name in ("left", "right")]
assert not ids[0] & ids[1], "an id twice"

with h5py.File(sorted(glob.glob("s.out/snap/*.h5"))[-1]) as file:
    assert file.attrs["openPMD"] == b"1.1.0" and file.attrs["author"] == b"A. Tester"
    right = file["data/16/particles/right"]
    # Stored numbers are in the scenario's own units; unitSI converts them to metres.
    assert np.isclose(right["position/x"].attrs["unitSI"], kpc, rtol=1e-9)
    assert np.allclose(right["position/x"][:] * right["position/x"].attrs["unitSI"], x, rtol=1e-12)

with h5py.File("s.out/tables.h5") as file:
    assert "energy" in file, list(file)
    table = pd.DataFrame(file["energy"][:])
assert list(table["step"]) == list(range(0, 17, 2)), table
frame = pd.read_hdf("s.out/tables.h5", "energy")
assert (frame["total"].values == table["total"].values).all()
PY
