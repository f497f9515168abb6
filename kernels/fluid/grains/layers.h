/* Numbers of grains that are sums over cells, by planes of z: each rank makes those of its own planes, all ranks get
 * all, and those of a grain are added upward, so that no bit depends on the number of ranks. */
#ifndef FLUID_LAYERS_H
#define FLUID_LAYERS_H

#include "kernels/fluid/cpu/ranks.h"

enum { FLUID_LAYER_NUMBERS = 6 }; /* at most, of a grain in a plane */
typedef struct fluid_layers {
  int64_t *first; /* [n + 1]: layers first[i] to first[i + 1] - 1 are of grain i, upward */
  int64_t *row;   /* [layers]: the first row of each one's plane */
  double *value;  /* [layers][numbers] */
} fluid_layers;

/* For at most `most` layers of n grains. Destroy with fluid_layers_destroy, also after a failure. */
sim_status fluid_layers_create(int64_t n, int64_t most, fluid_layers *out) SIM_MUST_CHECK;
void fluid_layers_destroy(fluid_layers *layers);
/* Grain i has `count` planes from plane `low` on, which may be beyond the box: then it is taken around. For i = 0, 1,
 * ..., n - 1. */
void fluid_layers_set(fluid_layers *layers, const fluid_part *part, int64_t i, int64_t low, int64_t count);
/* Whether this rank has a layer. */
static inline bool fluid_layer_is_own(const fluid_layers *layers, const fluid_part *part, int64_t layer) {
  return fluid_part_has_row(part, layers->row[layer]);
}
/* Gathers value[layers][numbers] and adds up those of each grain: out[n][numbers]. */
sim_status fluid_layers_sum(const fluid_part *part, fluid_layers *layers, int64_t n, int numbers,
                            double *out) SIM_MUST_CHECK;

#endif
