#include "kernels/nbody/start/bodies.h"

#include "engine/log.h"
#include "engine/reduce.h"
#include "engine/run/startup.h"
#include "kernels/nbody/cpu/evaluator.h"
#include "kernels/common/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups ---- */

static sim_status count_item(const sim_item *item, const sim_setup *setup, int64_t *n) {
  const sim_schema *schema = item->schema;
  if (schema == &nbody_body_schema)
    *n = 1;
  else if (schema == &nbody_uniform_sphere_schema)
    *n = ((const nbody_uniform_sphere *)item->data)->n;
  else if (schema == &nbody_exponential_disk_schema)
    *n = ((const nbody_exponential_disk *)item->data)->n;
  else if (schema == &nbody_zeldovich_schema) {
    const int64_t side = ((const nbody_zeldovich *)item->data)->n;
    *n = side * side * side;
  } else if (schema == &nbody_lattice_schema)
    *n = nbody_lattice_count(item->data);
  else if (schema == &nbody_each_schema)
    *n = (int64_t)((const nbody_each *)item->data)->mass.rows;
  else if (schema == &nbody_from_file_schema) {
    const nbody_from_file *file = item->data;
    char path[4096];
    SIM_TRY(sim_setup_path(setup, file->path, path));
    SIM_TRY(setup->count_particles(path, file->group.species, n));
    if (*n < 1) return sim_fail(SIM_ERR_SCENARIO, "%s: contains no bodies", path);
  } else
    *n = ((const nbody_sphere *)item->data)->n;
  return SIM_OK;
}

sim_status nbody_groups_list(const nbody_parameters *p, const sim_setup *setup, nbody_groups *out) {
  *out = (nbody_groups){0};
  out->group = calloc(2 * p->bodies.count + 1, sizeof *out->group);
  if (out->group == NULL) return sim_no_memory("the list of bodies");
  for (size_t i = 0; i < p->bodies.count; i++) {
    const sim_item *item = &p->bodies.items[i];
    nbody_group part = {.item = item, .species = ((const nbody_group_fields *)item->data)->species};
    sim_status status = count_item(item, setup, &part.n);
    if (status != SIM_OK) {
      nbody_groups_free(out);
      return status;
    }
    out->group[out->count++] = part;
    out->n += (double)part.n;
    if (item->schema == &nbody_exponential_disk_schema) {
      const nbody_halo *halo = &((const nbody_exponential_disk *)item->data)->halo;
      out->group[out->count++] = (nbody_group){item, halo->species, halo->n, true};
      out->n += (double)halo->n;
    }
  }
  sim_species species[SIM_SPECIES_MAX];
  if (nbody_groups_species(out, species) == SIZE_MAX) {
    nbody_groups_free(out);
    return sim_fail(SIM_ERR_SCENARIO, "bodies: expected at most %d species", SIM_SPECIES_MAX);
  }
  return SIM_OK;
}

void nbody_groups_free(nbody_groups *groups) {
  free(groups->group);
  *groups = (nbody_groups){0};
}

size_t nbody_groups_species(const nbody_groups *groups, sim_species species[SIM_SPECIES_MAX]) {
  size_t count = 0;
  for (size_t i = 0; i < groups->count; i++) {
    const size_t s = sim_species_find(species, &count, groups->group[i].species);
    if (s == SIZE_MAX) return SIZE_MAX;
    if (groups->n < 0x1p62) species[s].count += groups->group[i].n;
  }
  for (size_t s = 1; s < count; s++) species[s].first = species[s - 1].first + species[s - 1].count;
  return count;
}

/* ---- rotation, position and velocity of a group ---- */

static double weighted_mean(const nbody_bodies *part, const double *x, double mass, double *scratch, int threads) {
  const size_t n = (size_t)part->n;
  for (size_t i = 0; i < n; i++) scratch[i] = part->mass[i] * x[i];
  return sim_reduce_sum(scratch, n, scratch + n, threads) / mass;
}

/* Shifts the centre of mass and the momentum to zero. The second pass removes the rounding errors of the first. */
static void recentre(nbody_bodies *part, double *scratch, int threads) {
  const size_t n = (size_t)part->n;
  memcpy(scratch, part->mass, n * sizeof *scratch);
  const double mass = sim_reduce_sum(scratch, n, scratch + n, threads);
  if (!(mass > 0)) return;
  for (int pass = 0; pass < 2; pass++) {
    for (int c = 0; c < 3; c++) {
      const double x = weighted_mean(part, part->position[c], mass, scratch, threads);
      const double v = weighted_mean(part, part->velocity[c], mass, scratch, threads);
      for (size_t i = 0; i < n; i++) {
        part->position[c][i] -= x;
        part->velocity[c][i] -= v;
      }
    }
  }
}

/* Rotation by |degrees| about the vector `degrees`: Rodrigues' formula. */
static void rotation_matrix(const double degrees[3], double m[3][3]) {
  const double size = sqrt(degrees[0] * degrees[0] + degrees[1] * degrees[1] + degrees[2] * degrees[2]);
  const double angle = size * (pi / 180), c = cos(angle), s = sin(angle);
  const double u[3] = {degrees[0] / size, degrees[1] / size, degrees[2] / size};
  const double cross[3][3] = {{0, -u[2], u[1]}, {u[2], 0, -u[0]}, {-u[1], u[0], 0}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) m[i][j] = (i == j ? c : 0) + s * cross[i][j] + (1 - c) * u[i] * u[j];
}

static void apply_group(const nbody_group_fields *group, nbody_bodies *part) {
  if (group->rotation[0] != 0 || group->rotation[1] != 0 || group->rotation[2] != 0) {
    double m[3][3];
    rotation_matrix(group->rotation, m);
    double **both[2] = {part->position, part->velocity};
    for (int k = 0; k < 2; k++) {
      for (int64_t i = 0; i < part->n; i++) {
        const double x = both[k][0][i], y = both[k][1][i], z = both[k][2][i];
        for (int c = 0; c < 3; c++) both[k][c][i] = m[c][0] * x + m[c][1] * y + m[c][2] * z;
      }
    }
  }
  for (int c = 0; c < 3; c++) {
    for (int64_t i = 0; i < part->n; i++) {
      part->position[c][i] += group->position[c];
      part->velocity[c][i] += group->velocity[c];
    }
  }
}

static sim_status add_velocity_field(const sim_expr *expr, nbody_bodies *part) {
  nbody_evaluator *field;
  nbody_evaluator_input in[3];
  if (expr == NULL) return SIM_OK;
  for (int c = 0; c < 3; c++) in[c] = (nbody_evaluator_input){part->position[c], SIM_F64, false};
  SIM_TRY(nbody_evaluator_create(expr, NULL, SIM_ISA_PLAIN, 1, &field));
  for (int64_t first = 0; first < part->n; first += NBODY_EVALUATOR_BLOCK) {
    const int64_t count = part->n - first < NBODY_EVALUATOR_BLOCK ? part->n - first : NBODY_EVALUATOR_BLOCK;
    const double *more = nbody_evaluator_run(field, in, first, count);
    for (int c = 0; c < 3; c++)
      for (int64_t i = 0; i < count; i++) part->velocity[c][first + i] += more[c * NBODY_EVALUATOR_BLOCK + i];
  }
  nbody_evaluator_destroy(&field);
  for (int64_t i = 0; i < part->n; i++)
    for (int c = 0; c < 3; c++)
      if (!isfinite(part->velocity[c][i]))
        return sim_fail(SIM_ERR_SCENARIO,
                        "bodies: velocity_field gives body %lld (from 0) at {%.9g, %.9g, %.9g} a velocity that is not "
                        "finite",
                        (long long)(part->id + i), part->position[0][i], part->position[1][i], part->position[2][i]);
  return SIM_OK;
}

/* ---- bodies from Lua functions and files ---- */

static void copy_each(const nbody_each *each, nbody_bodies *part) {
  for (int64_t i = 0; i < part->n; i++) {
    part->mass[i] = each->mass.data[i];
    for (int c = 0; c < 3; c++) {
      part->position[c][i] = each->position.data[3 * i + c];
      part->velocity[c][i] = each->velocity.rows ? each->velocity.data[3 * i + c] : 0;
    }
  }
}

static sim_status check_read(const sim_particles *read, const nbody_bodies *part, const char *path) {
  if (read->count != part->n) return sim_fail(SIM_ERR_SCENARIO, "%s: changed while it was read", path);
  if (read->mass == NULL) return sim_fail(SIM_ERR_SCENARIO, "%s: has no masses", path);
  for (int c = 0; c < 3; c++)
    if (read->position[c] == NULL || read->velocity[c] == NULL)
      return sim_fail(SIM_ERR_SCENARIO, "%s: lacks a component of %s", path,
                      read->position[c] == NULL ? "position" : "velocity");
  for (int64_t i = 0; i < part->n; i++) {
    if (!(read->mass[i] >= 0))
      return sim_fail(SIM_ERR_SCENARIO, "%s: body %lld has mass %.9g: expected >= 0", path, (long long)i + 1,
                      read->mass[i]);
    for (int c = 0; c < 3; c++)
      if (!isfinite(read->mass[i]) || !isfinite(read->position[c][i]) || !isfinite(read->velocity[c][i]))
        return sim_fail(SIM_ERR_SCENARIO, "%s: body %lld has a number that is not finite", path, (long long)i + 1);
  }
  return SIM_OK;
}

static sim_status read_file(const nbody_from_file *file, const nbody_parameters *p, const sim_setup *setup,
                            nbody_bodies *part) {
  char path[4096];
  sim_particles read = {0};
  SIM_TRY(sim_setup_path(setup, file->path, path));
  SIM_TRY(setup->read_particles(path, file->group.species, &p->common.units, &read));
  sim_status status = check_read(&read, part, path);
  if (status == SIM_OK) {
    const size_t bytes = (size_t)part->n * sizeof(double);
    if (p->merge)
      sim_log(SIM_LOG_WARN, "%s: with merge its bodies have radius 0, as radii are not read from files", path);
    memcpy(part->mass, read.mass, bytes);
    for (int c = 0; c < 3; c++) {
      memcpy(part->position[c], read.position[c], bytes);
      memcpy(part->velocity[c], read.velocity[c], bytes);
    }
  }
  sim_particles_free(&read);
  return status;
}

/* ---- all bodies ---- */

double nbody_bodies_bytes(const nbody_groups *groups, bool recentred, int threads, double stage) {
  double read = 0, scratch = 0; /* memory for the largest file, and for the largest group that is generated */
  for (size_t i = 0; i < groups->count; i++) {
    const nbody_group *part = &groups->group[i];
    const double bytes = (double)part->n * sizeof(double);
    if (part->item->schema == &nbody_zeldovich_schema)
      read = fmax(read, nbody_zeldovich_bytes(part->item->data, threads));
    if (part->item->schema == &nbody_from_file_schema)
      read = fmax(read, 7 * bytes);
    else if (part->item->schema != &nbody_body_schema && part->item->schema != &nbody_each_schema)
      scratch = fmax(scratch, (1 + 1.0 / SIM_REDUCE_BLOCK) * bytes);
  }
  if (recentred) scratch = (1 + 1.0 / SIM_REDUCE_BLOCK) * groups->n * sizeof(double);
  return 7 * groups->n * sizeof(double) + fmax(scratch + read, stage);
}

/* Makes the bodies of a group. `all`: arrays in which the bodies of the groups before are complete. */
static sim_status make_part(const nbody_parameters *p, const sim_setup *setup, const nbody_groups *groups,
                            const nbody_group *which, const nbody_bodies *all, double *scratch, nbody_bodies *part) {
  const nbody_maker maker = {p->common.seed, nbody_gravitational_constant(p), p->gravity.softening, setup->threads,
                             setup->isa};
  const sim_schema *schema = which->item->schema;
  const void *data = which->item->data;
  if (schema == &nbody_each_schema) {
    copy_each(data, part);
    return add_velocity_field(((const nbody_group_fields *)data)->velocity_field, part);
  }
  if (schema == &nbody_zeldovich_schema)
    return nbody_make_zeldovich(&maker, data, &p->expansion, nbody_box_side(p), part);
  if (schema == &nbody_lattice_schema) {
    nbody_make_lattice(&maker, data, nbody_box_side(p), scratch, part);
    return SIM_OK;
  }
  bool made = true;
  if (schema == &nbody_body_schema) {
    part->mass[0] = ((const nbody_body *)data)->mass;
    made = false;
  } else if (schema == &nbody_from_file_schema) {
    SIM_TRY(read_file(data, p, setup, part));
    made = false;
  } else if (schema == &nbody_plummer_schema)
    nbody_make_plummer(&maker, data, part);
  else if (schema == &nbody_hernquist_schema)
    SIM_TRY(nbody_make_hernquist(&maker, data, part));
  else if (schema == &nbody_uniform_sphere_schema)
    nbody_make_uniform(&maker, data, part);
  else if (which->halo)
    SIM_TRY(nbody_make_halo(&maker, data, part));
  else
    SIM_TRY(nbody_make_disk(&maker, data, part));
  if (made) recentre(part, scratch, setup->threads);
  apply_group(data, part);
  SIM_TRY(nbody_place_on_orbit(maker.G, groups, which, all, part));
  return add_velocity_field(((const nbody_group_fields *)data)->velocity_field, part);
}

sim_status nbody_bodies_create(const nbody_parameters *p, const sim_setup *setup, const nbody_groups *groups,
                               nbody_bodies *out) {
  *out = (nbody_bodies){0};
  const size_t n = (size_t)groups->n, room = n + sim_reduce_blocks(n);
  double *data = calloc(7 * n, sizeof *data), *scratch = calloc(room, sizeof *scratch);
  sim_status status = SIM_OK;
  if (data == NULL || scratch == NULL) status = sim_no_memory("%zu bodies", n);
  int64_t id = 0;
  nbody_bodies all = {.n = (int64_t)n, .mass = data};
  for (size_t c = 0; c < 3 && status == SIM_OK; c++) {
    all.position[c] = data + (1 + c) * n;
    all.velocity[c] = data + (4 + c) * n;
  }
  for (size_t i = 0; i < groups->count && status == SIM_OK; i++) {
    nbody_bodies part = {.n = groups->group[i].n, .id = id, .mass = data + id};
    for (int c = 0; c < 3; c++) {
      part.position[c] = all.position[c] + id;
      part.velocity[c] = all.velocity[c] + id;
    }
    sim_startup("making bodies", (double)i, groups->count > 1 ? (double)groups->count : 0);
    status = make_part(p, setup, groups, &groups->group[i], &all, scratch, &part);
    id += part.n;
  }
  if (status == SIM_OK && p->recentre) recentre(&all, scratch, setup->threads);
  free(scratch);
  if (status != SIM_OK) {
    free(data);
    return status;
  }
  *out = all;
  return SIM_OK;
}

void nbody_bodies_free(nbody_bodies *bodies) {
  free(bodies->mass); /* the first array of the one allocation */
  *bodies = (nbody_bodies){0};
}

sim_status nbody_bodies_check_mass(const nbody_bodies *bodies, bool single) {
  for (int64_t i = 0; i < bodies->n; i++)
    if ((single ? (double)(float)bodies->mass[i] : bodies->mass[i]) > 0) return SIM_OK;
  return sim_fail(SIM_ERR_SCENARIO, "bodies: expected a body with mass > 0, got none%s",
                  single ? " in the range of precision \"single\"" : "");
}
