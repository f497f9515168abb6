/* Path kernels of the CPU: their parameters and results. */
#ifndef OPTION_CPU_PATH_H
#define OPTION_CPU_PATH_H

#include "engine/device/backend.h"
#include "kernels/option/payoff/feature.h"
#include "kernels/option/payoff/rule.h"
#include "kernels/option/payoff/schedule.h"
#include "kernels/option/random/draws.h"
#include "kernels/option/random/quasi.h"
#include "kernels/option/scenario/motion.h"

/* A parameter by which features are differentiated along each path of a geometric Brownian motion: derivatives of
 * the drift and volatility of one asset at each step, in natural logarithms. `flat`: the volatility does not depend
 * on the parameter, and drift holds cumulative sums up to each step. */
typedef struct option_tangent {
  int asset;
  bool flat;
  bool local; /* not flat, and 0 but for the steps from `first` on before `end`; no feature is an extreme */
  int first, end;
  const void *drift, *vol; /* [steps], in the kernel's precision */
} option_tangent;

/* One set of paths: x += drift + vol w at each step, where x = log2(price / spot) and w is a normal. A negative vol
 * gives the antithetic path. */
typedef struct option_variant {
  const void *drift, *vol;              /* [steps][assets], in the kernel's precision */
  const double *spot;                   /* [assets] */
  const double *v;                      /* [assets], first variances in place of those of dynamics; NULL: those */
  const double *x;                      /* [assets], first x; NULL: 0 */
  const option_dynamics *dynamics;      /* [kinds][assets]; NULL: all assets are geometric Brownian motions */
  const int *kind;                      /* [steps]: kind of each step in dynamics; NULL without them */
  const double *time;                   /* [steps + 1]: times at the ends of the steps; NULL without dynamics */
  const struct option_rate_step *rates; /* [kinds], of a random rate; NULL: none */
  const double *rise;                   /* [steps], beside rates */
  const void *tilt;                     /* [steps][assets], of option_market, in the kernel's precision; NULL: none */
  bool mirrored;                        /* the antithetic paths */
  const option_rule *rule;              /* [payoffs], exercise rules of the features OPTION_EARLY */
} option_variant;

/* Parameters of a path kernel. All pointers are borrowed; host memory. */
typedef struct option_paths {
  uint64_t seed;
  int assets, steps, variants, features;
  const option_variant *variant;
  const uint64_t *kept; /* [variants]: bit a: the features of asset a are not computed; NULL: all are */
  const option_feature *feature;
  const void *cholesky; /* [assets][assets], lower, in the kernel's precision: w = cholesky z */
  int tangents;
  int sloped;                    /* the first variants, whose features have derivatives */
  const option_tangent *tangent; /* [tangents], flat ones last */
  const option_quasi *quasi;     /* NULL: pseudo-random numbers */
  const struct option_mrg *mrg;  /* NULL: Philox4x32-10 */
  /* Two samplers on the same random numbers, the fine one with steps half as long. skip = 1: the fine one, whose
   * payoffs see every second step. halved: the coarse one, whose normals are sums of two fine ones. On a level of
   * multilevel/ payoffs see every step (skip + 1) of either. swapped: the two steps in each of the coarse sampler take
   * each other's random numbers. */
  int skip;
  bool halved, swapped;
  bool milstein;      /* steps of a local volatility by Milstein, not by Euler: on levels of multilevel/ */
  bool matched;       /* normals are moment-matched over each chunk; needs whole chunks, excludes quasi */
  const double *cash; /* [observed steps][assets]: cash dividends at their ends; NULL: none */
  int schedules;
  const option_schedule *schedule; /* [schedules], of observed steps */
  uint64_t joint;                  /* bit a: maximum and minimum of asset a are drawn jointly; else independently */
  bool rough;                      /* an asset is of the rough Bergomi model */
  bool rates;                      /* the rate is random */
  bool far;                        /* x may leave the exponent range of the precision: prices are clamped */
} option_paths;

/* Computes the features of the paths first .. first + count - 1: out[variants * features], arrays of `count` numbers
 * in the kernel's precision, aligned to 64 bytes, with room for OPTION_CHUNK. `first` is a multiple of OPTION_CHUNK.
 * `scratch`: aligned to 64 bytes, option_path_scratch bytes, one a thread. Returns false where a local volatility of
 * a path was below 0 or not finite: the numbers of that path are invalid then. */
typedef bool option_path_kernel(const option_paths *paths, uint64_t first, int count, void *const *out, void *scratch);
/* The kernel of an instruction set and precision; NULL where this build has none. */
option_path_kernel *option_path_find(bool single, sim_isa isa);

/* Largest |z| of one normal: sqrt(-2 ln 2^-32). */
#define OPTION_NORMAL_MAX 6.6604

/* Bytes of scratch; `assets`: with the schedules. Tangents, bridges (quasi) or matched moments come on top; `program`:
 * bytes of a local volatility's program. */
enum {
  OPTION_SCRATCH_BASE =
      OPTION_ASSETS_MAX * (20 * 64 + 4 * OPTION_VARIANTS_MAX + 4) + OPTION_VARIANTS_MAX * 4 * 64 + 2048,
  OPTION_SCRATCH_ASSET = 10 * 64
};
static inline size_t option_path_scratch(int assets, int variants, size_t program) {
  return OPTION_SCRATCH_BASE + (size_t)assets * (size_t)variants * OPTION_SCRATCH_ASSET + program;
}
static inline size_t option_tangent_scratch(int tangents, int variants) {
  return (size_t)tangents * (size_t)variants * 5 * 64;
}
static inline size_t option_bridge_scratch(int assets, int steps) { return (size_t)assets * ((size_t)steps + 1) * 64; }
/* Increments of the rough volatilities of a path. */
static inline size_t option_rough_scratch(int assets, int steps) { return (size_t)assets * (size_t)steps * 64; }
/* State of a random rate. */
static inline size_t option_rates_scratch(int variants) { return (size_t)variants * 2 * 64; }
static inline size_t option_moments_scratch(int assets, int steps) {
  return ((size_t)assets * (size_t)steps * 2 * sizeof(double) + 63) / 64 * 64;
}

/* Number of paths that share 128 random bits: see random/draws.h. */
static inline int option_share(int steps) { return steps > 2 ? 1 : 4 / steps; }

#endif
