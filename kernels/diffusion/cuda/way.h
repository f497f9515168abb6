/* A way to make steps on the GPU. Each fills one table; ops.c takes the first one that supports a run, and nothing else
 * asks which it is. */
#ifndef DIFFUSION_CUDA_WAY_H
#define DIFFUSION_CUDA_WAY_H

#include "kernels/diffusion/cuda/programs.h"
#include "kernels/diffusion/diffusion.h"

/* On failure `create` leaves what `destroy` frees. Launches are queued, and return sim_queue_cuda.status(). */
typedef struct diffusion_way {
  const char *name;                                /* in headers of runs and messages */
  const char *fill;                                /* kernel of tables.c for tables of all wavenumbers; NULL: none */
  bool in_registers;                               /* transforms in registers, rates between them */
  bool (*supports)(const diffusion_parameters *p); /* this run, on this GPU */
  void (*plan)(const diffusion_parameters *p, sim_plan *out); /* device memory, checkpoint, rate of work */
  sim_status (*create)(diffusion_work *work);                 /* method, arrays and tables; kernels are found later */
  void (*destroy)(diffusion_work *work);
  void (*write)(const diffusion_work *work, diffusion_programs *programs); /* kernels; `scenario_rates` is there */
  sim_status (*find)(diffusion_work *work);                                /* those kernels in the compiled module */
  sim_status (*load)(diffusion_work *work);                                /* the state from the real fields */
  sim_status (*resume)(diffusion_work *work); /* array [0] from the state; NULL: it is the state */
  sim_status (*stage)(diffusion_work *work, int stage, const diffusion_step_context *context);
  sim_status (*jump)(diffusion_work *work);  /* DIFFUSION_EXACT: array [0] from tables of time t; or NULL */
  sim_status (*store)(diffusion_work *work); /* the real fields from array [0]; the state stays */
} diffusion_way;

extern const diffusion_way diffusion_way_flat, diffusion_way_fused, diffusion_way_axes, diffusion_way_general;

#endif
