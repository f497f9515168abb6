/* Fields between the grid of a scenario and a finer one on which `dealias = "padding"` evaluates rates: their series
 * are the same on both, cut at the coarser grid's wavenumbers. On one rank, in host memory. */
#ifndef DIFFUSION_CPU_RESAMPLE_H
#define DIFFUSION_CPU_RESAMPLE_H

#include "kernels/diffusion/diffusion.h"

typedef struct diffusion_resample diffusion_resample;

/* coarse, fine: parameters that differ in the cells of the grid alone (diffusion_refine); they outlive *out. */
sim_status diffusion_resample_create(const diffusion_parameters *coarse, const diffusion_parameters *fine, sim_isa isa,
                                     int threads, diffusion_resample **out) SIM_MUST_CHECK;
void diffusion_resample_destroy(diffusion_resample **resample);
double diffusion_resample_bytes(const diffusion_parameters *coarse, const diffusion_parameters *fine, int threads);
/* Computes the values of all fields on one grid from those on the other one, at time t. from[fields], to[fields]:
 * values in the cells, in the precision of the parameters. `from` is overwritten. */
sim_status diffusion_resample_up(diffusion_resample *resample, double t, void *const *from,
                                 void *const *to) SIM_MUST_CHECK;
sim_status diffusion_resample_down(diffusion_resample *resample, double t, void *const *from,
                                   void *const *to) SIM_MUST_CHECK;

#endif
