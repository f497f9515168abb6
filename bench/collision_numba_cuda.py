"""The gas of bench/gas.lua as two users write it with Numba, one thread a sphere: `cells` sorts and searches in every
step, `lists` keeps lists of neighbours with a skin for 50 steps, in which no sphere may move by half of it.

    collision_numba_cuda.py cells|lists [N] [STEPS]

Packing 0.3, unit mass and diameter, stiffness 1000, temperature 0.1, restitution 1, dt 0.0014, fp32, periodic; 500 steps
timed after 1500. Forces are checked against all pairs of 1000 spheres first. Prints ms a step, and temperature and coordination,
a sphere, which `sim bench bench/gas.lua` prints too.
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
SKIN, KEPT, ROOM = 0.3, 50, 32  # of lists: skin, steps, neighbours


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


@cuda.jit(fastmath=True)
def make_lists(x, side, cells, first, n_cells, reach, near, counts):
    """near[k, i] is the k-th sphere nearer than reach to i. counts may exceed the size, which the host checks."""
    i = cuda.grid(1)
    n = x.shape[0]
    if i >= n:
        return
    x0, x1, x2 = x[i, 0], x[i, 1], x[i, 2]
    scale = np.float32(cells) / side
    a = min(int(x0 * scale), cells - 1)
    b = min(int(x1 * scale), cells - 1)
    c = min(int(x2 * scale), cells - 1)
    found = 0
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
                    if d0 * d0 + d1 * d1 + d2 * d2 < reach * reach and j != i:
                        if found < near.shape[0]:
                            near[found, i] = j
                        found += 1
    counts[i] = found


@cuda.jit(fastmath=True)
def step_lists(x, v, side, near, counts, stiffness, dt, new_x, new_v, touching):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    x0, x1, x2 = x[i, 0], x[i, 1], x[i, 2]
    f0 = np.float32(0)
    f1 = np.float32(0)
    f2 = np.float32(0)
    met = 0
    half = np.float32(0.5) * side
    for k in range(counts[i]):
        j = near[k, i]
        d0 = x0 - x[j, 0]
        d1 = x1 - x[j, 1]
        d2 = x2 - x[j, 2]
        d0 -= side if d0 > half else (-side if d0 < -half else np.float32(0))
        d1 -= side if d1 > half else (-side if d1 < -half else np.float32(0))
        d2 -= side if d2 > half else (-side if d2 < -half else np.float32(0))
        square = d0 * d0 + d1 * d1 + d2 * d2
        if square < np.float32(1):
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


STIFFNESS, DT = np.float32(1000), np.float32(0.0014)


class Gas:
    """x and v hold the state after a step, old_x and old_v the state before it, sphere by sphere in the same order."""

    def __init__(self, n, lists):
        self.n, self.lists = n, lists
        self.side = np.float32((n * math.pi / 6 / 0.3) ** (1 / 3))
        sites = math.ceil(n ** (1 / 3) - 1e-9)
        site = (np.arange(n) * (sites ** 3 / n)).astype(np.int64)
        at = np.stack([site // sites // sites, site // sites % sites, site % sites], 1)
        v = np.random.default_rng(1).normal(0, math.sqrt(0.1), (n, 3)).astype(np.float32)
        v -= v.mean(0)
        self.x = cuda.to_device(((at + 0.5) * (self.side / sites)).astype(np.float32))
        self.v = cuda.to_device(v)
        self.old_x, self.old_v = cuda.device_array((n, 3), np.float32), cuda.device_array((n, 3), np.float32)
        self.cell_of, self.rank = cuda.device_array(n, np.int32), cuda.device_array(n, np.int32)
        self.touching = cuda.device_array(n, np.int32)
        self.cells = int(self.side / (1 + SKIN)) if lists else int(self.side)
        self.n_cells = self.cells ** 3
        self.zeros = cuda.to_device(np.zeros(self.n_cells, np.int32))
        self.first = cuda.device_array(self.n_cells, np.int32)
        self.blocks, self.scans = (n + THREADS - 1) // THREADS, [self.n_cells]
        for _ in range(3):
            self.scans.append((self.scans[-1] + 1023) // 1024)
        self.sums = [cuda.device_array(k, np.int32) for k in self.scans[1:]]
        if lists:
            self.near, self.counts = cuda.device_array((ROOM, n), np.int32), cuda.device_array(n, np.int32)
        self.age = 0

    def sort(self):
        """x and v by cells into old_x and old_v; first holds where the cells begin."""
        self.first.copy_to_device(self.zeros)
        count[self.blocks, THREADS](self.x, self.side, self.cells, self.cell_of, self.rank, self.first)
        scan_blocks[self.scans[1], 1024](self.first, self.sums[0])
        scan_blocks[self.scans[2], 1024](self.sums[0], self.sums[1])
        scan_blocks[self.scans[3], 1024](self.sums[1], self.sums[2])
        add_blocks[self.scans[2], 1024](self.sums[0], self.sums[1])
        add_blocks[self.scans[1], 1024](self.first, self.sums[0])
        scatter[self.blocks, THREADS](self.x, self.v, self.cell_of, self.rank, self.first, self.old_x, self.old_v)

    def step(self):
        if self.lists and self.age % KEPT:
            self.x, self.old_x, self.v, self.old_v = self.old_x, self.x, self.old_v, self.v
        else:
            self.sort()
            if self.lists:
                make_lists[self.blocks, THREADS](self.old_x, self.side, self.cells, self.first, self.n_cells,
                                                 np.float32(1 + SKIN), self.near, self.counts)
        self.age += 1
        if self.lists:
            step_lists[self.blocks, THREADS](self.old_x, self.old_v, self.side, self.near, self.counts, STIFFNESS, DT,
                                             self.x, self.v, self.touching)
        else:
            step[self.blocks, THREADS](self.old_x, self.old_v, self.side, self.cells, self.first, self.n_cells, STIFFNESS,
                                       DT, self.x, self.v, self.touching)

    def check_lists(self):
        """Checks the size of lists, and that the fastest sphere moves by at most half the skin while they are kept."""
        fastest = np.sqrt((self.v.copy_to_host().astype(float) ** 2).sum(1).max())
        if self.counts.copy_to_host().max() > ROOM or fastest * float(DT) * KEPT > SKIN / 2:
            sys.exit("the Numba program's lists are too small or too old")


def check(lists, n=1000, steps=400):
    """Forces against all pairs in float64: fp32 positions of 12 and an overlap of 0.01, and velocities of 1 over dt."""
    gas = Gas(n, lists)
    for _ in range(steps):
        gas.step()
    x, side = gas.old_x.copy_to_host().astype(float), float(gas.side)
    force = (gas.v.copy_to_host().astype(float) - gas.old_v.copy_to_host()) / float(DT)
    d = x[:, None] - x[None]
    d -= side * np.round(d / side)
    r = np.sqrt((d**2).sum(2)) + 10 * np.eye(n)
    expected = (np.where(r < 1, float(STIFFNESS) * (1 - r) / r, 0)[:, :, None] * d).sum(1)
    if not np.abs(force - expected).max() < 1e-2 or not (r < 1).any():
        sys.exit("the Numba program's forces are wrong")


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("cells", "lists"):
        sys.exit(__doc__)
    lists = sys.argv[1] == "lists"
    n = int(float(sys.argv[2])) if len(sys.argv) > 2 else 1000000
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 500
    check(lists)
    gas = Gas(n, lists)
    for _ in range(1500):
        gas.step()
    cuda.synchronize()
    start = time.perf_counter()
    for _ in range(steps):
        gas.step()
    cuda.synchronize()
    took = (time.perf_counter() - start) / steps
    if lists:
        gas.check_lists()
    u = gas.v.copy_to_host().astype(np.float64)
    print(f"Numba, {sys.argv[1]}, n {n}: {1e3 * took:.4f} ms a step, temperature {(u * u).sum() / 3 / n:.5f}, coordination "
          f"{gas.touching.copy_to_host().sum() / n:.5f}")


if __name__ == "__main__":
    main()
