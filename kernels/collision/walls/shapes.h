/* Walls, gates and materials as a step sees them. C, nvcc and NVRTC compile this text. */
#ifndef COLLISION_SHAPES_H
#define COLLISION_SHAPES_H

#ifdef __CUDACC_RTC__
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define UINT32_MAX 0xffffffffu
#else
#include <stdbool.h>
#include <stdint.h>
#endif

enum { COLLISION_WALLS_MAX = 20, COLLISION_MATERIALS_MAX = 16, COLLISION_GATES_MAX = 16, COLLISION_TOUCHES_MAX = 4 };

typedef enum collision_force { COLLISION_LINEAR, COLLISION_HERTZ, COLLISION_OWN } collision_force;

typedef enum collision_shape {
  COLLISION_PLANE,
  COLLISION_CYLINDER,
  COLLISION_CONE,
  COLLISION_BALL,
  COLLISION_BLOCK,
  COLLISION_MESH
} collision_shape;

enum { COLLISION_MESH_LEVELS = 8, COLLISION_MESH_NEAR = 12 };

/* Triangles, and a tree of boxes about them: eight triangles a group of level 0, eight groups a group of the next. */
typedef struct collision_mesh {
  double *corner, *bound; /* [count][9]; [count][4]: the centre and radius of a ball about it */
  int64_t count, vertices;
  int32_t *vertex;                /* [count][3], which vertex a corner is */
  int32_t *around_first, *around; /* [vertices + 1], [3 count]: corners at each vertex */
  float *box;                     /* [groups][6][8]: least x, y, z and greatest of its eight */
  int levels;
  int64_t level[COLLISION_MESH_LEVELS], groups, roots; /* first group of each level; all; of the last level */
  double low[3], high[3], period[3];                   /* period 0: no images */
} collision_mesh;

/* The triangles, and images of triangles, that are nearer to a centre than a radius, as far as they are few: see
 * mesh_near.h. True of the mesh, whichever grain it was made for. */
typedef struct collision_near {
  float centre[3], radius; /* 0: not made yet; < 0: they are too many */
  uint32_t entry[COLLISION_MESH_NEAR];
} collision_near;

/* Where it is at time 0. Plane: grains are where (x - point) . axis > 0. Cylinder: endless. Cone: a thin sheet of
 * revolution from `point`, `length` along the axis, its radius from `radius` to `end_radius`. */
typedef struct collision_wall {
  collision_shape shape;
  double point[3], axis[3], velocity[3], radius, spin;
  bool outside; /* the grains are around it; of a cone and a mesh on either side */
  int material;
  int side;   /* 0 ... 5 of the box, -1: one of `walls` */
  int number; /* in the table of forces */
  double length, end_radius, half[3];
  double pivot[3], turn[3]; /* a point and the unit vector of the axis of its turning */
  const struct sim_expr *motion, *turning;
  const collision_mesh *mesh; /* of the run; NULL until it is read */
  int first, touches;         /* its history in that of walls, and for how many contacts */
} collision_wall;

/* How far a wall has moved, and its motion now; in the state as eight numbers. */
typedef struct collision_pose {
  double shift[3], angle, velocity[3], spin;
} collision_pose;

typedef struct collision_touch {
  double distance, normal[3], velocity[3]; /* of a grain's centre from the surface, towards it, of the surface there */
} collision_touch;

/* A plane through which the passage of grains is counted; with a radius: a disc. */
typedef struct collision_gate {
  double point[3], normal[3], radius; /* NaN: endless */
} collision_gate;

#endif
