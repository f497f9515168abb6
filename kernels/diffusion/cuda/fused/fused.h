/* Two passes over memory a step, for what they are made for: one field, or two, in single precision, periodic, with
 * axes of 256, 512 or 1024 cells, a split scheme, and a multiplier that is a product of one factor an axis. Where all
 * three axes have 1024 cells one pass an axis (axes.h) takes less time. */
#ifndef DIFFUSION_CUDA_FUSED_H
#define DIFFUSION_CUDA_FUSED_H

#include "engine/device/compile.h"
#include "kernels/diffusion/cuda/fused/fused.cuh"
#include "kernels/diffusion/cuda/programs.h"
#include "kernels/diffusion/diffusion.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DIFFUSION_FUSED_FIELDS = 2 };

typedef struct diffusion_two_pass {
  int n[3], cluster, fields;
  diffusion_fused given[2][DIFFUSION_FUSED_FIELDS]; /* with the multiplier of a load, and with that of a step */
  diffusion_map map[DIFFUSION_FUSED_FIELDS];
  void *once, *twice, *load, *store, *columns; /* cudaKernel_t */
  void *tables;
} diffusion_two_pass;

/* Whether they serve this run on a GPU that has what they need. */
bool diffusion_fused_fits(const diffusion_parameters *p);
double diffusion_fused_bytes(const diffusion_parameters *p); /* of tables */
/* Tables of a step of dt; mixed[fields][cells], real[fields][cells]. Kernels are found later. */
sim_status diffusion_fused_create(const diffusion_parameters *p, double dt, float *mixed, float *real,
                                  diffusion_two_pass **out) SIM_MUST_CHECK;
void diffusion_fused_destroy(diffusion_two_pass **fused);
/* Their text, with the rates as `scenario_rates`, and their kernels once that is compiled. */
void diffusion_fused_write(const diffusion_parameters *p, diffusion_programs *programs);
sim_status diffusion_fused_kernels(diffusion_two_pass *fused, const sim_module *module, bool twice) SIM_MUST_CHECK;

void diffusion_fused_load(diffusion_two_pass *fused);
void diffusion_fused_step(diffusion_two_pass *fused, const diffusion_moment *moment);
void diffusion_fused_store(diffusion_two_pass *fused);

#ifdef __cplusplus
}
#endif

#endif
