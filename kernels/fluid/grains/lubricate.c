/* Films between surfaces that cells do not resolve. Pairs are in the order of grains, whatever the number of threads.
 */
#include "kernels/fluid/grains/grains.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

/* Bins of grains, wider than a diameter and a gap. */
typedef struct bins {
  int64_t n[3];
  int32_t *first, *next; /* first: by bin; next: by grain; -1: none */
} bins;

static int64_t bin_of(const fluid_grains *g, const bins *b, const grid_shape *grid, int64_t i, int64_t at[3]) {
  for (int a = 0; a < 3; a++) {
    const double x = g->s.position[a * g->s.n + i] / grid->size[a];
    at[a] = (int64_t)fmin(fmax(floor(x * (double)b->n[a]), 0), (double)b->n[a] - 1);
  }
  return (at[2] * b->n[1] + at[1]) * b->n[0] + at[0];
}

static sim_status create_bins(const fluid_grains *g, const grid_shape *grid, bins *b) {
  const int64_t n = g->s.n;
  double radius = 0;
  int64_t count = 1, at[3];
  for (int64_t i = 0; i < n; i++) radius = fmax(radius, g->s.radius[i]);
  const double width = 2 * radius + FLUID_GRAIN_GAP * g->numbers->dx, most = cbrt(8.0 * (double)n + 64);
  for (int a = 0; a < 3; a++) {
    b->n[a] = (int64_t)fmax(1, fmin(floor(grid->size[a] / width), most));
    count *= b->n[a];
  }
  b->first = malloc((size_t)count * sizeof *b->first);
  b->next = malloc((size_t)n * sizeof *b->next);
  if (!b->first || !b->next) return sim_no_memory("%lld grains", (long long)n);
  for (int64_t k = 0; k < count; k++) b->first[k] = -1;
  for (int64_t i = n - 1; i >= 0; i--) {
    const int64_t bin = bin_of(g, b, grid, i, at);
    b->next[i] = b->first[bin];
    b->first[bin] = (int32_t)i;
  }
  return SIM_OK;
}

/* Share of the speed that a film leaves after a step; mass: reduced; R: as of fluid_lubricate; gap: of the surfaces. */
static double left_of(const fluid_grains *g, double mass, double R, double gap) {
  const double dx = g->numbers->dx, h = fmax(gap, FLUID_GRAIN_TOUCH * dx), far = FLUID_GRAIN_GAP * dx;
  const double mu = g->p->viscosity * g->p->density;
  return h < far ? exp(-6 * pi * mu * R * R * (1 / h - 1 / far) * g->numbers->dt / mass) : 1;
}

/* Slows two grains along the line of their centres, as if they met without elasticity: momentum is kept. */
static double slow_pair(fluid_grains *g, const grid_shape *grid, int64_t i, int64_t j) {
  const int64_t n = g->s.n;
  const double p = g->s.radius[i], q = g->s.radius[j], mi = g->s.mass[i], mj = g->s.mass[j];
  double d[3], square = 0, speed = 0;
  for (int a = 0; a < 3; a++) {
    d[a] = g->s.position[a * n + i] - g->s.position[a * n + j];
    if (grid_is_periodic(grid, a)) d[a] -= grid->size[a] * rint(d[a] / grid->size[a]);
    square += d[a] * d[a];
  }
  const double far = sqrt(square);
  if (!(far > 0) || far - p - q >= FLUID_GRAIN_GAP * g->numbers->dx) return 0;
  for (int a = 0; a < 3; a++) speed += (g->s.velocity[a * n + i] - g->s.velocity[a * n + j]) * d[a] / far;
  const double mass = mi * mj / (mi + mj), left = left_of(g, mass, p * q / (p + q), far - p - q);
  const double impulse = -mass * speed * (1 - left);
  for (int a = 0; a < 3; a++) {
    g->s.velocity[a * n + i] += impulse / mi * d[a] / far;
    g->s.velocity[a * n + j] -= impulse / mj * d[a] / far;
  }
  return mass * speed * speed * (1 - left * left) / 2;
}

static double slow_at_walls(fluid_grains *g, const grid_shape *grid, int64_t i) {
  const int64_t n = g->s.n;
  const double r = g->s.radius[i], mass = g->s.mass[i];
  double dissipated = 0;
  for (int a = 0; a < 3; a++) {
    if (grid->boundary[a] != GRID_FIXED) continue; /* a slip side has no such film */
    const double x = g->s.position[a * n + i], gap = fmin(x, grid->size[a] - x) - r;
    double *v = &g->s.velocity[a * n + i];
    const double left = left_of(g, mass, r, gap);
    dissipated += mass * *v * *v * (1 - left * left) / 2;
    *v *= left;
  }
  return dissipated;
}

/* Bins beside a bin along an axis; each once. */
static int beside(const grid_shape *grid, const bins *b, int axis, int64_t at, int64_t out[3]) {
  int count = 0;
  for (int64_t k = at - 1; k <= at + 1; k++) {
    const int64_t n = b->n[axis], to = (k + n) % n;
    bool twice = to != k && !grid_is_periodic(grid, axis);
    for (int i = 0; i < count; i++) twice = twice || out[i] == to;
    if (!twice) out[count++] = to;
  }
  return count;
}

static double slow_neighbours(fluid_grains *g, const grid_shape *grid, const bins *b, int64_t i) {
  int64_t at[3], list[3][3];
  int count[3];
  double dissipated = 0;
  (void)bin_of(g, b, grid, i, at);
  for (int a = 0; a < 3; a++) count[a] = beside(grid, b, a, at[a], list[a]);
  for (int z = 0; z < count[2]; z++)
    for (int y = 0; y < count[1]; y++)
      for (int x = 0; x < count[0]; x++) {
        const int64_t bin = (list[2][z] * b->n[1] + list[1][y]) * b->n[0] + list[0][x];
        for (int32_t j = b->first[bin]; j >= 0; j = b->next[j])
          if (j > i) dissipated += slow_pair(g, grid, i, j);
      }
  return dissipated;
}

sim_status fluid_lubricate(fluid_grains *g, double *dissipated) {
  const grid_shape grid = fluid_grid_of(g->p);
  bins b = {.n = {0}};
  *dissipated = 0;
  const sim_status status = create_bins(g, &grid, &b);
  for (int64_t i = 0; i < g->s.n && status == SIM_OK; i++)
    *dissipated += slow_neighbours(g, &grid, &b, i) + slow_at_walls(g, &grid, i);
  free(b.first), free(b.next);
  return status;
}
