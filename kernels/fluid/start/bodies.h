/* Bodies: their shapes, and where they are in the course of a run. */
#ifndef FLUID_BODIES_H
#define FLUID_BODIES_H

#include "kernels/common/geometry/geometry.h"
#include "kernels/fluid/fluid.h"

/* ---- start/motion.c: where bodies are ---- */

/* Poses of the bodies of a run, half a step ahead of the clock: in the middle of the step that comes next. Velocities
 * that are functions of time are integrated by Simpson's rule. */
typedef struct fluid_motion {
  const fluid_parameters *p;
  const fluid_meshes *meshes; /* borrowed */
  double dt;
  geometry_pose pose[FLUID_BODIES], last[FLUID_BODIES]; /* last: a step before, half a step behind the clock */
  /* The same poses, but velocity and spin are what a step from the clock on adds to the velocity of the surface at a
   * point that does not move: V' and W' of the velocity V and the spin W, less W x V. */
  geometry_pose rate[FLUID_BODIES];
  sim_expr_program *program[FLUID_BODIES][2]; /* motion, turning */
  void *scratch;
} fluid_motion;
/* With the poses of the start. Destroy with fluid_motion_destroy, also after a failure. */
sim_status fluid_motion_create(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_meshes *meshes,
                               fluid_motion *out) SIM_MUST_CHECK;
void fluid_motion_destroy(fluid_motion *motion);
/* Sets the rates of the poses that a checkpoint of a step has brought. */
void fluid_motion_resume(fluid_motion *motion, int64_t step);
/* Moves the poses over the step that ends half a step after the clock's step `step`. SIM_ERR_SCENARIO: a body leaves
 * the box, is faster than `speed`, or its velocity is not finite. */
sim_status fluid_motion_step(fluid_motion *motion, int64_t step) SIM_MUST_CHECK;
/* The same of the steps of a whole run, or of its first 10^6; tells of the bodies that move. */
sim_status fluid_motion_check(const fluid_parameters *p, const fluid_numbers *numbers,
                              const fluid_meshes *meshes) SIM_MUST_CHECK;
/* Seconds, about, in which the walls of a step are found; by one thread, as most of it is made. */
double fluid_motion_seconds(const fluid_parameters *p, const fluid_meshes *meshes);

/* ---- start/bodies.c ---- */

typedef struct fluid_shape {
  geometry_wall wall;
  geometry_pose pose;
  double centre[3]; /* where the wall's point is now: centre of a ball or a block, a point of the axis */
} fluid_shape;
/* pose NULL: at time 0. meshes NULL: no shape of a body from a file is asked for. */
fluid_shape fluid_body_shape(const fluid_parameters *p, const fluid_meshes *meshes, int body,
                             const geometry_pose *pose);
/* A cylinder that is parallel to no axis. */
bool fluid_body_tilted(const geometry_wall *wall);
/* Extent of a body; infinite along the axis of a cylinder. */
void fluid_body_extent(const fluid_shape *shape, double low[3], double high[3]);
/* Whether no fluid is at x because of a body or its images; points farther from the surface by less than `thick`
 * count. */
bool fluid_body_holds(const grid_shape *grid, const fluid_shape *shape, const double x[3], double thick);
/* The part of the way from one point to another at which a body begins; INFINITY: not known. */
double fluid_body_cut(const grid_shape *grid, const fluid_shape *shape, const double from[3], const double to[3]);
/* Distance of x to a body and its images, negative where no fluid is, and the velocity of the surface next to x; NULL:
 * not wanted. */
double fluid_body_distance(const grid_shape *grid, const fluid_shape *shape, const double x[3], double velocity[3]);
/* The unit normal of the surface, of either sign, next to a point of it. */
void fluid_body_normal(const grid_shape *grid, const fluid_shape *shape, const double x[3], double normal[3]);

#endif
