/* Kicks, drifts, prediction and correction, as in nbody_ops; enqueued on the stream of steps. */
#ifndef NBODY_CUDA_STEPS_CUH
#define NBODY_CUDA_STEPS_CUH

#include "kernels/nbody/cuda/work.h"

/* Converts a raw force, with the external force, to final values in the state's arrays. */
void nbody_cuda_finish(nbody_work *w);
template <typename real> void nbody_cuda_kick(nbody_work *w, double dt);
template <typename real> void nbody_cuda_drift(nbody_work *w, double dt);
template <typename real> void nbody_cuda_kick_drift(nbody_work *w, double kick, double drift);
template <typename real> void nbody_cuda_predict(nbody_work *w, double dt);
template <typename real> void nbody_cuda_correct(nbody_work *w, double dt);

#endif
