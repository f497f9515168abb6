/* What a run has from files, meshes of bodies (start/meshes.c) and solid cells, and porous media (start/rock.c). */
#ifndef FLUID_MESHES_H
#define FLUID_MESHES_H

#include "kernels/fluid/fluid.h"
#include "kernels/fluid/start/walls.h"

/* What a run has from files: meshes, at time 0, and solid cells. */
struct fluid_meshes {
  geometry_mesh *mesh[FLUID_BODIES]; /* NULL: a body of another shape */
  double area[FLUID_BODIES];
  double reach[FLUID_BODIES]; /* greatest distance of a corner from the axis about which the body turns */
  double *corner;             /* [triangles][10]: corners, and the number of the body, as stored in checkpoints */
  int64_t triangles;
  uint64_t *solid; /* [solid_words]: a bit for each cell, that of cell 64 i + k is bit k of word i; NULL: none */
  int64_t solid_words;
  double solid_beside; /* cells of the fluid beside solid ones */
};
#define FLUID_SOLID "solid"
static inline bool fluid_solid_at(const fluid_meshes *meshes, int64_t cell) {
  return meshes->solid[cell / 64] >> (cell % 64) & 1;
}
#define FLUID_MESHES "meshes" /* their array in a checkpoint */
/* Reads the files, or a checkpoint that has their triangles. Destroy with fluid_meshes_destroy, also after a failure.
 * SIM_ERR_NO_INPUT, SIM_ERR_SCENARIO: a file is no closed mesh, or a body is longer than a periodic box. */
sim_status fluid_meshes_create(const fluid_parameters *p, const sim_setup *setup, fluid_meshes *out) SIM_MUST_CHECK;
void fluid_meshes_destroy(fluid_meshes *meshes);
double fluid_meshes_bytes(const fluid_meshes *meshes);
sim_array fluid_meshes_array(const fluid_meshes *meshes, const sim_field *field);
/* Called by fluid_meshes_create, for `solid`. SIM_ERR_NO_INPUT, SIM_ERR_SCENARIO: not such an image or array. */
sim_status fluid_solid_create(const fluid_parameters *p, const sim_setup *setup, fluid_meshes *out) SIM_MUST_CHECK;
sim_array fluid_solid_array(const fluid_meshes *meshes, const sim_field *field);
/* Whether a path names a stack of images, "rock/%03d.png": where the number begins and what is behind it. */
bool fluid_path_is_stack(const char *path, int *before, int *width, int *after);
/* Tells how many cells are solid. */
void fluid_tell_solid(const fluid_parameters *p, const fluid_walls *walls);
/* The resistance of each cell by a step, [cells], for free(); NULL: none. SIM_ERR_SCENARIO: it is negative, or too
 * large for the step. */
sim_status fluid_drag_create(const fluid_parameters *p, const fluid_numbers *numbers, const sim_setup *setup,
                             double **out) SIM_MUST_CHECK;
bool fluid_is_porous(const fluid_parameters *p); /* it has the table `porous` */
/* What drives the flow through the box, by mass: the acceleration, and the pressures at both ends of an axis. Returns
 * its size. */
double fluid_driving(const fluid_parameters *p, double out[3]);
/* A row of `porous`, of one of `flow`. */
void fluid_porous_row(const fluid_parameters *p, const fluid_walls *walls, const double *flow, double *values);

#endif
