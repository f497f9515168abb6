/* Surfaces that models share: STL files, meshes of triangles, walls, and their images in periodic boxes. All arrays are
 * in host memory; lengths have the scenario's unit. */
#ifndef GEOMETRY_GEOMETRY_H
#define GEOMETRY_GEOMETRY_H

#include "engine/model.h"
#include "kernels/common/geometry/types.h"

typedef struct geometry_triangles {
  double *corner; /* [count][3][3]: x, y, z of three corners; owned, for free() */
  int64_t count;
} geometry_triangles;

/* Box of a run, in which axes may be periodic. `sheared`: its images above and below in y move along x. */
typedef struct geometry_box {
  double low[3], size[3];
  bool periodic[3], sheared;
} geometry_box;

/* Reads the triangles of an STL file, in text or binary; triangles without an area are left out. On failure *out is
 * empty. SIM_ERR_NO_INPUT, SIM_ERR_SCENARIO: not an STL file, or no triangles. */
sim_status geometry_stl_read(const char *path, geometry_triangles *out) SIM_MUST_CHECK;
/* Maps every corner x to scale * x + shift. SIM_ERR_SCENARIO names a triangle that loses its area or leaves the range.
 */
sim_status geometry_triangles_move(geometry_triangles *triangles, double scale, const double shift[3]) SIM_MUST_CHECK;
/* Checks that each edge belongs to two triangles. SIM_ERR_SCENARIO names an edge that does not. */
sim_status geometry_triangles_closed(const geometry_triangles *triangles) SIM_MUST_CHECK;

/* Makes a mesh from a copy of the triangles. `period`: distance of its periodic images along each axis, at least the
 * extent of the mesh; 0: none; NULL: none along any axis. Destroy with geometry_mesh_destroy. */
sim_status geometry_mesh_create(const geometry_triangles *triangles, const double period[3],
                                geometry_mesh **out) SIM_MUST_CHECK;
/* As geometry_mesh_create, with the periodic images that wall `wall` (of these triangles) has in the box, for spheres
 * of radii up to `largest`. SIM_ERR_SCENARIO: images do not fit. */
sim_status geometry_mesh_create_periodic(const geometry_triangles *triangles, const geometry_wall *wall,
                                         const geometry_box *box, double largest, geometry_mesh **out) SIM_MUST_CHECK;
void geometry_mesh_destroy(geometry_mesh **mesh);
/* Checks that a mesh encloses a volume: at each edge as many triangles go one way along it as the other.
 * SIM_ERR_SCENARIO names an edge at which they do not. The functions below are for meshes that pass, without their
 * periodic images. (mesh_solid.c) */
sim_status geometry_mesh_check_closed(const geometry_mesh *mesh) SIM_MUST_CHECK;
/* Whether the mesh winds around x, in whichever sense, or x is not farther than `thick` from it. A point of one of two
 * bodies that overlap is inside; one in a cavity, whose triangles are turned the other way, is not. */
bool geometry_mesh_holds(const geometry_mesh *mesh, const double x[3], double thick);
/* Distance of x to the nearest point of the mesh, that point, and the unit normal of its triangle. */
double geometry_mesh_nearest(const geometry_mesh *mesh, const double x[3], double point[3], double normal[3]);
/* The part of the segment between two points before it meets the mesh, 0 to 1; INFINITY: it does not. */
double geometry_mesh_cut(const geometry_mesh *mesh, const double from[3], const double to[3]);
double geometry_mesh_area(const geometry_mesh *mesh);
/* Bytes of a mesh, including the scratch memory of its creation. */
double geometry_mesh_bytes(int64_t triangles);

/* Computes how far a wall may be displaced along a periodic axis, room[0] <= 0 <= room[1], before it needs periodic
 * images, which only meshes have. A wall needs none while it is at least as long as the box, or so far from the sides
 * that no sphere of radius up to `largest` can touch it through a side. `paired`: the plane is a face of a block that
 * is open inside. Returns false where the wall is the same everywhere along the axis. */
bool geometry_wall_room(const geometry_wall *wall, bool paired, const geometry_box *box, double largest, int axis,
                        double room[2]);
/* Checks that a wall stays within geometry_wall_room along all periodic axes from time 0 to `end`, moved by its
 * velocity. SIM_ERR_SCENARIO where it leaves the room. */
sim_status geometry_wall_check_images(const geometry_wall *wall, bool paired, const geometry_box *box, double largest,
                                      double end) SIM_MUST_CHECK;
/* Pose at time t of a wall that no function of time moves. */
geometry_pose geometry_wall_pose(const geometry_wall *wall, double t);
/* Finds the contacts of a sphere of radius `reach` at x with a wall of any shape, the nearest first; returns their
 * number. */
int geometry_wall_contacts(const geometry_wall *wall, const geometry_pose *pose, const double x[3], double reach,
                           geometry_contact out[GEOMETRY_CONTACTS_MAX]);
/* Distance of x from the surface of a wall of any shape but a mesh, as of geometry_wall_contacts. */
double geometry_wall_distance(const geometry_wall *wall, const geometry_pose *pose, const double x[3]);

#endif
