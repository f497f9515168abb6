#!/usr/bin/env python3
"""Reference values for tests/diffusion/diffusion_peers.c: python3 peers.py > data/peers.txt.

Needs NumPy, exponax (0.2.0) with JAX, and FiPy (4.0.3). Flows by exponax, and by pseudo-spectral codes in NumPy that
share nothing with sim (those of flows.py, in other variables than the tests' scenarios); diffusivities that vary by
FiPy, extrapolated to cells and steps of length 0; powers of t of Taylor and Green's vortices by NumPy. Every second cell
along x and y is listed (the fourth of more than 32), as [ny][nx].
"""
import exponax
import jax
import jax.numpy as jnp
import numpy as np
from fipy import CellVariable, DiffusionTerm, Grid1D, TransientTerm
from flows import march, points, to_real, wavenumbers

jax.config.update("jax_enable_x64", True)


def by_exponax(stepper, start, steps):
    """start: [nx] or [nx][ny] values; exponax has one more axis, of fields."""
    state = jnp.asarray(start[None])
    run = jax.jit(exponax.repeat(stepper, steps))
    return [np.asarray(run(state))[0].T]


def vorticity_start(n):
    x, y = points(n, 2)
    return (np.sin(x) * np.cos(2 * y) + np.cos(3 * x + 1) * np.sin(y) + np.cos(2 * x - 3 * y)).T


def exponax_vorticity(n=64):
    stepper = exponax.stepper.NavierStokesVorticity(2, 2 * np.pi, n, 0.0025, diffusivity=0.1, order=4)
    return by_exponax(stepper, vorticity_start(n), 200)


def exponax_kolmogorov(n=64):
    stepper = exponax.stepper.KolmogorovFlowVorticity(
        2, 2 * np.pi, n, 0.0025, diffusivity=0.1, drag=-0.1, injection_mode=2, injection_scale=1.5, order=4
    )
    return by_exponax(stepper, vorticity_start(n), 200)


def kdv_burgers(n=192, size=10.0, width=5):
    """The example of Dedalus, with a wider start. By NumPy: exponax takes the real part of its scheme's coefficients,
    so that its steps are of first order where a wave moves."""
    modes = np.fft.fftfreq(n, 1 / n)
    k, keep = 2 * np.pi / size * modes, (abs(modes) < n / 3).astype(float)
    x = (np.arange(n) + 0.5) * size / n
    u = keep * np.fft.fft(np.log(1 + np.cosh(width) ** 2 / np.cosh(width * (x - 0.2 * size)) ** 2) / (2 * width))
    dt = 1 / 4000
    half = np.exp((-0.01 * k**2 - 0.02j * k**3) * dt / 2)

    def rate(c):
        return -keep * np.fft.fft(to_real(c) * to_real(1j * k * c))

    for _ in range(4000):  # the scheme of flows.py, with a complex factor
        a = rate(u)
        b = rate(half * (u + dt / 2 * a))
        c = rate(half * u + dt / 2 * b)
        d = rate(half * half * u + dt * half * c)
        u = half * half * u + dt / 6 * (half * half * a + 2 * half * (b + c) + d)
    return [to_real(u)]


class Plane:
    """Vorticity on a doubly periodic box of any size and number of cells, less the upper third of the wavenumbers."""

    def __init__(self, n, size):
        axes = [np.fft.fftfreq(m, 1 / m) for m in n]
        modes = np.array(np.meshgrid(*axes, indexing="ij"))[::-1]  # x, y of arrays [y][x]
        scale = [2 * np.pi / s for s in size[::-1]]
        self.keep = ((abs(modes[0]) < n[1] / 3) & (abs(modes[1]) < n[0] / 3)).astype(float)
        self.k = np.array([modes[0] * scale[0], modes[1] * scale[1]])
        k2 = (self.k**2).sum(0)
        self.inverse = np.where(k2 > 0, -1 / np.where(k2 > 0, k2, 1), 0)
        self.n, self.size = n, size

    def cells(self):
        axes = [(np.arange(m) + 0.5) * s / m for m, s in zip(self.n, self.size)]
        return np.meshgrid(*axes, indexing="ij")[::-1]

    def slopes(self, c):
        return [to_real(1j * q * c) for q in self.k]

    def velocity(self, w):
        psi_x, psi_y = self.slopes(self.inverse * w)
        return -psi_y, psi_x

    def carried(self, velocity, c):
        """-u . grad c, as coefficients."""
        slopes = self.slopes(c)
        return -self.keep * np.fft.fftn(velocity[0] * slopes[0] + velocity[1] * slopes[1])

    def start(self, fields):
        return np.array([self.keep * np.fft.fftn(f) for f in fields])


def orszag_tang(n=24, nu=0.05):
    p = Plane((n, n), (2 * np.pi, 2 * np.pi))
    x, y = p.cells()

    def rate(state):  # vorticity and the potential a of the field (a_y, -a_x), whose current is -lap a
        w, a = state
        u = p.velocity(w)
        a_x, a_y = p.slopes(a)
        k2 = (p.k**2).sum(0)
        return np.array([p.carried(u, w) - p.carried((a_y, -a_x), k2 * a), p.carried(u, a)])

    state = march(p.start([np.cos(x) + np.cos(y), np.cos(y) + np.cos(2 * x) / 2]), rate, nu, p.k, 0.5, 800)
    return [to_real(c) for c in state]


def shear_flow(n=(32, 16), re=1000):
    p = Plane(n, (2.0, 1.0))
    x, z = p.cells()
    s = 0.5 + 0.5 * (np.tanh((z - 0.5) / 0.1) - np.tanh((z - 1.5) / 0.1))
    w = 0.1 * np.sin(2 * np.pi * x) * (np.exp(-((z - 0.5) ** 2) / 0.01) + np.exp(-((z - 1.5) ** 2) / 0.01))
    u_hat, w_hat = p.start([s, w])
    vorticity = 1j * p.k[0] * w_hat - 1j * p.k[1] * u_hat
    mean = (u_hat[0, 0].real / s.size, w_hat[0, 0].real / s.size)

    def rate(state):
        u = p.velocity(state[0])
        u = (u[0] + mean[0], u[1] + mean[1])
        return np.array([p.carried(u, c) for c in state])

    state = march(np.array([vorticity, u_hat]), rate, 1 / re, p.k, 0.5, 800)
    return [to_real(state[1]), p.velocity(state[0])[0] + mean[0]]


def convection(n=(12, 24), rayleigh=2e4):
    """Between free plates, on a box of twice the height: T less its line, and w, are odd there."""
    kappa, height = rayleigh**-0.5, n[0]
    p = Plane((2 * n[0], n[1]), (2.0, 4.0))
    x, z = p.cells()
    theta = 0.2 * np.sin(np.pi * z) * np.cos(np.pi * x / 2) + 0.1 * np.sin(2 * np.pi * z) * np.cos(np.pi * x + 1)

    def rate(state):
        w, t = state
        u = p.velocity(w)
        lift = p.keep * np.fft.fftn(u[1])  # the line 1 - z is carried too
        return np.array([p.carried(u, w) + 1j * p.k[0] * t, p.carried(u, t) + lift])

    state = march(p.start([0 * theta, theta]), rate, kappa, p.k, 4.0, 1600)
    return [(1 - z + to_real(state[1]))[:height], p.velocity(state[0])[0][:height]]


def forced(n=24, nu=0.02, power=0.3):
    """Two-dimensional flow, forced at a fixed power in the shell 2 <= |k| <= 3: P/(2E) of the vorticity there, with E
    half the mean of its square."""
    p = Plane((n, n), (2 * np.pi, 2 * np.pi))
    x, y = p.cells()
    size = (p.k**2).sum(0) ** 0.5
    shell = (size > 1.999) & (size < 3.001)
    start = np.sin(x) * np.cos(2 * y) + np.cos(3 * x + 1) * np.sin(y) + np.cos(2 * x - y)

    def rate(state):
        inside = shell * state[0]
        energy = (to_real(inside) ** 2).mean() / 2
        return np.array([p.carried(p.velocity(state[0]), state[0]) + power / (2 * energy) * inside])

    return [to_real(march(p.start([start]), rate, nu, p.k, 0.5, 800)[0])]


def fipy_run(n, steps):
    """u_t = (D(x) u_x)_x, D = 1 + sin(2 pi x)/2, between u = 0 and 1, from u = x^2, by implicit steps to t = 0.05."""
    mesh = Grid1D(nx=n, dx=1 / n)
    u = CellVariable(mesh=mesh, value=mesh.cellCenters[0] ** 2 + 1 / (12 * n**2))  # means over the cells
    u.constrain(0.0, mesh.facesLeft)
    u.constrain(1.0, mesh.facesRight)
    equation = TransientTerm() == DiffusionTerm(coeff=1 + np.sin(2 * np.pi * mesh.faceCenters[0]) / 2)
    for _ in range(steps):
        equation.solve(var=u, dt=0.05 / steps)
    mean = np.array(u.value)
    return mean.reshape(8, -1).mean(1)  # means over eight parts of the box


def fipy_variable():
    """Extrapolated: errors are of first (and second) order in dt and of second (and fourth) order in the cells."""

    def settled(n):
        a, b, c = (fipy_run(n, steps) for steps in (40, 80, 160))
        return (a - 6 * b + 8 * c) / 3

    a, b, c = settled(40), settled(80), settled(160)
    return [(64 * c - 20 * b + a) / 45]


def growth(nu, orders=14, n=32):
    """The coefficients of t^0, t^1, ... in the enstrophy of Taylor and Green's vortices, over that at t = 0. A
    coefficient of the velocity follows from products of those before it, whose waves a grid of n points has all."""
    k, _ = wavenumbers(n, 3)
    x, y, z = np.meshgrid(*[np.arange(n) * 2 * np.pi / n] * 3, indexing="ij")[::-1]
    transform = lambda a: np.fft.fftn(a, axes=(-3, -2, -1))
    back = lambda a: np.real(np.fft.ifftn(a, axes=(-3, -2, -1)))
    k2 = (k**2).sum(0)
    u = [transform(np.stack([np.sin(x) * np.cos(y) * np.cos(z), -np.cos(x) * np.sin(y) * np.cos(z), 0 * x]))]
    values, slopes = [], []
    for m in range(orders - 1):
        values.append(back(u[m]))
        slopes.append(back(1j * k[:, None] * u[m]))  # [axis][component]
        rate = -transform(sum(np.einsum("j...,ji...->i...", values[a], slopes[m - a]) for a in range(m + 1)))
        rate -= k * ((k * rate).sum(0) / np.where(k2 > 0, k2, 1))
        u.append((rate - nu * k2 * u[m]) / (m + 1))
    sums = [sum(np.sum(k2 * np.real(np.conj(u[a]) * u[m - a])) for a in range(m + 1)) for m in range(orders)]
    return np.array(sums) / sums[0]


def taylor_green():
    return [growth(nu) for nu in (0, 1 / 1600, 0.01)]


if __name__ == "__main__":
    print("# Made by tests/diffusion/peers.py with NumPy, exponax and FiPy")
    for name, make in list(globals().items()):
        if callable(make) and name in (
            "exponax_vorticity exponax_kolmogorov kdv_burgers orszag_tang shear_flow convection forced "
            "fipy_variable taylor_green"
        ).split():
            for number, field in enumerate(make()):
                step = 4 if field.shape[-1] > 32 else 2
                thin = field[::step, ::step] if field.ndim == 2 else field if field.size < 16 else field[::step]
                print(name, number, thin.size)
                print("\n".join("%.11g" % value for value in thin.ravel()))
