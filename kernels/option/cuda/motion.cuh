/* Steps of assets that are no geometric Brownian motions: see option_mover in path.h, and motion.h, which these follow
 * path by path. Device code; a run's text gives `local_volatility`. */
#ifndef OPTION_CUDA_MOTION_CUH
#define OPTION_CUDA_MOTION_CUH

#include "kernels/option/cuda/random.cuh"

enum { BROWNIAN, HESTON, LOCAL_FUNCTION, LOCAL_GRID }; /* as option_mover.motion */
/* Numbers of a mover among the constants. */
enum {
  M_START,
  M_KEEP,
  M_PULL,
  M_SPREAD,
  M_FLOOR,
  M_K2,
  M_K3,
  M_K4,
  M_DT,
  M_ROOT_DT, /* sqrt(dt)/ln 2 */
  M_SHIFT,
  M_SPOT,
  M_JUMP_MEAN,
  M_JUMP_DEVIATION,
  M_NUMBERS
};

__device__ inline float quotient(float a, float b) { /* 0 for b beyond 2^126 */
  float y;
  asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
__device__ inline double quotient(double a, double b) { return a / b; }

template <typename Real> __device__ inline Real polynomial(const Real *c, int n, Real x) {
  Real sum = c[n - 1];
#pragma unroll
  for (int i = n - 2; i >= 0; i--) sum = fused(sum, x, c[i]);
  return sum;
}

/* ln(1 + x) for x > -1. The hardware's logarithm has an absolute error near 1, which adds up over a path's steps; the
 * polynomial is that of lanes.h. */
__device__ inline float log_1_plus(float x) {
  const float c[] = {1.4426959f,   -0.721352119f, 0.480801929f, -0.360261048f,
                     0.290806341f, -0.251942061f, 0.201279705f, -0.090877907f};
  if (fabsf(x) >= 0.25f) return 0.693147181f * binary_log(1 + x);
  return 0.693147181f * polynomial(c, 8, x) * x;
}
__device__ inline double log_1_plus(double x) { return log1p(x); }

/* As lower_quantile of stream.h. */
__device__ inline float quantile(float r) {
  const float above[] = {3.40119263f, 2.85147922f, 0.832824584f, 0.100011900f, 0.00411618367f};
  const float below[] = {1, 0.516901913f, 0.0836985535f, 0.00411369822f};
  return quotient(polynomial(above, 5, r), polynomial(below, 4, r));
}
__device__ inline double quantile(double r) {
  const double above[] = {3.40119265614466553,    5.26767158971190685,   3.50499661087718886,   1.3139181724102311,
                          0.305185783528034445,   0.0453716697967339077, 0.0042873874815456198, 0.000245189694179974309,
                          7.52248354165740332e-6, 9.01582263249077142e-8};
  const double below[] = {1,
                          1.22729754146912727,
                          0.640981966898808167,
                          0.185424228025463457,
                          0.032331588210766086,
                          0.00345113435526522813,
                          0.000217079308373235091,
                          7.16267132818580846e-6,
                          9.01545133036418322e-8};
  return quotient(polynomial(above, 10, r), polynomial(below, 9, r));
}

/* Heston's step: the growth of x beside its drift. `w` is the word of the variance. The quadratic and the exponential
 * case take the same special functions of different arguments: a warp has both more often than not. */
template <typename Real>
__device__ inline Real heston_step(const Real *m, Real &v, Real normal, unsigned w, Real &vol) {
  const Real inverse_ln2 = (Real)1.4426950408889634074, ln2 = (Real)0.69314718055994530942, one = 1;
  const Real mean = fused(v, m[M_KEEP], m[M_PULL]), variance = fused(v, m[M_SPREAD], m[M_FLOOR]);
  const Real big = fused((Real)0.5, m[M_K4], m[M_K2]), square = mean * mean;
  const bool quadratic = variance <= (Real)1.5 * square;
  /* v' = a (b + z)^2: ratio 2/psi, scale a. Else 0 with probability p, or exponential: ratio 1 - p, scale 1/beta. */
  const Real ratio = quotient(2 * square, quadratic ? variance : variance + square), q = greatest(ratio, one);
  const Real b2 = q - 1 + root(q * (q - 1)), scale = quotient(mean, quadratic ? 1 + b2 : ratio);
  const unsigned half = w ^ (unsigned)((int)w >> 31);
  const Real logs = binary_log(quadratic ? fused((Real)half, (Real)0x1p-32, (Real)0x1p-33) : uniform<Real>(w));
  const Real z = quantile(root(logs * (Real)-1.3862943611198906) - 4), b = root(b2) + ((int)w < 0 ? -z : z);
  const Real longer = greatest(binary_log(ratio) - logs, (Real)0) * ln2, next = scale * (quadratic ? b * b : longer);
  /* K0*: less the logarithm of the mean of exp(A v'). */
  const Real shift = scale * big, e = least(quadratic ? 2 * shift : shift, (Real)(1 - 1e-6)),
             rest = quotient(one, 1 - e);
  const Real logarithm = log_1_plus(quadratic ? -e : ratio * e * rest);
  const Real k0 = quadratic ? (Real)0.5 * logarithm - shift * b2 * rest : -logarithm;
  const Real spread = fused(v, m[M_K3], next * m[M_K4]);
  const Real grown = fused(next, m[M_K2], fused((Real)-0.5 * m[M_K3], v, k0)) + root(spread) * normal;
  vol = root((v + next) * m[M_DT] * (Real)0.5) * inverse_ln2;
  v = next;
  return grown * inverse_ln2;
}

/* Volatility on the grid's row of a step: node[nodes], value[nodes]. */
template <typename Real>
__device__ inline Real grid_volatility(const Real *node, const Real *value, int nodes, Real price) {
  Real sigma = __ldg(value);
  for (int k = 0; k + 1 < nodes; k++) {
    const Real share = quotient(price - __ldg(node + k), __ldg(node + k + 1) - __ldg(node + k));
    sigma = fused(greatest(least(share, (Real)1), (Real)0), __ldg(value + k + 1) - __ldg(value + k), sigma);
  }
  return sigma;
}

template <typename Real> __device__ inline Real local_step(const Real *m, Real sigma, Real normal, Real &vol) {
  sigma += m[M_SHIFT];
  vol = sigma * m[M_ROOT_DT];
  return vol * normal - sigma * sigma * m[M_DT] * (Real)0.7213475204444817;
}

/* The sum of a step's jumps; above[count]: chances of more than k. */
template <typename Real>
__device__ inline Real jump_sum(const Real *m, const Real *above, int most, const words &w, int sign) {
  const Real u = uniform<Real>(w.word[0]);
  Real count = 0, z[2];
  for (int k = 0; k < most; k++) count += above[k] > u ? (Real)1 : (Real)0;
  two_normals(w.word[2], w.word[3], (Real)-1.3862943611198906, z);
  const Real spread = root(count) * (sign ? -m[M_JUMP_DEVIATION] : m[M_JUMP_DEVIATION]);
  return count > 0 ? fused(spread, z[0], count * m[M_JUMP_MEAN]) : (Real)0;
}

#endif
