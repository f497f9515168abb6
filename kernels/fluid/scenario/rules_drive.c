/* What drives a flow far above `speed`: buoyancy, a weight along an open side, an acceleration that nothing holds. */
#include "kernels/fluid/heat.h"
#include "kernels/fluid/scenario/rules.h"

#include "engine/log.h"

#include <math.h>

static bool is_open(const fluid_side *side) { return side->given && !isnan(side->pressure); }

/* Extends a range of temperatures by one; NaN is ignored. */
static void widen(double T, double range[2]) {
  range[0] = fmin(range[0], T);
  range[1] = fmax(range[1], T);
}

/* Whether the fluid rests across an axis: the Rayleigh number is below 1708. push: acceleration by the difference of
 * temperatures, below 0 where the lighter fluid is above. */
static bool is_stable(const fluid_parameters *p, int axis, double push) {
  const double length = fluid_grid_of(p).size[axis];
  return push * length * length * length / (p->viscosity * p->heat.diffusivity) < 1708;
}

/* The same of the temperatures of the sides across an axis. g: acceleration by temperature along the axis, against
 * it. */
static bool is_stable_between(const fluid_parameters *p, int axis, double g) {
  const fluid_heat *h = &p->heat;
  const double side[2] = {h->side[2 * axis], h->side[2 * axis + 1]};
  const double low = isnan(side[0]) ? h->reference : side[0], high = isnan(side[1]) ? h->reference : side[1];
  return is_stable(p, axis, g * (high - low));
}

/* The differences of temperature that drive the fluid along an axis: of sides, but for those across the axis that hold
 * the fluid at rest, of bodies, and without `initial` of the fluid at the start. */
static double difference(const fluid_parameters *p, int axis, double g) {
  const fluid_heat *h = &p->heat;
  double range[2] = {INFINITY, -INFINITY};
  for (int s = 0; s < FLUID_SIDES; s++)
    if (s / 2 != axis || !is_stable_between(p, axis, g)) widen(h->side[s], range);
  for (int b = 0; b < (int)p->bodies.count; b++) widen(fluid_body_of(p, b)->temperature, range);
  if (!h->initial && range[0] <= range[1]) widen(h->reference, range);
  return range[0] < range[1] ? range[1] - range[0] : 0;
}

double fluid_buoyant_speed(const fluid_parameters *p, const fluid_levels *levels) {
  const grid_shape grid = fluid_grid_of(p);
  double out = 0, through = INFINITY;
  for (int s = 0; s < 2 * grid.rank; s++)
    if (p->sides[s].given && fluid_side_passes(&p->sides[s], s)) through = fmin(through, grid.size[s / 2] / p->speed);
  for (int a = 0; a < grid.rank && (size_t)a < p->heat.gravity.rows; a++) {
    const double g = p->heat.expansion * p->heat.gravity.data[a], least = fluid_length_of(&grid);
    const double upset = levels && a == levels->axis ? levels->upset : 0;
    double apart = difference(p, a, g);
    if (levels) apart = fmax(apart, levels->beside);
    if (!is_stable(p, a, fabs(g) * upset)) apart = fmax(apart, upset);
    const double push = fabs(g) * apart;
    /* 0.3 of free fall over the height, as in cavities at Rayleigh numbers of 10^4 and more; 0.01 of what viscosity
     * allows, as between a warm and a cold wall (1/(72 sqrt 3) of the square of their distance); no more than in the
     * time in which the fluid passes the box. */
    const double speed = fmin(0.3 * sqrt(push * grid.size[a]), 0.01 * push * least * least / p->viscosity);
    out = fmax(out, fmin(speed, push * through));
  }
  return out;
}

void fluid_tell_buoyancy(const fluid_parameters *p, const fluid_levels *levels) {
  const double speed = fluid_buoyant_speed(p, levels);
  if (!(speed > 2 * p->speed)) return;
  sim_log(SIM_LOG_WARN,
          "heat: buoyancy drives the fluid to a speed of about %.2g, far above speed = %.3g, which sets the step: "
          "compression would change the flow, or end the run: expected speed = %.2g",
          speed, p->speed, fluid_round_up(speed, 2));
}

int fluid_free_axis(const fluid_parameters *p) {
  const grid_shape grid = fluid_grid_of(p);
  if (p->bodies.count > 0 || p->solid.given || p->resistance || p->grains.count > 0 || p->force) return -1;
  for (int a = 0; a < grid.rank; a++)
    for (int s = 2 * a; s < 2 * a + 2 && grid.boundary[a] == GRID_FIXED; s++)
      if (!is_open(&p->sides[s])) return -1;
  for (int a = 0; a < grid.rank; a++)
    if ((size_t)a < p->acceleration.rows && p->acceleration.data[a] != 0 && grid_is_periodic(&grid, a)) return a;
  return -1;
}

/* A pressure that is the same all along an open side, against a weight along it. */
static void tell_weight(const fluid_parameters *p, const grid_shape *grid) {
  for (int s = 0; s < 2 * grid->rank; s++) {
    const fluid_side *side = &p->sides[s];
    for (int a = 0; a < grid->rank && is_open(side); a++) {
      const double g = (size_t)a < p->acceleration.rows ? fabs(p->acceleration.data[a]) : 0, size = grid->size[a];
      if (a == s / 2 || g == 0 || grid_is_periodic(grid, a) || sim_expr_depends(side->push, 0, a)) continue;
      if (is_open(&p->sides[2 * a]) && is_open(&p->sides[2 * a + 1])) continue; /* it drives the flow along the axis */
      const double speed = fmin(sqrt(g * size), g * size * size / (12 * p->viscosity));
      if (!(speed > 0.3 * p->speed)) continue;
      sim_log(
          SIM_LOG_WARN,
          "sides.%s.pressure: does not change along %c, where `acceleration` is %.4g: the weight drives the fluid out "
          "and in at this side, with a speed of up to about %.2g (speed = %.3g): expected the pressure "
          "%.4g * (%c - %.4g), which is 0 in the mean, or an acceleration of 0 along %c",
          fluid_side_names[s], "xyz"[a], p -> acceleration.data[a], speed, p->speed,
          p->density * p->acceleration.data[a], "xyz"[a], size / 2, "xyz"[a]);
    }
  }
}

void fluid_tell_drive(const fluid_parameters *p) {
  const grid_shape grid = fluid_grid_of(p);
  const int free = fluid_free_axis(p);
  tell_weight(p, &grid);
  if (free < 0) return;
  const double grown = fabs(p->acceleration.data[free]) * p->integrate.t_end;
  if (grown > p->speed)
    sim_log(SIM_LOG_WARN,
            "acceleration: along %c no wall, body or resistance holds the fluid, which is faster by %.3g at the end "
            "(speed = %.3g): expected a wall or a body, or integrate.t_end of at most %.2g",
            "xyz"[free], grown, p -> speed, fluid_round_down(p->speed / fabs(p->acceleration.data[free]), 2));
}
