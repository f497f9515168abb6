/* Orbits in a run: places bodies and groups by orbital elements, and observes the elements of single bodies. */
#include "kernels/nbody/few/kepler.h"
#include "kernels/nbody/run.h"
#include "kernels/nbody/scenario/orbits.h"

#include <math.h>
#include <string.h>

static const double degree = 3.14159265358979323846 / 180;

/* ---- at the start ---- */

/* Computes position and velocity of the centre of mass of the groups before `which` that the orbit names; returns their
 * mass. */
static double primary_of(const nbody_groups *groups, const nbody_group *which, const nbody_orbit *orbit,
                         const nbody_bodies *all, double x[3], double v[3]) {
  const bool any = strcmp(orbit->primary, NBODY_ORBIT_ALL) == 0;
  double mass = 0;
  for (int c = 0; c < 3; c++) x[c] = v[c] = 0;
  int64_t first = 0;
  for (const nbody_group *g = groups->group; g->item != which->item; first += g->n, g++) {
    if (!any && strcmp(g->species, orbit->primary) != 0) continue;
    for (int64_t i = first; i < first + g->n; i++) {
      mass += all->mass[i];
      const double share = mass > 0 ? all->mass[i] / mass : 0;
      for (int c = 0; c < 3; c++) {
        x[c] += share * (all->position[c][i] - x[c]);
        v[c] += share * (all->velocity[c][i] - v[c]);
      }
    }
  }
  return mass;
}

static double mass_of(const nbody_group *which, const nbody_bodies *part) {
  if (which->item->schema == &nbody_exponential_disk_schema) {
    const nbody_exponential_disk *disk = which->item->data;
    return disk->mass + disk->halo.mass;
  }
  double mass = 0;
  for (int64_t i = 0; i < part->n; i++) mass += part->mass[i];
  return mass;
}

sim_status nbody_place_on_orbit(double G, const nbody_groups *groups, const nbody_group *which, const nbody_bodies *all,
                                nbody_bodies *part) {
  const nbody_group_fields *group = nbody_group_with_orbit(which->item);
  if (group == NULL || !group->orbit.given) return SIM_OK;
  const nbody_orbit *o = &group->orbit;
  double centre[3], drift[3], x[3], v[3];
  const double mass = primary_of(groups, which, o, all, centre, drift);
  if (!(mass > 0))
    return sim_fail(SIM_ERR_SCENARIO, "bodies: the primary \"%s\" of the orbit of \"%s\" has no mass", o->primary,
                    which->species);
  const nbody_elements elements = {o->a, o->e, o->inc * degree, o->node * degree, o->peri * degree, o->M * degree};
  if (!nbody_elements_place(&elements, G * (mass + mass_of(which, part)), x, v))
    return sim_fail(SIM_ERR_SCENARIO, "bodies: the orbit of \"%s\" gives no finite position and velocity",
                    which->species);
  for (int c = 0; c < 3; c++)
    for (int64_t i = 0; i < part->n; i++) {
      part->position[c][i] += centre[c] + x[c];
      part->velocity[c][i] += drift[c] + v[c];
    }
  return SIM_OK;
}

/* ---- table ---- */

/* The species of this name; all its bodies may have merged or escaped. */
static const sim_species *species_of(const nbody_run *run, const char *name) {
  const sim_species *s = run->species;
  while (s < run->species + run->species_count - 1 && strcmp(s->name, name) != 0) s++;
  return s;
}

/* Fetches value k of a state array from host memory or from a device. */
static sim_status value(const nbody_run *run, const sim_buffer *buffer, int64_t k, double *out) {
  float single;
  if (buffer->dtype == SIM_F64) return run->backend->copy(out, (const double *)buffer->data + k, sizeof *out);
  SIM_TRY(run->backend->copy(&single, (const float *)buffer->data + k, sizeof single));
  *out = single;
  return SIM_OK;
}

sim_status nbody_find_orbits(nbody_run *run, const nbody_parameters *p) {
  const sim_item *items[NBODY_ORBITS_MAX];
  if (p->orbits == NULL) return SIM_OK;
  run->orbit_count = (int)nbody_orbits_list(p, items);
  run->primary = (int)(species_of(run, p->orbits) - run->species);
  for (int i = 0; i < run->orbit_count; i++)
    run->orbit_species[i] =
        (int)(species_of(run, ((const nbody_group_fields *)items[i]->data)->species) - run->species);
  const sim_species *primary = &run->species[run->primary];
  double mass = 0;
  for (int64_t i = primary->first; i < primary->first + primary->count && !(mass > 0); i++)
    SIM_TRY(value(run, &run->mass, i, &mass));
  if (mass > 0 || primary->count == 0) return SIM_OK; /* all its bodies may have merged or escaped */
  return sim_fail(SIM_ERR_SCENARIO, "orbits: expected a species with mass, got \"%s\" without", p->orbits);
}

static sim_status body_at(const nbody_run *run, int64_t i, double *mass, double x[3], double v[3]) {
  SIM_TRY(value(run, &run->mass, i, mass));
  for (int c = 0; c < 3; c++) {
    SIM_TRY(value(run, &run->position, c * run->n + i, &x[c]));
    SIM_TRY(value(run, &run->velocity, c * run->n + i, &v[c]));
  }
  return SIM_OK;
}

sim_status nbody_observe_orbits(const nbody_run *run, double *values) {
  double centre[3] = {0}, drift[3] = {0}, mass = 0, m = 0, x[3] = {0}, v[3] = {0};
  const sim_species *primary = &run->species[run->primary];
  for (int64_t i = primary->first; i < primary->first + primary->count; i++) {
    SIM_TRY(body_at(run, i, &m, x, v));
    mass += m;
    for (int c = 0; c < 3 && mass > 0; c++) {
      centre[c] += m / mass * (x[c] - centre[c]);
      drift[c] += m / mass * (v[c] - drift[c]);
    }
  }
  for (int i = 0; i < run->orbit_count; i++) {
    const sim_species *species = &run->species[run->orbit_species[i]];
    nbody_elements el = {NAN, NAN, NAN, NAN, NAN, NAN};
    const bool exists = species->count > 0 && primary->count > 0;
    if (exists) SIM_TRY(body_at(run, species->first, &m, x, v));
    for (int c = 0; c < 3; c++) {
      x[c] -= centre[c];
      v[c] -= drift[c];
    }
    if (exists) nbody_elements_of(run->G * (mass + m), x, v, &el);
    /* `a` of a parabola is infinite; a parabola and a straight line have no angles */
    const bool none = isnan(el.inc) && isnan(el.M);
    if (exists && !(isfinite(el.e) && (none || isfinite(el.inc + el.node + el.peri + el.M))))
      return sim_fail(SIM_ERR_DIVERGED,
                      "orbits: the elements of %s are out of the range of double precision: its mass, distance or "
                      "velocity, or gravity.G, needs other units",
                      species->name);
    const double row[NBODY_ELEMENTS] = {el.a, el.e, el.inc / degree, el.node / degree, el.peri / degree, el.M / degree};
    memcpy(values + i * NBODY_ELEMENTS, row, sizeof row);
  }
  return SIM_OK;
}
