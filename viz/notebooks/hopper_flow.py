# %% [markdown]
# # Grains that run out of a hopper
#
# How fast do grains leave a hole, and does it matter how high they stand above it? The cells run one by one in an editor
# that knows `# %%`, all at once by `python hopper_flow.py hopper.out`, or in Jupyter (`jupytext --to ipynb hopper_flow.py`).
# The run is made by:
#
#     sim run scenarios/hopper.lua

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np

import simview
from simview.look import Look
from simview.solids import Solids

# An argument of the script, or else this name. A Jupyter kernel has arguments of its own, which begin with a dash.
folder = next((argument for argument in sys.argv[1:2] if argument[0] != "-"), "hopper.out")
run = simview.open(folder)
flow = run.tables.flow
print(run)

# %% [markdown]
# ## Nobody is lost
#
# Who was there at the start or came since, and has not been taken away, is in the last snapshot.

# %%
begin, end = run[0].particles().count, run[-1].particles().count
came, went = flow["inserted"].iloc[-1], flow["removed"].iloc[-1]
print(f"{begin} at the start, {came:.0f} came, {went:.0f} went, {end} are there")
assert begin + came - went == end

# %% [markdown]
# ## The rate
#
# Beverloo's law (Chem. Eng. Sci. 15 (1961) 260): the mass through a round hole of diameter D is
# 0.58 rho sqrt(g) (D - 1.4 d)^(5/2), with the density rho of the bed (here 0.6 of the grains') and their diameter d, however
# high the bed. It holds while the hole is covered.

# %%
passed = flow["gate1_mass"].to_numpy()
late = flow["time"] > flow["time"].iloc[-1] / 2
rate = np.polyfit(flow["time"][late], passed[late], 1)[0]
cone = run.parameters["walls"][0]
grains = run[-1].particles()
d = 2 * float(np.mean(grains["radius"]))
density = float(np.mean(grains.mass / (4 / 3 * np.pi * grains["radius"] ** 3)))
law = 0.58 * 0.6 * density * np.sqrt(9.81) * (2 * cone["radius"] - 1.4 * d) ** 2.5
print(f"{1000 * rate:.1f} g/s leave, Beverloo's law says {1000 * law:.1f} g/s: a ratio of {rate / law:.2f}")
assert rate > 0

# %%
figure, axes = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained", width_ratios=(1, 1.4))
picture = Solids([run[-1]], Look())
picture.draw(axes[0])
picture.show(run[-1])
axes[1].plot(flow["time"], 1000 * passed, color="#0072B2", label="through the hole")
axes[1].plot(flow["time"], 1000 * (passed[-1] + law * (flow["time"] - flow["time"].iloc[-1])), color="#D55E00", ls="--", label="slope of Beverloo's law")
axes[1].set(xlabel="time (s)", ylabel="mass (g)", ylim=(0, None))
axes[1].legend(frameon=False)
figure.savefig("hopper_flow.png", dpi=200)
