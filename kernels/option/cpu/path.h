/* Paths of assets on the CPU: what the kernel of path.c is given, and what it returns. */
#ifndef OPTION_CPU_PATH_H
#define OPTION_CPU_PATH_H

#include "engine/device/backend.h"
#include "kernels/option/payoff/feature.h"
#include "kernels/option/payoff/rule.h"
#include "kernels/option/random/draws.h"
#include "kernels/option/random/quasi.h"
#include "kernels/option/scenario/motion.h"

/* A parameter that features are differentiated by, along each path of a geometric Brownian motion: derivatives of drift
 * and volatility of one asset at each step, in natural logarithms. `flat`: the volatility has none, and drift holds the
 * sums up to each step. */
typedef struct option_tangent {
  int asset;
  bool flat;
  const void *drift, *vol; /* [steps], in the kernel's precision */
} option_tangent;

/* One set of paths: x += drift + vol w at each step, x the binary logarithm of price / spot, w a normal. A negative vol
 * makes the antithetic path. */
typedef struct option_variant {
  const void *drift, *vol;         /* [steps][assets], in the kernel's precision */
  const double *spot;              /* [assets] */
  const option_dynamics *dynamics; /* [assets]; NULL: all assets are geometric Brownian motions */
  bool mirrored;                   /* the antithetic paths */
  const option_rule *rule;         /* of the features OPTION_EARLY */
} option_variant;

/* All pointers are borrowed. */
typedef struct option_paths {
  uint64_t seed;
  int assets, steps, variants, features;
  const option_variant *variant;
  const option_feature *feature;
  const void *cholesky; /* [assets][assets], lower, in the kernel's precision: w = cholesky z */
  int tangents;
  const option_tangent *tangent; /* flat ones last */
  const option_quasi *quasi;     /* NULL: random bits */
  const struct option_mrg *mrg;  /* NULL: bits of Philox4x32-10 */
  /* Two sets of paths on the same random numbers, one with steps half as long. skip = 1: the fine one, whose payoffs
   * see every second step alone. halved: the coarse one, whose normals are the sums of two fine ones. */
  int skip;
  bool halved;
  bool matched;   /* the moments of each chunk's normals are matched: whole chunks alone, without quasi */
  uint64_t joint; /* bit a: the high and the low of asset a are drawn together; else they are independent */
  bool far;       /* x may leave the range of exponents: prices are cut at its ends */
} option_paths;

/* Computes the features of the paths first .. first + count - 1: out[variant][feature][count] in the kernel's
 * precision, each aligned to 64 bytes with room for OPTION_CHUNK numbers. `first` is a multiple of OPTION_CHUNK.
 * `scratch` is aligned to 64 bytes, of option_path_scratch bytes, and each thread's own. Returns false where a function
 * gave a path a local volatility below 0 or not finite: numbers of that path mean nothing then. */
typedef bool option_path_kernel(const option_paths *paths, uint64_t first, int count, void *const *out, void *scratch);
/* The kernel of an instruction set; NULL where this build has none. */
option_path_kernel *option_path_find(bool single, sim_isa isa);

/* Largest |w| of one normal: sqrt(-2 ln 2^-32). */
#define OPTION_NORMAL_MAX 6.6604

/* Bytes of scratch: of all paths; with tangents, bridges (quasi) or matched moments those are added to `program`, the
 * bytes of a local volatility's program. */
enum { OPTION_SCRATCH_BASE = OPTION_ASSETS_MAX * 16 * 64 + 2048, OPTION_SCRATCH_ASSET = 8 * 64 };
static inline size_t option_path_scratch(int assets, int variants, size_t program) {
  return OPTION_SCRATCH_BASE + (size_t)assets * (size_t)variants * OPTION_SCRATCH_ASSET + program;
}
static inline size_t option_tangent_scratch(int tangents, int variants) {
  return (size_t)tangents * (size_t)variants * 5 * 64;
}
static inline size_t option_bridge_scratch(int assets, int steps) { return (size_t)assets * ((size_t)steps + 1) * 64; }
static inline size_t option_moments_scratch(int assets, int steps) {
  return ((size_t)assets * (size_t)steps * 2 * sizeof(double) + 63) / 64 * 64;
}

/* Paths that share 128 random bits: see random/draws.h. */
static inline int option_share(int steps) { return steps > 2 ? 1 : 4 / steps; }

#endif
