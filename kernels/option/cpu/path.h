/* Paths of assets in logarithms, and what payoffs see of them. */
#ifndef OPTION_PATH_H
#define OPTION_PATH_H

#include "engine/device/backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  OPTION_CHUNK = 1024, /* paths of one call of a kernel at most */
  OPTION_ASSETS_MAX = 64,
  OPTION_VARIANTS_MAX = 64 /* paths of the same random numbers */
};

/* Random words of a path, a group of four steps and a draw are sim_rng_words(seed, group << 32 | the path's lower word,
 * the path's upper word, draw): of the four, (0, 1) make the normals of steps 0 and 1 of the group, (2, 3) those of
 * steps 2 and 3: radius from the upper 31 bits of the first word, angle from all 32 of the second, as a part of a turn
 * (Box and Muller). Word i of the other draws is of step i of the group.
 *
 * Paths of 1 or 2 steps share words, 4 or 2 of them: with share = 4 / steps and l the path's lower word, it takes those
 * of l mod OPTION_SHARE_STRIDE in place of l and of the group l / (share OPTION_SHARE_STRIDE), from number steps * r
 * on, r = l / OPTION_SHARE_STRIDE mod share. Jumps are drawn by step, step in place of group, and are each path's own.
 */
enum { OPTION_SHARE_STRIDE = 256 };
enum {
  OPTION_DRAW_NORMAL = 0,
  OPTION_DRAW_HIGH = 64,
  OPTION_DRAW_LOW = 128,
  OPTION_DRAW_VARIANCE = 192, /* Heston's: word i is of step i of the four */
  OPTION_DRAW_SCRAMBLE = 512, /* entity: the dimension, step: the scramble */
  OPTION_DRAW_JUMP = 256      /* word 0: the number of jumps; 2 and 3: the normal of their sum */
};                            /* plus the asset */

/* What payoffs may see of an asset's prices at the steps 1 .. n. */
typedef enum option_kind {
  OPTION_LAST,
  OPTION_MEAN,
  OPTION_GEOMETRIC, /* mean */
  OPTION_MAX,
  OPTION_MIN,
  OPTION_HIGH, /* of all times from 0 on, sampled between the steps (Brownian bridge); see option_paths.joint */
  OPTION_LOW,
  OPTION_FIXING,    /* price at a step */
  OPTION_NOT_ABOVE, /* probability that `level` was not reached at any time, given the steps */
  OPTION_NOT_BELOW,
  OPTION_EARLY, /* what an early exercise pays, at maturity: `step` is the number of its rule */
  OPTION_KINDS
} option_kind;

typedef struct option_feature {
  option_kind kind;
  int asset, step; /* from 0; step of a fixing: from 1 */
  double level;    /* price */
  int tangent;     /* 0, or of the derivative by the parameter of tangent - 1 */
} option_feature;

/* A parameter that payoffs are differentiated by, along each path of a geometric Brownian motion: derivatives of drift
 * and vol at each step of one asset, natural logarithms. Where vol has none, drift holds the sums until each step. */
enum { OPTION_TANGENTS_MAX = 128 };
typedef struct option_tangent {
  int asset;
  bool flat;
  const void *drift, *vol; /* [steps], in the kernel's precision */
} option_tangent;

/* ---- how assets move ---- */

enum { OPTION_JUMPS_MAX = 64, OPTION_NODES_MAX = 64, OPTION_DEGREE_MAX = 8 };
#define OPTION_LOCAL_MAX 1e18 /* a local volatility is from 0 to this */

/* Constants of one asset's steps, beside drift and vol of its variant: x is a binary logarithm, variances are natural.
 *
 * Heston, by Andersen's quadratic-exponential scheme with the martingale correction (Journal of Computational Finance
 * 11 (2008) 1): v' has mean keep v + pull and variance spread v + floor; x grows by drift + (K0* - k3/2 v + k2 v')/ln 2
 * + sqrt(k3 v + k4 v')/ln 2 w. Jumps (Merton): their number N is below each of `above` that the word's uniform exceeds;
 * x grows by N jump_mean + sqrt(N) jump_deviation z. Local volatility: x grows by drift - sigma^2 dt/(2 ln 2) + sigma
 * sqrt(dt)/ln 2 w, sigma a function of the price and the time before the step. */
typedef struct option_mover {
  enum { OPTION_GEOMETRIC_BROWNIAN, OPTION_HESTON, OPTION_LOCAL_FUNCTION, OPTION_LOCAL_GRID } motion;
  double dt;
  double v, keep, pull, spread, floor, k2, k3, k4;
  int jumps;                      /* of `above` */
  double above[OPTION_JUMPS_MAX]; /* probability of more than k jumps in a step */
  double jump_mean, jump_deviation;
  bool jump_halves;                     /* `above` is of half a step, and jumps are drawn twice */
  const struct sim_expr_program *local; /* of S, t, in the kernel's precision; t is uniform */
  double shift;                         /* added to sigma */
  int nodes;                            /* of the grid; sigma is linear between them, constant outside */
  const double *node, *row;             /* [nodes] prices; [steps][nodes] sigma */
} option_mover;

/* Early exercise at the dates every, 2 every, ... dates * every (steps): at a date where the payoff sign (S - strike)
 * is positive and at least the polynomial in (S - centre) scale, of the date's coefficients. growth[date] carries money
 * from there to maturity. */
typedef struct option_rule {
  bool single;
  int every, dates, degree;
  double strike, sign, centre, scale;
  const double *growth, *beta; /* [dates]; [dates][OPTION_DEGREE_MAX + 1] */
  const float *beta_single;
} option_rule;

/* One set of paths: x += drift + vol w at each step, x the binary logarithm of price / spot, w normal. [steps][assets],
 * in the kernel's precision. A negative vol makes the antithetic path. */
typedef struct option_variant {
  const void *drift, *vol;
  const double *spot;        /* [assets] */
  const option_mover *mover; /* [assets], or NULL where all are geometric Brownian motions */
  bool mirrored;             /* the antithetic one */
  const option_rule *rule;   /* of the features that are exercises */
} option_variant;

/* Scrambled Sobol points in place of the normals' words, and of Heston's: path number scramble << 40 | index. Each
 * scramble is a random linear one: a lower triangular matrix of random bits for each dimension, and a shift (Matousek
 * 1998); the variance is as with Owen's scrambling. Normals are by inversion. Dimension k * each + a is of asset a at
 * the bridge's place k or its principal component k, k * each + variance[a] the word of its variance at step k. */
enum { OPTION_SOBOL_BITS = 32, OPTION_SOBOL_DIMENSIONS = 4096, OPTION_SCRAMBLE_SHIFT = 40 };
typedef struct option_bridge {
  int point, left, right;
  double from_left, from_right, spread;
} option_bridge;
typedef struct option_quasi {
  int scrambles, dimensions, each, hestons;
  int variance[OPTION_ASSETS_MAX];
  const uint32_t *direction, *shift; /* [scrambles][dimensions][OPTION_SOBOL_BITS]; [scrambles][dimensions] */
  const option_bridge *bridge;       /* [steps] */
  const double *component;           /* [steps][steps], component by component; NULL: bridges */
} option_quasi;

typedef struct option_paths {
  uint64_t seed;
  int assets, steps, variants, features;
  const option_variant *variant;
  const option_feature *feature;
  const void *cholesky; /* [assets][assets], lower, in the kernel's precision; w = cholesky z */
  int tangents;
  const option_tangent *tangent; /* those that are not flat first */
  const option_quasi *quasi;     /* NULL: words of Philox */
  const struct option_mrg *mrg;  /* NULL: words of Philox */
  /* Of a pair on the same random numbers, one with steps half as long: `skip` 1 is the fine one, whose payoffs see
   * every second step alone; `halved` the other one, whose step has the normals of two fine ones, added up. */
  int skip;
  bool halved;
  bool matched;   /* the moments of each chunk's normals: then of whole chunks alone, without quasi */
  uint64_t joint; /* bit a: one payoff sees the high and the low of asset a, drawn together; else apart */
  bool far;       /* x may leave the range of exponents: prices are cut at its ends */
} option_paths;

/* Features of the paths first .. first + count - 1: out[variant][feature][count], in the kernel's precision, aligned to
 * 64 bytes; room for OPTION_CHUNK numbers each. `first` is a multiple of OPTION_CHUNK. `scratch` is aligned so too, of
 * option_path_scratch bytes, and each thread's own. False: a function gave some path a local volatility below 0, or
 * none that is finite; numbers of that path mean nothing then. */
typedef bool option_path_kernel(const option_paths *paths, uint64_t first, int count, void *const *out, void *scratch);
enum { OPTION_SCRATCH_BASE = OPTION_ASSETS_MAX * 16 * 64 + 2048, OPTION_SCRATCH_TRACK = 8 * 64 };
/* With room for a local volatility's program of `program` bytes, and for bridges of so many steps where there is quasi,
 * or of all their moments where they are matched. */
size_t option_path_scratch(int assets, int variants, size_t program);
size_t option_tangent_scratch(int tangents, int variants);
size_t option_bridge_scratch(int assets, int steps);
size_t option_match_scratch(int assets, int steps);

/* Paths that share words. */
static inline int option_share(int steps) { return steps > 2 ? 1 : 4 / steps; }

/* NULL where this build has none for the instruction set. */
option_path_kernel *option_path_find(bool single, sim_isa isa);
/* Largest |w| of one normal. */
extern const double option_normal_max;

#endif
