#!/usr/bin/env python3
"""Reference values for tests/diffusion/diffusion_flows.c: python3 flows.py > data/flows.txt (needs NumPy).

Three equations by a pseudo-spectral code that is independent of sim: full complex transforms of NumPy, the classical
Runge-Kutta scheme of order 4 with an integrating factor, and steps so short that their error is below 1e-12.
"""
import numpy as np


def wavenumbers(n, axes):
    """k[axis], and the same with 0 where k is its own mirror image, for odd derivatives. Arrays are [z][y][x]."""
    k = np.array(np.meshgrid(*[np.fft.fftfreq(n, 1 / n)] * axes, indexing="ij")[::-1])
    return k, np.where(abs(k) == n // 2, 0, k)


def points(n, axes):
    x = (np.arange(n) + 0.5) * 2 * np.pi / n
    return np.meshgrid(*[x] * axes, indexing="ij")[::-1]


def to_real(coefficients):
    return np.real(np.fft.ifftn(coefficients))


def march(start, rate, nu, k, t_end, steps):
    u, dt = start, t_end / steps
    half = np.exp(-nu * (k**2).sum(0) * dt / 2)
    for _ in range(steps):
        a = rate(u)
        b = rate(half * (u + dt / 2 * a))
        c = rate(half * u + dt / 2 * b)
        d = rate(half * half * u + dt * half * c)
        u = half * half * u + dt / 6 * (half * half * a + 2 * half * (b + c) + d)
    return u


BINS = 5


def binned(values, k):
    bins = np.minimum(np.rint(np.sqrt((k**2).sum(0)) + 1e-9).astype(int), BINS - 1)
    return np.bincount(bins.ravel(), values.ravel(), BINS)


def budgets(u, rates, nu, k):
    """Of coefficients u[field] of a flow and of its rates, by |k|: what sim writes in the tables of these names."""
    size, k2 = u[0].size, (k**2).sum(0)
    mean = lambda a, b: np.real(np.conj(a) * b) / size**2
    each = lambda of: np.concatenate([binned(of(a, b), k) for a, b in zip(u, rates)])
    out = {"transfer": each(mean), "dissipation": each(lambda a, b: nu * k2 * mean(a, a))}
    if len(u) < 3:
        return out
    curl = 1j * np.cross(k, u, axis=0)
    total = lambda a, b: mean(a, b).sum(0)
    out["enstrophy"] = binned(total(curl, curl) / 2, k)
    out["enstrophy_transfer"] = binned(k2 * total(u, rates), k)
    out["enstrophy_dissipation"] = binned(nu * k2 * total(curl, curl), k)
    out["helicity"] = binned(total(u, curl), k)
    out["helicity_transfer"] = binned(2 * total(curl, rates), k)
    out["helicity_dissipation"] = binned(2 * nu * k2 * total(curl, u), k)
    return out


def vorticity(n=16, nu=0.02):
    (k, odd), (x, y) = wavenumbers(n, 2), points(n, 2)
    k2 = (k**2).sum(0)
    keep = (abs(k) < n / 3).all(0).astype(float)
    inverse = np.where(k2 > 0, -1 / np.where(k2 > 0, k2, 1), 0)
    start = np.sin(x) * np.cos(2 * y) + np.cos(3 * x + 1) * np.sin(y) + np.cos(2 * x - 3 * y)

    def rate(w):
        psi = inverse * w
        u, v = to_real(-1j * odd[1] * psi), to_real(1j * odd[0] * psi)
        return -keep * np.fft.fftn(u * to_real(1j * odd[0] * w) + v * to_real(1j * odd[1] * w))

    w = march(keep * np.fft.fftn(start), rate, nu, k, 0.5, 400)
    return [to_real(w)], budgets(w[None], rate(w)[None], nu, k)


def navier_stokes(n=8, nu=0.05):
    (k, odd), (x, y, z) = wavenumbers(n, 3), points(n, 3)
    keep = (abs(k) < n / 3).all(0).astype(float)
    square = (odd**2).sum(0)
    inverse = np.where(square > 0, 1 / np.where(square > 0, square, 1), 0)

    def project(u):
        return u - odd * ((odd * u).sum(0) * inverse)

    def rate(u):
        real = [to_real(a) for a in u]
        out = [-sum(real[j] * to_real(1j * odd[j] * u[i]) for j in range(3)) for i in range(3)]
        return project(np.array([keep * np.fft.fftn(a) for a in out]))

    start = [np.sin(x) * np.cos(y) * np.cos(z) + 0.3 * np.sin(2 * y + z) + 0.1 * np.cos(2 * x),
             -np.cos(x) * np.sin(y) * np.cos(z) + 0.2 * np.cos(x - 2 * z + y), 0.2 * np.sin(x + 2 * y)]
    u = march(project(np.array([keep * np.fft.fftn(a) for a in start])), rate, nu, k, 0.5, 400)
    return [to_real(a) for a in u], budgets(u, rate(u), nu, k)


def porous(n=12, nu=0.02):
    (k, odd), (x, y) = wavenumbers(n, 2), points(n, 2)
    start = 1 + 0.5 * np.sin(x) * np.cos(y + 1)

    def rate(c):
        u, u_x, u_y = to_real(c), to_real(1j * odd[0] * c), to_real(1j * odd[1] * c)
        fluxes = [-(0.1 + 0.05 * np.sin(x) * np.cos(y)) * u_x * (1 + u**2), -(0.1 + 0.05 * np.cos(y)) * u_y]
        return -sum(1j * q * np.fft.fftn(f) for q, f in zip(odd, fluxes))

    return [to_real(march(np.fft.fftn(start), rate, nu, k, 0.5, 400))], {}


if __name__ == "__main__":
    print("# Made by tests/diffusion/flows.py with NumPy: fields at t = 0.5, [nz][ny][nx] each, and budgets")
    cases = {"vorticity": vorticity(), "navier_stokes": navier_stokes(), "porous": porous()}
    for name, (fields, tables) in cases.items():
        for number, field in enumerate(fields):
            print(name, number, field.size)
            print("\n".join("%.15g" % value for value in field.ravel()))
        for table, values in tables.items():
            print("%s.%s" % (name, table), 0, values.size)
            print("\n".join("%.15g" % value for value in values))
