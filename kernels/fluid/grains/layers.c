/* Numbers of grains by planes of z. */
#include "kernels/fluid/grains/layers.h"

#include <stdlib.h>

sim_status fluid_layers_create(int64_t n, int64_t most, fluid_layers *out) {
  out->first = calloc((size_t)n + 1, sizeof *out->first);
  out->row = malloc((size_t)most * sizeof *out->row);
  out->value = malloc((size_t)most * FLUID_LAYER_NUMBERS * sizeof *out->value);
  return out->first && out->row && out->value ? SIM_OK : sim_no_memory("%lld grains", (long long)n);
}

void fluid_layers_destroy(fluid_layers *l) {
  free(l->first), free(l->row), free(l->value);
  *l = (fluid_layers){NULL, NULL, NULL};
}

void fluid_layers_set(fluid_layers *l, const fluid_part *part, int64_t i, int64_t low, int64_t count) {
  l->first[i + 1] = l->first[i] + count;
  for (int64_t k = 0; k < count; k++)
    l->row[l->first[i] + k] = ((low + k) % part->planes + part->planes) % part->planes * part->rows;
}

sim_status fluid_layers_sum(const fluid_part *part, fluid_layers *l, int64_t n, int numbers, double *out) {
  SIM_TRY(fluid_gather_items(part, l->row, l->first[n], (size_t)numbers * sizeof *l->value, l->value));
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < numbers; c++) {
      double sum = 0;
      for (int64_t k = l->first[i]; k < l->first[i + 1]; k++) sum += l->value[k * numbers + c];
      out[i * numbers + c] = sum;
    }
  return SIM_OK;
}
