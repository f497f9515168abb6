/* The parts of a step that go over the bodies once; queued on the stream of steps. */
#ifndef NBODY_CUDA_STEPS_CUH
#define NBODY_CUDA_STEPS_CUH

#include "kernels/nbody/cuda/work.h"

/* Makes a raw result numbers in the state's arrays. */
void nbody_cuda_finish(nbody_work *w);
template <typename Real> void nbody_cuda_kick(nbody_work *w, double dt);
template <typename Real> void nbody_cuda_drift(nbody_work *w, double dt);
template <typename Real> void nbody_cuda_kick_drift(nbody_work *w, double kick, double drift);
template <typename Real> void nbody_cuda_predict(nbody_work *w, double dt);
template <typename Real> void nbody_cuda_correct(nbody_work *w, double dt);

#endif
