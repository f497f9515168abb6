/* Walls, meshes of triangles and the nearest points on them. C, nvcc and NVRTC compile this text. */
#ifndef GEOMETRY_TYPES_H
#define GEOMETRY_TYPES_H

#include "kernels/common/integers.h"

#ifdef __CUDACC__
#define GEOMETRY_INLINE static __device__ inline
#define GEOMETRY_FORCE_INLINE static __device__ __forceinline__
#define GEOMETRY_NO_INLINE static __device__ __noinline__
#else
#define GEOMETRY_INLINE static inline
#define GEOMETRY_FORCE_INLINE static inline
#define GEOMETRY_NO_INLINE static inline
#endif

typedef enum geometry_shape {
  GEOMETRY_PLANE,
  GEOMETRY_CYLINDER,
  GEOMETRY_CONE,
  GEOMETRY_BALL,
  GEOMETRY_BLOCK,
  GEOMETRY_MESH
} geometry_shape;

/* Most levels of a mesh's tree; most triangles in a cache; most points of contact of one sphere with one wall. */
enum { GEOMETRY_MESH_LEVELS = 8, GEOMETRY_MESH_CACHED = 12, GEOMETRY_CONTACTS_MAX = 4 };

/* Triangles and a tree of boxes around them. A group of level 0 has eight triangles, a group of the next level eight
 * groups. The arrays are on the host or, in a device's copy of the struct, on the device. */
typedef struct geometry_mesh {
  double *corner, *bound; /* [count][9]: three corners; [count][4]: centre and radius of a ball around the triangle */
  int64_t count, vertices;
  int32_t *vertex;                /* [count][3]: the vertex at each corner */
  int32_t *around_first, *around; /* [vertices + 1], [3 count]: the corners at each vertex */
  float *box;                     /* [groups][6][8]: least x, y, z and greatest x, y, z of the group's eight members */
  int levels;
  int64_t level[GEOMETRY_MESH_LEVELS], groups, roots; /* first group of each level; all groups; groups of the top */
  double low[3], high[3], period[3];                  /* extent; distance of periodic images, 0: no images */
} geometry_mesh;

/* The triangles, and images of triangles, nearer to `centre` than `radius`, if they are few: see mesh_cache.h. The
 * content depends on the mesh alone, not on the grain that it was made for. */
typedef struct geometry_mesh_cache {
  float centre[3], radius; /* 0: empty; < 0: too many triangles to cache */
  uint32_t entry[GEOMETRY_MESH_CACHED];
} geometry_mesh_cache;

/* A rigid wall, described at time 0.
 * plane     the open side is (x - point) . axis > 0
 * cylinder  endless, of `radius` around the axis
 * cone      a thin sheet of revolution from `point`, `length` along the axis, from `radius` to `end_radius`
 * ball      `radius` around `point`
 * block     `half` edges around `point`
 * mesh      triangles; a thin sheet, open on both sides */
typedef struct geometry_wall {
  geometry_shape shape;
  double point[3], axis[3], velocity[3], radius, spin; /* axis: unit vector; velocity and spin: without functions */
  bool outside;                                        /* the open side is outside of the shape */
  int material;                                        /* index of the wall's material in the model */
  int side;                                            /* 0 ... 5: a side of the box; -1: an item of the scenario */
  int number;                                          /* row in the model's table of forces on walls */
  double length, end_radius, half[3];
  double pivot[3], turn[3];                /* a point on the axis of rotation, and the axis's unit vector */
  const struct sim_expr *motion, *turning; /* functions of t: velocity, spin; NULL: the constants above */
  const geometry_mesh *mesh;               /* borrowed; NULL until it is created */
  int first, touches; /* offset of this wall's contact history in the model; most simultaneous contacts */
} geometry_wall;

/* Displacement of a wall since time 0, and its velocity at the present time. Models store it as eight numbers. */
typedef struct geometry_pose {
  double shift[3], angle, velocity[3], spin;
} geometry_pose;

/* A point of a wall where the distance to a position has a minimum: the distance, the unit normal towards the position,
 * and the velocity of the wall there. */
typedef struct geometry_contact {
  double distance, normal[3], velocity[3];
} geometry_contact;

#endif
