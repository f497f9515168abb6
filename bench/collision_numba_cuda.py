"""The gas of bench_collision_cuda as a careful user writes it with Numba: cells, counting sort, one thread a sphere.

    collision_numba_cuda.py [N] [STEPS]

Packing 0.3, unit mass and diameter, stiffness 1000, temperature 0.1, restitution 1, dt 0.0014, fp32, periodic; 500 steps
timed after 1500. Prints ms a step, and temperature and contacts a sphere, which bench_collision_cuda prints too.
"""
import math
import sys
import time

try:
    import numpy as np
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # some versions of numba ask for it
    from numba import cuda
    if not cuda.is_available():
        raise ImportError("no GPU")
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)

THREADS = 128


@cuda.jit(fastmath=True)
def count(x, side, cells, cell_of, rank, counts):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    scale = cells / side
    a = min(int(x[i, 0] * scale), cells - 1)
    b = min(int(x[i, 1] * scale), cells - 1)
    c = min(int(x[i, 2] * scale), cells - 1)
    cell = (a * cells + b) * cells + c
    cell_of[i] = cell
    rank[i] = cuda.atomic.add(counts, cell, 1)


@cuda.jit
def scan_blocks(counts, sums):
    shared = cuda.shared.array(1024, np.int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    own = counts[i] if i < counts.shape[0] else 0
    shared[t] = own
    cuda.syncthreads()
    step = 1
    while step < 1024:
        more = shared[t - step] if t >= step else 0
        cuda.syncthreads()
        shared[t] += more
        cuda.syncthreads()
        step *= 2
    if i < counts.shape[0]:
        counts[i] = shared[t] - own
    if t == 1023:
        sums[cuda.blockIdx.x] = shared[t]


@cuda.jit
def add_blocks(counts, sums):
    i = cuda.grid(1)
    if i < counts.shape[0]:
        counts[i] += sums[cuda.blockIdx.x]


@cuda.jit
def scatter(x, v, cell_of, rank, first, sorted_x, sorted_v):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    k = first[cell_of[i]] + rank[i]
    for c in range(3):
        sorted_x[k, c] = x[i, c]
        sorted_v[k, c] = v[i, c]


@cuda.jit(fastmath=True)
def step(x, v, side, cells, first, n_cells, stiffness, dt, new_x, new_v, touching):
    i = cuda.grid(1)
    n = x.shape[0]
    if i >= n:
        return
    x0, x1, x2 = x[i, 0], x[i, 1], x[i, 2]
    scale = np.float32(cells) / side
    a = min(int(x0 * scale), cells - 1)
    b = min(int(x1 * scale), cells - 1)
    c = min(int(x2 * scale), cells - 1)
    f0 = np.float32(0)
    f1 = np.float32(0)
    f2 = np.float32(0)
    met = 0
    half = np.float32(0.5) * side
    for da in range(-1, 2):
        aa = (a + da + cells) % cells
        for db in range(-1, 2):
            row = (aa * cells + (b + db + cells) % cells) * cells
            for dc in range(-1, 2):
                cell = row + (c + dc + cells) % cells
                last = first[cell + 1] if cell + 1 < n_cells else n
                for j in range(first[cell], last):
                    d0 = x0 - x[j, 0]
                    d1 = x1 - x[j, 1]
                    d2 = x2 - x[j, 2]
                    d0 -= side if d0 > half else (-side if d0 < -half else np.float32(0))
                    d1 -= side if d1 > half else (-side if d1 < -half else np.float32(0))
                    d2 -= side if d2 > half else (-side if d2 < -half else np.float32(0))
                    square = d0 * d0 + d1 * d1 + d2 * d2
                    if square < np.float32(1) and j != i:
                        distance = math.sqrt(square)
                        force = stiffness * (np.float32(1) - distance) / distance
                        f0 += force * d0
                        f1 += force * d1
                        f2 += force * d2
                        met += 1
    touching[i] = met
    for k in range(3):
        f = f0 if k == 0 else (f1 if k == 1 else f2)
        u = v[i, k] + f * dt
        y = x[i, k] + u * dt
        if y < 0:
            y += side
        if y >= side:
            y -= side
        new_v[i, k] = u
        new_x[i, k] = y


def main():
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1000000
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    side = np.float32((n * math.pi / 6 / 0.3) ** (1 / 3))
    sites = math.ceil(n ** (1 / 3) - 1e-9)
    site = (np.arange(n) * (sites ** 3 / n)).astype(np.int64)
    at = np.stack([site // sites // sites, site // sites % sites, site % sites], 1)
    rng = np.random.default_rng(1)
    v = rng.normal(0, math.sqrt(0.1), (n, 3)).astype(np.float32)
    v -= v.mean(0)
    x = cuda.to_device(((at + 0.5) * (side / sites)).astype(np.float32))
    v = cuda.to_device(v)
    sorted_x, sorted_v = cuda.device_array((n, 3), np.float32), cuda.device_array((n, 3), np.float32)
    cell_of, rank = cuda.device_array(n, np.int32), cuda.device_array(n, np.int32)
    touching = cuda.device_array(n, np.int32)
    cells = int(side)
    n_cells = cells ** 3
    blocks, scans = (n + THREADS - 1) // THREADS, (n_cells + 1023) // 1024
    scans_2, scans_3 = (scans + 1023) // 1024, ((scans + 1023) // 1024 + 1023) // 1024
    zeros = cuda.to_device(np.zeros(n_cells, np.int32))
    counts = cuda.device_array(n_cells, np.int32)
    sums, sums_2, sums_3 = (cuda.device_array(k, np.int32) for k in (scans, scans_2, scans_3))
    k, dt = np.float32(1000), np.float32(0.0014)

    def advance():
        counts.copy_to_device(zeros)
        count[blocks, THREADS](x, side, cells, cell_of, rank, counts)
        scan_blocks[scans, 1024](counts, sums)
        scan_blocks[scans_2, 1024](sums, sums_2)
        scan_blocks[scans_3, 1024](sums_2, sums_3)
        add_blocks[scans_2, 1024](sums, sums_2)
        add_blocks[scans, 1024](counts, sums)
        scatter[blocks, THREADS](x, v, cell_of, rank, counts, sorted_x, sorted_v)
        step[blocks, THREADS](sorted_x, sorted_v, side, cells, counts, n_cells, k, dt, x, v, touching)

    for _ in range(1500):
        advance()
    cuda.synchronize()
    start = time.perf_counter()
    for _ in range(steps):
        advance()
    cuda.synchronize()
    took = (time.perf_counter() - start) / steps
    u = v.copy_to_host().astype(np.float64)
    print(f"Numba, n {n}: {1e3 * took:.4f} ms a step, T {(u * u).sum() / 3 / n:.5f}, contacts a particle "
          f"{touching.copy_to_host().sum() / 2 / n:.5f}")


main()
