/* One pass over memory for each axis of a step: one field, or two, of two or three axes of 256, 512 or 1024 cells each,
 * with any boundaries, in single precision, a split scheme, and a multiplier that is a product of one factor an axis.
 */
#ifndef DIFFUSION_CUDA_AXES_H
#define DIFFUSION_CUDA_AXES_H

#include "engine/device/compile.h"
#include "kernels/diffusion/cuda/axes/axes.cuh"
#include "kernels/diffusion/cuda/programs.h"
#include "kernels/diffusion/diffusion.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DIFFUSION_AXES_FIELDS = 2 };

typedef struct diffusion_by_axes {
  diffusion_axes given;
  int n[3], rank, fields;
  void *once, *twice, *columns[3], *load, *store; /* cudaKernel_t; columns[0] is not used */
  void *tables;
} diffusion_by_axes;

/* Whether they serve this run on a GPU that has what they need. */
bool diffusion_axes_fit(const diffusion_parameters *p);
double diffusion_axes_bytes(const diffusion_parameters *p); /* of tables */
/* Tables of a step of dt; field[fields][cells], real[fields][cells]. Kernels are found later. */
sim_status diffusion_axes_create(const diffusion_parameters *p, double dt, float *field, float *real,
                                 diffusion_by_axes **out) SIM_MUST_CHECK;
void diffusion_axes_destroy(diffusion_by_axes **axes);
/* Their text, with the rates as `scenario_rates`, and their kernels once that is compiled. */
void diffusion_axes_write(const diffusion_parameters *p, diffusion_programs *programs);
sim_status diffusion_axes_kernels(diffusion_by_axes *axes, const sim_module *module, bool twice) SIM_MUST_CHECK;

void diffusion_axes_load(diffusion_by_axes *axes);
void diffusion_axes_step(diffusion_by_axes *axes, const diffusion_moment *moment);
void diffusion_axes_store(diffusion_by_axes *axes);

#ifdef __cplusplus
}
#endif

#endif
