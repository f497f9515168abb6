/* Sums whose bits do not depend on the number of threads: blocks of a fixed size, 32 partial sums in each, block sums
 * in an array, and a fixed pairwise tree over them. */
#ifndef SIM_ENGINE_REDUCE_H
#define SIM_ENGINE_REDUCE_H

#include <stdbool.h>
#include <stddef.h>

enum { SIM_REDUCE_BLOCK = 4096, SIM_REDUCE_LANES = 32 };

/* Pairwise tree over `count` numbers, overwriting them; 0 for none. */
double sim_reduce_tree(double *partial, size_t count);
/* Sum of x[count]. `partial` has room for sim_reduce_blocks(count) numbers. */
double sim_reduce_sum(const double *x, size_t count, double *partial, int threads);
size_t sim_reduce_blocks(size_t count);
/* Least or greatest of x[count], count >= 1; NaN if a number is NaN. */
double sim_reduce_extreme(const double *x, size_t count, bool greatest);

#endif
