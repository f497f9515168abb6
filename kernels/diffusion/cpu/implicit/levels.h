/* An approximate inverse of 1/(g h) - J where J differs from place to place, in host memory.
 *
 * In each cell J is taken for a constant operator: J_mean, whose symbol is s(k), times a factor. The inverse for a few
 * factors (levels), 1/(1/(g h) - factor s(k)), is applied to the cells that have about this factor, and the results are
 * added. A cell between two levels belongs to both, with weights that are linear in the inverse of the factor: that is
 * right for waves that are much longer, and for waves that are much shorter than the length over which a field spreads
 * in a step. */
#ifndef DIFFUSION_LEVELS_H
#define DIFFUSION_LEVELS_H

#include "kernels/diffusion/cpu/implicit/linearize.h"

enum { DIFFUSION_LEVELS = 8 };

typedef struct diffusion_levels {
  const diffusion_entries *entries;
  int count;                                         /* levels of the present step; 1: J_mean alone */
  double factor[DIFFUSION_LEVELS][DIFFUSION_FIELDS]; /* of the symbol of J_mean */
  double *symbols; /* [entries]: real part of an entry's symbol for its own field, at the stiffest wavenumber; else 0 */
  double linear[DIFFUSION_FIELDS]; /* L there */
  /* [fields][pieces][numbers]: where the cell lies between levels: level q counts with 1 - |place - q| */
  void *place;
  double *least, *greatest; /* [pieces] */
  int threads;
} diffusion_levels;

sim_status diffusion_levels_create(const diffusion_entries *entries, int threads, diffusion_levels *out) SIM_MUST_CHECK;
void diffusion_levels_destroy(diffusion_levels *levels);
double diffusion_levels_bytes(const diffusion_parameters *p, int entries);
/* Chooses the levels for the entries' present values. step: g h. */
void diffusion_levels_place(diffusion_levels *levels, double step);
/* Pointwise work: multiplies fields by their weight in one level. */
typedef struct diffusion_level {
  const diffusion_levels *levels;
  int number;
} diffusion_level;
void diffusion_level_apply(void *level, const diffusion_piece *piece);

#endif
