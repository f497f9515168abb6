/* Tables of the model. */
#include "kernels/collision/gravity/gravity.h"
#include "kernels/collision/run.h"

#include "engine/log.h"

#include <inttypes.h>
#include <math.h>

#define ENERGY                                                                                                         \
  { 2, 1, -2 }
#define PRESSURE                                                                                                       \
  { -1, 1, -2 }
#define C(column, ...)                                                                                                 \
  { .name = #column, .type = SIM_REAL, __VA_ARGS__ }

enum { KINETIC, ROTATIONAL, ELASTIC, POTENTIAL, DISSIPATED, TOTAL, WORK, BALANCE };
const sim_field collision_energy_columns[] = {
    C(kinetic, .dimension = ENERGY, .doc = "kinetic energy of translation"),
    C(rotational, .dimension = ENERGY, .doc = "kinetic energy of rotation"),
    C(elastic, .dimension = ENERGY,
      .doc = "elastic energy of contacts: normal, tangential, rolling and twisting springs"),
    C(potential, .dimension = ENERGY,
      .doc =
          "potential energy in gravity, the external potential, Hill's tide and vertical force, and self-gravity; NaN "
          "if only the acceleration of `external` is given"),
    C(dissipated, .dimension = ENERGY, .doc = "energy dissipated by dashpots, sliding and mergers since the start"),
    C(total, .dimension = ENERGY, .doc = "kinetic + rotational + elastic + potential"),
    C(work, .dimension = ENERGY,
      .doc = "work of moving walls, the sheared box and gravity along periodic sides on the grains since the start"),
    C(balance, .display = SIM_DISPLAY_NUMBER,
      .doc = "relative energy error: change of total + dissipated - work since the start over the energies at the "
             "start; without the energy of inserted and removed grains; NaN if external depends on t"),
    {0}};

enum { TEMPERATURE, TENSOR, GAS_PRESSURE = TENSOR + 6, STRESS, GAS_VIRIAL = STRESS + 6 };
const sim_field collision_gas_columns[] = {
    C(temperature, .display = SIM_DISPLAY_LOG, .dimension = ENERGY,
      .doc = "granular temperature: a third of the trace of the tensor"),
    C(temperature_xx, .dimension = ENERGY, .doc = "mean of m (v - V)(v - V), V: mean velocity"),
    C(temperature_yy, .dimension = ENERGY, .doc = "the same, yy"),
    C(temperature_zz, .dimension = ENERGY, .doc = "the same, zz"),
    C(temperature_xy, .dimension = ENERGY, .doc = "the same, xy"),
    C(temperature_yz, .dimension = ENERGY, .doc = "the same, yz"),
    C(temperature_zx, .dimension = ENERGY, .doc = "the same, zx"),
    C(pressure, .dimension = PRESSURE, .doc = "pressure: a third of the trace of the stress"),
    C(stress_xx, .dimension = PRESSURE,
      .doc = "instantaneous stress: (sum m (v - V)(v - V) + sum d F over contacts of grains)/volume of the box"),
    C(stress_yy, .dimension = PRESSURE, .doc = "the same, yy"),
    C(stress_zz, .dimension = PRESSURE, .doc = "the same, zz"),
    C(stress_xy, .dimension = PRESSURE, .doc = "the same, xy"),
    C(stress_yz, .dimension = PRESSURE, .doc = "the same, yz"),
    C(stress_zx, .dimension = PRESSURE, .doc = "the same, zx"),
    C(virial_time, .dimension = {2, 1, -1},
      .doc = "time integral of sum d.F: its increase over 3 volume time is the mean contact pressure"),
    {0}};

enum { COLLISIONS, RATE, COORDINATION, WALL_CONTACTS, OVERLAP };
const sim_field collision_contact_columns[] = {
    C(collisions, .doc = "collisions: contacts between grains that began since the start"),
    C(rate, .dimension = {0, 0, -1},
      .doc = "collisions per grain, or clump, and unit of time since the start; each counts for both"),
    C(coordination, .doc = "mean coordination number: contacts of a grain, or of all spheres of a clump"),
    C(wall_contacts, .doc = "number of contacts with walls"),
    C(overlap, .flags = SIM_HEALTH, .display = SIM_DISPLAY_ALONE, .doc = "largest overlap over the smaller radius"),
    {0}};

const sim_field collision_momentum_columns[] = {
    C(momentum_x, .dimension = {1, 1, -1}, .doc = "total momentum, x"),
    C(momentum_y, .dimension = {1, 1, -1}, .doc = "total momentum, y"),
    C(momentum_z, .dimension = {1, 1, -1}, .doc = "total momentum, z"),
    C(angular_momentum_x, .dimension = {2, 1, -1}, .doc = "total angular momentum about the origin, with spin, x"),
    C(angular_momentum_y, .dimension = {2, 1, -1}, .doc = "the same, y"),
    C(angular_momentum_z, .dimension = {2, 1, -1}, .doc = "the same, z"),
    {0}};

enum { HEAT, MEAN_TEMPERATURE, WALL_HEAT };
const sim_field collision_heat_columns[] = {
    C(heat, .dimension = ENERGY, .doc = "heat of all grains: mass, capacity and temperature"),
    C(mean, .doc = "its mean temperature: heat over mass and capacity"),
    C(from_walls, .dimension = ENERGY, .doc = "heat that came from walls since the start"),
    {0}};

enum { DISPERSION, THICKNESS = DISPERSION + 3, DEPTH, SURFACE, TOOMRE, VISCOSITY };
const sim_field collision_ring_columns[] = {
    C(dispersion_x, .display = SIM_DISPLAY_NUMBER, .dimension = {1, 0, -1},
      .doc = "root of the mean square of v_x of the grains, v relative to the flow of the shear"),
    C(dispersion_y, .dimension = {1, 0, -1}, .doc = "the same, y"),
    C(dispersion_z, .dimension = {1, 0, -1}, .doc = "the same, z"),
    C(thickness, .dimension = {1, 0, 0}, .doc = "root of the mean square of z from the middle of the box"),
    C(optical_depth, .doc = "sum of the grains' cross sections over the area of the box"),
    C(surface_density, .dimension = {-2, 1, 0}, .doc = "mass of the grains over the area of the box"),
    C(toomre_q, .doc = "dispersion_x kappa / (3.36 G surface_density); NaN without self_gravity"),
    C(viscosity_time, .dimension = {2, 0, 0},
      .doc =
          "time integral of the kinematic viscosity: energy.work over mass and the square of the rate of shear; its "
          "increase over time is the mean viscosity by motion, contacts and self-gravity; NaN without a shear (kappa = "
          "2 omega)"),
    {0}};

const sim_field collision_merger_columns[] = {
    C(mergers, .display = SIM_DISPLAY_ALONE, .doc = "mergers since the start: grains that others took up"),
    C(grains, .display = SIM_DISPLAY_ALONE, .doc = "grains left"),
    C(greatest_mass, .dimension = {0, 1, 0}, .doc = "mass of the heaviest grain"),
    C(mean_mass, .dimension = {0, 1, 0}, .doc = "mass-weighted mean mass: sum of m^2 over sum of m"),
    C(greatest_radius, .dimension = {1, 0, 0}, .doc = "radius of the largest grain"),
    C(last_time, .display = SIM_DISPLAY_NUMBER, .dimension = {0, 0, 1},
      .doc = "time of the last merger; NaN: none yet"),
    C(last_grain, .display = SIM_DISPLAY_NUMBER, .doc = "id of the grain that took up another one"),
    C(last_other, .display = SIM_DISPLAY_NUMBER, .doc = "id of a grain whose touch led to it"),
    C(last_speed, .display = SIM_DISPLAY_NUMBER, .dimension = {1, 0, -1}, .doc = "their relative speed at the touch"),
    C(energy, .dimension = ENERGY,
      .doc = "energy that mergers dissipated since the start, of all kinds of energy.total; energy.dissipated has it "
             "too; below 0 where a merged sphere has more energy of rotation than the motion had, or by "
             "self-gravity between the two, which energy.total then no longer has"),
    {0}};

enum { ATTRACTION, ERROR_MEDIAN, ERROR_GREATEST };
const sim_field collision_attraction_columns[] = {
    C(energy, .dimension = ENERGY, .doc = "potential energy of all pairs of grains, with the images that count"),
    C(error_median,
      .doc = "median error of the accelerations of 64 grains against direct sums with the same images, "
             "over the root of the mean square of these; where attractions by images cancel, over one of them"),
    C(error_greatest, .doc = "the greatest of these errors"),
    {0}};

/* Adds the energy of self-gravity to the sums of this step. */
static sim_status add_attraction(collision_run *run, const sim_clock *clock) {
  if (run->gravity == NULL) return SIM_OK;
  SIM_TRY(collision_gravity_energy(run, clock, &run->sums.attraction));
  run->sums.gravity += run->sums.attraction;
  return SIM_OK;
}

sim_status collision_sums_at(collision_run *run, const sim_clock *clock, const collision_sums **out) {
  if (run->sums_step != clock->step) {
    run->sums = (collision_sums){0};
    if (run->n > 0) SIM_TRY(run->ops->sums(run->work, clock->t, &run->sums));
    SIM_TRY(add_attraction(run, clock));
  }
  if (run->sums_step != clock->step && run->varies) {
    const double *controls = run->array[COLLISION_CONTROLLER].data;
    run->sums.dissipated += controls[COLLISION_CARRIED_DISSIPATED];
    run->sums.work += controls[COLLISION_CARRIED_WORK];
    run->sums.virial += controls[COLLISION_CARRIED_VIRIAL];
    run->sums.collisions += controls[COLLISION_CARRIED_COLLISIONS];
  }
  run->sums_step = clock->step;
  *out = &run->sums;
  return SIM_OK;
}

/* An unknown potential energy counts as 0, because checkpoints hold these sums and need finite numbers. */
static double external(const collision_sums *s) { return isnan(s->external) ? 0 : s->external; }

double collision_energy(const collision_sums *s) {
  return s->kinetic + s->rotational + s->elastic + s->gravity + external(s) + s->dissipated - s->work;
}

double collision_energy_scale(const collision_sums *s) {
  return s->kinetic + s->rotational + fabs(s->elastic) + fabs(s->gravity) + fabs(external(s));
}

/* Limit of the energy error, relative to the largest of these energies: present, at the start, dissipated, added. At
 * ten steps a contact, the coarsest resolution, sums over steps miss (2 pi/10)^2/12 = 3 % of the energy that passes
 * through contacts, and during a contact the loss of half a step: a tenth of what a dashpot dissipates in the first
 * half of a contact. */
static const double balance_limit = 0.1;

static void observe_energy(collision_run *run, const collision_sums *s, const sim_clock *clock, double *values) {
  const double *controls = run->array[COLLISION_CONTROLLER].data;
  values[KINETIC] = s->kinetic;
  values[ROTATIONAL] = s->rotational;
  values[ELASTIC] = s->elastic;
  values[POTENTIAL] = s->gravity + s->external;
  values[DISSIPATED] = s->dissipated;
  values[TOTAL] = s->kinetic + s->rotational + s->elastic + s->gravity + external(s);
  values[WORK] = s->work;
  if (isnan(s->external)) values[TOTAL] = NAN;
  const double scale = controls[COLLISION_ENERGY_SCALE]; /* 0: no energy so far */
  values[BALANCE] = scale > 0 ? (collision_energy(s) - controls[COLLISION_INITIAL_ENERGY]) / scale : 0;
  if (isnan(s->external) || run->options.timed) values[BALANCE] = NAN;
  const double gap = values[BALANCE] * scale;
  const double passed = fmax(fmax(scale, collision_energy_scale(s)), fmax(fabs(s->dissipated), fabs(s->work)));
  if (!(fabs(gap) > balance_limit * passed) || run->unbalanced) return;
  run->unbalanced = true;
  sim_log(SIM_LOG_WARN,
          "the energy is not conserved: error %.3g, all energies %.3g, at t = %.9g (energy.balance): the step is too "
          "long for "
          "these contacts",
          gap, passed, clock->t);
}

int64_t collision_body_count(const collision_run *run) {
  const collision_body *body = run->array[COLLISION_BODIES].data;
  int64_t count = run->n;
  for (int64_t b = 0; b < run->bodies; b++) count -= (int64_t)body[b].count - 1;
  return count;
}

static void observe_gas(const collision_run *run, const collision_sums *s, double *values) {
  const double volume = run->options.size[0] * run->options.size[1] * run->options.size[2];
  const double n = fmax(1, (double)collision_body_count(run));
  double momentum[3] = {s->momentum[0], s->momentum[1], s->momentum[2]}; /* relative to the flow of a sheared box */
  if (run->options.shear != 0) momentum[run->options.along] = s->drift;
  for (int k = 0; k < 6; k++) {
    const int a = k % 3, b = k < 3 ? k : (k + 1) % 3; /* xx yy zz xy yz zx */
    const double mass = run->n > 0 ? s->mass : 1, product = momentum[a] * momentum[b];
    const double mean = isfinite(product) ? product / mass : momentum[a] * (momentum[b] / mass);
    const double flux = s->flux[k] - mean;
    values[TENSOR + k] = flux / n;
    values[STRESS + k] = (flux + s->stress[k]) / volume;
  }
  values[TEMPERATURE] = (values[TENSOR] + values[TENSOR + 1] + values[TENSOR + 2]) / 3;
  values[GAS_PRESSURE] = (values[STRESS] + values[STRESS + 1] + values[STRESS + 2]) / 3;
  values[GAS_VIRIAL] = s->virial;
}

static sim_status observe_contacts(collision_run *run, const collision_sums *s, const sim_clock *clock,
                                   double *values) {
  values[COLLISIONS] = 0.5 * s->collisions;
  const double n = fmax(1, (double)collision_body_count(run));
  values[RATE] = clock->t > 0 ? s->collisions / (n * clock->t) : 0;
  values[COORDINATION] = s->touching / n;
  values[WALL_CONTACTS] = s->touching_walls;
  values[OVERLAP] = s->overlap;
  return collision_overlap_watch(run, s, clock->t);
}

static void observe_ring(const collision_run *run, const collision_sums *s, double *values) {
  const collision_options *o = &run->options;
  const double n = (double)run->n, area = o->size[0] * o->size[1], pi = COLLISION_PI;
  double section = 0;
  for (int64_t i = 0; i < run->n; i++) section += pi * pow(collision_get(run, COLLISION_RADIUS, 0, i), 2);
  for (int c = 0; c < 3; c++) values[DISPERSION + c] = sqrt(s->dispersion[c] / n);
  values[THICKNESS] = sqrt(s->height / n);
  values[DEPTH] = section / area;
  values[SURFACE] = s->mass / area;
  values[TOOMRE] = values[DISPERSION] * o->kappa / (3.36 * run->parameters->self_gravity.G * values[SURFACE]);
  values[VISCOSITY] = o->shear != 0 ? s->work / (s->mass * o->shear * o->shear) : NAN;
}

/* Fills in a row of a table that the scenario adds. */
static sim_status observe_more(collision_run *run, const collision_sums *s, const sim_clock *clock,
                               const sim_table *table, double *values) {
  const collision_parameters *p = run->parameters;
  if (table == &p->wall_table) {
    for (int k = 0; k < 3 * run->options.forces; k++) values[k] = s->wall[k / 3][k % 3];
    return SIM_OK;
  }
  if (table->columns == collision_heat_columns) {
    values[HEAT] = s->heat;
    values[MEAN_TEMPERATURE] = s->heat / (s->mass * p->heat.capacity);
    values[WALL_HEAT] = s->wall_heat;
    return SIM_OK;
  }
  if (table->columns == collision_ring_columns) {
    observe_ring(run, s, values);
    return SIM_OK;
  }
  if (table->columns == collision_attraction_columns) {
    values[ATTRACTION] = s->attraction;
    return collision_gravity_errors(run, clock, &values[ERROR_MEDIAN], &values[ERROR_GREATEST]);
  }
  if (table->columns == collision_merger_columns) {
    collision_observe_mergers(run, values);
    return SIM_OK;
  }
  if (run->n > 0) SIM_TRY(run->ops->store(run->work));
  if (table == &p->flow_table) {
    collision_observe_flow(run, values);
    return SIM_OK;
  }
  SIM_TRY(collision_profile_at(run, clock));
  for (int k = 0; k < p->profile.bins; k++) values[k] = run->profile[table - p->bin_tables][k];
  return SIM_OK;
}

/* SIM_ERR_DIVERGED where a column of the table is out of range; names the grain of the greatest momentum. Energies of
 * functions of the scenario, and columns of the tables behind the first four, may be unknown (NaN). */
static sim_status check_range(collision_run *run, const sim_clock *clock, int table, const double *values) {
  const sim_table *t = run->parameters->tables[table];
  const bool strict = table > 0 && table < 4;
  int c = 0;
  while (t->columns[c].name != NULL && !isinf(values[c]) && (!strict || !isnan(values[c]))) c++;
  if (t->columns[c].name == NULL || run->n == 0) return SIM_OK;
  double most = -1, v[3];
  int64_t at = 0;
  SIM_TRY(run->ops->store(run->work));
  for (int64_t i = 0; i < run->n; i++) {
    for (int k = 0; k < 3; k++) v[k] = collision_get(run, COLLISION_VELOCITY, k, i);
    const double momentum = collision_get(run, COLLISION_MASS, 0, i) * hypot(hypot(v[0], v[1]), v[2]);
    if (momentum > most) most = momentum, at = i;
  }
  for (int k = 0; k < 3; k++) v[k] = collision_get(run, COLLISION_VELOCITY, k, at);
  return sim_fail(SIM_ERR_DIVERGED,
                  "%s.%s exceeds the range of double precision at t = %.9g: grain %" PRIu64
                  " (id, from 0) has the mass %.3g and the velocity {%.3g, %.3g, %.3g}: use other units",
                  t->name, t->columns[c].name, clock->t, ((const uint64_t *)run->array[COLLISION_ID].data)[at],
                  collision_get(run, COLLISION_MASS, 0, at), v[0], v[1], v[2]);
}

sim_status collision_observe(void *self, const sim_clock *clock, int table, double *values) {
  collision_run *run = self;
  const collision_sums *s;
  SIM_TRY(collision_sums_at(run, clock, &s));
  switch (table) {
  case 0: observe_energy(run, s, clock, values); break;
  case 1: observe_gas(run, s, values); break;
  case 2: SIM_TRY(observe_contacts(run, s, clock, values)); break;
  case 3:
    for (int c = 0; c < 3; c++) {
      values[c] = s->momentum[c];
      values[3 + c] = s->angular[c];
    }
    break;
  default: SIM_TRY(observe_more(run, s, clock, run->parameters->tables[table], values));
  }
  return check_range(run, clock, table, values);
}
