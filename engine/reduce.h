/* Sums whose bits do not depend on the number of threads: blocks of a fixed size with 32 partial sums each, an array of
 * block sums, and a fixed pairwise tree over that array. */
#ifndef SIM_ENGINE_REDUCE_H
#define SIM_ENGINE_REDUCE_H

#include <stdbool.h>
#include <stddef.h>

enum { SIM_REDUCE_BLOCK = 4096, SIM_REDUCE_LANES = 32 };

/* Sum of partial[count] by a pairwise tree, which overwrites `partial`; 0 if count is 0. */
double sim_reduce_tree(double *partial, size_t count);
/* Sum of x[count]. partial[sim_reduce_blocks(count)] is work space. */
double sim_reduce_sum(const double *x, size_t count, double *partial, int threads);
size_t sim_reduce_blocks(size_t count);
/* Minimum or maximum of x[count], count >= 1; NaN if a number is NaN. */
double sim_reduce_extreme(const double *x, size_t count, bool greatest);

#endif
