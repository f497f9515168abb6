"""Calls in the SABR model by finite differences: the numbers of option_sabr.c.

u(f, y = ln sigma) follows u_t + sigma^2/2 f^(2 beta) u_ff + rho nu sigma f^beta u_fy + nu^2/2 (u_yy - u_y) = 0, u held
at its payoff where f = 0 (ended). Crank-Nicolson steps after four implicit half steps on a grid that is fine near the
spot, Richardson's extrapolation from two grids; the error is a third of their difference. With nu = 0 and beta = 1/2 the call
is known: the square of the Bessel process of dimension 0. No formula of the engine is used. Needs NumPy and SciPy.
"""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sl
from scipy.stats import ncx2, norm


def derivatives(x):
    """First and second derivative on unequal nodes, 0 at both ends."""
    low, high = np.diff(x)[:-1], np.diff(x)[1:]
    ends = lambda v: np.concatenate([[0], v, [0]])
    tri = lambda a, b, c: sp.diags([ends(a)[1:], ends(b), ends(c)[:-1]], [-1, 0, 1]).tolil()
    return (tri(-high / (low * (low + high)), (high - low) / (low * high), low / (high * (low + high))),
            tri(2 / (low * (low + high)), -2 / (low * high), 2 / (high * (low + high))))


def prices_on(alpha, beta, rho, nu, F, T, K, nf, ny, nt, width=5.0):
    """Shares of a cell's payoff at the nodes, [f], then prices at (F, alpha), [K]."""
    vol = alpha * F ** (beta - 1)
    far = F * np.exp(5 * vol * np.exp(nu * np.sqrt(T) / 2) * np.sqrt(T))
    c = F * min(vol * np.sqrt(T), 1)
    low, high = np.arcsinh(-F / c), np.arcsinh((far - F) / c)
    j = max(2, round(-low / ((high - low) / nf)))
    f = F + c * np.sinh(low - low / j * np.arange(int(np.ceil((high - low) / (-low / j))) + 1))
    f[0], f[j] = 0, F
    half = ny // 2
    y = np.log(alpha) + np.linspace(-width, width, 2 * half + 1) * nu * np.sqrt(T)
    n, k, hy = len(f), len(y), y[1] - y[0]
    (Df, Dff), (Dy, Dyy) = derivatives(f), derivatives(y)
    Df[n - 1, n - 1], Df[n - 1, n - 2] = 1 / (f[-1] - f[-2]), -1 / (f[-1] - f[-2])
    for row, other in ((0, 1), (k - 1, k - 2)):
        Dyy[row, row], Dyy[row, other] = -2 / hy**2, 2 / hy**2
    sigma, power = np.exp(y), np.where(f > 0, f**beta, 0)
    L = (sp.kron(sp.diags(power**2) @ Dff.tocsr(), sp.diags(sigma**2)) / 2 +
         rho * nu * sp.kron(sp.diags(power) @ Df.tocsr(), sp.diags(sigma) @ Dy.tocsr()) +
         nu**2 / 2 * sp.kron(sp.identity(n), (Dyy - Dy).tocsr())).tolil()
    for row in range(k):
        L.rows[row], L.data[row] = [], []
    middle = np.concatenate([[f[0]], (f[1:] + f[:-1]) / 2, [f[-1]]])
    area = np.maximum(middle[:, None] - K[None, :], 0) ** 2 / 2
    U = np.diff(area, axis=0) / np.diff(middle)[:, None]
    U[0] = 0
    U = np.repeat(U[:, None, :], k, axis=1).reshape(n * k, -1)
    L, E, dt = L.tocsc(), sp.identity(n * k, format="csc"), T / nt
    solve, explicit = sl.splu((E - dt / 2 * L).tocsc()), (E + dt / 2 * L).tocsc()
    for _ in range(4):
        U = solve.solve(U)
    for _ in range(nt - 2):
        U = solve.solve(explicit @ U)
    return U.reshape(n, k, -1)[j, half]


def prices(*case, nf=160, ny=48, nt=48):
    coarse, fine = prices_on(*case, nf, ny, nt), prices_on(*case, 2 * nf, 2 * ny, 2 * nt)
    return (4 * fine - coarse) / 3, np.abs(fine - coarse) / 3


def hagan(alpha, beta, rho, nu, F, T, K):
    """Calls by the formula of Hagan, Kumar, Lesniewski and Woodward (Wilmott Magazine, September 2002, 84), equation
    2.17; good to some (nu^2 T)^2 of the price."""
    mean, log = (F * K) ** ((1 - beta) / 2), np.log(F / K)
    z = nu / alpha * mean * log
    x = np.log((np.sqrt(1 - 2 * rho * z + z * z) + z - rho) / (1 - rho))
    ratio = np.where(np.abs(z) < 1e-8, 1, z / np.where(x == 0, 1, x))
    b = 1 - beta
    vol = alpha / (mean * (1 + b**2 / 24 * log**2 + b**4 / 1920 * log**4)) * ratio * (1 + T * (
        b**2 / 24 * alpha**2 / mean**2 + rho * beta * nu * alpha / (4 * mean) + (2 - 3 * rho**2) / 24 * nu**2))
    d = log / (vol * np.sqrt(T)) + vol * np.sqrt(T) / 2
    return F * norm.cdf(d) - K * norm.cdf(d - vol * np.sqrt(T))


def square_root(alpha, F, K, T):
    """df = alpha sqrt(f) dW: f' is s = alpha^2 T/4 times a noncentral chi-squared number of 0 degrees of freedom."""
    s = alpha**2 * T / 4
    return F * (1 - ncx2.cdf(K / s, 4, F / s)) - K * ncx2.cdf(F / s, 2, K / s)


if __name__ == "__main__":
    for case in [(3.0, 0.5, -0.5, 0.6, 100.0, 1.0, np.array([80.0, 100, 120])),
                 (0.5, 0.3, -0.3, 0.4, 1.0, 5.0, np.array([0.5, 1, 1.5])),
                 (0.5, 0.0, -0.3, 0.4, 1.0, 5.0, np.array([0.5, 1, 1.5])),
                 (0.3, 0.9, -0.7, 1.0, 1.0, 1.0, np.array([0.8, 1, 1.2])),
                 (0.2, 1.0, -0.5, 0.5, 1.0, 1.0, np.array([0.8, 1, 1.2]))]:
        print(case[:6], *prices(*case))
    print("square root", square_root(0.5, 1, np.array([0.5, 1, 1.5]), 5))
    short = (2.0, 0.5, -0.3, 0.3, 100.0, 0.25, np.array([90.0, 100, 110]))
    print("short, by differences", *prices(*short), "and by Hagan's formula", hagan(*short))
    print("a small one", prices(0.001, 0.5, 0, 0.001, 1.0, 1.0, np.array([1.0])), 0.001 / np.sqrt(2 * np.pi))
