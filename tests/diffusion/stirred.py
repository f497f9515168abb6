#!/usr/bin/env python3
"""Reference values for tests/diffusion/diffusion_forcing.c: python3 stirred.py > ../../data/stirred.txt (needs NumPy).

Fields with rates u - u^3, stirred at random between walls, by steps of ETD1 that are independent of sim: series as
products with matrices of their values in the cells, and Philox4x32-10 from the paper of Salmon and others (SC11).
Every real degree of freedom of the shell gets a normal number of one variance, keyed by its wavenumber.
"""
import itertools

import numpy as np

SEED, FIELDS = 11, 8  # FIELDS: draws of a kind, one for each field that a scenario may have
STEPS, DT, POWER = 8, 0.05, 0.3


def philox(key, counter):
    low, c, k = 0xFFFFFFFF, list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & low, (a >> 32) ^ c[3] ^ k[1], a & low]
        k = [(k[0] + 0x9E3779B9) & low, (k[1] + 0xBB67AE85) & low]
    return c


def normals(entity, step, draw):
    low = 0xFFFFFFFF
    w = philox((SEED & low, SEED >> 32), (entity & low, entity >> 32, step & low, (step >> 32) << 16 | draw))
    u = [(((w[i] << 32 | w[i + 1]) >> 11) + 0.5) / 2**53 for i in (0, 2)]
    radius, angle = np.sqrt(-2 * np.log(u[0])), 2 * np.pi * u[1]
    return radius * np.cos(angle), radius * np.sin(angle)


def series(kind, n, size):
    """Modes, their wavenumbers, and functions [mode][cell] of mean square 1, orthogonal over the cells."""
    x = (np.arange(n) + 0.5) * size / n
    if kind == "periodic":
        modes = np.arange(n)
        signed = np.where(2 * modes > n, modes - n, modes)
        k = 2 * np.pi * signed / size
        return modes, k, np.exp(1j * np.outer(k, x - x[0]))
    modes = np.arange(n) + (kind == "fixed")
    k = np.pi * (modes + 0.5 * (kind in ("low", "high"))) / size
    functions = {"no_flux": np.cos, "fixed": np.sin, "low": np.sin, "high": np.cos}[kind](np.outer(k, x))
    return modes, k, functions / np.sqrt((functions**2).mean(1))[:, None]


class Field:
    """A field of the grid n with series of these kinds along x, y, z."""

    def __init__(self, n, size, kinds):
        self.n, self.kinds = n, kinds
        self.along = [series(*a) for a in zip(kinds, n, size)]
        self.k2 = sum(np.meshgrid(*[k**2 for _, k, _ in self.along], indexing="ij"))

    def forward(self, u):
        for axis, (_, _, functions) in enumerate(self.along):
            u = np.moveaxis(np.tensordot(np.conj(functions) / self.n[axis], u, (1, axis)), 0, axis)
        return u

    def inverse(self, c):
        for axis, (_, _, functions) in enumerate(self.along):
            c = np.moveaxis(np.tensordot(functions, c, (0, axis)), 0, axis)
        return np.real(c)

    def shell(self, low, high):
        return np.argwhere((self.k2 >= low**2 * (1 - 1e-9)) & (self.k2 <= high**2 * (1 + 1e-9)))

    def number(self, modes):
        """The number that keys a mode."""
        out = 0
        for kind, n, m in zip(self.kinds, self.n, modes):
            out = out * (n + (kind != "periodic")) + int(m)
        return out

    def noise(self, at, field, step, variance):
        """Coefficients: k and -k share the number of the lower one, and are conjugate."""
        out = np.zeros(self.n, complex)
        for index in at:
            other = tuple((n - i) % n if kind == "periodic" else i for kind, n, i in zip(self.kinds, self.n, index))
            here, there = (self.number([a[0][i] for a, i in zip(self.along, which)]) for which in (index, other))
            re, im = normals(min(here, there), step + 1, FIELDS + field)
            if here == there:
                out[tuple(index)] = np.sqrt(variance) * re
            else:
                out[tuple(index)] = np.sqrt(variance / 2) * (re + 1j * im * (1 if here < there else -1))
        return out


def stirred(n, size, walls, D, shell, start):
    fields = [Field(n, size, kinds) for kinds in walls]
    x = np.meshgrid(*[(np.arange(a) + 0.5) * s / a for a, s in zip(n, size)], indexing="ij")
    shells = [f.shell(*shell) for f in fields]
    variance = 2 * POWER / sum(map(len, shells))
    c = [f.forward(s(*x)) for f, s in zip(fields, start)]
    for step, (i, f) in itertools.product(range(STEPS), enumerate(fields)):
        u = f.inverse(c[i])
        a = -D[i] * f.k2 * DT
        safe = np.where(a == 0, 1, a)
        phi = np.where(a == 0, 1, np.expm1(a) / safe)
        weight = np.sqrt(DT * np.where(a == 0, 1, np.expm1(2 * a) / (2 * safe)))
        noise = f.noise(shells[i], i, step, variance)
        c[i] = np.exp(a) * c[i] + DT * phi * f.forward(u - u**3) + weight * noise
    return [f.inverse(a).T for f, a in zip(fields, c)]  # [z][y][x]


if __name__ == "__main__":
    print("# Made by tests/diffusion/stirred.py with NumPy: fields after 8 steps of 0.05, [nz][ny][nx] each")
    CASES = {
        "line": ((24,), (3.0,), [("fixed",)], [0.02], (2, 6), [lambda x: 0.2 * x * (3 - x)]),
        "channel": ((16, 12), (6.0, 2.0), [("periodic", "no_flux"), ("periodic", "fixed")], [0.02, 0.05], (1, 4),
                    [lambda x, y: 0.3 * np.cos(np.pi / 3 * x) + 0 * y, lambda x, y: 0.1 * y * (2 - y) + 0 * x]),
        "box": ((10, 9, 8), (3.0, 2.0, 4.0), [("no_flux", "low", "periodic"), ("fixed", "high", "periodic")],
                [0.02, 0.05], (2, 4),
                [lambda x, y, z: 0.2 * y + 0 * (x + z), lambda x, y, z: 0.1 * x * (2 - y) + 0 * z]),
        "sealed": ((9, 7, 8), (3.0, 2.0, 4.0), [("no_flux", "fixed", "low")], [0.03], (1, 3),
                   [lambda x, y, z: 0.1 * y * z + 0 * x]),
    }
    for name, case in CASES.items():
        for number, field in enumerate(stirred(*case)):
            print(name, number, field.size)
            print("\n".join("%.15g" % value for value in field.ravel()))
