/* Direct summation: functions that all devices share. */
#ifndef NBODY_DIRECT_H
#define NBODY_DIRECT_H

#include "kernels/nbody/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills in interactions and additions of one direct sum of n bodies, not out->rate. SIM_ERR_NO_MEMORY. */
sim_status nbody_direct_count(const nbody_options *options, double n, nbody_cost *out) SIM_MUST_CHECK;
/* nbody_solver.supports on a GPU, where indices of bodies have 31 bits. SIM_ERR_SCENARIO. */
sim_status nbody_direct_fits_gpu(const nbody_options *options) SIM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
