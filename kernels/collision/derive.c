/* What follows from the parameters: the constants of each pair of materials, walls, the shortest contact. */
#include "kernels/collision/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int add_material(const char *names[COLLISION_MATERIALS_MAX], int count, const char *name) {
  if (count < 0 || collision_material_index(names, count, name) >= 0) return count;
  if (count == COLLISION_MATERIALS_MAX) return -1;
  names[count] = name;
  return count + 1;
}

int collision_material_index(const char *const *names, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

sim_status collision_materials(const collision_parameters *p, const char *names[COLLISION_MATERIALS_MAX], int *count) {
  *count = 0;
  for (size_t i = 0; i < p->grains.count; i++)
    *count = add_material(names, *count, ((const collision_group *)p->grains.items[i].data)->material);
  *count = add_material(names, *count, "wall");
  for (size_t i = 0; i < p->insert.count; i++)
    *count = add_material(names, *count, ((const collision_group *)p->insert.items[i].data)->material);
  for (size_t i = 0; i < p->walls.count; i++) /* `material` is the first member of all */
    *count = add_material(names, *count, ((const collision_plane *)p->walls.items[i].data)->material);
  if (*count < 0) return sim_fail(SIM_ERR_SCENARIO, "expected at most %d materials", COLLISION_MATERIALS_MAX);
  return SIM_OK;
}

static const double pi = 3.14159265358979323846;
static double or_else(double x, double otherwise) { return isnan(x) ? otherwise : x; }

/* Linear: m* x'' + g x' + k x = 0 leaves with e = exp(-g/(2 m*) t), t = pi/sqrt(k/m* - g^2/(4 m*^2)). Hertz: Antypov
 * and Elliott, EPL 94 (2011) 50004; two bodies of one material. */
static collision_law law_of(const collision_values *v, int force) {
  const double log_e = log(or_else(v->restitution, 1)), root = sqrt(pi * pi + log_e * log_e);
  collision_law law = {.friction = or_else(v->friction, 0),
                       .rolling = or_else(v->rolling_friction, 0),
                       .twisting = or_else(v->twisting_friction, 0),
                       .pull = 4 * pi * or_else(v->surface_energy, 0),
                       .tangential = or_else(v->tangential_stiffness, 2.0 / 7)};
  if (force == COLLISION_HERTZ) {
    const double nu = or_else(v->poisson, 0.3);
    law.E = v->young / (2 * (1 - nu * nu));
    law.G = v->young / (4 * (2 - nu) * (1 + nu));
    law.beta = -2 * sqrt(5.0 / 6) * log_e / root;
    if (law.beta == 0) law.beta = 0; /* no -0 */
  } else if (!isnan(v->contact_time)) {
    law.km = root * root / (v->contact_time * v->contact_time);
    law.gm = fabs(-2 * log_e / v->contact_time);
  } else {
    law.k0 = v->stiffness;
    if (!isnan(v->damping))
      law.g0 = v->damping;
    else
      law.gh = fabs(-2 * log_e * sqrt(v->stiffness) / root);
  }
  return law;
}

static bool moves(const collision_wall *w) {
  return w->motion || w->turning || w->spin != 0 || w->velocity[0] != 0 || w->velocity[1] != 0 || w->velocity[2] != 0;
}

sim_status collision_options_fill(const collision_parameters *p, collision_options *o) {
  const char *names[COLLISION_MATERIALS_MAX];
  *o = (collision_options){.force = p->contact.law,
                           .skin = p->integrate.skin,
                           .shear = p->box.shear_rate,
                           .own = p->contact.law == COLLISION_OWN ? p->contact.force : NULL,
                           .external = p->external,
                           .gates = (int)p->gates.count,
                           .gate = p->gate};
  SIM_TRY(collision_materials(p, names, &o->materials));
  for (int c = 0; c < 3; c++) {
    o->low[c] = p->box.origin[c];
    o->size[c] = p->box.size[c];
    o->periodic[c] = p->box.sides[2 * c] == COLLISION_PERIODIC;
    o->gravity[c] = p->gravity[c];
  }
  for (int a = 0; a < o->materials; a++)
    for (int b = 0; b < o->materials; b++) o->law[a][b] = law_of(&p->contact.values, p->contact.law);
  for (size_t i = 0; i < p->contact.pairs.count; i++) {
    const collision_pair *pair = p->contact.pairs.items[i].data;
    const collision_values v = collision_values_merged(&p->contact.values, &pair->values);
    const int a = collision_material_index(names, o->materials, pair->a);
    const int b = collision_material_index(names, o->materials, pair->b);
    if (a < 0 || b < 0) return sim_fail(SIM_ERR_SCENARIO, "contact.pairs: no such material");
    o->law[a][b] = o->law[b][a] = law_of(&v, p->contact.law);
  }
  collision_add_walls(p, names, o);
  o->worked = o->shear != 0;
  for (int b = 0; b < o->walls; b++) o->worked = o->worked || moves(&o->wall[b]);
  for (int a = 0; a < o->materials; a++)
    for (int b = 0; b < o->materials; b++) {
      const collision_law *law = &o->law[a][b];
      if (law->rolling > 0 || law->twisting > 0) o->springs = 7;
      if (law->friction > 0 && o->springs == 0) o->springs = 3;
      if (o->own == NULL && (law->g0 > 0 || law->gh > 0 || law->gm > 0 || law->beta > 0)) o->damped = true;
    }
  for (int b = 0; b < o->walls; b++) {
    collision_wall *wall = &o->wall[b];
    wall->first = o->wall_numbers;
    if (o->springs > 0) o->wall_numbers += wall->touches * collision_touch_numbers(wall, o->springs);
  }
  if (o->external != NULL && sim_expr_output_count(o->external) == 1)
    SIM_TRY(sim_expr_gradient(o->external, 0, &o->gradient));
  return SIM_OK;
}

void collision_options_free(collision_options *options) { sim_expr_free(&options->gradient); }

double collision_contact_time(const collision_options *o, int64_t n, const double *mass, const double *radius,
                              const uint64_t *material) {
  double least = INFINITY, lightest[COLLISION_MATERIALS_MAX];
  for (int a = 0; a < o->materials; a++) lightest[a] = INFINITY;
  for (int64_t i = 0; i < n; i++) {
    const collision_law *law = &o->law[material[i]][material[i]];
    lightest[material[i]] = fmin(lightest[material[i]], mass[i]);
    if (o->force != COLLISION_HERTZ) continue;
    /* E and G of a pair of one material give Poisson's ratio: E/G = 2 (2 - nu)/(1 - nu). */
    const double q = law->E / law->G, nu = (q - 4) / (q - 2), shear = law->G * 2 * (2 - nu);
    const double density = mass[i] / (4 * pi / 3 * radius[i] * radius[i] * radius[i]);
    least = fmin(least, 5 * pi * radius[i] * sqrt(density / shear) / (0.1631 * nu + 0.8766));
  }
  for (int a = 0; a < o->materials && o->force != COLLISION_HERTZ; a++)
    for (int b = 0; b < o->materials; b++) {
      const collision_law *law = &o->law[a][b];
      const double m = isinf(lightest[b]) ? lightest[a] : 1 / (1 / lightest[a] + 1 / lightest[b]);
      if (!isfinite(m)) continue;
      const double g = law->g0 + law->gh * sqrt(m) + law->gm * m, w2 = (law->k0 + law->km * m) / m;
      /* A dashpot may not be faster than the step either. */
      least = fmin(least, fmin(pi / sqrt(w2), g > 0 ? 2 * pi * m / g : INFINITY));
    }
  return least;
}
