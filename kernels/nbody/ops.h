/* Operations of a run, one table for each device: kicks, drifts, prediction and correction, sums over bodies. Forces
 * between bodies come from a solver (solver.h). */
#ifndef NBODY_OPS_H
#define NBODY_OPS_H

#include "kernels/nbody/solver.h"

enum { NBODY_RADII = 5 };
extern const double nbody_radius_fractions[NBODY_RADII];

/* Sums over all bodies, in fp64. */
typedef struct nbody_sums {
  double mass, kinetic, potential;
  double moment[3]; /* sum of m x */
  double momentum[3], angular_momentum[3];
  double radii[NBODY_RADII]; /* about the centre of mass; they hold the fractions nbody_radius_fractions of the mass */
} nbody_sums;

/* Individual steps: number of bodies of each level. The last entry, [levels + 1], counts bodies of level `levels` that
 * want a shorter step than the shortest. */
typedef struct nbody_histogram {
  int64_t bodies[NBODY_LEVELS_MAX + 2];
} nbody_histogram;

/* Factors by which a thermostat changes all velocities: see nbody_ops.bathe. */
typedef struct nbody_bath {
  double keep, noise;
  uint64_t seed;
  int64_t step;
} nbody_bath;

/* Scratch memory of the operations; each device completes this type for itself. */
typedef struct nbody_work nbody_work;

/* Operations for one kind of device and one type of the state. Operations without a result are only enqueued and need
 * nothing from the host but their arguments; operations with a result wait for the device. */
typedef struct nbody_ops {
  sim_dtype dtype;                               /* of mass, position, velocity */
  double (*bytes)(const nbody_options *options); /* device memory in bytes that `create` allocates */
  /* Borrows the arrays of `state` and the solver in `forces`. SIM_ERR_NO_MEMORY. */
  sim_status (*create)(const nbody_options *options, const nbody_state *state, nbody_forces forces, nbody_work **out);
  void (*destroy)(nbody_work **work);
  /* Computes the acceleration, and the jerk with options.jerk, by all forces at time t. */
  void (*force)(nbody_work *work, double t);
  void (*finish)(nbody_work *work); /* writes the force to the state's arrays, for readers other than the operations */
  void (*kick)(nbody_work *work, double dt);                       /* v += a dt; then as `finish` */
  void (*drift)(nbody_work *work, double dt);                      /* x += v dt */
  void (*kick_drift)(nbody_work *work, double kick, double drift); /* kick, then drift; the acceleration is lost */
  /* Individual steps: a body of level l makes steps of dt / 2^l. The next three operations take only bodies whose level
   * is at least `least`; choose_levels and kick_levels need the forces on these bodies. */
  /* Chooses new levels by nbody_level, at least `least` and at most options.levels; *out: levels of all bodies. */
  void (*choose_levels)(nbody_work *work, double dt, int least, nbody_histogram *out);
  void (*force_levels)(nbody_work *work, double t, int least);
  void (*kick_levels)(nbody_work *work, double dt, int least); /* v += a dt / 2^level */
  /* Stores x, v, a and j, and replaces x and v by their predictions. */
  void (*hermite_predict)(nbody_work *work, double dt);
  /* Corrects x and v from the stored values and the force at the prediction. */
  void (*hermite_correct)(nbody_work *work, double dt);
  /* Length of a step: minimum over the bodies; INFINITY where nothing limits the step. */
  double (*step_softened)(nbody_work *work, double eta);           /* eta sqrt(eps / |a|) */
  double (*step_aarseth)(nbody_work *work, double eta, double dt); /* after a corrected step of dt */
  double (*kinetic)(nbody_work *work);                             /* sum of m v^2 / 2, in fp64 */
  /* v = keep v + noise / sqrt(m) xi, with standard normal numbers xi of the bodies and of bath->step. Returns the
   * increase of the kinetic energy, in fp64. Bodies without mass have no noise. */
  double (*bathe)(nbody_work *work, const nbody_bath *bath);
  /* Computes all sums; `potential` is that of pairs and external forces, at time t. On a GPU the host waits once. */
  void (*sums)(nbody_work *work, double t, nbody_sums *out);
  /* Computes values[count]: options.observe over all bodies at time t, in the order of options.observe. */
  sim_status (*observe)(nbody_work *work, double t, double *values);
} nbody_ops;

extern const nbody_ops nbody_ops_cpu_f32, nbody_ops_cpu_f64;
#ifdef SIM_HAS_CUDA
extern const nbody_ops nbody_ops_cuda_f32, nbody_ops_cuda_f64;
#endif

#endif
