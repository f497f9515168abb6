#!/usr/bin/env python3
"""The gas of bench/gas.lua as a Warp user writes it: its hash grid, made anew each step, one thread a sphere in the
grid's order, a captured graph.

usage: collision_warp.py [N] [STEPS]     STEPS are timed after 3 STEPS; default 1000000, 500

Checked first on 1000 spheres against all pairs in float64. Prints ms a step, temperature and coordination; exit 77:
Warp is not installed, or there is no GPU.
"""
import math
import sys
import time

try:
    import numpy as np
    import warp as wp
    wp.config.quiet = True
    wp.init()
    if not wp.is_cuda_available():
        raise ImportError("no GPU")
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)

PACKING, STIFFNESS, TEMPERATURE, DT = 0.3, 1000.0, 0.1, 0.0014


@wp.kernel
def kick(grid: wp.uint64, side: float, stiffness: float, dt: float, x: wp.array(dtype=wp.vec3), v: wp.array(dtype=wp.vec3),
         force_out: wp.array(dtype=wp.vec3), touching: wp.array(dtype=int)):
    i = wp.hash_grid_point_id(grid, wp.tid())
    at = x[i]
    force = wp.vec3()
    met = int(0)
    for j in wp.hash_grid_query(grid, at, 1.0):
        if j != i:
            d = at - x[j]
            d = wp.vec3(d[0] - side * wp.round(d[0] / side), d[1] - side * wp.round(d[1] / side),
                        d[2] - side * wp.round(d[2] / side))
            square = wp.dot(d, d)
            if square < 1.0:
                r = wp.sqrt(square)
                force += (stiffness * (1.0 - r) / r) * d
                met += 1
    touching[i] = met
    force_out[i] = force
    v[i] = v[i] + dt * force


@wp.kernel
def drift(first: float, side: float, dt: float, v: wp.array(dtype=wp.vec3), x: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    y = x[i] + dt * v[i]
    for c in range(3):
        if y[c] < first:
            y[c] = y[c] + side
        if y[c] >= first + side:
            y[c] = y[c] - side
    x[i] = y


class Gas:
    def __init__(self, n):
        self.n, self.side = n, (n * math.pi / 6 / PACKING) ** (1 / 3)
        self.cells = int(self.side)
        self.width = self.side / self.cells
        sites = math.ceil(n ** (1 / 3) - 1e-9)
        site = (np.arange(n) * (sites**3 / n)).astype(np.int64)
        at = np.stack([site // sites // sites, site // sites % sites, site % sites], 1)
        v = np.random.default_rng(1).normal(0, TEMPERATURE**0.5, (n, 3))
        # The box begins one cell from 0: the grid rounds towards 0, so that the cell at 0 would have two widths.
        self.x = wp.array((self.width + (at + 0.5) * (self.side / sites)).astype(np.float32), dtype=wp.vec3)
        self.v = wp.array((v - v.mean(0)).astype(np.float32), dtype=wp.vec3)
        self.force, self.touching = wp.zeros(n, dtype=wp.vec3), wp.zeros(n, dtype=int)
        # As many cells as fill the box: the grid then wraps around like the periodic box.
        self.grid = wp.HashGrid(self.cells, self.cells, self.cells)
        self.grid.reserve(n)

    def step(self):
        self.grid.build(self.x, self.width)
        wp.launch(kick, self.n, [self.grid.id, self.side, STIFFNESS, DT, self.x, self.v, self.force, self.touching])
        wp.launch(drift, self.n, [self.width, self.side, DT, self.v, self.x])


def check():
    """fp32 positions of 12 and an overlap of 0.01."""
    gas = Gas(1000)
    for _ in range(400):
        gas.step()
    x = gas.x.numpy().astype(float)
    gas.step()
    d = x[:, None] - x[None]
    d -= gas.side * np.round(d / gas.side)
    r = np.sqrt((d**2).sum(2)) + 10 * np.eye(len(x))
    expected = (np.where(r < 1, STIFFNESS * (1 - r) / r, 0.0)[:, :, None] * d).sum(1)
    if not np.abs(gas.force.numpy() - expected).max() < 1e-2 or gas.touching.numpy().sum() == 0:
        sys.exit("the Warp program's forces are wrong")


def main():
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1000000
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    check()
    gas = Gas(n)
    gas.step()
    try:
        with wp.ScopedCapture() as capture:
            gas.step()
        advance = lambda: wp.capture_launch(capture.graph)
    except Exception:  # a version that cannot capture the making of its grid
        advance = gas.step
    for _ in range(3 * steps):
        advance()
    wp.synchronize()
    begin = time.perf_counter()
    for _ in range(steps):
        advance()
    wp.synchronize()
    took = (time.perf_counter() - begin) / steps
    print(f"Warp {wp.config.version}, n {n}: {1e3 * took:.4f} ms a step, "
          f"temperature {(gas.v.numpy().astype(float) ** 2).mean():.5f}, coordination {gas.touching.numpy().mean():.5f}")


main()
