/* Films between surfaces that cells do not resolve. Pairs are in the order of grains, whatever the number of threads.
 */
#include "kernels/fluid/grains/grains.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

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
  double d[3], speed = 0;
  const double far = fluid_grains_apart(g, grid, i, j, d);
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

static double slow_neighbours(fluid_grains *g, const grid_shape *grid, int64_t i) {
  const fluid_bins *b = &g->bins;
  int64_t near[27];
  const int count = fluid_bins_near(g, grid, b, i, near);
  double dissipated = 0;
  for (int k = 0; k < count; k++)
    for (int32_t j = b->first[near[k]]; j >= 0; j = b->next[j])
      if (j > i) dissipated += slow_pair(g, grid, i, j);
  return dissipated;
}

double fluid_lubricate(fluid_grains *g, const grid_shape *grid) {
  double dissipated = 0;
  fluid_bins_fill(g, grid, &g->bins);
  for (int64_t i = 0; i < g->s.n; i++) dissipated += slow_neighbours(g, grid, i) + slow_at_walls(g, grid, i);
  return dissipated;
}
