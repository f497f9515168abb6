/* Creates the grains at the start of a run. */
#include "kernels/collision/start/grains.h"

#include "engine/log.h"
#include "engine/rng.h"
#include "kernels/collision/scenario/sizes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists of groups ---- */

/* Counts the bodies of clumps and their spheres. */
static sim_status count_clumps(const sim_item *item, collision_part *part) {
  const bool many = item->schema == &collision_clumps_schema;
  SIM_TRY(collision_shape_create(item->data, &part->shape));
  part->places = many ? ((const collision_clumps *)item->data)->n : 1;
  if ((double)part->places * (double)part->shape.count > 4294967294.0)
    return sim_fail(SIM_ERR_SCENARIO, "clumps: expected fewer than 2^32 - 1 spheres");
  part->n = part->places * part->shape.count;
  return SIM_OK;
}

static sim_status count_item(const sim_item *item, const sim_setup *setup, int64_t *n) {
  *n = 1;
  if (item->schema == &collision_random_spheres_schema || item->schema == &collision_lattice_schema)
    *n = ((const collision_random_spheres *)item->data)->n;
  else if (item->schema == &collision_each_schema)
    *n = (int64_t)((const collision_each *)item->data)->radius.rows;
  else if (item->schema == &collision_from_file_schema) {
    const collision_from_file *file = item->data;
    char path[4096];
    SIM_TRY(sim_setup_path(setup, file->path, path));
    SIM_TRY(setup->count_particles(path, file->group.species, n));
    if (*n < 1) return sim_fail(SIM_ERR_SCENARIO, "%s: contains no grains", path);
  }
  return SIM_OK;
}

sim_status collision_parts_list(const collision_parameters *p, const sim_setup *setup, collision_parts *out) {
  *out = (collision_parts){.part = calloc(p->grains.count + p->insert.count + 1, sizeof *out->part),
                           .count = p->grains.count};
  if (out->part == NULL) return sim_no_memory("the list of grains");
  sim_status status = SIM_OK;
  for (size_t i = 0; i < p->grains.count && status == SIM_OK; i++) {
    collision_part *part = &out->part[i];
    const bool clumps = collision_rigid_of(&p->grains.items[i]) != NULL;
    part->item = &p->grains.items[i];
    status = clumps ? count_clumps(part->item, part) : count_item(part->item, setup, &part->n);
    if (!clumps) part->places = part->n;
    out->n += (double)part->n;
    out->places += (double)part->places;
    if (clumps) out->bodies += (double)part->places;
    if (clumps) out->bound = fmax(out->bound, part->shape.body.bound);
  }
  for (size_t i = 0; i < p->insert.count; i++) /* species of grains that inlets insert later */
    out->part[out->count++].item = &p->insert.items[i];
  sim_species species[SIM_SPECIES_MAX];
  if (status == SIM_OK && collision_parts_species(out, species) == SIZE_MAX)
    status = sim_fail(SIM_ERR_SCENARIO, "grains: expected at most %d species", SIM_SPECIES_MAX);
  if (status == SIM_OK && !(collision_flow_total(p, out->n) >= 1))
    status = sim_fail(SIM_ERR_SCENARIO, "grains: expected at least one, at the start or from an inlet before t_end");
  if (status == SIM_OK && !(out->n < 4294967295.0))
    status = sim_fail(SIM_ERR_SCENARIO, "grains: expected fewer than 2^32 - 1, got %.9g", out->n);
  if (status != SIM_OK) collision_parts_free(out);
  return status;
}

void collision_parts_free(collision_parts *parts) {
  for (size_t i = 0; i < parts->count && parts->part != NULL; i++) collision_shape_free(&parts->part[i].shape);
  free(parts->part);
  *parts = (collision_parts){0};
}

size_t collision_parts_species(const collision_parts *parts, sim_species species[SIM_SPECIES_MAX]) {
  size_t count = 0;
  for (size_t i = 0; i < parts->count; i++) {
    const char *name = ((const collision_group *)parts->part[i].item->data)->species;
    const size_t s = sim_species_find(species, &count, name);
    if (s == SIZE_MAX) return SIZE_MAX;
    species[s].count += parts->part[i].n;
  }
  for (size_t s = 1; s < count; s++) species[s].first = species[s - 1].first + species[s - 1].count;
  return count;
}

/* ---- creating groups ---- */

/* Context of one group: grains first ... first + n - 1. */
typedef struct maker {
  const collision_parameters *p;
  const collision_options *o;
  collision_grains *g;
  bool *loose;
  double *filled; /* greatest volume fraction of a random group; 0: no such group */
  double *low[3], *high[3];
  int64_t first, n;
  sim_status (*sized)(void *context, double least, double most, double bound);
  void *context;
} maker;

static double lognormal(uint64_t seed, uint64_t id, const double *radii) {
  const double limit = collision_lognormal_most(radii[1]);
  double z[2];
  for (uint32_t draw = 0;; draw++) {
    sim_rng_normal(seed, id, 0, COLLISION_DRAW_RADIUS + draw, z);
    for (int k = 0; k < 2; k++)
      if (fabs(z[k] * radii[1]) <= limit || draw == 64) return radii[0] * exp(draw == 64 ? 0 : z[k] * radii[1]);
  }
}

double collision_radius_of(const collision_radii *size, uint64_t seed, uint64_t id, size_t number) {
  const sim_doubles *r = &size->radii;
  double u[2];
  if (r->rows == 0) return size->radius;
  if (size->distribution == COLLISION_LOGNORMAL) return lognormal(seed, id, r->data);
  if (size->distribution != COLLISION_UNIFORM && (size->distribution != COLLISION_AUTO || r->rows != 2))
    return r->data[number % r->rows];
  sim_rng_uniform(seed, id, 0, COLLISION_DRAW_RADIUS, u);
  return r->data[0] + (r->data[1] - r->data[0]) * u[0];
}

static void make_radii(const maker *m, const collision_radii *size) {
#pragma omp parallel for schedule(static) num_threads(m->o->threads) if (m->n > 4096)
  for (int64_t i = 0; i < m->n; i++)
    m->g->radius[m->first + i] = collision_radius_of(size, m->p->common.seed, (uint64_t)(m->first + i), (size_t)i);
}

static void region_of(const maker *m, const collision_random_spheres *group, double low[3], double high[3]) {
  for (int c = 0; c < 3; c++) {
    low[c] = group->low.rows ? group->low.data[c] : m->o->low[c];
    high[c] = group->high.rows ? group->high.data[c] : m->o->low[c] + m->o->size[c];
  }
}

/* Puts the grains of a group at random positions in its region. `what`: the group's name in messages. */
static sim_status throw_spheres(const maker *m, const char *what, const collision_random_spheres *group) {
  double low[3], high[3], volume = 1, filled = 0;
  region_of(m, group, low, high);
  for (int c = 0; c < 3; c++) volume *= high[c] - low[c];
  for (int64_t i = m->first; i < m->first + m->n; i++) {
    const double r = m->g->radius[i];
    double u[4];
    filled += 4 * COLLISION_PI / 3 * r * r * r;
    for (uint32_t k = 0; k < 2; k++)
      sim_rng_uniform(m->p->common.seed, (uint64_t)i, 0, COLLISION_DRAW_POSITION + k, u + 2 * k);
    for (int c = 0; c < 3; c++) {
      /* In a region as wide as a periodic box the centres are unbounded. */
      const bool round = m->o->periodic[c] && low[c] <= m->o->low[c] && high[c] >= m->o->low[c] + m->o->size[c];
      m->low[c][i] = round ? -INFINITY : low[c] + r;
      m->high[c][i] = round ? INFINITY : high[c] - r;
      const double a = round ? low[c] : m->low[c][i], b = round ? high[c] : m->high[c][i];
      if (a > b)
        return sim_fail(SIM_ERR_SCENARIO, "%s: a grain of radius %.9g does not fit the region's %c", what, r, "xyz"[c]);
      m->g->position[c][i] = a + (b - a) * u[c];
    }
    m->loose[i] = true;
  }
  *m->filled = fmax(*m->filled, filled / volume);
  if (filled > 0.7 * volume)
    return sim_fail(SIM_ERR_SCENARIO, "%s: the %s fill %.3g of their region; about 0.63 is possible with equal radii",
                    what, strcmp(what, "clumps") == 0 ? "spheres about the bodies" : "grains", filled / volume);
  return SIM_OK;
}

/* Puts the grains of a group on a simple cubic lattice; empty sites are evenly spaced. */
static sim_status put_lattice(const maker *m, const collision_random_spheres *group) {
  double low[3], high[3], largest = 0;
  int64_t sites[3], total = 1;
  region_of(m, group, low, high);
  for (int64_t i = m->first; i < m->first + m->n; i++) largest = fmax(largest, m->g->radius[i]);
  collision_lattice_sites((const double[3]){high[0] - low[0], high[1] - low[1], high[2] - low[2]}, m->n, sites);
  for (int c = 0; c < 3; c++) {
    total *= sites[c];
    const double step = (high[c] - low[c]) / (double)sites[c];
    if (step < 2 * largest)
      return sim_fail(SIM_ERR_SCENARIO,
                      "lattice: %" PRId64 " grains of radius %.9g do not fit: sites are %.9g apart in %c", m->n,
                      largest, step, "xyz"[c]);
  }
#pragma omp parallel for schedule(static) num_threads(m->o->threads) if (m->n > 4096)
  for (int64_t i = 0; i < m->n; i++) {
    const int64_t site = (int64_t)((double)i * (double)total / (double)m->n);
    const int64_t at[3] = {site / (sites[1] * sites[2]), site / sites[2] % sites[1], site % sites[2]};
    for (int c = 0; c < 3; c++)
      m->g->position[c][m->first + i] = low[c] + ((double)at[c] + 0.5) * ((high[c] - low[c]) / (double)sites[c]);
  }
  return SIM_OK;
}

static void set_masses(const maker *m, const collision_group *group) {
#pragma omp parallel for schedule(static) num_threads(m->o->threads) if (m->n > 4096)
  for (int64_t i = m->first; i < m->first + m->n; i++) {
    const double r = m->g->radius[i];
    if (m->g->mass[i] > 0) continue; /* the file has the mass */
    m->g->mass[i] = group->density * 4 * COLLISION_PI / 3 * r * r * r;
  }
}

/* Draws Maxwell velocities, shifted and scaled to zero momentum and exactly this temperature. */
static void heat(const maker *m, double temperature) {
  double momentum[3] = {0}, mass = 0, energy = 0;
  if (!(temperature > 0)) return;
#pragma omp parallel for schedule(static) num_threads(m->o->threads) if (m->n > 4096)
  for (int64_t i = m->first; i < m->first + m->n; i++) {
    double z[4];
    for (uint32_t k = 0; k < 2; k++)
      sim_rng_normal(m->p->common.seed, (uint64_t)i, 0, COLLISION_DRAW_VELOCITY + k, z + 2 * k);
    for (int c = 0; c < 3; c++) m->g->velocity[c][i] = sqrt(temperature / m->g->mass[i]) * z[c];
  }
  for (int64_t i = m->first; i < m->first + m->n; i++) { /* in this order, for any number of threads */
    for (int c = 0; c < 3; c++) momentum[c] += m->g->mass[i] * m->g->velocity[c][i];
    mass += m->g->mass[i];
  }
  if (m->n < 2) return;
  for (int64_t i = m->first; i < m->first + m->n; i++)
    for (int c = 0; c < 3; c++) {
      m->g->velocity[c][i] -= momentum[c] / mass;
      energy += m->g->mass[i] * m->g->velocity[c][i] * m->g->velocity[c][i];
    }
  const double scale = sqrt(3 * (double)m->n * temperature / energy);
#pragma omp parallel for schedule(static) num_threads(m->o->threads) if (m->n > 4096)
  for (int64_t i = m->first; i < m->first + m->n; i++)
    for (int c = 0; c < 3; c++) m->g->velocity[c][i] *= scale;
}

static void copy_each(const maker *m, const collision_each *each) {
  for (int64_t i = 0; i < m->n; i++) {
    m->g->radius[m->first + i] = each->radius.data[i];
    for (int c = 0; c < 3; c++) {
      m->g->position[c][m->first + i] = each->position.data[3 * i + c];
      if (each->velocity.rows) m->g->velocity[c][m->first + i] = each->velocity.data[3 * i + c];
      if (each->angular_velocity.rows) m->g->spin[c][m->first + i] = each->angular_velocity.data[3 * i + c];
    }
  }
}

/* Velocities of a file are those of the frame, as in snapshots; those of grains here are relative to the flow of a
 * sheared box. */
static void subtract_flow(const maker *m) {
  const collision_options *o = m->o;
  const double middle = o->low[o->across] + 0.5 * o->size[o->across];
  for (int64_t i = m->first; i < m->first + m->n; i++)
    m->g->velocity[o->along][i] -= o->shear * (m->g->position[o->across][i] - middle);
  if (isnan(m->p->box.shear_offset))
    sim_log(
        SIM_LOG_WARN,
        "from_file: the images of a sheared box begin in line; in a snapshot of time t they are displaced by %.9g t "
        "along %c, modulo %.9g, and grains at the sides meet others: give this as box.shear_offset, or 0",
        o->shear * o->size[o->across], "xyz"[o->along], o -> size[o->along]);
}

static sim_status read_file(const maker *m, const sim_setup *setup, const collision_from_file *file) {
  char path[4096];
  sim_particles read = {0};
  SIM_TRY(sim_setup_path(setup, file->path, path));
  SIM_TRY(setup->read_particles(path, file->group.species, &m->p->common.units, &read));
  sim_status status = SIM_OK;
  if (read.count != m->n) status = sim_fail(SIM_ERR_SCENARIO, "%s: changed while it was read", path);
  const double *radius = isnan(file->radius) ? read.radius : NULL;
  if (status == SIM_OK && isnan(file->radius) && radius == NULL && read.mass == NULL)
    status =
        sim_fail(SIM_ERR_SCENARIO, "%s: has no radii, nor masses from which they could follow; give `radius`", path);
  for (int64_t i = 0; i < m->n && status == SIM_OK; i++) {
    const int64_t to = m->first + i;
    const double mass = read.mass != NULL ? read.mass[i] : NAN;
    if (read.body != NULL && read.body[i] != 0)
      status = sim_fail(SIM_ERR_SCENARIO,
                        "%s: grain %" PRId64 " is a sphere of a clump: from_file would set it loose; give clumps by "
                        "sim.clump",
                        path, i + 1);
    m->g->radius[to] = radius != NULL        ? radius[i]
                       : isnan(file->radius) ? cbrt(mass / (4 * COLLISION_PI / 3 * file->group.density))
                                             : file->radius;
    if (radius != NULL && read.mass != NULL) m->g->mass[to] = mass;
    if (read.temperature != NULL) m->g->temperature[to] = read.temperature[i];
    for (int c = 0; c < 3; c++) {
      if (read.position[c] != NULL) m->g->position[c][to] = read.position[c][i];
      if (read.velocity[c] != NULL) m->g->velocity[c][to] = read.velocity[c][i];
      if (read.spin[c] != NULL) m->g->spin[c][to] = read.spin[c][i];
      if (!isfinite(m->g->position[c][to]) || !isfinite(m->g->velocity[c][to]) || !isfinite(m->g->spin[c][to]))
        status = sim_fail(SIM_ERR_SCENARIO, "%s: grain %" PRId64 " has a number that is not finite", path, i + 1);
    }
    if (!(m->g->radius[to] > 0 && isfinite(m->g->radius[to])))
      status = sim_fail(SIM_ERR_SCENARIO, "%s: grain %" PRId64 " has no mass", path, i + 1);
  }
  if (status == SIM_OK && m->o->shear != 0 && read.velocity[0] != NULL) subtract_flow(m);
  sim_particles_free(&read);
  return status;
}

/* Makes one grain for each clump: with the clump's mass, and as large as the sphere that holds it in any
 * orientation. */
static sim_status make_clumps(const maker *m, const collision_part *part) {
  for (int64_t i = m->first; i < m->first + m->n; i++) {
    m->g->radius[i] = part->shape.body.bound;
    m->g->mass[i] = part->shape.body.mass;
  }
  if (part->item->schema == &collision_clumps_schema) {
    const collision_clumps *clumps = part->item->data;
    return throw_spheres(m, "clumps",
                         &(collision_random_spheres){.n = clumps->n, .low = clumps->low, .high = clumps->high});
  }
  const collision_clump *clump = part->item->data;
  for (int c = 0; c < 3; c++) {
    m->g->position[c][m->first] = clump->position[c];
    m->g->spin[c][m->first] = clump->angular_velocity[c];
  }
  return SIM_OK;
}

static sim_status make_part(const maker *m, const sim_setup *setup, const collision_part *part, int material) {
  const sim_item *item = part->item;
  const collision_group *group = item->data;
  double temperature = 0;
  if (item->schema == &collision_random_spheres_schema || item->schema == &collision_lattice_schema) {
    const collision_random_spheres *spheres = item->data; /* a lattice has the same struct */
    make_radii(m, &spheres->size);
    temperature = spheres->temperature;
    SIM_TRY(item->schema == &collision_lattice_schema ? put_lattice(m, spheres)
                                                      : throw_spheres(m, "random_spheres", spheres));
  } else if (collision_rigid_of(item) != NULL) {
    SIM_TRY(make_clumps(m, part));
    if (item->schema == &collision_clumps_schema) temperature = ((const collision_clumps *)item->data)->temperature;
  } else if (item->schema == &collision_each_schema) {
    copy_each(m, item->data);
  } else if (item->schema == &collision_from_file_schema) {
    SIM_TRY(read_file(m, setup, item->data));
  } else {
    const collision_grain *grain = item->data;
    m->g->radius[m->first] = grain->radius;
    for (int c = 0; c < 3; c++) {
      m->g->position[c][m->first] = grain->position[c];
      m->g->spin[c][m->first] = grain->angular_velocity[c];
    }
  }
  set_masses(m, group);
  heat(m, temperature);
#pragma omp parallel for schedule(static) num_threads(m->o->threads) if (m->n > 4096)
  for (int64_t i = m->first; i < m->first + m->n; i++) {
    m->g->material[i] = (uint64_t)material;
    for (int c = 0; c < 3; c++) m->g->velocity[c][i] += group->velocity[c];
  }
  return SIM_OK;
}

static sim_status make_all(const collision_parameters *p, const sim_setup *setup, const collision_parts *parts,
                           maker *m) {
  const char *names[COLLISION_MATERIALS_MAX];
  int count;
  SIM_TRY(collision_materials(p, names, &count));
  for (size_t i = 0; i < parts->count; i++) {
    m->n = parts->part[i].places;
    const char *material = ((const collision_group *)parts->part[i].item->data)->material;
    if (m->n == 0) continue;
    SIM_TRY(make_part(m, setup, &parts->part[i], collision_material_index(names, count, material)));
    m->first += m->n;
  }
  double least = INFINITY, most = 0;
  m->first = 0;
  for (size_t k = 0; k < parts->count; k++) {
    const collision_part *part = &parts->part[k];
    for (int64_t i = m->first; i < m->first + part->places && part->shape.count == 0; i++) {
      least = fmin(least, m->g->radius[i]);
      most = fmax(most, m->g->radius[i]);
    }
    for (int64_t i = 0; i < part->shape.count && part->places > 0; i++) {
      least = fmin(least, part->shape.spheres[4 * i + 3]);
      most = fmax(most, part->shape.spheres[4 * i + 3]);
    }
    m->first += part->places;
  }
  if (collision_radii_apart(least, most, COLLISION_RATIO))
    return sim_fail(SIM_ERR_SCENARIO, "grains: expected radii within 1:%d, got %.9g to %.9g", COLLISION_RATIO, least,
                    most);
  for (int c = 0; c < 3; c++)
    if (m->o->periodic[c] && m->o->size[c] < 5 * most)
      return sim_fail(SIM_ERR_SCENARIO,
                      "%s.size: %.9g in %c is periodic and less than 5 times the largest radius, %.9g",
                      m->o->pushed ? "grid" : "box", m->o->size[c], "xyz"[c], most);
  SIM_TRY(collision_clumps_check_box(m->o, parts));
  SIM_TRY(m->sized(m->context, least, most, parts->bound));
  return *m->filled > 0 ? collision_pack(m->o, m->g, m->loose, m->low, m->high, *m->filled) : SIM_OK;
}

sim_status collision_grains_reserve(int64_t count, collision_grains *out) {
  const size_t n = (size_t)count, room = n > 0 ? n : 1;
  *out = (collision_grains){.n = count};
  double *data = calloc(12 * room, sizeof *data);
  out->material = calloc(room, sizeof *out->material);
  out->radius = data;
  if (data == NULL || out->material == NULL) return sim_no_memory("%zu grains", n);
  out->mass = data + n;
  for (size_t c = 0; c < 3; c++) {
    out->position[c] = data + (2 + c) * n;
    out->velocity[c] = data + (5 + c) * n;
    out->spin[c] = data + (8 + c) * n;
  }
  out->temperature = data + 11 * n;
  return SIM_OK;
}

sim_status collision_grains_create(const collision_parameters *p, const sim_setup *setup, const collision_parts *parts,
                                   const collision_options *options,
                                   sim_status (*sized)(void *context, double least, double most, double bound),
                                   void *context, collision_grains *out) {
  const size_t n = (size_t)parts->places, room = n > 0 ? n : 1;
  double filled = 0;
  double *bounds = calloc(6 * room, sizeof *bounds);
  maker m = {.p = p,
             .o = options,
             .g = out,
             .loose = calloc(room, sizeof(bool)),
             .filled = &filled,
             .sized = sized,
             .context = context};
  sim_status status = collision_grains_reserve((int64_t)n, out);
  if (status == SIM_OK && (!bounds || !m.loose)) status = sim_no_memory("%zu grains", n);
  if (status == SIM_OK) {
    for (size_t c = 0; c < 3; c++) {
      m.low[c] = bounds + c * n;
      m.high[c] = bounds + (3 + c) * n;
    }
    status = make_all(p, setup, parts, &m);
  }
  free(bounds), free(m.loose);
  if (status == SIM_OK && parts->bodies > 0) {
    const collision_grains places = *out;
    status = collision_clumps_expand(p, parts, &places, out);
    collision_grains_free(&(collision_grains){.radius = places.radius, .material = places.material});
  }
  if (status != SIM_OK) collision_grains_free(out);
  return status;
}

void collision_grains_free(collision_grains *grains) {
  free(grains->radius); /* the first array of the one allocation */
  free(grains->material), free(grains->body), free(grains->member);
  *grains = (collision_grains){0};
}
