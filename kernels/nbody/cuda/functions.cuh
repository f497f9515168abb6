/* Launches of kernels with functions of a scenario, which replace kernels without; enqueued on the stream of steps. */
#ifndef NBODY_CUDA_FUNCTIONS_CUH
#define NBODY_CUDA_FUNCTIONS_CUH

#include "kernels/nbody/cuda/work.h"

/* Finishes a raw force: adds the external force at time w->t. */
void nbody_cuda_external_finish(nbody_work *w);
void nbody_cuda_external_kick(nbody_work *w, double dt);
void nbody_cuda_external_kick_drift(nbody_work *w, double kick, double drift);
void nbody_cuda_external_correct(nbody_work *w, double dt);
/* Energy of all bodies in the external potential at time t, into result[NBODY_EXTERNAL_ENERGY]. */
void nbody_cuda_external_energy(nbody_work *w, double t);
/* nbody_ops.observe; the acceleration must be final. */
sim_status nbody_cuda_observe(nbody_work *w, double t, double *values);

#endif
