/* Solver for a few bodies: a plain loop over pairs in fp64. Each rank computes all of it. */
#include "kernels/nbody/few/pairs.h"

#include "kernels/nbody/direct/direct.h"
#include "kernels/nbody/few/sums.h"
#include "kernels/nbody/physics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void nbody_pairs(int64_t n, int64_t skip, double G, double eps2, const double *restrict mass, const double *restrict x,
                 double *restrict a) {
  const double *const y = x + n, *const z = x + 2 * n;
  double *const ay = a + n, *const az = a + 2 * n;
  memset(a, 0, (size_t)(3 * n) * sizeof *a);
  int64_t heavy = n; /* bodies from `heavy` on have no mass */
  while (heavy > 0 && mass[heavy - 1] == 0) heavy--;
  for (int64_t i = 0; i < heavy; i++) {
    const bool light = mass[i] == 0;
    const int64_t end = light ? heavy : n;
    const double xi = x[i], yi = y[i], zi = z[i], mi = mass[i];
    double sx = 0, sy = 0, sz = 0;
    for (int64_t j = i < skip ? skip : i + 1; j < end; j++) {
      if (light && mass[j] == 0) continue;
      const double dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
      const double r2 = dx * dx + dy * dy + dz * dz + eps2;
      const double unit = G / (r2 * sqrt(r2)), mine = unit * mass[j], its = unit * mi;
      sx += mine * dx;
      sy += mine * dy;
      sz += mine * dz;
      a[j] -= its * dx;
      ay[j] -= its * dy;
      az[j] -= its * dz;
    }
    a[i] += sx;
    ay[i] += sy;
    az[i] += sz;
  }
}

struct nbody_solver_work {
  nbody_options options;
  nbody_state state;
};

static sim_status supports(const nbody_options *options) {
  (void)options; /* nbody_solver_choose takes this solver only where it serves */
  return SIM_OK;
}

static void bytes(const nbody_options *options, double *host, double *device) {
  (void)options;
  *host = sizeof(nbody_solver_work);
  *device = 0;
}

static sim_status estimate(const nbody_options *options, double n, nbody_cost *out) {
  SIM_TRY(nbody_direct_count(options, n, out));
  out->rate = 4e8;
  out->most_ranks = 1;
  out->undivided = 1;
  return SIM_OK;
}

static sim_status create(const nbody_options *options, const nbody_state *state, nbody_solver_work **out) {
  nbody_solver_work *w = *out = calloc(1, sizeof *w);
  if (w == NULL) return sim_no_memory("the direct sum");
  *w = (nbody_solver_work){*options, *state};
  return SIM_OK;
}

static void destroy(nbody_solver_work **work) {
  free(*work);
  *work = NULL;
}

static const char *describe(const nbody_solver_work *work) {
  (void)work;
  return "Newton's third law, pair by pair";
}

static void accelerate(nbody_solver_work *w, bool zeroed, nbody_raw_force *out) {
  (void)zeroed, (void)out;
  const double eps = w->options.softening;
  nbody_pairs(w->state.n, 0, w->options.G, eps * eps, w->state.mass, w->state.position, w->state.acceleration);
}

static double potential(nbody_solver_work *w) {
  const int64_t n = w->state.n;
  const double *m = w->state.mass, *x = w->state.position, eps = w->options.softening;
  double sum = 0, rest = 0; /* compensated: the energy error of a good integrator is a few roundings */
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i + 1; j < n; j++) {
      const double dx = x[j] - x[i], dy = x[n + j] - x[n + i], dz = x[2 * n + j] - x[2 * n + i];
      const double s = sqrt(dx * dx + dy * dy + dz * dz + eps * eps);
      if (m[i] > 0 && m[j] > 0) nbody_add(&sum, &rest, -w->options.G * m[i] * m[j] / s);
    }
  return sum;
}

static double start_time(nbody_solver_work *w) {
  const int64_t n = w->state.n;
  const double *m = w->state.mass, *x = w->state.position, eps = w->options.softening;
  double least = INFINITY;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i + 1; j < n; j++)
      least = fmin(least, nbody_fall_time2(x[j] - x[i], x[n + j] - x[n + i], x[2 * n + j] - x[2 * n + i], eps * eps,
                                           w->options.G * (m[i] + m[j])));
  return sqrt(least);
}

const nbody_solver nbody_few_cpu = {
    .name = "direct sum",
    .supports = supports,
    .bytes = bytes,
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .describe = describe,
    .accelerate = accelerate,
    .potential = potential,
    .start_time = start_time,
};
