/* The largest Lyapunov exponent (Benettin, Galgani, Giorgilli and Strelcyn, Meccanica 15, 1980): a twin of the run
 * begins at a small distance, makes the same steps, and is brought back to that distance after each interval; the mean
 * rate at which the distance has grown is the exponent. Its error is the scatter of the means of some 16 to 32 blocks
 * of intervals, which become longer as the run goes on. */
#include "kernels/diffusion/run/run.h"

#include "engine/rng.h"

#include <math.h>

/* Bounds of the distance over the root mean square of the fields. Below them a difference is rounding, above them
 * nonlinear. */
static const double nearest = 1e-11, farthest = 1e-3;

sim_status diffusion_twin_begin(diffusion_run *run, const sim_setup *setup, void *const *start) {
  const diffusion_parameters *p = run->p;
  const int64_t first = run->slab.first * diffusion_plane_cells(&run->grid);
  const int64_t count = run->slab.end * diffusion_plane_cells(&run->grid) - first;
  void *fields[DIFFUSION_FIELDS];
  double distance, magnitude = 0, total = 0;
  for (int f = 0; f < run->fields; f++) { /* white noise with the fields' root mean square, times the size */
    diffusion_statistics s;
    SIM_TRY(run->ops->measure(run->work, f, grid_cell_volume(&run->grid), &s));
    total += s.variance + s.mean * s.mean;
  }
  if (!(total > 0))
    return sim_fail(SIM_ERR_SCENARIO, "lyapunov: the fields are 0 at the start, and the distance of the second run is "
                                      "a fraction of them: give one of them an `initial` or `noise`");
  for (int f = 0; f < run->fields; f++) {
    const double *from = start[f];
    double *to = fields[f] = run_part(run->ops->real(run->twin), f);
    for (int64_t i = 0; i < count; i++) {
      double normal[2];
      sim_rng_normal(p->common.seed, (uint64_t)(first + i), 0, (uint32_t)(DIFFUSION_DRAW_TWIN + f), normal);
      to[i] = from[i] + p->lyapunov.size * sqrt(total) * normal[0];
    }
  }
  SIM_TRY(diffusion_cut(p, setup, fields));
  SIM_TRY(run->ops->load(run->work, 0));
  SIM_TRY(run->ops->load(run->twin, 0));
  SIM_TRY(run->ops->twin(run->work, run->twin, p->lyapunov.size, &distance, &magnitude));
  run->growth = (diffusion_growth){.distance = p->lyapunov.size * magnitude, .length = 1};
  return SIM_OK;
}

/* Joins blocks in pairs. */
static void join_blocks(diffusion_growth *g) {
  for (int i = 0; i < DIFFUSION_BLOCKS / 2; i++) {
    g->sums[i] = g->sums[2 * i] + g->sums[2 * i + 1];
    g->times[i] = g->times[2 * i] + g->times[2 * i + 1];
  }
  for (int i = DIFFUSION_BLOCKS / 2; i < DIFFUSION_BLOCKS; i++) g->sums[i] = g->times[i] = 0;
  g->blocks = DIFFUSION_BLOCKS / 2;
  g->length *= 2;
}

static void add_interval(diffusion_growth *g, double growth, double time) {
  const int block = (int)g->blocks;
  g->sum += growth;
  g->time += time;
  g->intervals++;
  g->sums[block] += growth;
  g->times[block] += time;
  if (++g->filled < g->length) return;
  g->filled = 0;
  if (++g->blocks == DIFFUSION_BLOCKS) join_blocks(g);
}

sim_status diffusion_twin_step(diffusion_run *run, const sim_clock *clock) {
  const diffusion_lyapunov *l = &run->p->lyapunov;
  diffusion_growth *g = &run->growth;
  const int64_t every = diffusion_growth_steps(l, run->h);
  double distance, magnitude;
  if ((clock->step - (int64_t)run->begin[1]) % every != 0) return SIM_OK;
  SIM_TRY(run->ops->twin(run->work, run->twin, l->size, &distance, &magnitude));
  if (!(distance > 0 && distance >= nearest * magnitude && distance <= farthest * magnitude))
    return sim_fail(SIM_ERR_DIVERGED,
                    "lyapunov: the second run is %.3g of the fields' root mean square away at t = %.9g, from %.3g: "
                    "outside of %g to %g the distance is not that of neighbours: shorten `every`, or change `size`",
                    distance / magnitude, clock->t, l->size, nearest, farthest);
  const double growth = log(distance / g->distance), time = clock->t - g->since;
  g->last = growth / time;
  if (g->since >= l->start * (1 - 1e-9)) add_interval(g, growth, time);
  g->since = clock->t;
  g->distance = l->size * magnitude;
  return SIM_OK;
}

void diffusion_twin_row(const diffusion_growth *g, double *values) {
  const int blocks = (int)g->blocks;
  double mean = 0, squares = 0;
  for (int i = 0; i < blocks; i++) mean += g->sums[i] / g->times[i] / blocks;
  for (int i = 0; i < blocks; i++) squares += pow(g->sums[i] / g->times[i] - mean, 2);
  values[0] = g->last;
  values[1] = g->intervals > 0 ? g->sum / g->time : 0;
  values[2] = blocks >= 8 ? sqrt(squares / (blocks * (blocks - 1.0))) : 0;
  values[3] = g->intervals;
}
