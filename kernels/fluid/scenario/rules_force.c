/* Rules of a force that is a function of place, time, velocity and temperature. */
#include "kernels/fluid/heat.h"

#include "engine/log.h"

#include <math.h>
#include <stdlib.h>

enum { INPUTS = 8, VELOCITY = 4, TEMPERATURE = 7, POINTS = 9, TIMES = 5, TEMPERATURES = 3 };

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
  double rest; /* the greatest of a fluid at rest */
  double rate; /* the greatest change by a velocity `speed`, over `speed` */
  bool finite;
  double at[INPUTS]; /* where it is not finite */
} survey;

/* The velocities of samples: rest, `speed` both ways along each axis, and along a diagonal. */
static void velocity_of(const fluid_parameters *p, int rank, int i, double u[3]) {
  for (int a = 0; a < 3; a++) u[a] = 0;
  if (i > 0 && i <= 2 * rank) u[(i - 1) / 2] = i % 2 ? p->speed : -p->speed;
  for (int a = 0; a < rank && i == 2 * rank + 1; a++) u[a] = p->speed / sqrt(rank);
}

/* Samples of one point: of all velocities, times and temperatures. */
static void look(const fluid_parameters *p, const grid_shape *grid, const sim_expr_program *program, void *scratch,
                 const double x[3], survey *out) {
  double low, high, value[3] = {0}, in[INPUTS] = {x[0], x[1], x[2]};
  const void *inputs[INPUTS];
  for (int i = 0; i < INPUTS; i++) inputs[i] = &in[i];
  (void)fluid_heat_far(p, &low, &high);
  low = fmin(low, p->heat.reference), high = fmax(high, p->heat.reference);
  for (int i = 0; i < TIMES * TEMPERATURES; i++) {
    double rest[3] = {0};
    in[3] = p->integrate.t_end * (i / TEMPERATURES) / (TIMES - 1);
    in[TEMPERATURE] = p->heat.given ? low + (high - low) * (i % TEMPERATURES) / (TEMPERATURES - 1) : 0;
    for (int v = 0; v < 2 * grid->rank + 2 && out->finite; v++) {
      double size = 0, change = 0;
      velocity_of(p, grid->rank, v, &in[VELOCITY]);
      sim_expr_program_run(program, 1, inputs, (void *const[]){&value[0], &value[1], &value[2]}, scratch);
      for (int a = 0; a < grid->rank; a++) {
        if (v == 0) rest[a] = value[a];
        size += value[a] * value[a];
        change += (value[a] - rest[a]) * (value[a] - rest[a]);
      }
      if (v == 0) out->rest = fmax(out->rest, sqrt(size));
      out->rate = fmax(out->rate, sqrt(change) / p->speed);
      out->finite = isfinite(size);
      for (int k = 0; k < INPUTS && !out->finite; k++) out->at[k] = in[k];
    }
  }
}

static sim_status survey_of(const fluid_parameters *p, const grid_shape *grid, survey *out) {
  static const bool uniform[INPUTS] = {true, true, true, true, true, true, true, true};
  sim_expr_program *program;
  *out = (survey){.finite = true};
  SIM_TRY(sim_expr_program_create(p->force, &(sim_expr_target){.uniform = uniform, .block = 1}, &program));
  void *scratch = aligned_alloc(64, (sim_expr_program_scratch(program) + 63) / 64 * 64 + 64);
  const int points = grid->rank == 3 ? POINTS * POINTS * POINTS : POINTS * POINTS;
  for (int i = 0; i < points && scratch && out->finite; i++) {
    const int at[3] = {i % POINTS, i / POINTS % POINTS, i / (POINTS * POINTS)};
    double x[3];
    for (int a = 0; a < 3; a++) x[a] = grid_centre(grid, a, at[a] * (grid->n[a] - 1) / (POINTS - 1));
    look(p, grid, program, scratch, x, out);
  }
  const sim_status status = scratch ? SIM_OK : sim_no_memory("the force");
  free(scratch);
  sim_expr_program_free(&program);
  return status;
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
  double length = 0;
  survey s;
  if (!p->force || survey_of(p, &grid, &s) != SIM_OK) return;
  for (int a = 0; a < grid.rank; a++)
    if (!grid_is_periodic(&grid, a)) length = fmax(length, grid.size[a]);
  const double sound = k->dx / k->dt / sqrt(3), part = s.rest * length / (sound * sound);
  sim_log(SIM_LOG_INFO, "force: up to %.4g on the fluid at rest, and changed by the velocity at a rate of up to %.4g",
          s.rest, s.rate);
  if (s.rate * k->dt > 1)
    sim_log(SIM_LOG_WARN,
            "force: the velocity changes it within a part %.2g of a step, so that what it does to the flow is not "
            "resolved in time: expected integrate.dt of at most %.3g, or a smaller mach",
            1 / (s.rate * k->dt), 0.1 / s.rate);
  if (part > 0.05)
    sim_log(SIM_LOG_WARN,
            "force: where sides hold the fluid against %.4g over their distance, it changes the density by %.2g %%: "
            "expected a mach of at most %.2g for 2 %%",
            s.rest, 100 * part, k->mach * sqrt(0.02 / part));
}
