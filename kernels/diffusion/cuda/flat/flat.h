/* Two passes over memory a stage, for what they are made for: up to four fields on a periodic grid of two axes of 256
 * to 4096 cells, powers of two, in single precision, any scheme with rates, and a linear part that is real. */
#ifndef DIFFUSION_CUDA_FLAT_H
#define DIFFUSION_CUDA_FLAT_H

#include "engine/device/backend.h"
#include "engine/device/compile.h"
#include "kernels/diffusion/cuda/factors.cuh"
#include "kernels/diffusion/cuda/flat/flat.cuh"
#include "kernels/diffusion/cuda/programs.h"
#include "kernels/diffusion/cuda/general/sums.cuh"
#include "kernels/diffusion/diffusion.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  DIFFUSION_FLAT_FIELDS = 4,
  DIFFUSION_FLAT_LOAD = DIFFUSION_STAGES,
  DIFFUSION_FLAT_RESUME,
  DIFFUSION_FLAT_VISITS
};

typedef struct diffusion_flat_work {
  int n[2], fields;
  diffusion_method method;
  diffusion_flat given;
  diffusion_sums sums;
  sim_buffer array[DIFFUSION_ARRAYS]; /* [0]: the mixed fields; [1]: the state, where there is one */
  void *tables, *turns;               /* on the device */
  void *step, *load, *store, *visit[DIFFUSION_FLAT_VISITS]; /* cudaKernel_t */
} diffusion_flat_work;

/* Whether they serve this run on a GPU that has what they need. */
bool diffusion_flat_fits(const diffusion_parameters *p);
void diffusion_flat_plan(const diffusion_parameters *p, sim_plan *out);
/* real[fields][cells]: of the outputs. Kernels are found later. */
sim_status diffusion_flat_create(const diffusion_parameters *p, int slots, float *real,
                                 diffusion_flat_work **out) SIM_MUST_CHECK;
void diffusion_flat_destroy(diffusion_flat_work **flat);
/* Their text, with the rates as `scenario_rates`, and their kernels once that is compiled. */
void diffusion_flat_write(const diffusion_parameters *p, diffusion_programs *programs);
sim_status diffusion_flat_kernels(diffusion_flat_work *flat, const sim_module *module) SIM_MUST_CHECK;

const sim_buffer *diffusion_flat_state(const diffusion_flat_work *flat);
void diffusion_flat_load(diffusion_flat_work *flat);   /* the state from the real fields */
void diffusion_flat_resume(diffusion_flat_work *flat); /* the mixed fields from the state */
void diffusion_flat_stage(diffusion_flat_work *flat, int stage, const diffusion_moment *moment);
void diffusion_flat_use(diffusion_flat_work *flat, int slot); /* tables of this slot, which stages then take */
void diffusion_flat_making(const diffusion_flat_work *flat, int slot, diffusion_making *making);
void diffusion_flat_accept(diffusion_flat_work *flat);
void diffusion_flat_store(diffusion_flat_work *flat); /* the real fields; the mixed ones stay */

#ifdef __cplusplus
}
#endif

#endif
