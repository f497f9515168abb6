/* Where each cell lies between the levels of P (implicit/parts.h), in host memory. */
#ifndef DIFFUSION_LEVELS_H
#define DIFFUSION_LEVELS_H

#include "kernels/diffusion/cpu/implicit/linearize.h"

typedef struct diffusion_places {
  const diffusion_entries *entries;
  /* [fields][pieces of this rank][numbers]: where the cell lies between levels: level q counts with 1 - |place - q| */
  void *place;
  double *least, *greatest; /* [pieces] */
  int threads;
} diffusion_places;

sim_status diffusion_places_create(const diffusion_entries *entries, int threads, diffusion_places *out) SIM_MUST_CHECK;
void diffusion_places_destroy(diffusion_places *places);
double diffusion_places_bytes(const diffusion_parameters *p, const sim_comm *comm, int entries);
/* Computes the stiffness in the cells of a field, and places, as diffusion_linear_ops. */
sim_status diffusion_places_compute(diffusion_places *places, int field, double first, int terms, const double *factor,
                                    const int *of, double *least, double *greatest) SIM_MUST_CHECK;
void diffusion_places_set(diffusion_places *places, int field, double low, double ratio, int levels);
/* Pointwise work: multiplies fields by their weight in one level. */
typedef struct diffusion_level {
  const diffusion_places *places;
  int number;
} diffusion_level;
void diffusion_level_apply(void *level, const diffusion_piece *piece);

#endif
