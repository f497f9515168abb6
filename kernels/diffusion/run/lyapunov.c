/* The largest Lyapunov exponent (Benettin, Galgani, Giorgilli and Strelcyn, Meccanica 15, 1980): a twin of the run
 * begins at a small distance, makes the same steps, and is brought back to that distance after each interval; the mean
 * rate at which the distance has grown is the exponent. Its error is from the means of 16 to 31 blocks of intervals,
 * which become longer as the run goes on, and from those of pairs of them (Flyvbjerg and Petersen, J. Chem. Phys. 91,
 * 1989): a flow that remembers longer than a block makes neighbours alike. */
#include "kernels/diffusion/run/run.h"

#include "engine/rng.h"

#include <math.h>

/* Bounds of the distance over the root mean square of the fields. Below them a difference is rounding, above them
 * nonlinear. */
static const double nearest = 1e-11, farthest = 1e-3;

/* Sets the real fields of the twin: those of the run, `start` on the host, and white noise with their root mean square
 * times the size. */
static sim_status start_twin(diffusion_run *run, const sim_setup *setup, void *const *start) {
  const diffusion_parameters *p = &run->rest;
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_slab slab = diffusion_own_slab(&grid, diffusion_single(p), setup->comm);
  const int64_t first = slab.first * diffusion_plane_cells(&grid);
  const int64_t count = slab.end * diffusion_plane_cells(&grid) - first;
  const sim_buffer *real = run->ops->real(run->twin);
  const bool there = real->space != SIM_SPACE_HOST;
  sim_buffer host = *real;
  void *fields[DIFFUSION_FIELDS];
  double total = 0;
  for (int f = 0; f < run->fields; f++) {
    diffusion_statistics s;
    SIM_TRY(run->ops->measure(run->work, f, grid_cell_volume(&grid), &s));
    total += s.variance + s.mean * s.mean;
  }
  if (!(total > 0))
    return sim_fail(SIM_ERR_SCENARIO, "lyapunov: the fields are 0 at the start, and the distance of the second run is "
                                      "a fraction of them: give one of them an `initial` or `noise`");
  if (there) SIM_TRY(sim_buffer_create(&sim_backend_cpu, real->dtype, real->rank, real->shape, &host));
  for (int f = 0; f < run->fields; f++) {
    const double *from = start[f];
    double *to = fields[f] = run_part(&host, f);
    for (int64_t i = 0; i < count; i++) {
      double normal[2];
      sim_rng_normal(p->common.seed, (uint64_t)(first + i), 0, (uint32_t)(DIFFUSION_DRAW_TWIN + f), normal);
      to[i] = from[i] + p->lyapunov.size * sqrt(total) * normal[0];
    }
  }
  sim_status status = diffusion_cut(p, setup, fields);
  if (status == SIM_OK && there) status = setup->backend->copy(real->data, host.data, sim_buffer_bytes(real));
  if (there) sim_buffer_destroy(&host);
  return status;
}

sim_status diffusion_twin_begin(diffusion_run *run, const sim_setup *setup, void *const *start) {
  const diffusion_parameters *p = &run->rest;
  double distance, magnitude = 0;
  SIM_TRY(start_twin(run, setup, start));
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

/* Square of the standard error of the mean of n numbers: as if they were independent or, with `neighbours`, from the
 * covariance of neighbours too where that is above 0. The sample's own mean takes squares/n off their products. */
static double mean_error(const double *x, int n, bool neighbours) {
  double mean = 0, squares = 0, products = 0;
  for (int i = 0; i < n; i++) mean += x[i] / n;
  for (int i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
  for (int i = 1; i < n; i++) products += (x[i] - mean) * (x[i - 1] - mean);
  const double more = neighbours ? fmax(0, 2 * (products + squares / n)) : 0;
  return (squares + more) / (n * (n - 1.0));
}

/* The largest of the errors of blocks, of pairs, of pairs of pairs and so on, 8 of them at least; NaN: fewer blocks. */
static double growth_error(const diffusion_growth *g) {
  double means[DIFFUSION_BLOCKS], most = 0;
  int n = (int)g->blocks;
  if (n < 8) return NAN;
  for (int i = 0; i < n; i++) means[i] = g->sums[i] / g->times[i];
  for (bool first = true; n >= 8; n /= 2, first = false) {
    most = fmax(most, mean_error(means, n, first));
    for (int i = 0; i < n / 2; i++) means[i] = (means[2 * i] + means[2 * i + 1]) / 2;
  }
  return sqrt(most);
}

/* What is not known yet is NaN: a number could pass for a result, in stop_when for example. */
void diffusion_twin_row(const diffusion_growth *g, double *values) {
  values[0] = g->since > 0 ? g->last : NAN;
  values[1] = g->intervals > 0 ? g->sum / g->time : NAN;
  values[2] = growth_error(g);
  values[3] = g->intervals;
}
