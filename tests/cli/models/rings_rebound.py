"""Patches of a ring by sim and by REBOUND (symplectic epicycle integrator, hard spheres).

rings_rebound.py SIM: the path of two grains that attract each other; then, with "long" after it, velocity dispersions of
a patch whose restitution follows the speed of impact.
"""
import glob, math, subprocess, sys
import h5py
import numpy as np
import rebound

sim_command = sys.argv[1]


def run_sim(name, text):
    with open(f"{name}.lua", "w") as f:
        f.write(text)
    subprocess.run([sim_command, "run", f"{name}.lua", "-o", f"{name}.out", "-q", "--force", "--seed", "3"], check=True)


def rebound_patch(sides, dt):
    peer = rebound.Simulation()
    peer.integrator = "sei"
    try:
        peer.OMEGA = 1.0
    except AttributeError:
        peer.ri_sei.OMEGA = 1.0
    peer.dt = dt
    peer.boundary = "shear"
    peer.configure_box(sides) if isinstance(sides, (int, float)) else peer.configure_box(1.0, *sides)
    return peer


def columns(folder, table, names):
    with h5py.File(glob.glob(f"{folder}/{table}.h5")[0] if glob.glob(f"{folder}/{table}.h5") else glob.glob(f"{folder}/**/{table}.h5", recursive=True)[0]) as f:
        return [np.array(f[n]) for n in names]
