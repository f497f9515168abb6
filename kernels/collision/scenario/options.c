/* Derives options from parameters: contact laws, walls, and the length of a step. */
#include "kernels/collision/scenario/options.h"

#include "kernels/collision/clumps/clumps.h"
#include "kernels/collision/general/functions.h"
#include "kernels/collision/scenario/fields.h"
#include "kernels/collision/scenario/sizes.h"
#include "kernels/collision/walls/walls.h"

#include <math.h>
#include <stdlib.h>

static double or_else(double x, double otherwise) { return isnan(x) ? otherwise : x; }

/* Linear law: m* x'' + g x' + k x = 0 has restitution e = exp(-g/(2 m*) t), t = pi/sqrt(k/m* - g^2/(4 m*^2)). Hertz:
 * Antypov and Elliott, EPL 94 (2011) 50004; two bodies of one material. */
static collision_law law_of(const collision_values *v, const collision_contact *contact) {
  const int force = contact->law;
  const bool limited = contact->limit_damping;
  const double log_e = log(or_else(v->restitution, 1)), root = sqrt(COLLISION_PI * COLLISION_PI + log_e * log_e);
  collision_law law = {.friction = or_else(v->friction, 0),
                       .rolling = or_else(v->rolling_friction, 0),
                       .twisting = or_else(v->twisting_friction, 0),
                       .limited = limited ? 1 : 0,
                       .pull = 4 * COLLISION_PI * or_else(v->surface_energy, 0),
                       .tangential = or_else(v->tangential_stiffness, 2.0 / 7)};
  if (force == COLLISION_HERTZ) {
    const double nu = or_else(v->poisson, 0.3);
    law.E = v->young / (2 * (1 - nu * nu));
    law.G = v->young / (4 * (2 - nu) * (1 + nu));
    law.beta = -2 * sqrt(5.0 / 6) * log_e / root;
    if (law.beta == 0) law.beta = 0; /* turns -0 into 0 */
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
  if (contact->restitution_law != NULL) { /* the strongest dashpot, for the step; each contact sets its own */
    law.gh = 2 * sqrt(law.k0);
    law.gm = 2 * sqrt(law.km);
  }
  collision_models_fill(v, &law);
  return law;
}

static bool moves(const geometry_wall *w) {
  return w->motion || w->turning || w->spin != 0 || w->velocity[0] != 0 || w->velocity[1] != 0 || w->velocity[2] != 0;
}

sim_status collision_options_fill(const collision_parameters *p, collision_options *o) {
  const char *names[COLLISION_MATERIALS_MAX];
  *o = (collision_options){.comm = &sim_comm_alone,
                           .force = p->contact.law,
                           .skin = p->integrate.skin,
                           .shear = p->box.shear_rate,
                           .shear_start = isnan(p->box.shear_offset) ? 0 : p->box.shear_offset,
                           .custom = p->contact.law == COLLISION_CUSTOM ? p->contact.force : NULL,
                           .external = p->external,
                           .restitution = p->contact.restitution_law,
                           .varies = collision_flow_varies(p),
                           .merge = p->merge.when,
                           .clumps = collision_any_clumps(p),
                           .gates = (int)p->gates.count,
                           .gate = p->gate};
  collision_hill_fill(p, o);
  SIM_TRY(collision_materials(p, names, &o->materials));
  for (int c = 0; c < 3; c++) {
    o->low[c] = p->box.origin[c];
    o->size[c] = p->box.size[c];
    o->periodic[c] = p->box.sides[2 * c] == COLLISION_PERIODIC;
    o->gravity[c] = p->gravity[c];
  }
  for (int a = 0; a < o->materials; a++)
    for (int b = 0; b < o->materials; b++) o->law[a][b] = law_of(&p->contact.values, &p->contact);
  for (size_t i = 0; i < p->contact.pairs.count; i++) {
    const collision_pair *pair = p->contact.pairs.items[i].data;
    const collision_values v = collision_values_merged(&p->contact.values, &pair->values);
    const int a = collision_material_index(names, o->materials, pair->a);
    const int b = collision_material_index(names, o->materials, pair->b);
    if (a < 0 || b < 0) return sim_fail(SIM_ERR_SCENARIO, "contact.pairs: no such material");
    o->law[a][b] = o->law[b][a] = law_of(&v, &p->contact);
  }
  o->overlap_limit = p->contact.overlap_limit;
  o->heated = !isnan(p->heat.capacity);
  o->conductance = 2 * p->heat.conductivity;
  o->capacity = p->heat.capacity;
  collision_add_walls(p, names, o);
  o->worked = o->shear != 0 || o->hill;
  for (int c = 0; c < 3; c++) o->worked = o->worked || (o->periodic[c] && o->gravity[c] != 0);
  for (int b = 0; b < o->walls; b++) o->worked = o->worked || moves(&o->wall[b]) || !isnan(o->servo_force[b]);
  for (int a = 0; a < o->materials; a++)
    for (int b = 0; b < o->materials; b++) {
      const collision_law *law = &o->law[a][b];
      if (law->rolling > 0 || law->twisting > 0) o->springs = 7;
      if (law->friction > 0 && o->springs == 0) o->springs = 3;
      if (o->custom == NULL && (law->g0 > 0 || law->gh > 0 || law->gm > 0 || law->beta > 0)) o->damped = true;
    }
  collision_models_choose(&p->contact, o);
  o->law_springs = o->springs;
  if (o->restitution != NULL) o->springs++;
  for (int b = 0; b < o->walls; b++) {
    geometry_wall *wall = &o->wall[b];
    wall->first = o->wall_numbers;
    if (o->springs > 0) o->wall_numbers += wall->touches * collision_wall_history(wall, o->springs);
  }
  for (int k = 0; o->external != NULL && k < sim_expr_output_count(o->external); k++)
    o->timed = o->timed || sim_expr_depends(o->external, k, sim_expr_input_find(o->external, "t"));
  if (o->external != NULL && sim_expr_output_count(o->external) == 1)
    SIM_TRY(sim_expr_gradient(o->external, 0, &o->gradient));
  return SIM_OK;
}

void collision_options_free(collision_options *options) { sim_expr_free(&options->gradient); }

/* Ratio of the damping rate of slip to that of two centres: (1 + 5/2)/m* for spheres that may rotate; with rolling at a
 * wall the larger eigenvalue of (1, -1; -5/2, 5/2 + 5/2)/m. */
static double turning_part(const collision_law *law) {
  if (law->rolling > 0 || law->twisting > 0) return 5.55;
  return law->friction > 0 ? 3.5 : 0;
}

/* Duration of a contact under the linear law: half a period of the faster one of the normal and the tangential spring.
 * The tangential spring's inverse mass is (1 + 5/2)/m* for spheres that may rotate, so that it is as fast as the normal
 * one at 2/7 of the stiffness. Springs of rolling and twist are never faster. Dashpots lower *most: forces use v + a
 * dt, so that damping at a rate c is stable up to c dt = 1 (eigenvalues of (v, a dt) in a step of velocity Verlet), and
 * a grain among others is damped about three times as much as an isolated pair. */
static double linear_time(const collision_law *law, double m, double *most) {
  const double g = law->g0 + law->gh * sqrt(m) + law->gm * m, w2 = (law->k0 + law->km * m) / m;
  const bool turns = turning_part(law) > 0;
  const double faster = turns && law->tangential > 2.0 / 7 ? 3.5 * law->tangential : 1;
  const double spring = COLLISION_PI / sqrt(w2 * faster);
  *most = fmin(*most, 0.1 * spring);
  if (!(g > 0)) return spring;
  *most = fmin(*most, m / (3 * g * fmax(1, turning_part(law) * law->tangential)));
  return fmin(spring, 2 * COLLISION_PI * m / (g * faster));
}

/* Time of a Rayleigh wave over a grain that meets an equal grain; contacts with larger grains and walls are slower. E
 * and G of two bodies of one material give Poisson's ratio: E/G = 2 (2 - nu)/(1 - nu). */
static double rayleigh_time(const collision_law *law, double mass, double radius) {
  const double q = law->E / law->G, nu = (q - 4) / (q - 2), shear = law->G * 2 * (2 - nu);
  const double density = mass / (4 * COLLISION_PI / 3 * radius * radius * radius);
  return COLLISION_PI * radius * sqrt(density / shear) / (0.1631 * nu + 0.8766);
}

/* Longest step for the dashpots of two equal grains under Hertz's law, at the overlap of which a run warns. */
static double hertz_most(const collision_law *law, double mass, double radius) {
  const double m = 0.5 * mass, a = sqrt(0.5 * 0.05) * radius;
  const double rate = law->beta * sqrt(2 * law->E * a / m), slip = law->beta * sqrt(8 * law->G * a / m);
  return 1 / (3 * fmax(rate, turning_part(law) * slip));
}

double collision_contact_time(const collision_options *o, int64_t n, const double *mass, const double *radius,
                              const uint64_t *material, double *most) {
  double least = INFINITY, lightest[COLLISION_MATERIALS_MAX], small[COLLISION_MATERIALS_MAX]; /* radii */
  bool walls[COLLISION_MATERIALS_MAX] = {false};
  *most = INFINITY;
  for (int a = 0; a < o->materials; a++) lightest[a] = small[a] = INFINITY;
  for (int64_t i = 0; i < n; i++) {
    lightest[material[i]] = fmin(lightest[material[i]], mass[i]);
    small[material[i]] = fmin(small[material[i]], radius[i]);
  }
  for (int b = 0; b < o->walls; b++) walls[o->wall[b].material] = true;
  for (int b = 0; b < o->materials; b++) { /* partners */
    const bool grains = isfinite(lightest[b]);
    if (!grains && !walls[b]) continue;
    for (int64_t i = 0; i < n && o->force == COLLISION_HERTZ; i++) {
      const collision_law *law = &o->law[material[i]][b];
      const double rayleigh = rayleigh_time(law, mass[i], radius[i]);
      const double partner = grains ? lightest[b] : INFINITY, m = 1 / (1 / mass[i] + 1 / partner);
      const double r = 1 / (1 / radius[i] + 1 / (grains ? small[b] : INFINITY));
      least = fmin(least, fmin(5 * rayleigh, collision_named_time(o, law, m, r, most)));
      *most = fmin(*most, fmin(0.25 * rayleigh, hertz_most(law, mass[i], radius[i])));
    }
    for (int a = 0; a < o->materials && o->force != COLLISION_HERTZ; a++) {
      const double m = grains ? 1 / (1 / lightest[a] + 1 / lightest[b]) : lightest[a];
      if (!isfinite(lightest[a])) continue;
      least = fmin(least, linear_time(&o->law[a][b], m, most));
      least = fmin(least, collision_named_time(o, &o->law[a][b], m, small[a], most));
    }
  }
  return least;
}

static void bound(collision_options *o, double least, double most) {
  if (least < o->radius_least) o->radius_least = least;
  if (most > o->radius_most) o->radius_most = most;
}

void collision_options_bound(const collision_parameters *p, const sim_frame *saved, collision_options *o) {
  const sim_array *radius = saved != NULL ? sim_frame_array(saved, "radius") : NULL;
  double least, most;
  o->radius_least = INFINITY;
  o->radius_most = 0;
  for (int64_t i = 0; radius != NULL && i < radius->shape[0]; i++) {
    const double r =
        radius->dtype == SIM_F32 ? (double)((const float *)radius->data)[i] : ((const double *)radius->data)[i];
    bound(o, r, r);
  }
  for (size_t k = 0; k < p->grains.count && saved == NULL; k++) {
    const sim_item *item = &p->grains.items[k];
    if (item->schema == &collision_random_spheres_schema || item->schema == &collision_lattice_schema) {
      collision_radii_bounds(&((const collision_random_spheres *)item->data)->size, &least, &most);
      bound(o, least, most);
    } else if (item->schema == &collision_each_schema) {
      const sim_doubles *radii = &((const collision_each *)item->data)->radius;
      for (size_t i = 0; i < radii->rows; i++) bound(o, radii->data[i], radii->data[i]);
    } else if (collision_rigid_of(item) != NULL) {
      collision_sure_radii(item, &least, &most);
      bound(o, least, most);
    } else {
      const double r = item->schema == &collision_from_file_schema ? ((const collision_from_file *)item->data)->radius
                                                                   : ((const collision_grain *)item->data)->radius;
      bound(o, r, r); /* NaN: not known before the file is read */
    }
  }
  for (size_t k = 0; k < p->insert.count; k++) {
    collision_radii_bounds(&((const collision_inlet *)p->insert.items[k].data)->size, &least, &most);
    bound(o, least, most);
  }
  collision_reach_set(o);
}

static double least_radius(const collision_radii *size) {
  double least, most;
  collision_radii_bounds(size, &least, &most);
  return least;
}

static double smallest(const sim_item *item) {
  if (item->schema == &collision_random_spheres_schema || item->schema == &collision_lattice_schema)
    return least_radius(&((const collision_random_spheres *)item->data)->size);
  if (item->schema == &collision_from_file_schema) return ((const collision_from_file *)item->data)->radius;
  if (item->schema == &collision_grain_schema) return ((const collision_grain *)item->data)->radius;
  const sim_doubles *radii = &((const collision_each *)item->data)->radius;
  double least = INFINITY;
  for (size_t i = 0; i < radii->rows; i++) least = fmin(least, radii->data[i]);
  return least;
}

sim_status collision_step_check(double dt, double most) {
  if (!(dt > most * (1 + 1e-6))) return SIM_OK; /* margin for rounded masses */
  return sim_fail(SIM_ERR_SCENARIO,
                  "integrate.dt: expected at most %.9g, got %.9g: springs and dashpots of contacts would be unstable",
                  most, dt);
}

sim_status collision_step_check_count(const collision_parameters *p, double dt) {
  const double most = 1e15, steps = p->integrate.t_end / dt;
  if (!isnan(p->integrate.dt) || p->pushed || !(steps > most)) return SIM_OK; /* NaN: not known yet */
  return sim_fail(SIM_ERR_SCENARIO,
                  "integrate.dt: \"auto\" is %.3g, which makes %.3g steps until t_end = %.9g: expected at most %.0e; "
                  "give softer contacts (contact.stiffness, young or contact_time), a shorter t_end, or this dt as a "
                  "number",
                  dt, steps, p->integrate.t_end, most);
}

/* Number of grains that limit the step: items of `grains` and `insert`, and spheres of clumps. */
static size_t count_judged(const collision_parameters *p) {
  size_t count = p->grains.count + p->insert.count;
  for (size_t i = 0; i < p->grains.count; i++) {
    const collision_rigid *rigid = collision_rigid_of(&p->grains.items[i]);
    if (rigid != NULL) count += rigid->spheres.rows;
  }
  return count;
}

/* Grains, or spheres of clumps, that limit the step. */
typedef struct judged {
  double *mass, *radius;
  uint64_t *material;
  int64_t n;
} judged;

static sim_status judged_create(const collision_parameters *p, judged *out) {
  const size_t room = count_judged(p) + 1;
  *out = (judged){.mass = malloc(room * sizeof(double)),
                  .radius = malloc(room * sizeof(double)),
                  .material = malloc(room * sizeof(uint64_t))};
  return out->mass != NULL && out->radius != NULL && out->material != NULL ? SIM_OK
                                                                           : sim_no_memory("the check of the step");
}

static void judged_free(judged *all) { free(all->mass), free(all->radius), free(all->material); }

static void judge(judged *all, double mass, double radius, uint64_t material) {
  all->mass[all->n] = mass;
  all->radius[all->n] = radius;
  all->material[all->n++] = material;
}

static double sphere_mass(const collision_group *group, double radius) {
  return group->density * 4 * COLLISION_PI / 3 * radius * radius * radius;
}

/* Appends the spheres of a clump, with the least masses that their contacts may act on. */
static sim_status judge_clump(const collision_rigid *rigid, const collision_options *o, uint64_t material,
                              judged *all) {
  collision_shape shape;
  SIM_TRY(collision_shape_create(rigid, &shape));
  for (int64_t i = 0; i < shape.count; i++) {
    const double radius = shape.spheres[4 * i + 3];
    judge(all, rigid_least_mass(&shape.body, shape.at[i], radius, o->law_springs > 0), radius, material);
  }
  collision_shape_free(&shape);
  return SIM_OK;
}

/* Lists grains that certainly occur: the smallest of each group, and all spheres of a clump. *largest: radius of the
 * largest grain that certainly occurs. */
static sim_status sure_grains(const collision_parameters *p, const collision_options *o, judged *all, double *largest) {
  const size_t groups = p->grains.count;
  const char *names[COLLISION_MATERIALS_MAX];
  int count = 0;
  *largest = 0;
  SIM_TRY(collision_materials(p, names, &count));
  for (size_t i = 0; i < groups + p->insert.count; i++) {
    const sim_item *item = i < groups ? &p->grains.items[i] : &p->insert.items[i - groups];
    const collision_group *group = item->data;
    const uint64_t kind = (uint64_t)collision_material_index(names, count, group->material);
    double radius, most = 0;
    if (i < groups)
      collision_sure_radii(item, &radius, &most);
    else
      radius = least_radius(&((const collision_inlet *)item->data)->size);
    if (isfinite(most)) *largest = fmax(*largest, most);
    if (collision_rigid_of(item) != NULL)
      SIM_TRY(judge_clump(item->data, o, kind, all));
    else if (isfinite(radius)) /* else the radius is in a file, which may also have masses */
      judge(all, sphere_mass(group, radius), radius, kind);
  }
  return SIM_OK;
}

/* Lists the smallest grains of each group and inlet; *known: none of their radii is in a file. */
static sim_status least_grains(const collision_parameters *p, const collision_options *o, judged *all, bool *known) {
  const size_t groups = p->grains.count;
  const char *names[COLLISION_MATERIALS_MAX];
  int count = 0;
  *known = true;
  SIM_TRY(collision_materials(p, names, &count));
  for (size_t i = 0; i < groups + p->insert.count && *known; i++) {
    const sim_item *item = i < groups ? &p->grains.items[i] : &p->insert.items[i - groups];
    const collision_group *group = item->data;
    const uint64_t kind = (uint64_t)collision_material_index(names, count, group->material);
    if (collision_rigid_of(item) != NULL) {
      SIM_TRY(judge_clump(item->data, o, kind, all));
      continue;
    }
    const double radius = i < groups ? smallest(item) : least_radius(&((const collision_inlet *)item->data)->size);
    judge(all, sphere_mass(group, radius), radius, kind);
    *known = radius > 0; /* NaN: the radius is in a file */
  }
  return SIM_OK;
}

sim_status collision_heat_check_plan(const collision_parameters *p, const collision_options *o, double dt) {
  judged all;
  double largest;
  if (!o->heated) return SIM_OK;
  sim_status status = judged_create(p, &all);
  if (status == SIM_OK) status = sure_grains(p, o, &all, &largest);
  if (status == SIM_OK) status = collision_heat_check_step(o, dt, all.n, all.mass, all.radius, largest);
  judged_free(&all);
  return status;
}

sim_status collision_step_guess(const collision_parameters *p, const collision_options *o, double *guess,
                                double *limit) {
  judged all;
  double largest, most;
  bool known = false;
  collision_custom_contact own;
  *limit = INFINITY;
  *guess = NAN;
  sim_status status = judged_create(p, &all);
  if (status == SIM_OK) status = sure_grains(p, o, &all, &largest);
  if (status == SIM_OK) {
    collision_contact_time(o, all.n, all.mass, all.radius, all.material, limit);
    all.n = 0;
    status = least_grains(p, o, &all, &known);
  }
  if (status == SIM_OK && known && collision_fields_shortest(o, all.n, all.mass, all.radius, &own) == SIM_OK) {
    const double time = collision_contact_time(o, all.n, all.mass, all.radius, all.material, &most);
    *guess = fmin(fmin(time, own.time) / p->integrate.steps_per_contact, most);
  }
  judged_free(&all);
  return status;
}
