# %% [markdown]
# # A sweep of the Gray-Scott model
#
# Two rates decide what becomes of a spot: F feeds u, and k takes v away. `sim sweep` runs a grid of both, and this reads
# it: where does v die out, where does it spread? The cells run one by one in an editor that knows `# %%`, all at once by
# `python gray_scott_sweep.py gray_scott.sweep`, or in Jupyter: `pip install jupytext notebook`, then open this file as a
# notebook (or `jupytext --to ipynb gray_scott_sweep.py`). The sweep is made by:
#
#     sim sweep scenarios/gray_scott.lua --set n=128 --set F=0.03,0.04,0.05 --set k=0.055,0.06,0.065

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np

import simview

# An argument of the script, or else this name. A Jupyter kernel has arguments of its own, which begin with a dash.
folder = next((argument for argument in sys.argv[1:2] if argument[0] != "-"), "gray_scott.sweep")
sweep = simview.open_sweep(folder)
frame = sweep.frame
print(sweep)
print(frame[["F", "k", "state", "fields.v_mean", "fields.v_max"]].to_string())
assert (frame["state"] == "done").all()

# %% [markdown]
# ## Does v live?
#
# Without v the state u = 1 stays for ever: where k is too large for F all v decays to it. The frame is a pandas one, so
# a pivot makes the map of both parameters.

# %%
alive = frame["fields.v_max"] > 0.05
share = frame.assign(alive=alive).pivot(index="F", columns="k", values="fields.v_mean")
print(share.round(4))
# A uniform v can hold itself only where F >= 4 (F + k)^2. Spots live beyond that line, though not far.
uniform = frame["F"] >= 4 * (frame["F"] + frame["k"]) ** 2
print(f"{alive.sum()} of {len(frame)} live, {uniform.sum()} of them uniformly if they had to")
assert alive[uniform].all()

# %% [markdown]
# ## How does it spread?
#
# Each run is there with its tables and snapshots: the area that v covers, from the fields themselves.

# %%
area = {}
for F, k in zip(frame["F"], frame["k"]):
    (run,) = sweep.select(F=F, k=k)
    series = [snapshot.field("v").to_xarray() for snapshot in run]
    cell = float(np.prod([float(series[0][axis][1] - series[0][axis][0]) for axis in "xy"]))
    area[F, k] = run.times, [cell * float((v > 0.1).sum()) for v in series]

# %%
figure, axes = plt.subplots(1, 2, figsize=(7, 2.8), layout="constrained")
dashes = ["-", "--", "-.", ":"]
colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"]
feeds, kills = sorted(set(frame["F"])), sorted(set(frame["k"]))
for (F, k), (times, values) in area.items():
    style = {"color": colours[feeds.index(F) % 4], "ls": dashes[kills.index(k) % 4]}
    axes[0].plot(times, values, label=f"F = {F:g}, k = {k:g}", **style)
axes[0].set(xlabel="time", ylabel="area with v > 0.1")
axes[0].legend(frameon=False, fontsize=6)
image = axes[1].imshow(share, origin="lower", cmap="cividis", aspect="auto")
axes[1].set_xticks(range(len(kills)), [f"{k:g}" for k in kills])
axes[1].set_yticks(range(len(feeds)), [f"{F:g}" for F in feeds])
axes[1].set(xlabel="k", ylabel="F")
figure.colorbar(image, ax=axes[1]).set_label("mean of v")
figure.savefig("gray_scott_sweep.png", dpi=200)
