/* Pressures that compress a fluid of low Mach number: p = density c^2 (rho - 1), with the speed of sound c of the
 * lattice. */
#include "kernels/fluid/heat.h"
#include "kernels/fluid/scenario/rules.h"
#include "kernels/fluid/start/walls.h"

#include "engine/log.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>

/* The square of the speed of sound. */
static double sound_squared(const fluid_numbers *k) { return (k->dx / k->dt) * (k->dx / k->dt) / 3; }

static bool is_open(const fluid_parameters *p, int s) { return p->sides[s].given && !isnan(p->sides[s].pressure); }

/* Part by which the pressure of a side changes the density. */
static double by_side(const fluid_parameters *p, const fluid_numbers *k, int s) {
  return is_open(p, s) ? fabs(p->sides[s].pressure) / (p->density * sound_squared(k)) : 0;
}

/* Whether side s lets fluid pass with a pressure that changes along another axis, such as that of a weight. */
static bool is_graded(const fluid_parameters *p, int s, int axis) {
  return is_open(p, s) && s / 2 != axis && sim_expr_depends(p->sides[s].push, 0, axis);
}

/* Whether sides hold the fluid against its weight along an axis, which drives no flow there. */
static bool is_held(const fluid_parameters *p, const grid_shape *grid, int axis) {
  if (grid_is_periodic(grid, axis) || (is_open(p, 2 * axis) && is_open(p, 2 * axis + 1))) return false;
  for (int s = 0; s < 2 * grid->rank; s++) /* the fluid may fall out of another side */
    if (s / 2 != axis && is_open(p, s) && !is_graded(p, s, axis)) return false;
  return true;
}

/* What else belongs to an acceleration of 0 along an axis where it drives no flow. */
static const char *without(const fluid_parameters *p, int axis) {
  bool graded = false;
  for (int s = 0; s < FLUID_SIDES; s++) graded = graded || is_graded(p, s, axis);
  return graded ? " and pressures of sides without it, which drive the same flow"
                : ", where between sides it drives no flow";
}

/* Part by which the weight of the fluid under `acceleration` changes the density from end to end of an axis; 0: the
 * acceleration drives a flow along it. */
static double by_weight(const fluid_parameters *p, const fluid_numbers *k, const grid_shape *grid, int axis) {
  if ((size_t)axis >= p->acceleration.rows || !is_held(p, grid, axis)) return 0;
  return fabs(p->acceleration.data[axis]) * grid->size[axis] / sound_squared(k);
}

/* The greatest difference of pressure by density between heights, of layers at rest: at the start, and of temperatures
 * that are linear between those of the sides above and below, of both of them. */
static double pressure_of(const fluid_parameters *p, const grid_shape *grid, const fluid_levels *l, double reference) {
  const double *side = &p->heat.side[2 * l->axis], h = grid->size[l->axis] / (double)l->n;
  const double g = p->heat.expansion * p->heat.gravity.data[l->axis];
  double sum[2] = {0}, low[2] = {0}, high[2] = {0};
  for (int64_t i = 0; i < l->n; i++) {
    const double T[2] = {l->mean[i], side[0] + (side[1] - side[0]) * ((double)i + 0.5) / (double)l->n};
    for (int k = 0; k < 2; k++) {
      sum[k] += g * (T[k] - reference) * h;
      low[k] = fmin(low[k], sum[k]); /* NaN is ignored: a side without a temperature */
      high[k] = fmax(high[k], sum[k]);
    }
  }
  return fmax(high[0] - low[0], high[1] - low[1]);
}

/* What makes compression `by` times less. */
static void advise(const fluid_parameters *p, const fluid_numbers *k, double by, char out[64]) {
  if (isnan(p->integrate.dt))
    snprintf(out, 64, "a mach of at most %.2g", fluid_round_down(k->mach / sqrt(by), 2));
  else
    snprintf(out, 64, "integrate.dt of at most %.3g", fluid_round_down(k->dt / sqrt(by), 3));
}

void fluid_check_pressures(const fluid_parameters *p, const fluid_numbers *k, sim_faults *faults) {
  static const double most = 0.3; /* above and below the density at rest */
  const grid_shape grid = fluid_grid_of(p);
  char advice[64];
  for (int s = 0; s < 2 * grid.rank; s++) {
    char path[64];
    snprintf(path, sizeof path, "sides.%s.pressure", fluid_side_names[s]);
    if (is_open(p, s) && !isfinite(by_side(p, k, s)))
      sim_faults_add(faults, 0, path, "is not finite");
    else if (by_side(p, k, s) > most)
      sim_faults_add(faults, 0, path,
                     "changes the density by %.3g %%, which a fluid of low Mach number cannot bear: expected at most "
                     "%.3g, or a lower mach",
                     100 * by_side(p, k, s), fluid_round_down(most * p->density * sound_squared(k), 3));
  }
  for (int axis = 0; axis < grid.rank; axis++) {
    const double part = by_weight(p, k, &grid, axis);
    if (!(part > 2 * most)) continue;
    advise(p, k, part / (2 * most), advice);
    sim_faults_add(faults, 0, "acceleration",
                   "the weight of the fluid changes the density by %.3g %% along %c, which a fluid of low Mach number "
                   "cannot bear: expected %s, or 0 along %c%s",
                   100 * part, "xyz"[axis], advice, "xyz"[axis], without(p, axis));
  }
}

sim_status fluid_check_levels(const fluid_parameters *p, const fluid_numbers *k, const fluid_levels *l) {
  static const double most = 0.6, much = 0.05, little = 0.02;
  const grid_shape grid = fluid_grid_of(p);
  char advice[64], other[96] = "";
  double mean = 0;
  if (!l->mean || !is_held(p, &grid, l->axis)) return SIM_OK;
  const double part = pressure_of(p, &grid, l, p->heat.reference) / sound_squared(k);
  if (!(part > much)) return SIM_OK;
  for (int64_t i = 0; i < l->n; i++) mean += l->mean[i] / (double)l->n;
  const double least = pressure_of(p, &grid, l, mean) / sound_squared(k);
  if (least < 0.5 * part && !fluid_is_passed(p))
    snprintf(other, sizeof other, ", or heat.reference = %.4g, the mean of the start, for %.2g %%", mean, 100 * least);
  advise(p, k, part / (part > most ? most : little), advice);
  if (part > most)
    return sim_fail(SIM_ERR_SCENARIO,
                    "heat: the weight of layers of other temperatures than `reference` changes the density by %.3g %% "
                    "along %c, which a fluid of low Mach number cannot bear: expected %s%s",
                    100 * part, "xyz"[l->axis], advice, other);
  sim_log(SIM_LOG_WARN,
          "heat: the weight of layers of other temperatures than `reference` changes the density by %.2g %% along %c: "
          "expected %s for 2 %%%s",
          100 * part, "xyz"[l->axis], advice, other);
  return SIM_OK;
}

/* Where pressures at both ends of an axis drive a flow between walls at rest, each end without shear stress makes the
 * channel about 0.05 of its width shorter: by the equations of Stokes in finite elements (tests/fluid/fluid_open.c). */
static void tell_ends(const fluid_parameters *p, const grid_shape *grid, int axis) {
  const fluid_side *low = &p->sides[2 * axis], *high = low + 1;
  const int free_ends = !low->straight + !high->straight;
  double width = INFINITY;
  if (!is_open(p, 2 * axis) || !is_open(p, 2 * axis + 1)) return;
  if (low->pressure == high->pressure && !fluid_side_is_timed(low) && !fluid_side_is_timed(high)) return;
  for (int a = 0; a < grid->rank; a++) {
    const bool open = is_open(p, 2 * a) || is_open(p, 2 * a + 1);
    if (a != axis && grid->boundary[a] == GRID_FIXED && !open) width = fmin(width, grid->size[a]);
  }
  const double part = 0.051 * free_ends * width / grid->size[axis];
  if (!isfinite(width) || !(part > 0.01)) return;
  sim_log(SIM_LOG_WARN,
          "sides.%s, %s: no shear stress acts where the fluid passes, so that a slow flow between the walls is about "
          "%.2g %% more than in a channel that goes on beyond: for that one give straight = true",
          fluid_side_names[2 * axis], fluid_side_names[2 * axis + 1], 100 * part / (1 - fmin(part, 0.5)));
}

void fluid_tell_pressures(const fluid_parameters *p, const fluid_numbers *k) {
  static const double much = 0.05, little = 0.02;
  const grid_shape grid = fluid_grid_of(p);
  char advice[64];
  for (int s = 0; s < 2 * grid.rank; s++) {
    const double part = by_side(p, k, s);
    if (!(part > much)) continue;
    advise(p, k, part / little, advice);
    sim_log(SIM_LOG_WARN,
            "sides.%s.pressure: changes the density by %.2g %%, and the flow by about as much: expected %s for 2 %%",
            fluid_side_names[s], 100 * part, advice);
  }
  for (int axis = 0; axis < grid.rank; axis++) {
    tell_ends(p, &grid, axis);
    const double part = by_weight(p, k, &grid, axis);
    if (!(part > much)) continue;
    advise(p, k, part / little, advice);
    sim_log(SIM_LOG_WARN,
            "acceleration: the weight of the fluid changes the density by %.2g %% along %c: expected %s for 2 %%, or 0 "
            "along %c%s",
            100 * part, "xyz"[axis], advice, "xyz"[axis], without(p, axis));
  }
}

/* A function of point and time in the middle of side s at t = 0; out[] stay as they are where there is no memory. */
static void at_middle(const sim_expr *function, const grid_shape *grid, int s, double out[3]) {
  static const bool uniform[] = {true, true, true, true};
  sim_expr_program *program = NULL;
  double x[3] = {0};
  for (int a = 0; a < grid->rank; a++) x[a] = a == s / 2 ? (s % 2 ? grid->size[a] : 0) : grid->size[a] / 2;
  if (sim_expr_program_create(function, &(sim_expr_target){.uniform = uniform, .block = 1}, &program) != SIM_OK) return;
  void *scratch = aligned_alloc(64, (sim_expr_program_scratch(program) + 63) / 64 * 64 + 64);
  if (scratch)
    sim_expr_program_run(program, 1, (const void *const[]){&x[0], &x[1], &x[2], &(double){0}},
                         (void *const[]){&out[0], &out[1], &out[2]}, scratch);
  free(scratch);
  sim_expr_program_free(&program);
}

void fluid_find_pressures(fluid_parameters *p, const grid_shape *grid) {
  for (int s = 0; s < FLUID_SIDES; s++) {
    double value[3] = {INFINITY}; /* without memory: refused */
    p->sides[s].pressure = NAN;
    if (!p->sides[s].push) continue;
    at_middle(p->sides[s].push, grid, s, value);
    p->sides[s].pressure = isnan(value[0]) ? INFINITY : value[0]; /* refused too */
  }
}

double fluid_first_inflow(const fluid_parameters *p, int s) {
  const grid_shape grid = fluid_grid_of(p);
  const fluid_side *side = &p->sides[s];
  double value[3] = {0};
  if (side->profile) at_middle(side->profile, &grid, s, value);
  return (s % 2 ? -1 : 1) * (side->profile ? value[s / 2] : side->velocity.data[s / 2]);
}

void fluid_check_timed(const fluid_parameters *p, sim_faults *faults) {
  const char *what = fluid_moves(p)   ? "bodies that move"
                     : p->solid.given ? "`solid`"
                     : p->resistance  ? "`resistance`"
                                      : NULL;
  if (fluid_is_timed(p) && what)
    sim_faults_add(faults, 0, "sides",
                   "a velocity or pressure that changes with time is not supported together with %s", what);
}
