"""A Bermudan call on the higher of two prices, by quadrature: numbers of option_early.c.

The value is propagated back from date to date over a grid of both logarithms, by the trapezoidal rule with the normal
density of each step. The first asset's factor is the second's too where the assets are independent; with correlation
the second moves by rho times the first's normal and sqrt(1 - rho^2) times its own. Needs NumPy.
"""

import numpy as np


def transition(x, mean, deviation):
    """Row i: weights of the values at x for a normal step from x[i]."""
    z = (x[None, :] - x[:, None] - mean) / deviation
    return np.exp(-z * z / 2) * (x[1] - x[0]) / (deviation * np.sqrt(2 * np.pi))


def best_of(S, K, r, q, vol, T, dates, points, payoff=None, width=5.5):
    """Price at (S, S) of two equal, independent assets; payoff(S1, S2), by default max(S1, S2) - K."""
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


def paths_of(random, count, assets, S, r, q, vol, T, dates):
    z = random.standard_normal((dates, count, assets))
    return S * np.exp(np.cumsum((r - q - vol * vol / 2) * T / dates + vol * np.sqrt(T / dates) * z, axis=0))


def functions(prices, K):
    """Powers of the highest price, and the others in order with squares and products of neighbours."""
    x = np.sort(prices, axis=1)[:, ::-1] / K - 1
    top = x[:, :1]
    return np.hstack([np.ones_like(top), top, top**2, top**3, top**4, x[:, 1:], x[:, 1:] ** 2, x[:, 1:] * x[:, :-1]])


def by_regression(assets, S, K, r, q, vol, T, dates, fit, count, seed=1):
    """A price that is low by its rule: mean and standard error, of paths other than those of the regression."""
    random, discount = np.random.default_rng(seed), np.exp(-r * T / dates)
    held = paths_of(random, fit, assets, S, r, q, vol, T, dates)
    cash, rule = np.maximum(held[-1].max(1) - K, 0), []
    for prices in held[-2::-1]:
        cash, h = cash * discount, prices.max(1) - K
        paid = h > 0
        rule.append(np.linalg.lstsq(functions(prices[paid], K), cash[paid], rcond=None)[0])
        now = paid & (h >= functions(prices, K) @ rule[-1])
        cash[now] = h[now]
    held = paths_of(random, count, assets, S, r, q, vol, T, dates)
    cash = np.maximum(held[-1].max(1) - K, 0)
    for prices, beta in zip(held[-2::-1], rule):
        cash, h = cash * discount, prices.max(1) - K
        now = (h > 0) & (h >= functions(prices, K) @ beta)
        cash[now] = h[now]
    return discount * cash.mean(), discount * cash.std() / np.sqrt(count)


if __name__ == "__main__":
    print("five assets", by_regression(5, 100, 100, 0.05, 0.1, 0.2, 3, 9, 2**17, 2**18))
    for S in (90, 100, 110):
        print(S, [round(best_of(S, 100, 0.05, 0.1, 0.2, 3, 9, n), 5) for n in (401, 801, 1601)])
    spread = lambda a, b: np.maximum(a - b, 0) + 0.2 * np.abs(a + b - 200)
    print("function", [round(best_of(100, 0, 0.05, 0.1, 0.2, 3, 9, n, spread), 5) for n in (401, 801, 1601)])
    worst = lambda a, b: 100 - np.minimum(a, b)
    print("put on the worst", [round(best_of(100, 0, 0.05, 0.02, 0.2, 1, 4, n, worst), 5) for n in (401, 801, 1601)])
    mean = lambda a, b: 100 - (0.7 * a + 0.3 * b)
    print("put on a basket", [round(best_of(100, 0, 0.05, 0.0, 0.3, 1, 10, n, mean), 5) for n in (401, 801, 1601)])
