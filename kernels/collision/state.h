/* The model's state, in host memory. */
#ifndef COLLISION_STATE_H
#define COLLISION_STATE_H

#include "engine/model.h"
#include "kernels/collision/clumps/body.h"
#include "kernels/common/geometry/types.h"

/* Arrays of the state, in the order of collision_state_fields. */
typedef enum collision_array {
  COLLISION_ID,
  COLLISION_RADIUS,
  COLLISION_MASS,
  COLLISION_POSITION,
  COLLISION_VELOCITY,
  COLLISION_SPIN,
  COLLISION_ACCELERATION,
  COLLISION_ANGULAR_ACCELERATION,
  COLLISION_MATERIAL,
  COLLISION_DISSIPATED,
  COLLISION_VIRIAL,
  COLLISION_WORK,
  COLLISION_PULL,
  COLLISION_COLLISIONS,
  COLLISION_TEMPERATURE,
  COLLISION_WALL_HEAT,
  COLLISION_BODY,
  COLLISION_ORIENTATION,
  COLLISION_MEMBER,
  COLLISION_CONTACT_GRAIN,
  COLLISION_CONTACT_PARTNER,
  COLLISION_CONTACT_SPRING,
  COLLISION_WALL_SPRING,
  COLLISION_CROSSED,
  COLLISION_POSES,
  COLLISION_SWINGS,
  COLLISION_MESHES,
  COLLISION_QUANTA,
  COLLISION_BODIES,
  COLLISION_MERGERS,
  COLLISION_CONTROLLER,
  COLLISION_ARRAYS
} collision_array;

extern const sim_field collision_state_fields[];

/* The arrays as solvers see them: borrowed; grains are in the order of species, then of ids; void *: of the solver's
 * dtype. A contact with history is stored once, at the grain with the smaller index; `room` entries, of which some may
 * be empty. */
typedef struct collision_state {
  int64_t n, room;
  void *radius, *mass, *position, *velocity, *spin, *acceleration,
      *angular_acceleration;       /* [n], from position on [3][n] */
  uint64_t *material, *collisions; /* [n] */
  double *dissipated;              /* [n]: dissipated energy, sum over time */
  double *virial;                  /* [n]: sum over time of d . F dt of contacts, half of each contact for each grain */
  uint64_t *contact_grain, *contact_partner; /* [room]: indices; UINT64_MAX: empty */
  void *contact_spring;                      /* [springs][room] */
  double time;                               /* time of this state when `create` is called */
  const int64_t *live; /* present number of grains, with inlets and outlets; n: their number when `create` is called */
  int64_t *crossed;    /* [gates][n]: passages along the normal minus passages against it */
  double *temperature, *wall_heat; /* [n]: temperature; heat from walls since the start; NULL: no heat */
  double *work;                    /* [n]: work of walls, shear and periodic gravity; NULL unless options.worked */
  double *pull;            /* [4][n]: acceleration by self-gravity or another model; power of its images; NULL: none */
  const double *pull_left; /* time for which `pull` acts after the middle of the present step */
  void *wall_spring;       /* [wall_numbers][n] */
  uint64_t *quanta;        /* [3][n], see fixed_point.h; NULL unless the solver is `exact` */
  const geometry_pose *pose; /* [walls], at the time of the step */
  int64_t bodies;            /* number of clumps; 0: the next four are NULL */
  collision_body *body;      /* [bodies] */
  const uint64_t *body_of;   /* [n]: number of the clump from 1; 0: not in a clump */
  const double *member;      /* [3][n]: position in the clump, along its principal axes */
  void *orientation;         /* [3][n]: rotation vector of the clump */
} collision_state;

/* Increasing indices of grains. */
typedef struct collision_indices {
  int64_t *at; /* [count] of [room], owned */
  int64_t count, room;
} collision_indices;

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the list, with room for at least one more item; NULL: out of memory, and the list is unchanged. */
void *collision_list_more(void *list, int64_t count, int64_t *room, size_t size);
/* Appends an index; false: out of memory, and the list is unchanged. */
bool collision_indices_add(collision_indices *indices, int64_t index) SIM_MUST_CHECK;

/* Whether the list has this index. */
bool collision_indices_has(const collision_indices *indices, int64_t index);

/* Room for contacts with history: 8 a grain. In a packing of spheres of any radii a grain has at most 15 contacts on
 * average, and each contact is stored once for two grains. */
int64_t collision_contact_room(int64_t n, int springs);

#ifdef __cplusplus
}
#endif

#endif
