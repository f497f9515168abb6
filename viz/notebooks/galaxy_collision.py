# %% [markdown]
# # A galaxy collision
#
# Reads the run of `scenarios/galaxy.lua`: when do the galaxies meet, how close, and what becomes of their stars?
# The cells run one by one in an editor that knows `# %%`, all at once by `python galaxy_collision.py galaxy.out`, or in
# Jupyter: `pip install jupytext notebook`, then open this file as a notebook (or `jupytext --to ipynb galaxy_collision.py`).

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np

import simview

# An argument of the script, or else this name. A Jupyter kernel has arguments of its own, which begin with a dash.
folder = next((argument for argument in sys.argv[1:2] if argument[0] != "-"), "galaxy.out")
run = simview.open(folder)
print(run, "-", run.title)
print("seed", run.provenance["seed"], "softening", run.parameters["gravity"]["softening"])

# %% [markdown]
# ## Is the run to be trusted?
#
# The energy should be constant. A table is a pandas frame; its units are in `attrs`.

# %%
energy = run.tables.energy
print(energy[["time", "kinetic", "potential", "error", "virial_ratio"]].describe().round(4))
worst = energy["error"].abs().max()
print(f"largest error of the energy: {worst:.2g}")
assert worst < 0.01

# %% [markdown]
# ## When do they meet?
#
# The distance between the centres of both disks. The median is not moved by the tails. All snapshots are read at once,
# by several threads; a star keeps its place in the arrays.

# %%
stars = run.read(["west", "east"], ["x", "y", "z"])
positions = np.stack([stars[axis] for axis in "xyz"], axis=-1)
centre = {name: np.median(positions[:, stars["species"] == name], axis=1) for name in ("west", "east")}
distance = np.linalg.norm(centre["west"] - centre["east"], axis=1)
time = stars["time"].to_numpy()
# The first approach: up to where the distance has grown again by one scale length.
receding = np.flatnonzero(distance > np.minimum.accumulate(distance) + 1)
until = receding[0] if receding.size else len(time)
meeting = int(distance[:until].argmin())
print(f"first encounter at t = {time[meeting]:.2f}, {distance[meeting]:.2f} scale lengths apart")
assert 5 < time[meeting] < 20

# %% [markdown]
# ## What becomes of the stars?
#
# The share of each disk's stars that is far from both centres: the tidal tails.

# %%
far = np.minimum(*(np.linalg.norm(positions - centre[name][:, None], axis=-1) for name in ("west", "east"))) > 6
tails = {name: far[:, stars["species"] == name].mean(axis=1) for name in ("west", "east")}
for name, share in tails.items():
    print(f"{name}: {100 * share[0]:.1f} % of the stars are in the outskirts at the start, {100 * share[-1]:.1f} % at the end")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.8), layout="constrained")
left.plot(time, distance, color="#0072B2")
left.plot(time[meeting], distance[meeting], "o", color="#D55E00")
left.annotate("first encounter", (time[meeting], distance[meeting]), (-10, -6), textcoords="offset points", ha="right")
left.set(xlabel="time", ylabel="distance of the disks", ylim=(0, None))
for (name, share), colour, dash in zip(tails.items(), ("#0072B2", "#D55E00"), ("-", "--")):
    right.plot(time, 100 * share, dash, color=colour, label=name)
right.set(xlabel="time", ylabel="stars in the outskirts (%)", ylim=(0, None))
right.legend(frameon=False)
figure.savefig("galaxy_encounter.png", dpi=200)
