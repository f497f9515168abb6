/* Particles that calibrate a leverage function: their steps on the CPU. */
#ifndef OPTION_CPU_PARTICLES_H
#define OPTION_CPU_PARTICLES_H

#include "engine/device/backend.h"
#include "kernels/option/scenario/motion.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  OPTION_PARTICLE_GROUP = 32, /* particles that share 128 random bits of 8 path numbers */
  OPTION_PARTICLE_BLOCK = 4096
};

/* One step of all particles of one asset. */
typedef struct option_particle_step {
  uint64_t seed, first; /* first: path number of particle 0, a multiple of 8 */
  int asset, step;      /* step: of the table in `dynamics` */
  bool halved;          /* the random numbers are joined from those of two steps of half the length */
  const option_dynamics *dynamics;
  double drift; /* of x */
} option_particle_step;

/* Moves the particles from `first` on: x[count] is log2(price / spot), v[count] the variance; aligned to 64 bytes.
 * `first` and `count` are multiples of OPTION_PARTICLE_GROUP. */
typedef void option_particle_kernel(const option_particle_step *step, uint64_t first, int count, double *x, double *v);
/* The kernel of an instruction set; NULL where this build has none. */
option_particle_kernel *option_particle_find(sim_isa isa);

#endif
