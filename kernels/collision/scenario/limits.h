/* Limits of a scenario, forms of the contact force, and gates: definitions for host and device. C, nvcc and NVRTC
 * compile this text. */
#ifndef COLLISION_LIMITS_H
#define COLLISION_LIMITS_H

enum { COLLISION_WALLS_MAX = 20, COLLISION_MATERIALS_MAX = 16, COLLISION_GATES_MAX = 16 };

typedef enum collision_force { COLLISION_LINEAR, COLLISION_HERTZ, COLLISION_CUSTOM } collision_force;

/* Laws of a contact by name, beside its normal spring and dashpot; the first of each kind needs no code of its own. */
typedef enum collision_tangential {
  COLLISION_CONSERVING, /* see contact_slide */
  COLLISION_LINEAR_HISTORY,
  COLLISION_MINDLIN,
  COLLISION_MINDLIN_FORCE,
  COLLISION_MINDLIN_RESCALE,
  COLLISION_MINDLIN_RESCALE_FORCE
} collision_tangential;
typedef enum collision_turning { /* rolling and twisting */
                                 COLLISION_NO_TURNING,
                                 COLLISION_SPRING_DASHPOT,
                                 COLLISION_SDS,
                                 COLLISION_CONSTANT_TORQUE,
                                 COLLISION_VISCOUS,
                                 COLLISION_MARSHALL /* twisting alone */
} collision_turning;
typedef enum collision_cohesion {
  COLLISION_NO_COHESION,
  COLLISION_DMT,
  COLLISION_JKR,
  COLLISION_SQUARE_WELL,
  COLLISION_BRIDGE
} collision_cohesion;

/* The laws of a run. */
typedef struct collision_models {
  int tangential, rolling, twisting, cohesion;
} collision_models;

/* Most values of history that a contact has. */
enum { COLLISION_SPRINGS_MAX = 8 };

/* A plane, or a disc of `radius`, through which passages of grains are counted. */
typedef struct collision_gate {
  double point[3], normal[3], radius; /* normal: unit vector; radius NaN: the whole plane */
} collision_gate;

#endif
