#!/usr/bin/env bash
# Outer planets over 10^7 years by whfast, in steps of half a year, compared with REBOUND's whfast from the same start:
# energy errors and eccentricities. Skipped without rebound and h5py.
. "${BASH_SOURCE[0]%/*}/lib.sh"
python=${PYTHON:-python3}
"$python" -c 'import h5py, rebound' 2>/dev/null || { echo "skipped: needs Python with h5py and rebound"; exit 77; }
cp -- "${ROOT:?the source tree}/scenarios/outer_planets.lua" .
sed -i 's/snapshots = "every 1000", tables = "every 200"/snapshots = "ends", tables = "every 20000"/' outer_planets.lua
expect 0 "" "$SIM" run outer_planets.lua --set years=10000000 --threads 1 -o sim.out
"$python" - <<'PY'
import glob, math, h5py, numpy as np, rebound

names = ["sun", "jupiter", "saturn", "uranus", "neptune"]
simulation = rebound.Simulation()
simulation.G = 4 * math.pi**2
with h5py.File(sorted(glob.glob("sim.out/snap/*.h5"))[0]) as file:
    particles = next(iter(file["data"].values()))["particles"]
    number = lambda s, field, c: float(particles[s][field][c][0])
    mass = dict(zip(names, [1, 1 / 1047.348644, 1 / 3497.9018, 1 / 22902.98, 1 / 19412.26]))
    for s in names:
        simulation.add(m=mass[s], **{c: number(s, "position", c) for c in "xyz"},
                       **{"v" + c: number(s, "velocity", c) for c in "xyz"})
simulation.integrator, simulation.dt = "whfast", 0.5
simulation.integrator.safe_mode = 0
start, rows = simulation.energy(), []
with h5py.File("sim.out/tables.h5") as tables:
    own, orbits = np.asarray(tables["energy"]["error"]), tables["orbits"]
    e = {s: np.asarray(orbits["e_" + s]) for s in names[1:]}
    time = np.asarray(orbits["time"])
for row, t in enumerate(time):
    if row > 0:
        simulation.steps(round((t - time[row - 1]) / 0.5))
        simulation.synchronize()
    sun = simulation.particles[0]
    rows.append([(simulation.energy() - start) / abs(start)] +
                [simulation.particles[k].orbit(primary=sun).e for k in range(1, 5)])
rows = np.array(rows)
worst, peer = np.abs(own).max(), np.abs(rows[:, 0]).max()
print(f"energy error: sim {worst:.3g}, REBOUND {peer:.3g}; rows {len(own)}")
# The same map: over the first 10^5 years, until rounding has grown, the same numbers; later the same error, 1.2 times
# at most.
assert len(own) == 501 and worst < 1.2 * peer and peer < 3e-6, (worst, peer)
early = time <= 1e5
for k, s in enumerate(names[1:], 1):
    assert np.abs(e[s] - rows[:, k])[early].max() < 1e-8, s
    assert abs(e[s].max() - rows[:, k].max()) < 0.01 * rows[:, k].max(), s
# No drift: the mean of the last tenth equals that of the first, within the spread of rows.
tenth = len(own) // 10
assert abs(own[-tenth:].mean() - own[:tenth].mean()) < own.std(), "the energy drifts"
PY
