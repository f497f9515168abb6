/* Rules of the viscosity: a number, or a function of the shear rate and the temperature. */
#include "kernels/fluid/cpu/rheology.h"
#include "kernels/fluid/heat.h"
#include "kernels/fluid/scenario/rules.h"

#include "engine/log.h"

#include <math.h>
#include <stdlib.h>

enum { SHEARS = 241, TEMPERATURES = 5, REFERENCE = 180 };

bool fluid_has_law(const fluid_parameters *p) {
  return sim_expr_depends(p->law, 0, 0) || sim_expr_depends(p->law, 0, 1);
}

/* The viscosity at shear rates 0, ... the one of the flow, `speed` over the distance of sides, which is [REFERENCE],
 * ... `speed` over the width of a cell; and at temperatures from the least to the greatest of the scenario. */
typedef struct samples {
  double shear[SHEARS], temperature[TEMPERATURES], viscosity[TEMPERATURES][SHEARS];
  double reference; /* at shear[REFERENCE] and heat.reference */
} samples;

static void choose(const fluid_parameters *p, const grid_shape *grid, samples *s) {
  const double dx = grid->size[0] / (double)grid->n[0], length = fluid_length_of(grid), flow = p->speed / length;
  double low, high;
  s->shear[0] = 0;
  for (int i = 1; i < SHEARS; i++)
    s->shear[i] = i <= REFERENCE ? flow * pow(10, -6.0 * (REFERENCE - i) / (REFERENCE - 1))
                                 : flow * pow(length / dx, (double)(i - REFERENCE) / (SHEARS - 1 - REFERENCE));
  (void)fluid_heat_far(p, &low, &high);
  low = fmin(low, p->heat.reference);
  high = fmax(high, p->heat.reference);
  for (int i = 0; i < TEMPERATURES; i++)
    s->temperature[i] = p->heat.given ? low + (high - low) * i / (TEMPERATURES - 1) : 0;
}

static sim_status evaluate(const fluid_parameters *p, const grid_shape *grid, samples *s) {
  sim_expr_program *program;
  static const bool uniform[] = {false, true};
  SIM_TRY(sim_expr_program_create(p->law, &(sim_expr_target){.uniform = uniform}, &program));
  void *scratch = aligned_alloc(64, (sim_expr_program_scratch(program) + 63) / 64 * 64 + 64);
  if (scratch) choose(p, grid, s);
  for (int i = 0; i < TEMPERATURES && scratch; i++)
    sim_expr_program_run(program, SHEARS, (const void *const[]){s->shear, &s->temperature[i]},
                         (void *const[]){s->viscosity[i]}, scratch);
  if (scratch)
    sim_expr_program_run(program, 1, (const void *const[]){&s->shear[REFERENCE], &p->heat.reference},
                         (void *const[]){&s->reference}, scratch);
  const sim_status status = scratch ? SIM_OK : sim_no_memory("the viscosity");
  free(scratch);
  sim_expr_program_free(&program);
  return status;
}

/* The samples of a scenario in memory that the caller frees; NULL: there is none. */
static samples *sample(const fluid_parameters *p, const grid_shape *grid) {
  samples *s = malloc(sizeof *s);
  if (s && evaluate(p, grid, s) != SIM_OK) {
    free(s);
    return NULL;
  }
  return s;
}

/* Faults of values: they are above 0, and the stress grows with the shear rate. */
static bool check_values(const fluid_parameters *p, const samples *s, sim_faults *faults) {
  const bool warm = sim_expr_depends(p->law, 0, 1);
  for (int t = 0; t < TEMPERATURES; t++)
    for (int i = 0; i < SHEARS; i++) {
      const double here = s->viscosity[t][i];
      if (!(here > 0) || !isfinite(here)) {
        if (!fluid_has_law(p)) {
          sim_faults_add(faults, 0, "viscosity", "expected a number > 0, got %g", here);
          return false;
        }
        sim_faults_add(faults, 0, "viscosity",
                       "is %g at the shear rate %.3g%s: expected a number above 0 at every shear rate from 0 on, as of "
                       "math.max(shear, 1e-3)^-0.5 in place of shear^-0.5",
                       here, s->shear[i], warm ? " and a temperature of the scenario" : "");
        return false;
      }
      if (i < 2 || here * s->shear[i] > s->viscosity[t][i - 1] * s->shear[i - 1] * (1 - 1e-12)) continue;
      sim_faults_add(faults, 0, "viscosity",
                     "the stress, viscosity times shear rate, falls from the shear rate %.3g to %.3g, where a flow has "
                     "no one solution: expected one that grows",
                     s->shear[i - 1], s->shear[i]);
      return false;
    }
  return true;
}

bool fluid_find_viscosity(fluid_parameters *p, const grid_shape *grid, sim_faults *faults) {
  if (sim_expr_depends(p->law, 0, 1) && !p->heat.given) {
    sim_faults_add(faults, 0, "viscosity", "is a function of T, and there is no `heat`: expected a function of shear");
    return false;
  }
  samples *s = sample(p, grid);
  if (!s) {
    sim_faults_add(faults, 0, "viscosity", "no memory for it");
    return false;
  }
  const bool right = check_values(p, s, faults);
  p->viscosity = p->thickest = s->reference;
  for (int t = 0; t < TEMPERATURES && fluid_has_law(p); t++)
    for (int i = 0; i <= REFERENCE; i++) p->thickest = fmax(p->thickest, s->viscosity[t][i]);
  free(s);
  return right;
}

void fluid_check_viscosity(const fluid_parameters *p, sim_faults *faults) {
  if (!fluid_has_law(p)) return;
  const char *what = p->collision == FLUID_TRT ? "collision = \"trt\""
                     : p->turbulence.given     ? "`turbulence`"
                     : p->grains.count > 0     ? "`grains`"
                     : p->solid.given          ? "`solid`"
                                               : NULL;
  if (what) sim_faults_add(faults, 0, "viscosity", "a function is not supported together with %s", what);
}

void fluid_check_relaxation(const fluid_parameters *p, const fluid_numbers *k, sim_faults *faults) {
  const grid_shape grid = fluid_grid_of(p);
  const double scale = 3 * k->dt / (k->dx * k->dx);
  samples *s = sample(p, &grid);
  double least = INFINITY, at = 0;
  for (int t = 0; s && t < TEMPERATURES; t++)
    for (int i = 0; i <= REFERENCE; i++)
      if (s->viscosity[t][i] < least) least = s->viscosity[t][i], at = s->shear[i];
  free(s);
  if (0.5 + scale * least < FLUID_TAU_LEAST)
    sim_faults_add(faults, 0, "viscosity",
                   "the viscosity %.3g at the shear rate %.3g has the relaxation time %.6g, and the run would be "
                   "unstable below %g: expected more cells, a greater viscosity there, or a smaller greatest "
                   "viscosity (%.3g), which makes steps short",
                   least, at, 0.5 + scale * least, FLUID_TAU_LEAST, p->thickest);
  if (0.5 + scale * p->thickest >= FLUID_TAU_MOST)
    sim_faults_add(faults, 0, "integrate.dt",
                   "the viscosity %.3g at low shear rates has the relaxation time %.4g with dt = %.6g, and walls are "
                   "wrong above %g: expected dt = \"auto\", or at most %.3g",
                   p->thickest, 0.5 + scale * p->thickest, k->dt, FLUID_TAU_MOST,
                   (FLUID_TAU_MOST - 0.5) * 0.999 / (scale / k->dt * p->thickest));
}

void fluid_tell_viscosity(const fluid_parameters *p, const fluid_numbers *k) {
  const grid_shape grid = fluid_grid_of(p);
  const double scale = 3 * k->dt / (k->dx * k->dx);
  samples *s = sample(p, &grid);
  if (!s) return;
  double beyond = NAN;
  for (int i = SHEARS - 1; i > REFERENCE; i--)
    for (int t = 0; t < TEMPERATURES; t++) {
      const double tau = 0.5 + scale * s->viscosity[t][i];
      if (!(tau > FLUID_TAU_LEAST && tau < FLUID_TAU_MOST)) beyond = s->shear[i];
    }
  sim_log(SIM_LOG_INFO,
          "viscosity: a function, %.4g at rest, %.4g at the shear rate %.3g of `speed` over the distance of sides, "
          "which sets Reynolds and relaxation numbers told; relaxation times up to %.4g",
          s->viscosity[0][0], p->viscosity, s->shear[REFERENCE], 0.5 + scale * p->thickest);
  if (!isnan(beyond))
    sim_log(SIM_LOG_WARN,
            "viscosity: from the shear rate %.3g on, which is %.2g times that of `speed` over the distance of sides, "
            "its relaxation time leaves %g to %g, and a run ends there: expected bounds such as math.max(1e-3, ...), "
            "or more cells",
            beyond, beyond / s->shear[REFERENCE], FLUID_TAU_LEAST, FLUID_TAU_MOST);
  free(s);
}
