/* Paths of assets in logarithms, and what payoffs see of them. */
#ifndef OPTION_PATH_H
#define OPTION_PATH_H

#include "engine/backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  OPTION_CHUNK = 1024, /* paths of one call of a kernel at most */
  OPTION_ASSETS_MAX = 64,
  OPTION_VARIANTS_MAX = 64 /* paths of the same random numbers */
};

/* Random numbers are sim_rng_words(seed, path, step / 4, draw): of its four words, (0, 1) make the normals of steps 0
 * and 1 of the four, (2, 3) those of steps 2 and 3: radius from the upper 31 bits of the first word, angle from all 32
 * of the second (Box and Muller). Word i of the other draws is of step i of the four. */
enum { OPTION_DRAW_NORMAL = 0, OPTION_DRAW_HIGH = 64, OPTION_DRAW_LOW = 128 }; /* plus the asset */

/* What payoffs may see of an asset's prices at the steps 1 .. n. */
typedef enum option_kind {
  OPTION_LAST,
  OPTION_MEAN,
  OPTION_GEOMETRIC, /* mean */
  OPTION_MAX,
  OPTION_MIN,
  OPTION_HIGH, /* of all times from 0 on, sampled between the steps (Brownian bridge) */
  OPTION_LOW,
  OPTION_FIXING,    /* price at a step */
  OPTION_NOT_ABOVE, /* probability that `level` was not reached at any time, given the steps */
  OPTION_NOT_BELOW,
  OPTION_KINDS
} option_kind;

typedef struct option_feature {
  option_kind kind;
  int asset, step; /* from 0; step of a fixing: from 1 */
  double level;    /* price */
} option_feature;

/* One set of paths: x += drift + vol w at each step, x the binary logarithm of price / spot, w normal. [steps][assets],
 * in the kernel's precision. A negative vol makes the antithetic path. */
typedef struct option_variant {
  const void *drift, *vol;
  const double *spot; /* [assets] */
} option_variant;

typedef struct option_paths {
  uint64_t seed;
  int assets, steps, variants, features;
  const option_variant *variant;
  const option_feature *feature;
  const void *cholesky; /* [assets][assets], lower, in the kernel's precision; w = cholesky z */
  bool far;             /* x may leave the range of exponents: prices are cut at its ends */
} option_paths;

/* Features of the paths first .. first + count - 1: out[variant][feature][count], in the kernel's precision, aligned to
 * 64 bytes; room for OPTION_CHUNK numbers each. `first` is a multiple of OPTION_CHUNK. `scratch` is aligned so too, of
 * option_path_scratch bytes, and each thread's own. */
typedef void option_path_kernel(const option_paths *paths, uint64_t first, int count, void *const *out, void *scratch);
enum { OPTION_SCRATCH_BASE = OPTION_ASSETS_MAX * 12 * 64 + 512, OPTION_SCRATCH_TRACK = 7 * 64 };
size_t option_path_scratch(int assets, int variants);

/* NULL where this build has none for the instruction set. */
option_path_kernel *option_path_find(bool single, sim_isa isa);
/* Largest |w| of one normal. */
extern const double option_normal_max;

#endif
