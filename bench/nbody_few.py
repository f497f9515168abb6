#!/usr/bin/env python3
"""Few bodies by ias15 and whfast of `sim` and of REBOUND, in one run from the same positions and velocities.

usage: nbody_few.py PATH/TO/sim [--years Y] [--repeat R]

Cases: the Sun and its four outer planets, with whfast in steps of half a year for --years (1e6) and with ias15 for a
hundredth of that; and a cluster of 100 bodies at rest with ias15. Prints seconds on one thread (the least of --repeat runs,
3, taken in turn; of `sim` without its start, which a run of one step gives), relative energy errors, and the largest
difference of positions over the largest coordinate. REBOUND's whfast runs without its safe mode, which is about half as fast.
"""
import argparse
import glob
import math
import os
import resource
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("program")
parser.add_argument("--years", type=float, default=1e6)
parser.add_argument("--repeat", type=int, default=3)
arguments = parser.parse_args()

import h5py
import numpy as np

import steps

try:
    import rebound
except ImportError as reason:
    sys.exit(f"rebound: {reason}")

YEAR = 2 * math.pi  # G = 1, au, solar masses

# a, e, then degrees: inclination, mean longitude, longitudes of perihelion and node; Sun/planet (scenarios/solar_system.lua)
PLANETS = ((5.20288700, 0.04838624, 1.30439695, 34.39644051, 14.72847983, 100.47390909, 1047.348644),
           (9.53667594, 0.05386179, 2.48599187, 49.95424423, 92.59887831, 113.66242448, 3497.9018),
           (19.18916464, 0.04725744, 0.77263783, 313.23810451, 170.95427630, 74.01692503, 22902.98),
           (30.06992276, 0.00859048, 1.77004347, -55.12002969, 44.96476227, 131.78422574, 19412.26))


def outer_planets():
    simulation = rebound.Simulation()
    simulation.add(m=1)
    for a, e, inc, longitude, peri, node, ratio in PLANETS:
        inc, longitude, peri, node = (math.radians(x) for x in (inc, longitude, peri, node))
        simulation.add(m=1 / ratio, a=a, e=e, inc=inc, Omega=node, omega=peri - node, M=longitude - peri,
                       primary=simulation.particles[0])
    simulation.move_to_com()
    return simulation


def cluster():
    simulation = rebound.Simulation()
    for x in np.random.default_rng(1).normal(size=(100, 3)):
        simulation.add(m=0.01, x=x[0], y=x[1], z=x[2])
    simulation.move_to_com()
    return simulation


def positions(folder):
    with h5py.File(sorted(glob.glob(folder + "/snap/*.h5"))[-1]) as file:
        at = next(iter(file["data"].values()))["particles/stars/position"]
        return np.stack([at[c][:] for c in "xyz"], axis=1)


def of_sim(file, scheme, dt, t_end):
    """Processor seconds of the steps, energy error, positions."""
    def run(end):
        with tempfile.TemporaryDirectory() as folder:
            before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
            steps.sim(arguments.program, "run", "few", "-o", folder + "/out", "--threads", "1", "--set", "file=" + file,
                      "--set", "scheme=" + scheme, "--set", f"dt={dt:.17g}", "--set", f"t_end={end:.17g}")
            seconds = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before
            with h5py.File(folder + "/out/tables.h5") as tables:
                error = float(np.asarray(tables["energy"]["error"])[-1])
            return seconds, error, positions(folder + "/out")

    start, _, _ = run(min(t_end, dt or 1e-9))
    seconds, error, at = run(t_end)
    return seconds - start, error, at


def of_rebound(make, scheme, dt, t_end):
    simulation = make()
    simulation.integrator = scheme
    if scheme == "whfast":
        simulation.integrator.safe_mode = 0
        simulation.dt = dt
    energy = simulation.energy()
    before = time.process_time()
    if dt:
        simulation.steps(round(t_end / dt))
        simulation.synchronize()
    else:
        simulation.integrate(t_end)
    seconds = time.process_time() - before
    at = np.array([p.xyz for p in simulation.particles])
    return seconds, (simulation.energy() - energy) / abs(energy), at


for title, make, scheme, dt, t_end in (
        ("outer planets, steps of half a year", outer_planets, "whfast", YEAR / 2, arguments.years * YEAR),
        ("outer planets", outer_planets, "ias15", 0, arguments.years / 100 * YEAR),
        ("100 bodies at rest", cluster, "ias15", 0, 1.0)):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "bodies.csv")
        rows = [[p.m, *p.xyz, *p.vxyz] for p in make().particles]
        np.savetxt(file, rows, fmt="%.17g", delimiter=",", header="mass,x,y,z,vx,vy,vz", comments="")
        both = [(of_sim(file, scheme, dt, t_end), of_rebound(make, scheme, dt, t_end)) for _ in range(arguments.repeat)]
    own, peer = min(b[0][0] for b in both), min(b[1][0] for b in both)
    (_, error, at), (_, other_error, other_at) = both[0]
    apart = np.abs(at - other_at).max() / np.abs(at).max()
    print(f"{scheme}, {title}: sim {own:.3g} s, REBOUND {rebound.__version__} {peer:.3g} s: {own / peer:.2f} of its time; energy"
          f" error {error:.2g} and {other_error:.2g}; positions {apart:.2g} apart", flush=True)
