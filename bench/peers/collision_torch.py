#!/usr/bin/env python3
"""The gas of bench/gas.lua as a PyTorch user writes it: spheres sorted by cells, 27 cells around each, a slot of
all cells at a time.

usage: collision_torch.py [N] [STEPS] [DEVICE]     STEPS are timed after 3 STEPS; default 1000000, 100, cuda

Checked first on 1000 spheres against all pairs in float64. Prints ms a step, temperature and coordination; exit 77:
PyTorch is not installed, or there is no GPU.
"""
import math
import sys
import time

try:
    import torch
    device = sys.argv[3] if len(sys.argv) > 3 else "cuda"
    if device == "cuda" and not torch.cuda.is_available():
        raise ImportError("no GPU")
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)

PACKING, STIFFNESS, TEMPERATURE, DT = 0.3, 1000.0, 0.1, 0.0014


class Gas:
    def __init__(self, n):
        generator = torch.Generator().manual_seed(1)
        self.n, self.side = n, (n * math.pi / 6 / PACKING) ** (1 / 3)
        self.cells = int(self.side)
        sites = math.ceil(n ** (1 / 3) - 1e-9)
        site = (torch.arange(n, dtype=torch.float64) * (sites**3 / n)).long()
        at = torch.stack([site // sites // sites, site // sites % sites, site % sites], 1)
        v = torch.randn(n, 3, generator=generator) * TEMPERATURE**0.5
        self.x = ((at + 0.5) * (self.side / sites)).float().to(device)
        self.v = (v - v.mean(0)).to(device)
        self.me = torch.arange(n, device=device)

    def sort(self):
        c = (self.x * (self.cells / self.side)).long().clamp_(max=self.cells - 1)
        cell, order = torch.sort((c[:, 0] * self.cells + c[:, 1]) * self.cells + c[:, 2])
        self.x, self.v, self.c = self.x[order], self.v[order], c[order]
        self.count = torch.bincount(cell, minlength=self.cells**3)
        self.start = torch.cumsum(self.count, 0) - self.count

    def forces(self):
        force, touching = torch.zeros_like(self.x), torch.zeros(self.n, dtype=torch.int32, device=device)
        slots = int(self.count.max())
        for o in range(27):
            shift = torch.tensor([o // 9 - 1, o // 3 % 3 - 1, o % 3 - 1], device=device)
            c = (self.c + shift) % self.cells
            there = (c[:, 0] * self.cells + c[:, 1]) * self.cells + c[:, 2]
            start, count = self.start[there], self.count[there]
            for k in range(slots):
                j = (start + k).clamp_(max=self.n - 1)
                d = self.x - self.x[j]
                d -= self.side * torch.round(d / self.side)
                square = (d * d).sum(1)
                touch = (square < 1) & (k < count) & (j != self.me)
                r = torch.sqrt(square.clamp_min(1e-12))
                force += torch.where(touch, STIFFNESS * (1 - r) / r, 0.0)[:, None] * d
                touching += touch
        return force, touching

    def step(self):
        self.sort()
        force, self.touching = self.forces()
        self.v += force * DT
        self.x = (self.x + self.v * DT) % self.side
        self.x = torch.where(self.x >= self.side, torch.zeros_like(self.x), self.x)


def check():
    """fp32 positions of 12 and an overlap of 0.01."""
    gas = Gas(1000)
    for _ in range(400):
        gas.step()
    gas.sort()
    force, touching = gas.forces()
    x = gas.x.double()
    d = x[:, None] - x[None]
    d -= gas.side * torch.round(d / gas.side)
    r = torch.sqrt((d**2).sum(2)) + 10 * torch.eye(len(x), device=device)
    expected = (torch.where(r < 1, STIFFNESS * (1 - r) / r, 0.0)[:, :, None] * d).sum(1)
    if not (force - expected).abs().max() < 1e-2 or int(touching.sum()) == 0:
        sys.exit("the PyTorch program's forces are wrong")


def wait():
    if device == "cuda":
        torch.cuda.synchronize()


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    check()
    gas = Gas(n)
    for _ in range(3 * steps):
        gas.step()
    wait()
    begin = time.perf_counter()
    for _ in range(steps):
        gas.step()
    wait()
    took = (time.perf_counter() - begin) / steps
    print(f"PyTorch, n {n}: {1e3 * took:.4f} ms a step, temperature {float((gas.v.double() ** 2).mean()):.5f}, coordination "
          f"{float(gas.touching.double().mean()):.5f}")


main()
