#!/usr/bin/env python3
"""Coefficients of math.h and trig.h (needs mpmath): interpolation at Chebyshev nodes in 60 digits, then rounded."""
from mpmath import mp, mpf, cos, pi, sqrt, exp, log, sin, erfc, erf, atan, asin, matrix, lu_solve
mp.dps = 60

def fit(name, f, lo, hi, degree):
    lo, hi = mpf(lo), mpf(hi)
    n = degree + 1
    x = [(lo + hi) / 2 + (hi - lo) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    c = list(lu_solve(matrix([[t ** k for k in range(n)] for t in x]), matrix([f(t) for t in x])))
    worst = 0
    for i in range(400):
        t = lo + (hi - lo) * (i + mpf(1) / 3) / 400
        worst = max(worst, abs(sum(float(c[k]) * t ** k for k in range(n)) - f(t)))
    print(f"/* {name}: degree {degree}, error {float(worst):.1e} */")
    print(", ".join(float(v).hex() for v in c))

q = sqrt(2)
l2 = log(2) / 2 * mpf("1.001")
fit("exp", lambda r: (exp(r) - 1 - r) / r**2 if abs(r) > mpf(10)**-15 else mpf(1)/2, -l2, l2, 10)
smax = ((q - 1) / (q + 1)) ** 2
fit("log", lambda z: (log((1 + sqrt(z)) / (1 - sqrt(z))) / sqrt(z) - 2) / z, mpf(10)**-9, smax*mpf("1.001"), 7)
fit("log_tail", lambda z: ((log((1 + sqrt(z)) / (1 - sqrt(z))) / sqrt(z) - 2) / z - mpf(2)/3)/z, mpf(10)**-9, smax*mpf("1.001"), 7)
a = (pi / 4 * mpf("1.001")) ** 2
fit("sin", lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, mpf(10)**-9, a, 6)
fit("cos", lambda z: ((cos(sqrt(z)) - 1) / z + mpf(1)/2) / z, mpf(10)**-9, a, 6)
fit("atan", lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, mpf(10)**-9, (sqrt(2)-1)**2*mpf("1.001"), 11)
fit("asin", lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, mpf(10)**-9, mpf(1)/4, 13)
fit("erf", lambda z: erf(sqrt(z)) / sqrt(z) - 1, mpf(10)**-9, mpf("0.81"), 12)
def scaled(u):
    if u >= 1: return 2 / sqrt(pi)
    x = 4 * (1 + u) / (1 - u)
    e = exp(x * x) * erfc(x) if x < 100 else sum((-1)**k * mp.fac2(2*k-1) / (2*x*x)**k for k in range(1,25)) / (x*sqrt(pi)) + 1/(x*sqrt(pi))
    return (1 + 2 * x) * e
fit("erfcx", scaled, mpf("-0.8"), 1, 22)
