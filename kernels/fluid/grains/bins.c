/* Bins of grains, for pairs whose surfaces are near each other. Their arrays are made once for a run. */
#include "kernels/fluid/grains/grains.h"

#include <math.h>
#include <stdlib.h>

static int64_t bin_of(const fluid_grains *g, const fluid_bins *b, const grid_shape *grid, int64_t i, int64_t at[3]) {
  for (int a = 0; a < 3; a++) {
    const double x = g->s.position[a * g->s.n + i] / grid->size[a];
    at[a] = (int64_t)fmin(fmax(floor(x * (double)b->n[a]), 0), (double)b->n[a] - 1);
  }
  return (at[2] * b->n[1] + at[1]) * b->n[0] + at[0];
}

sim_status fluid_bins_create(const fluid_grains *g, const grid_shape *grid, double gap, fluid_bins *out) {
  const int64_t n = g->s.n;
  double radius = 0;
  *out = (fluid_bins){.count = 1};
  for (int64_t i = 0; i < n; i++) radius = fmax(radius, g->s.radius[i]);
  const double width = 2 * radius + gap, most = cbrt(8.0 * (double)n + 64);
  for (int a = 0; a < 3; a++) {
    out->n[a] = (int64_t)fmax(1, fmin(floor(grid->size[a] / width), most));
    out->count *= out->n[a];
  }
  out->first = malloc((size_t)out->count * sizeof *out->first);
  out->next = malloc((size_t)n * sizeof *out->next);
  return out->first && out->next ? SIM_OK : sim_no_memory("%lld grains", (long long)n);
}

void fluid_bins_destroy(fluid_bins *b) {
  free(b->first), free(b->next);
  *b = (fluid_bins){.count = 0};
}

void fluid_bins_fill(const fluid_grains *g, const grid_shape *grid, fluid_bins *b) {
  int64_t at[3];
  for (int64_t k = 0; k < b->count; k++) b->first[k] = -1;
  for (int64_t i = g->s.n - 1; i >= 0; i--) {
    const int64_t bin = bin_of(g, b, grid, i, at);
    b->next[i] = b->first[bin];
    b->first[bin] = (int32_t)i;
  }
}

/* Bins beside a bin along an axis; each once. */
static int beside(const grid_shape *grid, const fluid_bins *b, int axis, int64_t at, int64_t out[3]) {
  int count = 0;
  for (int64_t k = at - 1; k <= at + 1; k++) {
    const int64_t n = b->n[axis], to = (k + n) % n;
    bool twice = to != k && !grid_is_periodic(grid, axis);
    for (int i = 0; i < count; i++) twice = twice || out[i] == to;
    if (!twice) out[count++] = to;
  }
  return count;
}

int fluid_bins_near(const fluid_grains *g, const grid_shape *grid, const fluid_bins *b, int64_t i, int64_t out[27]) {
  int64_t at[3], list[3][3];
  int count[3], bins = 0;
  (void)bin_of(g, b, grid, i, at);
  for (int a = 0; a < 3; a++) count[a] = beside(grid, b, a, at[a], list[a]);
  for (int z = 0; z < count[2]; z++)
    for (int y = 0; y < count[1]; y++)
      for (int x = 0; x < count[0]; x++) out[bins++] = (list[2][z] * b->n[1] + list[1][y]) * b->n[0] + list[0][x];
  return bins;
}

double fluid_grains_apart(const fluid_grains *g, const grid_shape *grid, int64_t i, int64_t j, double d[3]) {
  const int64_t n = g->s.n;
  double square = 0;
  for (int a = 0; a < 3; a++) {
    d[a] = g->s.position[a * n + i] - g->s.position[a * n + j];
    if (grid_is_periodic(grid, a)) d[a] -= grid->size[a] * rint(d[a] / grid->size[a]);
    square += d[a] * d[a];
  }
  return sqrt(square);
}
