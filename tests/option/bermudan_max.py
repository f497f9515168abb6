"""A Bermudan call on the higher of two prices, by quadrature: numbers of option_early.c.

The value is carried back from date to date over a grid of both logarithms, by the trapezoidal rule with the normal
density of each step. The first asset's factor is the second's too where the assets are independent; with correlation
the second moves by rho times the first's normal and sqrt(1 - rho^2) times its own. Needs NumPy.
"""

import numpy as np


def transition(x, mean, deviation):
    """Row i: weights of the values at x for a normal step from x[i]."""
    z = (x[None, :] - x[:, None] - mean) / deviation
    return np.exp(-z * z / 2) * (x[1] - x[0]) / (deviation * np.sqrt(2 * np.pi))


def best_of(S, K, r, q, vol, T, dates, points, payoff=None, width=5.5):
    """Price at (S, S) of two independent assets alike; payoff(S1, S2), by default max(S1, S2) - K."""
    dt, reach = T / dates, width * vol * np.sqrt(T)
    x = np.linspace(-reach, reach, points)
    one = S * np.exp(x)
    h = np.maximum(payoff(one[:, None], one[None, :]) if payoff else np.maximum.outer(one, one) - K, 0)
    P = transition(x, (r - q - vol * vol / 2) * dt, vol * np.sqrt(dt)) * np.exp(-r * dt / 2)
    value = h
    for _ in range(dates - 1):
        value = np.maximum(h, P @ value @ P.T)
    middle = P[points // 2]
    return middle @ value @ middle


if __name__ == "__main__":
    for S in (90, 100, 110):
        print(S, [round(best_of(S, 100, 0.05, 0.1, 0.2, 3, 9, n), 5) for n in (401, 801, 1601)])
    spread = lambda a, b: np.maximum(a - b, 0) + 0.2 * np.abs(a + b - 200)
    print("function", [round(best_of(100, 0, 0.05, 0.1, 0.2, 3, 9, n, spread), 5) for n in (401, 801, 1601)])
    worst = lambda a, b: 100 - np.minimum(a, b)
    print("put on the worst", [round(best_of(100, 0, 0.05, 0.02, 0.2, 1, 4, n, worst), 5) for n in (401, 801, 1601)])
    mean = lambda a, b: 100 - (0.7 * a + 0.3 * b)
    print("put on a basket", [round(best_of(100, 0, 0.05, 0.0, 0.3, 1, 10, n, mean), 5) for n in (401, 801, 1601)])
