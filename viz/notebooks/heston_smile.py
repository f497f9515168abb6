# %% [markdown]
# # The smile of stochastic volatility
#
# Prices under Heston's model, told as the volatility that Black and Scholes' formula wants for each. The cells run one by one in
# an editor that knows `# %%`, all at once by `python heston_smile.py heston_smile.out`, or in Jupyter
# (`jupytext --to ipynb heston_smile.py`). The sweep is made by:
#
#     sim sweep scenarios/heston_barrier.lua --set strike=80,90,100,110,120 --set maturity=0.25,0.5,1,2 -o heston_smile.out

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np

import simview
from simview import smile

# An argument of the script, or else this name. A Jupyter kernel has arguments of its own, which begin with a dash.
folder = next((argument for argument in sys.argv[1:2] if argument[0] != "-"), "heston_smile.out")
sweep = simview.open_sweep(folder)
frame = sweep.frame
assert (frame["state"] == "done").all()
points = smile.points([sweep[name] for name in frame.index])
for point in points:
    print(f"strike {point.strike:g}, maturity {point.maturity:g}: volatility {point.volatility:.4f} ± {point.error:.4f} (one standard error)")

# %% [markdown]
# ## The skew
#
# The variance rises as the price falls (rho < 0): strikes below the spot are dearer than one volatility would have them, and the
# skew fades with the maturity.

# %%
skew = {}
for maturity in sorted({point.maturity for point in points}):
    first, *_, last = [point for point in points if point.maturity == maturity]
    slope = (last.volatility - first.volatility) / np.log(last.strike / first.strike)
    error = np.hypot(first.error, last.error) / np.log(last.strike / first.strike)
    skew[maturity] = slope
    print(f"maturity {maturity:g}: skew {slope:.4f} ± {error:.4f} a unit of log strike")
    assert slope < -3 * error
slopes = list(skew.values())
print(f"the skew fades with maturity: {all(a < b for a, b in zip(slopes, slopes[1:]))}")

# %%
figure, axes = plt.subplots(1, 2, figsize=(7, 2.8), layout="constrained")
smile.lines(axes[0], points)
axes[1].plot(list(skew), slopes, color="#0072B2", marker="o", ms=3)
axes[1].set(xlabel="maturity", ylabel="skew")
figure.savefig("heston_smile.png", dpi=200)
