# %% [markdown]
# # Eddies behind a cylinder
#
# How often do eddies leave a cylinder? The cells run one by one in an editor that knows `# %%`, all at once by
# `python eddy_street.py street.out`, or in Jupyter (`jupytext --to ipynb eddy_street.py`). The run is made by:
#
#     sim run scenarios/street.lua

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np

import simview
from simview.flow import Flow, Vorticity
from simview.look import Look

# An argument of the script, or else this name. A Jupyter kernel has arguments of its own, which begin with a dash.
folder = next((argument for argument in sys.argv[1:2] if argument[0] != "-"), "street.out")
run = simview.open(folder)
bodies = run.tables.bodies
print(run)

# %% [markdown]
# ## Strouhal's number
#
# Two eddies of either sense leave in a period of the force across the stream: St = f D / U, with the diameter and the speed
# far upstream, which are 1 here. In an unbounded stream it is 0.164 at a Reynolds number of 100 (C. H. K. Williamson, J. Fluid
# Mech. 206 (1989) 579); sides that confine the stream speed it up beside the cylinder, and the number with it.

# %%
late = bodies["time"] > 0.6 * bodies["time"].iloc[-1]
time, lift = bodies["time"][late].to_numpy(), bodies["cylinder_fy"][late].to_numpy()
lift = lift - lift.mean()
up = np.flatnonzero((lift[:-1] < 0) & (lift[1:] >= 0))
crossings = time[up] - lift[up] * (time[up + 1] - time[up]) / (lift[up + 1] - lift[up])
strouhal = 1 / np.mean(np.diff(crossings))
drag = bodies["cylinder_fx"][late].mean()
print(f"Strouhal's number {strouhal:.3f} from {len(crossings)} turns, drag coefficient {2 * drag:.2f}")
assert 0.12 < strouhal < 0.25

# %%
figure, axes = plt.subplots(3, 1, figsize=(6.5, 7), layout="constrained", height_ratios=(1, 1, 0.6))
for kind, place in zip((Flow, Vorticity), axes):
    picture = kind([run[-1]], Look(), "velocity")
    picture.draw(place)
    picture.show(run[-1])
axes[2].plot(bodies["time"], bodies["cylinder_fy"], color="#0072B2")
axes[2].plot(crossings, 0 * crossings + bodies["cylinder_fy"][late].mean(), color="#D55E00", marker="o", ms=3, ls="none")
axes[2].set(xlabel="time", ylabel="force across", ylim=(-1.3 * np.abs(lift).max(), 1.3 * np.abs(lift).max()))
figure.savefig("eddy_street.png", dpi=200)
