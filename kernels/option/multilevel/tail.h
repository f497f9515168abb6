/* The random level of a multilevel run: level first + k with the chance p_k, which falls as 2^(-5/4 k). Its sample is
 * Y_(first + k)/p_k, so that its mean is the sum of the E Y_l of all levels from `first` on, without a bias (C. Rhee
 * and P. Glynn, Operations Research 63 (2015) 1026; the counts of a piece: M. Vihola, ibid. 66 (2018) 448). Variance
 * and work are both finite where V_l falls faster than 2^(-5/4 l). These chances are the best ones of V_l as 2^(-3/2
 * l), which Heston's steps (2^(-1.6 l) at 2 kappa theta = sigma^2) and Milstein's (4^-l) both surpass. */
#ifndef OPTION_MULTILEVEL_TAIL_H
#define OPTION_MULTILEVEL_TAIL_H

#include "kernels/option/limits.h"

#include <stdint.h>

typedef struct option_tail {
  int first, levels; /* levels that are drawn: first, ..., first + levels - 1; 0: there is no random level */
  double chance[OPTION_LEVELS_MAX];
} option_tail;

/* first < most <= OPTION_LEVELS_MAX: levels that are possible. */
void option_tail_make(int first, int most, option_tail *out);
/* Samples of each level among the `samples` of a piece: count[levels]. They are as even as their chances allow, with
 * the expected values samples * chance: functions of the seed and the number of the piece. */
void option_tail_counts(const option_tail *tail, uint64_t seed, double piece, int samples, int *count);

#endif
