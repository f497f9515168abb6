/* Limits of a scenario, forms of the contact force, and gates: what host and device share of a scenario. C, nvcc and
 * NVRTC compile this text. */
#ifndef COLLISION_LIMITS_H
#define COLLISION_LIMITS_H

enum { COLLISION_WALLS_MAX = 20, COLLISION_MATERIALS_MAX = 16, COLLISION_GATES_MAX = 16 };

typedef enum collision_force { COLLISION_LINEAR, COLLISION_HERTZ, COLLISION_CUSTOM } collision_force;

/* A plane, or a disc of `radius`, through which grains are counted. */
typedef struct collision_gate {
  double point[3], normal[3], radius; /* unit normal; NaN: the whole plane */
} collision_gate;

#endif
