/* Bodies from STL files: read at the start of a run, and out of its checkpoint from then on. */
#include "kernels/fluid/meshes.h"
#include "kernels/fluid/start/bodies.h"

#include "engine/run/startup.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 10 }; /* of a stored triangle: its corners, and the number of the body */

bool fluid_is_mesh(const fluid_parameters *p, int body) { return p->bodies.items[body].schema == &fluid_stl_schema; }

static bool has_mesh(const fluid_parameters *p) {
  bool out = false;
  for (int b = 0; b < (int)p->bodies.count; b++) out = out || fluid_is_mesh(p, b);
  return out;
}

/* Appends the triangles of a file. */
static sim_status read_file(const fluid_parameters *p, int body, const sim_setup *setup, fluid_meshes *out) {
  const fluid_body *b = fluid_body_of(p, body);
  geometry_triangles triangles = {0};
  char path[4096];
  SIM_TRY(sim_setup_path(setup, b->path, path));
  SIM_TRY(geometry_stl_read(path, &triangles));
  sim_status status = geometry_triangles_move(&triangles, b->scale, b->shift);
  if (status != SIM_OK) status = sim_fail_context("%s", path);
  if (status == SIM_OK) {
    double *more = realloc(out->corner, (size_t)(out->triangles + triangles.count) * NUMBERS * sizeof *more);
    if (more) out->corner = more;
    if (!more) status = sim_no_memory("the triangles of %s", path);
  }
  for (int64_t i = 0; status == SIM_OK && i < triangles.count; i++, out->triangles++) {
    memcpy(out->corner + NUMBERS * out->triangles, triangles.corner + 9 * i, 9 * sizeof(double));
    out->corner[NUMBERS * out->triangles + 9] = body;
  }
  free(triangles.corner);
  return status;
}

static sim_status read_files(const fluid_parameters *p, const sim_setup *setup, fluid_meshes *out) {
  sim_startup("reading meshes", 0, 0);
  for (int b = 0; b < (int)p->bodies.count; b++)
    if (fluid_is_mesh(p, b) && read_file(p, b, setup, out) != SIM_OK)
      return sim_fail_context("line %d: bodies[%d].path", p->bodies.items[b].line, b + 1);
  return SIM_OK;
}

static sim_status restore(const sim_setup *setup, fluid_meshes *out) {
  static const sim_field field = {.name = FLUID_MESHES, .type = SIM_REAL};
  const sim_array *saved = sim_frame_array(setup->saved, field.name);
  if (!saved || saved->rank != 2 || saved->shape[1] != NUMBERS || saved->shape[0] < 1 || saved->shape[0] > INT32_MAX)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint has no triangles of bodies");
  out->triangles = saved->shape[0];
  out->corner = malloc((size_t)out->triangles * NUMBERS * sizeof(double));
  if (!out->corner) return sim_no_memory("the triangles of bodies");
  const sim_array array = fluid_meshes_array(out, &field);
  return sim_frame_restore(setup->saved, &sim_backend_cpu, &array);
}

/* Greatest distance of a corner from the axis about which the body turns. */
static double reach_of(const fluid_parameters *p, int body, const fluid_meshes *meshes) {
  const geometry_wall w = fluid_body_shape(p, meshes, body, NULL).wall;
  double most = 0;
  for (int64_t k = 0; k < 3 * w.mesh->count; k++) {
    double arm[3], along = 0, across = 0;
    for (int a = 0; a < 3; a++) {
      arm[a] = w.mesh->corner[3 * k + a] - w.pivot[a];
      along += arm[a] * w.turn[a];
    }
    for (int a = 0; a < 3; a++) across += (arm[a] - along * w.turn[a]) * (arm[a] - along * w.turn[a]);
    most = fmax(most, sqrt(across));
  }
  return most;
}

/* A body is shorter than a periodic box: its images are apart. */
static sim_status check_extent(const fluid_parameters *p, int body, const geometry_mesh *mesh) {
  const grid_shape g = fluid_grid_of(p);
  for (int a = 0; a < g.rank; a++)
    if (grid_is_periodic(&g, a) && mesh->high[a] - mesh->low[a] > g.size[a])
      return sim_fail(
          SIM_ERR_SCENARIO,
          "bodies[%d]: is %.6g long along %c, where the box is periodic: expected at most %.6g, or a closed "
          "body in a box with sides",
          body + 1, mesh->high[a] - mesh->low[a], "xyz"[a], g.size[a]);
  return SIM_OK;
}

static sim_status make(const fluid_parameters *p, int body, fluid_meshes *out) {
  geometry_triangles triangles = {.corner = malloc((size_t)out->triangles * 9 * sizeof(double))};
  if (!triangles.corner) return sim_no_memory("the triangles of bodies");
  for (int64_t i = 0; i < out->triangles; i++)
    if (out->corner[NUMBERS * i + 9] == body)
      memcpy(triangles.corner + 9 * triangles.count++, out->corner + NUMBERS * i, 9 * sizeof(double));
  sim_status status = triangles.count > 0
                          ? geometry_mesh_create(&triangles, NULL, &out->mesh[body])
                          : sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint has too few triangles of bodies");
  free(triangles.corner);
  if (status == SIM_OK && geometry_mesh_check_closed(out->mesh[body]) != SIM_OK)
    status = sim_fail_context("line %d: bodies[%d].path: %s", p->bodies.items[body].line, body + 1,
                              fluid_body_of(p, body)->path);
  if (status == SIM_OK) status = check_extent(p, body, out->mesh[body]);
  if (status != SIM_OK) return status;
  out->area[body] = geometry_mesh_area(out->mesh[body]);
  out->reach[body] = reach_of(p, body, out);
  return SIM_OK;
}

sim_status fluid_meshes_create(const fluid_parameters *p, const sim_setup *setup, fluid_meshes *out) {
  *out = (fluid_meshes){0};
  SIM_TRY(fluid_solid_create(p, setup, out));
  if (!has_mesh(p)) return SIM_OK;
  SIM_TRY(setup->saved ? restore(setup, out) : read_files(p, setup, out));
  for (int b = 0; b < (int)p->bodies.count; b++)
    if (fluid_is_mesh(p, b)) SIM_TRY(make(p, b, out));
  return SIM_OK;
}

void fluid_meshes_destroy(fluid_meshes *meshes) {
  for (int b = 0; b < FLUID_BODIES; b++) geometry_mesh_destroy(&meshes->mesh[b]);
  free(meshes->corner);
  free(meshes->solid);
  *meshes = (fluid_meshes){0};
}

double fluid_meshes_bytes(const fluid_meshes *meshes) {
  return geometry_mesh_bytes(meshes->triangles) + (double)meshes->triangles * NUMBERS * sizeof(double);
}

sim_array fluid_meshes_array(const fluid_meshes *meshes, const sim_field *field) {
  return (sim_array){.field = field,
                     .dtype = SIM_F64,
                     .rank = 2,
                     .shape = {meshes->triangles, NUMBERS},
                     .global = {meshes->triangles, NUMBERS},
                     .data = meshes->corner,
                     .space = SIM_SPACE_HOST};
}
