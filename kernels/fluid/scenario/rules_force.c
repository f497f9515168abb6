/* Rules of a force that is a function of place, time, velocity and temperature. */
#include "kernels/fluid/heat.h"
#include "kernels/fluid/scenario/rules.h"

#include "engine/log.h"

#include <math.h>
#include <stdlib.h>

enum { INPUTS = 8, TIME = 3, VELOCITY = 4, TEMPERATURE = 7, TIMES = 5, TEMPERATURES = 3 };
enum { FLAT = 256, DEEP = 40 }; /* points along an axis of a grid of two axes, and of three, at most: cells */

void fluid_check_force(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults) {
  if (!p->force) return;
  if (sim_expr_output_count(p->force) != grid->rank)
    sim_faults_add(faults, 0, "force", "expected %d numbers, one for each axis of the grid, got %d", grid->rank,
                   sim_expr_output_count(p->force));
  for (int a = 0; a < sim_expr_output_count(p->force); a++)
    if (!p->heat.given && sim_expr_depends(p->force, a, TEMPERATURE)) {
      sim_faults_add(faults, 0, "force", "is a function of T, and there is no `heat`");
      break;
    }
  if (p->resistance)
    sim_faults_add(faults, 0, "force",
                   "is not supported together with `resistance`: add -r*ux, -r*uy, ... to the force");
  if (p->solid.given) sim_faults_add(faults, 0, "force", "is not supported together with `solid`");
  if (p->grains.count > 0) sim_faults_add(faults, 0, "force", "is not supported together with `grains`");
}

/* What samples of a force have shown. */
typedef struct survey {
  double rest;     /* the greatest of a fluid at rest */
  double along[3]; /* the greatest along each axis */
  double rate;     /* the greatest change by a velocity `speed`, over `speed` */
  bool finite;
  double at[INPUTS]; /* where it is not finite */
} survey;

/* The velocities of samples: rest, `speed` both ways along each axis, and along a diagonal. */
static void velocity_of(const fluid_parameters *p, int rank, int i, double u[3]) {
  for (int a = 0; a < 3; a++) u[a] = 0;
  if (i > 0 && i <= 2 * rank) u[(i - 1) / 2] = i % 2 ? p->speed : -p->speed;
  for (int a = 0; a < rank && i == 2 * rank + 1; a++) u[a] = p->speed / sqrt(rank);
}

/* Whether the force depends on inputs [first, end). */
static bool depends(const fluid_parameters *p, int first, int end) {
  bool out = false;
  for (int a = 0; a < sim_expr_output_count(p->force); a++)
    for (int i = first; i < end; i++) out = out || sim_expr_depends(p->force, a, i);
  return out;
}

/* Points of a row along x, in[INPUTS] there, and what is found at them: rest[3][n] and value[3][n]. */
typedef struct samples {
  const sim_expr_program *program;
  void *scratch;
  int n;
  double x[FLAT], rest[3][FLAT], value[3][FLAT], in[INPUTS];
} samples;

/* The force at the points of a row; it is that of rest where the velocity is the first one. */
static void look(const fluid_parameters *p, int rank, samples *s, bool first, survey *out) {
  const void *inputs[INPUTS] = {s->x};
  for (int i = 1; i < INPUTS; i++) inputs[i] = &s->in[i];
  sim_expr_program_run(s->program, (size_t)s->n, inputs, (void *const[]){s->value[0], s->value[1], s->value[2]},
                       s->scratch);
  for (int i = 0; i < s->n && out->finite; i++) {
    double size = 0, change = 0;
    for (int a = 0; a < rank; a++) {
      const double f = s->value[a][i];
      if (first) s->rest[a][i] = f;
      if (first) out->along[a] = fmax(out->along[a], fabs(f));
      size += f * f;
      change += (f - s->rest[a][i]) * (f - s->rest[a][i]);
    }
    if (first) out->rest = fmax(out->rest, sqrt(size));
    out->rate = fmax(out->rate, sqrt(change) / p->speed);
    out->finite = isfinite(size);
    for (int k = 0; k < INPUTS && !out->finite; k++) out->at[k] = k == 0 ? s->x[i] : s->in[k];
  }
}

/* The same at times of the run, velocities and temperatures. */
static void look_at_row(const fluid_parameters *p, int rank, samples *s, survey *out) {
  const int times = depends(p, TIME, TIME + 1) ? TIMES : 1, warm = depends(p, TEMPERATURE, INPUTS) ? TEMPERATURES : 1;
  const int speeds = depends(p, VELOCITY, TEMPERATURE) ? 2 * rank + 2 : 1;
  double low, high;
  (void)fluid_heat_far(p, &low, &high);
  low = fmin(low, p->heat.reference), high = fmax(high, p->heat.reference);
  for (int i = 0; i < times * warm; i++) {
    s->in[TIME] = times > 1 ? p->integrate.t_end * (i / warm) / (times - 1) : 0;
    s->in[TEMPERATURE] = warm > 1 ? low + (high - low) * (i % warm) / (warm - 1) : p->heat.given ? low : 0;
    for (int v = 0; v < speeds && out->finite; v++) {
      velocity_of(p, rank, v, &s->in[VELOCITY]);
      look(p, rank, s, v == 0, out);
    }
  }
}

static int points_of(const grid_shape *grid, int axis) {
  const int64_t most = grid->rank == 3 ? DEEP : FLAT, n = axis < grid->rank ? grid->n[axis] : 1;
  return (int)(n < most ? n : most);
}

/* The centre of the cell of point i. */
static double point_of(const grid_shape *grid, int axis, int i) {
  const int points = points_of(grid, axis);
  return grid_centre(grid, axis, points > 1 ? i * (grid->n[axis] - 1) / (points - 1) : 0);
}

static sim_status survey_of(const fluid_parameters *p, const grid_shape *grid, survey *out) {
  static const bool uniform[INPUTS] = {false, true, true, true, true, true, true, true};
  sim_expr_program *program;
  *out = (survey){.finite = true};
  SIM_TRY(sim_expr_program_create(p->force, &(sim_expr_target){.uniform = uniform}, &program));
  samples *s = calloc(1, sizeof *s);
  if (s) s->scratch = aligned_alloc(64, (sim_expr_program_scratch(program) + 63) / 64 * 64 + 64);
  const bool there = s && s->scratch;
  if (there) {
    s->program = program;
    s->n = points_of(grid, 0);
    for (int i = 0; i < s->n; i++) s->x[i] = point_of(grid, 0, i);
  }
  for (int z = 0; z < points_of(grid, 2) && there; z++)
    for (int y = 0; y < points_of(grid, 1) && out->finite; y++) {
      s->in[1] = point_of(grid, 1, y);
      s->in[2] = point_of(grid, 2, z);
      look_at_row(p, grid->rank, s, out);
    }
  if (s) free(s->scratch);
  free(s);
  sim_expr_program_free(&program);
  return there ? SIM_OK : sim_no_memory("the force");
}

void fluid_check_force_values(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults) {
  const fluid_numbers k = fluid_numbers_of(p, 0);
  survey s;
  if (!p->force) return;
  if (survey_of(p, grid, &s) != SIM_OK) {
    sim_faults_add(faults, 0, "force", "no memory for it");
    return;
  }
  if (!s.finite)
    sim_faults_add(faults, 0, "force",
                   "is not finite at x = %.6g, y = %.6g, z = %.6g, t = %.6g, velocity %.4g, %.4g, %.4g, T = %.6g",
                   s.at[0], s.at[1], s.at[2], s.at[3], s.at[4], s.at[5], s.at[6], s.at[7]);
  else if (s.rest * k.dt > p->speed)
    sim_faults_add(faults, 0, "force",
                   "is %.4g, by which the fluid at rest is faster than speed = %.6g after one step of %.4g: expected a "
                   "larger speed, or a smaller force",
                   s.rest, p->speed, k.dt);
}

void fluid_tell_force(const fluid_parameters *p, const fluid_numbers *k) {
  const grid_shape grid = fluid_grid_of(p);
  const double sound = k->dx / k->dt / sqrt(3);
  double part = 0;
  int held = 0; /* the axis along which sides hold the fluid against most */
  survey s;
  if (!p->force || survey_of(p, &grid, &s) != SIM_OK) return;
  for (int a = 0; a < grid.rank; a++) {
    const double here = s.along[a] * grid.size[a] / (sound * sound);
    const fluid_side *low = &p->sides[2 * a], *high = low + 1;
    const bool through = low->given && !isnan(low->pressure) && high->given && !isnan(high->pressure);
    if (!grid_is_periodic(&grid, a) && !through && here > part) part = here, held = a;
  }
  sim_log(SIM_LOG_INFO, "force: up to %.4g on the fluid at rest, and changed by the velocity at a rate of up to %.4g",
          s.rest, s.rate);
  if (s.rate * k->dt > 1)
    sim_log(SIM_LOG_WARN,
            "force: the velocity changes it within a part %.2g of a step, so that what it does to the flow is not "
            "resolved in time: expected integrate.dt of at most %.3g, or a smaller mach",
            1 / (s.rate * k->dt), 0.1 / s.rate);
  if (part > 0.05)
    sim_log(SIM_LOG_WARN,
            "force: where sides hold the fluid against %.4g along %c over their distance, it changes the density by "
            "%.2g %%: expected a mach of at most %.2g for 2 %%",
            s.along[held], "xyz"[held], 100 * part, fluid_round_down(k->mach * sqrt(0.02 / part), 2));
}
