#!/usr/bin/env python3
"""Writes rock.h5 for `what = "rock"` of fluid.lua: balls 48 of 256 cells across, at random and
overlapping, in a periodic box of N^3 cells. The pores are 0.70 of it. Needs numpy and h5py: fluid_rock.py N"""
import sys

import h5py
import numpy as np

n = int(sys.argv[1])
radius = n * 24 / 256
draws = np.random.default_rng(1)
solid = np.zeros((n, n, n), np.uint8)
for centre in draws.uniform(0, n, (int(0.35 * n**3 / (4 / 3 * np.pi * radius**3)), 3)):
    cells = [np.arange(low, low + int(2 * radius + 2)) for low in np.floor(centre - radius).astype(int)]
    square = sum(np.meshgrid(*[(c + 0.5 - x) ** 2 for c, x in zip(cells, centre)], indexing="ij"))
    solid[np.ix_(*[c % n for c in cells])] |= square < radius * radius
with h5py.File("rock.h5", "w") as file:
    file["rock"] = solid
print(f"rock.h5: porosity {1 - solid.mean():.3f}")
