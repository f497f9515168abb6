/* Kernels that hold a scenario's functions, in the places of those without. */
#ifndef NBODY_CUDA_LAWS_CUH
#define NBODY_CUDA_LAWS_CUH

#include "kernels/nbody/cuda/work.h"

template <typename Real> void nbody_cuda_law_tile(nbody_work *w);
template <typename Real> void nbody_cuda_law_potential(nbody_work *w); /* into result[NBODY_POTENTIAL] */
void nbody_cuda_law_start(nbody_work *w);                              /* into partial[0 .. nbody_partials(n)) */
/* With an external law, of a raw result. */
void nbody_cuda_law_finish(nbody_work *w);
void nbody_cuda_law_kick(nbody_work *w, double dt);
void nbody_cuda_law_kick_drift(nbody_work *w, double kick, double drift);
void nbody_cuda_law_correct(nbody_work *w, double dt);
void nbody_cuda_law_outer(nbody_work *w, double t); /* its energy, into result[NBODY_OUTER] */
/* As in nbody_ops, of numbers. */
sim_status nbody_cuda_law_observe(nbody_work *w, double t, double *values);

#endif
