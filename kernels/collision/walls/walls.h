/* Walls of a scenario, and the triangles of meshes. */
#ifndef COLLISION_WALLS_H
#define COLLISION_WALLS_H

#include "kernels/collision/scenario/options.h"
#include "kernels/common/geometry/geometry.h"

/* Adds the walls of the box and of the scenario to the options. `names`: materials. */
void collision_add_walls(const collision_parameters *p, const char *const *names, collision_options *o);
/* Number of history values of one contact with a wall; for a mesh they include its normal. */
int collision_wall_history(const geometry_wall *wall, int springs);
/* Check that no wall needs a periodic image that it does not have: from time 0 to `end`, moved by its velocity
 * (images); after a displacement in a run (shift). SIM_ERR_SCENARIO. */
sim_status collision_walls_check_images(const collision_options *o, double end) SIM_MUST_CHECK;
sim_status collision_wall_check_shift(const collision_options *o, int wall, const double shift[3],
                                      double t) SIM_MUST_CHECK;

/* Number, from 1, of wall b in the list `walls`; the wall is not a side of the box. */
int collision_wall_item(const collision_options *o, int b);

/* Steps between two measurements of the force on a wall with a servo. */
enum { COLLISION_SERVO_STEPS = 20 };
/* Estimated speed of a wall with a servo above which its force swings without end, for a layer of grains like this one
 * on it, of at most n grains. */
double collision_servo_limit(const collision_options *o, int wall, double n, double mass, double radius, int material,
                             double dt);
/* Warns of walls with a servo whose speed is above the limit, as far as the radii of the n grains are known. */
void collision_servo_check(const collision_parameters *p, const collision_options *o, double n, double dt);

/* Reads the meshes of the scenario into out[walls.count]. Free with collision_meshes_free, after failures too. */
sim_status collision_meshes_read(const collision_parameters *p, const sim_setup *setup, geometry_triangles *out,
                                 size_t *count) SIM_MUST_CHECK;
/* Counts the triangles of all meshes. */
sim_status collision_meshes_count(const collision_parameters *p, const sim_setup *setup,
                                  int64_t *triangles) SIM_MUST_CHECK;
void collision_meshes_free(geometry_triangles *meshes, size_t count);
/* Makes the mesh of wall b, with its images in the box, for grains of radii up to `largest`. SIM_ERR_SCENARIO. */
sim_status collision_mesh_create(const collision_options *o, int b, const geometry_triangles *triangles, double largest,
                                 geometry_mesh **out) SIM_MUST_CHECK;

#endif
