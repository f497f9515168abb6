"""Vega and rho by node of curves, by NumPy alone: an Asian, a barrier at the steps and a call on the best of two.

S = 100 (and 95), vol linear between (0, 0.2), (0.25, 0.25), (0.7, 0.15), (1.2, 0.3), rate linear between (0, 0.01), (0.5,
0.03), (1, 0.05), T = 1, 12 steps. Each number is a difference of prices by one node: on common random numbers, 2^22 paths,
and of a put that may be exercised at each step, by quadrature.
"""

import numpy as np

T, STEPS, PATHS = 1.0, 12, 2**22
VOL = (np.array([0, 0.25, 0.7, 1.2]), np.array([0.2, 0.25, 0.15, 0.3]))
RATE = (np.array([0, 0.5, 1]), np.array([0.01, 0.03, 0.05]))
EDGES = np.linspace(0, T, STEPS + 1)


def integrals(nodes, values, power):
    """Integrals over the steps of the curve to a power, by a fine trapezoidal rule whose points contain the nodes."""
    fine = np.unique(np.concatenate([np.linspace(0, T, 24001), nodes[nodes <= T], EDGES]))
    curve = np.interp(fine, nodes, values) ** power
    sums = np.concatenate([[0], np.cumsum(np.diff(fine) * (curve[1:] + curve[:-1]) / 2)])
    return np.diff(np.interp(EDGES, fine, sums))


def payments(vol, rate, z, second):
    """Discounted payments of the three payoffs."""
    drift, variance = integrals(RATE[0], rate, 1), integrals(VOL[0], vol, 2)
    price = 100 * np.exp(np.cumsum(drift - variance / 2 + np.sqrt(variance) * z, axis=1))
    other = 95 * np.exp(np.sum(drift - 0.3**2 * T / STEPS / 2 + 0.3 * np.sqrt(T / STEPS) * second, axis=1))
    call = np.maximum(price[:, -1] - 100, 0)
    return np.exp(-drift.sum()) * np.stack(
        [np.maximum(price.mean(axis=1) - 100, 0), np.where(price.min(axis=1) > 85, call, 0), np.maximum(np.maximum(price[:, -1], other) - 105, 0)])


def bermudan(vol, rate):
    """A put of strike 105 that may be exercised at the end of each step, by the trapezoidal rule over the logarithm."""
    drift, variance = integrals(RATE[0], rate, 1), integrals(VOL[0], vol, 2)
    x = np.linspace(-1.6, 1.6, 4001)
    paid = np.maximum(105 - 100 * np.exp(x), 0)
    value = paid
    for step in range(STEPS - 1, 0, -1):
        deviation = np.sqrt(variance[step])
        away = x[None, :] - (x[:, None] + drift[step] - variance[step] / 2)
        density = np.exp(-((away / deviation) ** 2) / 2) * (x[1] - x[0]) / (deviation * np.sqrt(2 * np.pi))
        value = np.maximum(paid, np.exp(-drift[step]) * density @ value)
    away = x - (drift[0] - variance[0] / 2)
    return np.exp(-drift[0] - away**2 / (2 * variance[0])) @ value * (x[1] - x[0]) / np.sqrt(2 * np.pi * variance[0])


def early(shifts):
    slopes = []
    for kind, j, h in shifts:
        sides = []
        for sign in (1, -1):
            vol, rate = VOL[1].copy(), RATE[1].copy()
            (vol if kind == "vega" else rate)[j] += sign * h
            sides.append(bermudan(vol, rate))
        slopes.append((sides[0] - sides[1]) / (2 * h))
    print("early", bermudan(VOL[1], RATE[1]), "{" + ", ".join(f"{slope:.5f}" for slope in slopes) + "}")


def main():
    random = np.random.default_rng(1)
    shifts = [("vega", j, 2e-3) for j in range(4)] + [("rho", j, 1e-3) for j in range(3)]
    early(shifts)
    sums, squares, done = np.zeros((len(shifts), 3)), np.zeros((len(shifts), 3)), 0
    while done < PATHS:
        n = 2**16
        z = random.standard_normal((n, STEPS))
        second = 0.4 * z + np.sqrt(1 - 0.4**2) * random.standard_normal((n, STEPS))
        for i, (kind, j, h) in enumerate(shifts):
            sides = []
            for sign in (1, -1):
                vol, rate = VOL[1].copy(), RATE[1].copy()
                (vol if kind == "vega" else rate)[j] += sign * h
                sides.append(payments(vol, rate, z, second))
            slope = (sides[0] - sides[1]) / (2 * h)
            sums[i] += slope.sum(axis=1)
            squares[i] += (slope**2).sum(axis=1)
        done += n
    mean = sums / PATHS
    error = np.sqrt((squares / PATHS - mean**2) / PATHS)
    for k, name in enumerate(("asian", "barrier", "best")):
        print(name, "{" + ", ".join(f"{{{mean[i, k]:.5f}, {error[i, k]:.5f}}}" for i in range(len(shifts))) + "}")


main()
