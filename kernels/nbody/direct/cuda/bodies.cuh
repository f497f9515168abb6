/* The bodies of a state, for kernels. */
#ifndef NBODY_CUDA_BODIES_CUH
#define NBODY_CUDA_BODIES_CUH

#include "kernels/nbody/direct/cuda/pair.cuh"
#include "kernels/nbody/direct/cuda/direct.h"

template <typename Real> bodies<Real> bodies_of(const nbody_solver_work *w) {
  bodies<Real> b;
  b.n = (int)w->state.n;
  b.mass = (const Real *)w->state.mass;
  b.position = (const Real *)w->state.position;
  b.velocity = (const Real *)w->state.velocity;
  b.scale = w->scaling.position;
  b.scale_velocity = w->scaling.velocity;
  b.scale_mass = w->scaling.mass;
  return b;
}

#endif
