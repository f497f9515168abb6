#!/usr/bin/env python3
"""Reference values for tests/diffusion/diffusion_padding.c: python3 neighbours.py > ../../data/neighbours.txt (needs
NumPy).

The largest Lyapunov exponent of the Kuramoto-Sivashinsky equation with rates on 3/2 as many cells: two runs of ETD1 by
NumPy's transforms, which begin at a small distance and are brought back to it after each interval.
"""
import numpy as np

from stirred import normals

N, SIZE, DT, EVERY, INTERVALS, START, DISTANCE, TWIN = 32, 22.0, 0.05, 20, 5, 2, 1e-5, 16
FINE = 3 * N // 2
k = 2 * np.pi * np.fft.fftfreq(FINE, SIZE / FINE)
keep = abs(np.fft.fftfreq(FINE, 1 / FINE)) < N / 2
L = k**2 - k**4
safe = np.where(L == 0, 1, L)
PHI = np.where(L == 0, DT, np.expm1(L * DT) / safe)


def step(c):
    u, u_x = np.real(np.fft.ifft(c)), np.real(np.fft.ifft(1j * k * c))
    return np.exp(L * DT) * c - keep * PHI * np.fft.fft(u * u_x)


def norm(c):
    return np.sqrt((abs(c) ** 2).sum()) / FINE


if __name__ == "__main__":
    x = (np.arange(FINE) + 0.5) * SIZE / FINE
    u = np.cos(2 * np.pi * x / SIZE) + 0.3 * np.sin(4 * np.pi * x / SIZE) + 0.2
    noise = np.array([normals(cell, 0, TWIN)[0] for cell in range(FINE)])
    c = np.fft.fft(u)
    twin = keep * np.fft.fft(u + DISTANCE * np.sqrt((u**2).mean()) * noise)
    growths = []
    for interval in range(INTERVALS + 1):
        twin = c + (twin - c) * DISTANCE * norm(c) / norm(twin - c)
        distance = norm(twin - c)
        if interval == INTERVALS:
            break
        for _ in range(EVERY):
            c, twin = step(c), step(twin)
        growths.append(np.log(norm(twin - c) / distance) / (EVERY * DT))
    print("# Made by tests/diffusion/neighbours.py with NumPy: the growth in the last interval, and its mean")
    print("growth 0 2\n%.15g\n%.15g" % (growths[-1], np.mean(growths[START:])))
