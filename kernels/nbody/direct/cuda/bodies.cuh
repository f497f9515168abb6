/* The bodies of a run as arguments of the kernels of direct sums. */
#ifndef NBODY_CUDA_BODIES_CUH
#define NBODY_CUDA_BODIES_CUH

#include "kernels/nbody/direct/cuda/pair.cuh"
#include "kernels/nbody/direct/cuda/direct.h"

template <typename real> bodies<real> bodies_of(const nbody_solver_work *w) {
  bodies<real> b;
  b.n = (int)w->state.n;
  b.begin = w->share.first;
  b.mass = (const real *)w->state.mass;
  b.position = (const real *)w->state.position;
  b.velocity = (const real *)w->state.velocity;
  b.scale = w->scaling.position;
  b.scale_velocity = w->scaling.velocity;
  b.scale_mass = w->scaling.mass;
  return b;
}

#endif
