/* Multilevel Monte Carlo: how many samples each level takes, and what the error of their sum is (M. Giles, Operations
 * Research 56 (2008) 607; Acta Numerica 24 (2015) 259).
 *
 * Level 0 has the run's steps, level l has each of them in 2^l pieces. P_l is a payoff with the steps of level l;
 * Y_0 = P_0, Y_l = P_l - P_(l-1) on the same random numbers. The estimate of E P is the sum of the means of Y_0 ...
 * Y_L, whose error is
 *
 *   sqrt(sum_l V_l/n_l + B^2)
 *
 * by the spread of the samples and the bias B of the steps of level L. The remaining E Y_l fall as 2^-(order l). So
 * each mean of Y_l tells B as its 2^-(order (L - l))/(2^order - 1) part: B is the mean of what the last three tell,
 * weighted by their accuracy, or more where one of the last two is larger by more than its standard error. All
 * decisions are functions of the sums of the samples alone.
 *
 * Of a randomised run the last level is the random one of tail.h, which has the means of all levels that are possible:
 * B is the bias of the finest of these. */
#ifndef OPTION_MULTILEVEL_ALLOCATE_H
#define OPTION_MULTILEVEL_ALLOCATE_H

#include "kernels/option/limits.h"

#include <stdbool.h>

enum {
  OPTION_LEVELS_LEAST = 3,  /* levels that a run begins with: B needs two differences */
  OPTION_LEVELS_HITS = 16,  /* samples other than 0 that tell a variance */
  OPTION_LEVELS_PIECE = 256 /* samples that are drawn together on one thread */
};

/* Sums of the samples, and what the decisions depend on. Borrowed. */
typedef struct option_level_sums {
  int levels, most;                     /* levels that have samples; that are possible */
  int least;                            /* levels at least, for which the bias is known to fall in order */
  int payoffs, width;                   /* payoffs: the quantities whose error counts; width: all quantities */
  double order;                         /* weak order of the steps */
  int tail, finest;                     /* the random level; the finest level that it may be. 0: none is random */
  bool certain;                         /* nothing is random */
  const double *count, *mean, *squares; /* [most], [most][width], [most][width]: squared deviations */
  const double *hits;                   /* [most][width]: samples other than 0 */
  const double *tails;                  /* [most][width]: sums of the squared squares of pieces */
  const double *cost;                   /* [most]: work of a sample */
} option_level_sums;

/* Variance of a sample of a level: that of the samples, of level 2 and later at least an eighth of that of the level
 * before. Fewer than OPTION_LEVELS_HITS samples other than 0 say nothing: then at least 3/4 of that of the level
 * before, as of payoffs that jump. */
double option_level_variance(const option_level_sums *s, int level, int quantity);
/* Squared standard error of the sum of all means by the spread of the samples. */
double option_level_spread(const option_level_sums *s, int quantity);
/* Samples that carry that spread: see option_carriers. */
double option_level_carriers(const option_level_sums *s, int quantity);
/* Whether no sample of level 0 is other than 0 although it may be. */
bool option_level_unpaid(const option_level_sums *s, int quantity);
/* The bias B. */
double option_level_bias(const option_level_sums *s, int quantity);

/* What comes next: so many samples of a level, which may be a new one. */
typedef struct option_level_step {
  int level;
  double samples; /* a multiple of OPTION_LEVELS_PIECE; 0: the run has ended */
} option_level_step;
/* The next samples on the way to an error of every payoff that is at most `tolerance`. Ends where it is reached, or
 * where no level is left and the bias of the finest one alone is larger. `most`: samples at most. */
option_level_step option_level_next(const option_level_sums *s, double tolerance, double most);
/* The work that the same error would have taken with the best number of samples on the best number of levels, known
 * beforehand; and, in *done, that of the samples. */
double option_level_least_work(const option_level_sums *s, double tolerance, double *done);

#endif
