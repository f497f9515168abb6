/* Sizes that all files of the model share, device code too. */
#ifndef OPTION_LIMITS_H
#define OPTION_LIMITS_H

enum {
  OPTION_ASSETS_MAX = 64,
  OPTION_PAYOFFS_MAX = 64,
  OPTION_RAINBOW_MAX = 16,   /* prices of a rainbow, which are ordered by n (n - 1) operations */
  OPTION_FEATURES_MAX = 256, /* path features that the payoffs of a run depend on */
  OPTION_VARIANTS_MAX = 512, /* paths simulated from the same random numbers: markets times signs */
  OPTION_TANGENTS_MAX = 128, /* parameters by which paths are differentiated */
  OPTION_BUCKETS_MAX =
      64, /* nodes of all volatility curves, or of the curve of the rate, by which prices are differentiated */
  OPTION_STEPS_MAX = 100000,
  OPTION_ROUGH_STEPS_MAX = 1024, /* of a rough asset, whose steps depend on all earlier ones */
  OPTION_JUMPS_MAX = 64,         /* of one asset in one step, at most */
  OPTION_NODES_MAX = 64,         /* prices of a local volatility's grid, at most */
  OPTION_LEVERAGE_NODES = 64,    /* of a leverage function at each step */
  OPTION_DEGREE_MAX = 8,         /* of the polynomials of exercise rules, at most */
  OPTION_BASES_MAX = 64,         /* functions of the regression of an exercise rule of several assets */
  OPTION_LADDER_MAX = 64,        /* shifts of one kind in a ladder, at most */
  OPTION_POINTS_MAX = 1024,      /* points of a ladder, at most */
  OPTION_SCALES_MAX = 40,        /* centres and factors of their arguments: those of at most 38 prices and
                                    volatilities, see per_volatility in payoff/joint.c */
  OPTION_EXPOSURES_MAX = 32,     /* dates of an exposure, with time 0 and the contracts' maturities */
  OPTION_LEVELS_MAX = 13,        /* of a multilevel run: steps in 1 to 2^12 pieces */
  OPTION_BLOCK = 1 << 16, /* samples of a logical block: the unit of sums, so that results do not depend on batches */
  OPTION_CHUNK = 1024,    /* samples of one call of the CPU's kernel, at most */
  OPTION_CHUNKS = OPTION_BLOCK / OPTION_CHUNK,
  OPTION_BATCH = 16, /* blocks of a step on the CPU, at most */
  OPTION_GROUP = 4   /* the same where a standard error ends the run */
};

/* Sums of the normal equations of an exercise rule: x^k for k <= 2 degree, then x^k cash for k <= degree. */
enum {
  OPTION_REGRESSION_MOMENTS = 2 * OPTION_DEGREE_MAX + 1,
  OPTION_REGRESSION_SUMS = OPTION_REGRESSION_MOMENTS + OPTION_DEGREE_MAX + 1
};

#endif
