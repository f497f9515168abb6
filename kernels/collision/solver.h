/* The table of operations of a solver, and its data types. Solvers: general (any grains, fp32 and fp64) and fixed
 * point (fixed_point.h), each on the CPU and on an NVIDIA GPU. */
#ifndef COLLISION_SOLVER_H
#define COLLISION_SOLVER_H

#include "kernels/collision/gravity/predict.h"
#include "kernels/collision/scenario/options.h"
#include "kernels/collision/state.h"

struct sim_exchange; /* see engine/comm/cuda/exchange.h */
/* Grains of which the GPUs of a run exchange numbers at a time. */
enum { COLLISION_EXCHANGED = 65536 };

/* Sums over all grains, in fp64. */
typedef struct collision_sums {
  double external;   /* potential energy by `external`; NaN: unknown */
  double attraction; /* energy of self-gravity, which is also part of `gravity` */
  double mass, kinetic, rotational, elastic, gravity, dissipated, work, virial, collisions;
  double momentum[3], angular[3];
  double flux[6], stress[6];    /* sums of m u u, and of d F over contacts: xx yy zz xy yz zx; u = v - flow */
  double drift;                 /* sum of m u along the flow; set where a box is sheared */
  double dispersion[3], height; /* in Hill's frame: sums of the squares of v - flow, and of z from the middle */
  double heat, wall_heat;       /* heat content of the grains; heat from walls since the start */
  double touching;              /* number of contacts between grains, each counted at both grains */
  double touching_walls;
  double overlap; /* largest overlap over the smaller radius */
  uint64_t overlap_grain;
  double wall[COLLISION_WALLS_MAX][3]; /* force of the grains on each wall */
} collision_sums;

/* Grains from ... from + count - 1 become grains to ... to + count - 1. */
typedef struct collision_move {
  int64_t from, count, to;
} collision_move;

/* Two grains that overlap: their indices, first < other; the vector from the nearest image of `other` to `first`; their
 * relative velocity; the velocity that the image adds to that of `other` along the shear. Of a contact that began in
 * the last step: what it dissipated in it, and by how much it has changed the conserved
 * energy (collision_energy) so far, as velocities have felt half of its force alone. */
typedef struct collision_touch {
  int64_t first, other;
  double d[3], speed[3], jump, dissipated, gained;
} collision_touch;

typedef struct collision_touches {
  collision_touch *at; /* [count] of [room], owned */
  int64_t count, room;
} collision_touches;

typedef struct collision_work collision_work;

typedef struct collision_ops {
  sim_dtype dtype;                                   /* of the state's arrays */
  bool exact;                                        /* the array `quanta` holds position and velocity for a restart */
  double (*bytes)(const collision_options *options); /* estimated memory in bytes that `create` allocates */
  /* Estimated bytes of host memory among them that a run leaves unused, as grains are spread (scenario/spread.h); NULL:
   * none. */
  double (*room)(const collision_options *options);
  /* Copies *options and *state; the state's arrays are borrowed. *out is freed by `destroy`, after failures too. */
  sim_status (*create)(const collision_options *options, const collision_state *state, collision_work **out);
  void (*destroy)(collision_work **work);
  /* Reads the state from its arrays. */
  sim_status (*load)(collision_work *work);
  /* Computes accelerations at time t, at the beginning of a run. */
  void (*begin)(collision_work *work, double t);
  /* Makes a step of length dt that ends at t. */
  sim_status (*step)(collision_work *work, double t, double dt);
  /* Writes the state to its arrays. */
  sim_status (*store)(collision_work *work);
  sim_status (*sums)(collision_work *work, double t, collision_sums *out);
  /* For self-gravity, where the state is on a device: writes masses [n] and positions [3][n] after some time without
   * other forces, by index, to memory of the device; on every rank those of all grains. *pull: the device's array of
   * the state's `pull`, to be written. *exchange: borrowed, for at least 5 rows of COLLISION_EXCHANGED columns, or of n
   * if these are fewer; NULL with one rank. The operation is NULL where the state's arrays are read after `store`, and
   * `pull` is written there. */
  sim_status (*predict)(collision_work *work, const collision_prediction *prediction, double *position, double *mass,
                        double **pull, struct sim_exchange **exchange);

  /* Appends, in the order of indices, the pairs that began to touch in the last step. With `of`: the pairs that overlap
   * and have at least one grain in `of` (increasing). NULL: the solver does not merge grains. */
  sim_status (*touches)(collision_work *work, const collision_indices *of, collision_touches *out);

  /* Removal and insertion of grains without `store` and `load`. All three NULL: the solver's state is on the host. */

  /* *out: whether the centre of a grain is inside a region. */
  sim_status (*within)(collision_work *work, const collision_region *regions, int count, bool *out);
  /* Appends the indices of grains with centres inside a region. Writes positions and time sums of these grains alone to
   * the state. */
  sim_status (*pick)(collision_work *work, const collision_region *regions, int count, collision_indices *out);
  /* Keeps the grains of `moves` (increasing), and inserts grains at the indices `come`; the state's arrays have radius,
   * mass, material, position, velocity and acceleration of the inserted grains. */
  sim_status (*exchange)(collision_work *work, const collision_move *moves, int64_t move_count,
                         const collision_indices *come);
} collision_ops;

/* The solvers for one kind of device. */
typedef struct collision_ops_pair {
  const collision_ops *f32, *f64;   /* general */
  const collision_ops *fixed_point; /* fp32; NULL: none */
} collision_ops_pair;

#ifdef __cplusplus
extern "C" {
#endif

extern const collision_ops collision_ops_cpu_f32, collision_ops_cpu_f64, collision_fixed_point_cpu;
extern const collision_ops collision_ops_cuda_f32, collision_ops_cuda_f64, collision_fixed_point_cuda;
const collision_ops_pair *collision_ops_of(sim_backend_kind kind);

#ifdef __cplusplus
}
#endif

#endif
