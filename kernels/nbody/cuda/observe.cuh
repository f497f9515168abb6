/* Observables and lengths of adaptive steps; the host waits for the results. */
#ifndef NBODY_CUDA_OBSERVE_CUH
#define NBODY_CUDA_OBSERVE_CUH

#include "kernels/nbody/cuda/work.h"

/* Sums of the same names in nbody_ops. */
template <typename real> double nbody_cuda_kinetic(nbody_work *w);
template <typename real> void nbody_cuda_sums(nbody_work *w, double t, nbody_sums *out);
double nbody_cuda_step_softened(nbody_work *w, double eta);
double nbody_cuda_step_aarseth(nbody_work *w, double eta, double dt);

#endif
