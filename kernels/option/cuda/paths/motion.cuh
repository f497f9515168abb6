/* Steps of assets that are not geometric Brownian motions. Twin: cpu/motion.h. Formulas and symbols: option_dynamics
 * in scenario/motion.h. Device code; the generated source of a run defines `local_volatility`. */
#ifndef OPTION_CUDA_MOTION_CUH
#define OPTION_CUDA_MOTION_CUH

#include "kernels/option/cuda/paths/random.cuh"
#include "kernels/option/random/quantile.h"

/* Values of option_dynamics.motion. */
enum { BROWNIAN, HESTON, LOCAL_FUNCTION, LOCAL_GRID, ROUGH_BERGOMI, SABR, LEVERAGE };
/* Constants of one track's dynamics. */
enum {
  M_START,
  M_KEEP,
  M_PULL,
  M_HALF_SPREAD,
  M_HALF_FLOOR,
  M_BIG,    /* A of the martingale correction: k2 + k4/2 */
  M_AFTER,  /* k2/ln 2 */
  M_BEFORE, /* -k3/(2 ln 2) */
  M_MIX,    /* k3/(ln 2)^2; k4 is k3 */
  M_DT,
  M_ROOT_DT, /* sqrt(dt)/ln 2 */
  M_SHIFT,
  M_SPOT,
  M_JUMP_MEAN,
  M_JUMP_DEVIATION,
  M_NUMBERS,
  M_LINK = M_SHIFT, /* of a leverage: link */
  M_RHO = M_KEEP,   /* of a rough volatility: rho, and sqrt(1 - rho^2) */
  M_FREE = M_PULL
};

/* Those of SABR up to M_SPOT: see option_dynamics. The table of b and log2 of scale stands in the run's table. */
enum {
  SABR_START,
  SABR_ROOT_DT,
  SABR_RHO,
  SABR_FREE,
  SABR_BETA,
  SABR_NOISE,
  SABR_MEAN_SQUARE,
  SABR_SPREAD,
  SABR_FAR, /* far_from_zero */
  SABR_POWER,
  SABR_FIRST,
  SABR_FINENESS
};

__device__ inline float quotient(float a, float b) { return approximate_quotient(a, b); }
__device__ inline double quotient(double a, double b) { return a / b; }

template <typename real> __device__ inline real polynomial(const real *c, int n, real x) {
  real sum = c[n - 1];
#pragma unroll
  for (int i = n - 2; i >= 0; i--) sum = fused(sum, x, c[i]);
  return sum;
}

/* ln(1 + x) for x > -1. The hardware's logarithm has an absolute error near 1, which accumulates over a path's
 * steps; the polynomial is that of cpu/lanes.h. */
__device__ inline float log_1_plus(float x) {
  const float c[] = {1.4426959f,   -0.721352119f, 0.480801929f, -0.360261048f,
                     0.290806341f, -0.251942061f, 0.201279705f, -0.090877907f};
  if (fabsf(x) >= 0.25f) return 0.693147181f * binary_log(1 + x);
  return 0.693147181f * polynomial(c, 8, x) * x;
}
__device__ inline double log_1_plus(double x) { return log1p(x); }

/* Minus the normal quantile, of r. */
__device__ inline float quantile(float r) {
  const float above[] = {OPTION_QUANTILE_ABOVE_SINGLE}, below[] = {OPTION_QUANTILE_BELOW_SINGLE};
  return quotient(polynomial(above, 5, r), polynomial(below, 4, r));
}
__device__ inline double quantile(double r) {
  const double above[] = {OPTION_QUANTILE_ABOVE_DOUBLE}, below[] = {OPTION_QUANTILE_BELOW_DOUBLE};
  return quotient(polynomial(above, 10, r), polynomial(below, 9, r));
}

__device__ inline float reciprocal(float a) { return approximate_inverse(a); }
__device__ inline double reciprocal(double a) { return 1 / a; }
__device__ inline float inverse_root(float a) { return approximate_rsqrt(a); }
__device__ inline double inverse_root(double a) { return rsqrt(a); }

/* Distance of u = (k + 1/2)/2^32 from the nearer end of [0, 1]; negative where that is 1. k: the random bits w. */
__device__ inline float folded(unsigned w) { return fused((float)(int)w, 0x1p-32f, 0x1p-33f); }
__device__ inline double folded(unsigned long long w) { return ((double)(int)w + 0.5) * 0x1p-32; }

/* A normal by inversion, decreasing with the random bits, from folded(w) and log2(u (1 - u)). fp32, 2^-10 < u <=
 * 1/2: 1/2 - u times a minimax polynomial in the latter, within 3e-7 of the normal; beyond that, and in fp64, the
 * rational function. The result is undefined where `used` is false. */
__device__ inline float falling_normal(float u, float logs, bool used) {
  const float c[] = {4.43584014f,    -0.478565864f,    -0.00693946394f,  0.000961892236f, 0.000136219223f,
                     4.1285996e-06f, -8.39198378e-07f, -7.67681032e-08f, 1.78140558e-09f};
  float z = polynomial(c, 9, logs + 6) * (0.5f - fabsf(u));
  if (used && logs < -10) z = quantile(root(binary_log(fabsf(u)) * -1.3862943611198906f) - 4);
  return copysignf(z, u);
}
__device__ inline double falling_normal(double u, double, bool) {
  return copysign(quantile(root(binary_log(fabs(u)) * -1.3862943611198906) - 4), u);
}

/* rest + k/ln 2 with k = K0*, minus the logarithm of the mean of exp(A v'); `big` is A, y is A mean, g is A
 * variance/(2 mean). fp32 sums the cumulants up to the third-order term that both laws share; the terms left out,
 * y^3/12 or g^3/6, are at most 2e-9 below the bound. Above the bound K0* is computed directly. */
template <typename real>
__device__ inline real add_martingale(bool quadratic, real big, real mean, real g, real s, real t, real c, real rest) {
  const real inverse_ln2 = (real)1.4426950408889634074;
  if (sizeof(real) == 4 && fabs(g) <= (real)0x1p-9)
    return fused(mean * (big * -inverse_ln2), fused(g, 1 + g, (real)1), rest);
  const real y = big * mean;
  const real e = least(y * (quadratic ? 2 * t * t : c), (real)(1 - 1e-6)), over = quotient((real)1, 1 - e);
  const real logarithm = log_1_plus(quadratic ? -e : y * over);
  return fused(quadratic ? (real)0.5 * logarithm - y * s * over : -logarithm, inverse_ln2, rest);
}

/* A standard normal from random bits, decreasing with them. */
template <typename real> __device__ inline real inverse_normal(unsigned w) {
  const real u = sizeof(real) == 4 ? (real)folded(w) : (real)folded((unsigned long long)w);
  return falling_normal(u, binary_log(fused(-u, u, fabs(u))), true);
}

/* Weights of a step of Heston's model: those of M_BIG, M_AFTER, M_BEFORE, M_MIX. */
template <typename real> struct heston_weights { real big, after, before, mix; };

/* One step of Heston's model: returns the increment of x without its drift. `w`: random bits of the variance. With h
 * = psi/2, s = sqrt(1 - h), t = sqrt(1 - s) the quadratic case is v' = mean (sqrt(s) + t z)^2; the exponential one
 * is v' = max(-log(c u), 0) c mean with c = h + 1/2 = 1/(1 - p). Most warps meet both cases, so that they share what
 * they can. */
template <typename real>
__device__ inline real heston_step(const real *m, const heston_weights<real> &k, real &v, real normal, unsigned w,
                                   real &vol) {
  const real mean = fused(v, m[M_KEEP], m[M_PULL]), half = fused(v, m[M_HALF_SPREAD], m[M_HALF_FLOOR]);
  const real inverse = reciprocal(mean), part = half * inverse, h = part * inverse;
  const bool quadratic = h <= (real)0.75;
  const real s = root(1 - h), t = root(h) * inverse_root(1 + s), c = h + (real)0.5;
  const real u = sizeof(real) == 4 ? (real)folded(w) : (real)folded((unsigned long long)w);
  const real logs = binary_log(quadratic ? fused(-u, u, fabs(u)) : c * uniform<real>(w));
  const real b = root(s) + t * falling_normal(u, logs, quadratic);
  const real next = mean * (quadratic ? b * b : least(logs, (real)0) * (c * (real)-0.69314718055994530942));
  const real both = v + next, noise = root(both * k.mix) * normal;
  const real known = fused(next, k.after, fused(v, k.before, noise));
  const real grown = add_martingale(quadratic, k.big, mean, k.big * part, s, t, c, known);
  vol = root(both * m[M_DT] * (real)0.5) * (real)1.4426950408889634074;
  v = next;
  return grown;
}

/* The same with a leverage function, whose row of the step is `row`. x: before the step. */
template <typename real>
__device__ inline real leverage_step(const real *m, const real *row, real x, real &v, real normal, unsigned w,
                                     real &vol) {
  const real most = OPTION_LEVERAGE_NODES - 1, inverse_ln2 = (real)1.4426950408889634074;
  const real at = greatest(least((x - __ldg(row)) * __ldg(row + 1), most), (real)0);
  const int node = at < most ? (int)at : OPTION_LEVERAGE_NODES - 2;
  const real low = __ldg(row + 2 + node), l = fused(at - (real)node, __ldg(row + 3 + node) - low, low);
  const real square = l * l, k3 = square * m[M_MIX] * (real)0.48045301391820142467; /* (ln 2)^2 */
  const real k2 = fused(l, m[M_LINK], square * m[M_DT] * (real)-0.25);
  const heston_weights<real> k = {fused(k3, (real)0.5, k2), k2 * inverse_ln2, k3 * (inverse_ln2 * (real)-0.5),
                                  square * m[M_MIX]};
  const real grown = heston_step(m, k, v, normal, w, vol);
  vol *= l;
  return grown;
}

/* 2^x, for x within the exponent range. */
template <typename real> __device__ inline real bounded_power(real x) {
  const real most = sizeof(real) == 4 ? 126 : 1022;
  return power_of_two(least(greatest(x, -most), most));
}

/* SABR's f'/f where f is near 0: b and log2 of the scale from table[cells][2][4]. y: the normal of f; octaves: log2
 * psi. */
template <typename real>
__device__ inline real sabr_near(const real *m, const real *table, int cells, real octaves, real y) {
  const real at = greatest(least((octaves - m[SABR_FIRST]) * m[SABR_FINENESS], (real)cells), (real)0);
  const int cell = at < (real)cells ? (int)at : cells - 1;
  const real t = at - (real)cell, *of = table + 8 * cell;
  const real b = fused(fused(fused(__ldg(of + 3), t, __ldg(of + 2)), t, __ldg(of + 1)), t, __ldg(of));
  const real scale = fused(fused(fused(__ldg(of + 7), t, __ldg(of + 6)), t, __ldg(of + 5)), t, __ldg(of + 4));
  const real base = b + y;
  return base > 0 ? bounded_power(fused(binary_log(greatest(base, (real)0x1p-100)), m[SABR_POWER], scale)) : (real)0;
}

/* The same where f is far from 0. s: deviation of the step; grown: sigma'/sigma. */
template <typename real> __device__ inline real sabr_far(const real *m, real s, real grown, real z, real normal) {
  const real h = m[SABR_NOISE], beta = m[SABR_BETA], slope = beta * m[SABR_RHO];
  const real spread = s * root((1 + grown * grown) * m[SABR_SPREAD]);
  if (beta == 0) return 1 + s * (z + (z * z - 1) * (h / 2)) * m[SABR_RHO] + spread * normal;
  const real a = s * slope - s * s * (slope * slope * h / 2), b = s * (slope * h / 2);
  const real c = greatest(1 - 2 * b, (real)0.1);
  const real log_mean = quotient(a * a, 2 * c) - binary_log(c) * (real)0.34657359027997265471;
  const real x = z * (a + b * z) - log_mean + spread * (normal - spread * (beta / 2)) * beta;
  return 1 + quotient(bounded_power(x * (real)1.4426950408889634074) - 1, beta);
}

/* One step of SABR: returns the increment of x without its drift, updates sigma and f. w: random bits of sigma. */
template <typename real>
__device__ inline real sabr_step(const real *m, const real *table, int cells, real &sigma, real &f, real normal,
                                 unsigned w) {
  const real lowest = (real)0x1p-100;
  const real z = -inverse_normal<real>(w), before = binary_log(greatest(f, lowest));
  const real h = m[SABR_NOISE], grown = bounded_power((z - h / 2) * h * (real)1.4426950408889634074);
  const real s = least(sigma * m[SABR_ROOT_DT] * bounded_power(before * (m[SABR_BETA] - 1)), (real)1e9);
  const real psi = s * s * m[SABR_MEAN_SQUARE];
  real ratio;
  if (cells > 0 && !(psi < m[SABR_FAR]))
    ratio = sabr_near(m, table, cells, binary_log(greatest(psi, (real)1e-30)),
                      fused(z, m[SABR_RHO], normal * m[SABR_FREE]));
  else
    ratio = greatest(sabr_far(m, s, grown, z, normal), (real)0);
  sigma *= grown;
  f = f > lowest ? f * ratio : (real)0;
  return binary_log(greatest(f, lowest)) - before;
}

/* One step of a rough Bergomi asset: returns the increment of x without its drift, sets v to the variance of the next
 * step. table: level[steps], near[steps][2], then the rows of `past`: see option_dynamics. past[step]: normals of the
 * steps so far; w, own: random bits; side: -1 on mirrored paths. */
template <typename real>
__device__ inline real rough_step(const real *m, const real *table, int step, int steps, real side, real &v,
                                  real normal, unsigned w, unsigned own, real *past, real &vol) {
  const real z = past[step] = -inverse_normal<real>(w), deviation = root(v * m[M_DT]);
  const real x = fused(deviation, fused(z, side * m[M_RHO], normal * m[M_FREE]), v * m[M_DT] * (real)-0.5);
  vol = deviation * (real)1.4426950408889634074;
  if (step + 1 < steps) {
    const real *near = table + steps + 2 * step, *row = table + 3 * steps + (step > 0 ? step * (step - 1) / 2 : 0);
    real y = fused(z, __ldg(near), -inverse_normal<real>(own) * __ldg(near + 1));
#pragma unroll 4
    for (int j = 0; j < step; j++) y = fused(past[j], __ldg(row + j), y);
    v = bounded_power(y * side) * __ldg(table + step + 1);
  }
  return x * (real)1.4426950408889634074;
}

/* Local volatility from the grid's row of a step, linear in price: node[nodes], value[nodes]. */
template <typename real>
__device__ inline real grid_volatility(const real *node, const real *value, int nodes, real price) {
  real sigma = __ldg(value);
  for (int k = 0; k + 1 < nodes; k++) {
    const real share = quotient(price - __ldg(node + k), __ldg(node + k + 1) - __ldg(node + k));
    sigma = fused(greatest(least(share, (real)1), (real)0), __ldg(value + k + 1) - __ldg(value + k), sigma);
  }
  return sigma;
}

template <typename real> __device__ inline real local_step(const real *m, real sigma, real normal, real &vol) {
  sigma += m[M_SHIFT];
  vol = sigma * m[M_ROOT_DT];
  return vol * normal - sigma * sigma * m[M_DT] * (real)0.7213475204444817;
}

/* Sum of the jumps in a step; above[count]: probabilities of more than k jumps. */
template <typename real>
__device__ inline real jump_sum(const real *m, const real *above, int most, const bits4 &w, int sign) {
  const real u = uniform<real>(w.bits[0]);
  real count = 0, z[2];
  for (int k = 0; k < most; k++) count += above[k] > u ? (real)1 : (real)0;
  two_normals(w.bits[2], w.bits[3], (real)-1.3862943611198906, z);
  const real spread = root(count) * (sign ? -m[M_JUMP_DEVIATION] : m[M_JUMP_DEVIATION]);
  return count > 0 ? fused(spread, z[0], count * m[M_JUMP_MEAN]) : (real)0;
}

#endif
