/* Forcing of a shell of wavenumbers at a fixed power P: f = P/(2 E) times the part of the fields in the shell, with E
 * half the mean square of that part, so that the mean of f . u is P (Machiels, Phys. Rev. Lett. 79, 1997); or f random,
 * white in time, which gives P on average whatever the fields are (Alvelius, Phys. Fluids 11, 1999). */
#include "kernels/diffusion/diffusion.h"
#include "kernels/diffusion/modes.cuh"
#include "kernels/diffusion/waves.h"

#include <math.h>
#include <stdio.h>

unsigned diffusion_forced(const diffusion_parameters *p) {
  int fields[DIFFUSION_FIELDS];
  unsigned bits = 0;
  const int count = p->forcing.given ? diffusion_named_fields(p, p->forcing.fields, DIFFUSION_FIELDS, fields) : 0;
  for (int i = 0; i < count && i < DIFFUSION_FIELDS; i++)
    if (fields[i] >= 0) bits |= 1u << fields[i];
  return bits;
}

bool diffusion_stirred(const diffusion_parameters *p) { return p->forcing.given && p->forcing.random; }
bool diffusion_held(const diffusion_parameters *p) { return diffusion_forced(p) != 0 && !diffusion_stirred(p); }
bool diffusion_has_noise(const diffusion_parameters *p) { return diffusion_fluctuates(p) || diffusion_stirred(p); }

/* Wavenumbers along an axis are unit (mode + begin). Modes of the shell run from `least` to `most`. */
typedef struct modes_along {
  double unit, begin;
  int64_t least, most;
} modes_along;

static modes_along modes_of_shell(const diffusion_parameters *p, int field, int axis) {
  const grid_shape own = diffusion_shape_of(p, field);
  const grid_boundary b = own.boundary[axis];
  if (axis >= own.rank) return (modes_along){0};
  modes_along m = {.unit = diffusion_axis_wave(b == GRID_PERIODIC, own.size[axis]),
                   .begin = b == GRID_FIXED_LOW || b == GRID_FIXED_HIGH ? 0.5 : 0};
  m.most = (int64_t)fmin(floor(p->forcing.k[1] * (1 + 1e-9) / m.unit - m.begin), 0x1p40);
  m.least = b == GRID_PERIODIC ? -m.most : b == GRID_FIXED ? 1 : 0;
  return m;
}

/* Returns the degrees of freedom of one mode in the shell: 1, or what the projection leaves of a component along
 * `axis`. */
static double freedom_of(const diffusion_forcing *forcing, const double k[3], int axis) {
  const double k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
  if (!diffusion_in_shell(forcing->k[0], forcing->k[1], k2)) return 0;
  return axis < 0 ? 1 : 1 - k[axis] * k[axis] / k2;
}

double diffusion_shell_freedom(const diffusion_parameters *p) {
  const unsigned forced = diffusion_forced(p);
  int vector[3];
  double sum = 0;
  const int axes = diffusion_vector_of(p, vector);
  for (int f = 0; f < (int)p->fields.count; f++) {
    modes_along m[3];
    int own = -1; /* axis of a component */
    if (!(forced >> f & 1)) continue;
    for (int a = 0; a < axes; a++)
      if (vector[a] == f) own = a;
    for (int a = 0; a < 3; a++) m[a] = modes_of_shell(p, f, a);
    for (int64_t z = m[2].least; z <= m[2].most; z++)
      for (int64_t y = m[1].least; y <= m[1].most; y++)
        for (int64_t x = m[0].least; x <= m[0].most; x++) {
          const double k[3] = {m[0].unit * ((double)x + m[0].begin), m[1].unit * ((double)y + m[1].begin),
                               m[2].unit * ((double)z + m[2].begin)};
          sum += freedom_of(&p->forcing, k, own);
        }
  }
  return sum;
}

/* Whether the shell has a wavenumber that dealiasing keeps. */
static bool has_modes(const diffusion_parameters *p, int field) {
  const grid_shape own = diffusion_shape_of(p, field);
  const double keep = diffusion_dealias(&p->integrate);
  int64_t mode[3], most[3] = {0, 0, 0};
  double unit[3] = {0, 0, 0}, begin[3] = {0, 0, 0};
  for (int a = 0; a < own.rank; a++) {
    const bool periodic = own.boundary[a] == GRID_PERIODIC;
    unit[a] = diffusion_axis_wave(periodic, own.size[a]);
    begin[a] = own.boundary[a] == GRID_FIXED_LOW || own.boundary[a] == GRID_FIXED_HIGH ? 0.5 : 0;
    most[a] = (int64_t)floor((keep > 0 ? keep : 1) * (double)own.n[a] * (periodic ? 0.5 : 1));
    const double highest = p->forcing.k[1] / unit[a];
    if ((double)most[a] > highest) most[a] = (int64_t)highest;
  }
  for (mode[2] = 0; mode[2] <= most[2]; mode[2]++)
    for (mode[1] = 0; mode[1] <= most[1]; mode[1]++) {
      double k2 = 0;
      for (int a = 1; a < 3; a++) k2 += pow(unit[a] * ((double)mode[a] + begin[a]), 2);
      /* the lowest wavenumber along x of the shell, and the next one */
      const double least = fmax(0, p->forcing.k[0] * p->forcing.k[0] - k2);
      const int64_t first = (int64_t)fmax(0, floor(sqrt(least) / unit[0] - begin[0]));
      for (mode[0] = first; mode[0] <= most[0] && mode[0] <= first + 1; mode[0]++)
        if (diffusion_in_shell(p->forcing.k[0], p->forcing.k[1], k2 + pow(unit[0] * ((double)mode[0] + begin[0]), 2)))
          return true;
    }
  return false;
}

/* Adds a fault where the grid or dealiasing cuts off a part of the shell: random forcing would lose its power. */
static void check_shell(const diffusion_parameters *p, int field, sim_faults *faults) {
  const grid_shape own = diffusion_shape_of(p, field);
  for (int a = 0; a < own.rank; a++) {
    const bool periodic = own.boundary[a] == GRID_PERIODIC;
    const modes_along m = modes_of_shell(p, field, a);
    const int64_t cut = m.most + (m.begin > 0); /* as diffusion_filling_keeps */
    if ((periodic ? 2 * m.most : cut) < own.n[a] &&
        diffusion_mode_kept(cut, own.n[a], periodic, diffusion_dealias(&p->integrate)))
      continue;
    sim_faults_add(faults, p->fields.items[field].line, "forcing.k",
                   "expected wavenumbers below the highest one along %c%s, because forcing is random, got %g", "xyz"[a],
                   diffusion_dealias(&p->integrate) > 0 ? " that dealias keeps" : "", p->forcing.k[1]);
    return;
  }
}

/* Rules of random forcing. */
static void check_random(const diffusion_parameters *p, sim_faults *faults) {
  const diffusion_forcing *forcing = &p->forcing;
  const grid_shape grid = diffusion_grid_of(p);
  int vector[3];
  const bool forced_vector = diffusion_vector_of(p, vector) == 3 && vector[0] >= 0 && vector[0] < DIFFUSION_FIELDS &&
                             (diffusion_forced(p) >> vector[0] & 1) != 0;
  bool periodic = grid.rank == 3;
  for (int a = 0; a < grid.rank; a++) periodic = periodic && grid.boundary[a] == GRID_PERIODIC;
  if (forcing->helicity != 0 && !forcing->random)
    sim_faults_add(faults, 0, "forcing.helicity", "has no effect: forcing is not random");
  else if (forcing->helicity != 0 && !(periodic && forced_vector))
    sim_faults_add(faults, 0, "forcing.helicity", "expected a solenoidal vector of three components on periodic axes");
  if (forcing->random && diffusion_adaptive(p))
    sim_faults_add(faults, 0, "integrate.dt", "expected a number, because forcing is random");
}

static void check_field(const diffusion_parameters *p, int field, sim_faults *faults) {
  const diffusion_field *s = diffusion_field_of(p, field);
  const int line = p->fields.items[field].line;
  if (s->conserved) sim_faults_add(faults, line, "forcing", "expected fields that are not conserved, got %s", s->name);
  const grid_shape own = diffusion_shape_of(p, field);
  for (int axis = 0; axis < own.rank; axis++)
    if (own.boundary[axis] == GRID_ROBIN) {
      sim_faults_add(faults, line, "forcing", "expected %s without robin at its walls along %c", s->name, "xyz"[axis]);
      return;
    }
  if (diffusion_lift_of(p, field).axis >= 0)
    sim_faults_add(faults, line, "forcing", "expected values and slopes of 0 at the walls of %s", s->name);
  if (diffusion_stirred(p)) check_shell(p, field, faults);
  if (!has_modes(p, field))
    sim_faults_add(faults, line, "forcing.k", "%s has no wavenumber from %g to %g on this grid%s", s->name,
                   p->forcing.k[0], p->forcing.k[1], diffusion_dealias(&p->integrate) > 0 ? " with dealias" : "");
}

void diffusion_check_forcing(const diffusion_parameters *p, sim_faults *faults) {
  const diffusion_forcing *forcing = &p->forcing;
  int fields[DIFFUSION_FIELDS], vector[3];
  const size_t before = faults->count;
  if (!forcing->given) return;
  const int count = diffusion_named_fields(p, forcing->fields, DIFFUSION_FIELDS, fields);
  bool known = count > 0 && count <= DIFFUSION_FIELDS;
  for (int i = 0; i < count && known; i++) known = fields[i] >= 0;
  if (known && diffusion_twice(fields, count))
    sim_faults_add(faults, 0, "forcing.fields", "expected names of fields that differ, got \"%.60s\"", forcing->fields);
  if (!known)
    sim_faults_add(faults, 0, "forcing.fields", "expected names of fields, such as \"%s\", got \"%.60s\"",
                   diffusion_field_of(p, 0)->name, forcing->fields ? forcing->fields : "");
  if (!(forcing->k[0] > 0) || !(forcing->k[1] >= forcing->k[0]) || !isfinite(forcing->k[1]))
    sim_faults_add(faults, 0, "forcing.k", "expected {low, high} with 0 < low <= high, got {%g, %g}", forcing->k[0],
                   forcing->k[1]);
  if (!p->rates || p->integrate.scheme < DIFFUSION_ETD1)
    sim_faults_add(faults, 0, "integrate.scheme", "expected etd1, etdrk2 or etdrk4%s, because there is forcing, got %s",
                   p->rates ? "" : ", and rates (0 times a field at least)",
                   diffusion_methods[p->integrate.scheme].name);
  if (diffusion_estimates(p))
    sim_faults_add(faults, 0, "integrate.dt", "expected a number, or \"auto\" with courant, because there is forcing");
  if (p->members > 1) sim_faults_add(faults, 0, "members", "expected 1, because there is forcing");
  if (diffusion_fluctuates(p)) sim_faults_add(faults, 0, "forcing", "expected fields without fluctuation beside it");
  if (diffusion_crossed(p)) sim_faults_add(faults, 0, "forcing", "expected fields without cross diffusion");
  if (known) check_random(p, faults);
  if (faults->count > before) return;
  const unsigned forced = diffusion_forced(p);
  for (int f = 0; f < (int)p->fields.count; f++)
    if (forced >> f & 1) check_field(p, f, faults);
  const int axes = diffusion_vector_of(p, vector);
  unsigned components = 0;
  for (int a = 0; a < axes && a < 3; a++)
    if (vector[a] >= 0) components |= 1u << vector[a];
  if ((forced & components) != 0 && (forced & components) != components)
    sim_faults_add(faults, 0, "forcing.fields",
                   "expected all of \"%s\" or none, because the sum of a part of a solenoidal vector has a divergence",
                   p->solenoidal);
  else if (diffusion_stirred(p) && faults->count == before && !(diffusion_shell_freedom(p) > 1e-6))
    sim_faults_add(faults, 0, "forcing.k", "\"%s\" has no mode%s from %g to %g on this grid", forcing->fields,
                   (forced & components) != 0 ? " without divergence" : "", forcing->k[0], forcing->k[1]);
}

sim_status diffusion_force_factor(const diffusion_parameters *p, double energy, double h, bool start, double *out) {
  const diffusion_forcing *forcing = &p->forcing;
  *out = forcing->power / (2 * energy);
  if (!(forcing->power * h > 2 * energy)) return SIM_OK; /* NaN: a field is not finite; another check reports it */
  if (energy == 0)
    return sim_fail(
        start ? SIM_ERR_SCENARIO : SIM_ERR_DIVERGED,
        "forcing: the energy of %s at wavenumbers %g to %g is 0, and forcing multiplies what is there: give "
        "them some there by `initial` or `noise`, or take random = true",
        forcing->fields, forcing->k[0], forcing->k[1]);
  return sim_fail(start ? SIM_ERR_SCENARIO : SIM_ERR_DIVERGED,
                  "forcing: the energy of %s at wavenumbers %g to %g is %.3g, and power times dt is %.3g, above twice "
                  "that: give them more there by `initial` or `noise`, or shorten %s",
                  forcing->fields, forcing->k[0], forcing->k[1], energy, forcing->power * h,
                  diffusion_adaptive(p) ? "dt_max" : "dt");
}
