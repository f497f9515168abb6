/* A way to make steps on the GPU. Each way fills one table. ops.c takes the first way that supports a run; no other
 * code depends on the choice. */
#ifndef DIFFUSION_CUDA_WAY_H
#define DIFFUSION_CUDA_WAY_H

#include "kernels/diffusion/cuda/programs.h"
#include "kernels/diffusion/diffusion.h"

/* After a failure `create` leaves a state that `destroy` can free. Operations enqueue launches and return
 * sim_queue_cuda.status(). */
typedef struct diffusion_way {
  const char *name;  /* shown in run headers and messages */
  const char *fill;  /* kernel of tables.c that fills tables of all wavenumbers; NULL: none */
  bool in_registers; /* whether transforms run in registers, with the rates between them */
  bool (*supports)(const diffusion_parameters *p);            /* whether the way can make this run on this GPU */
  void (*plan)(const diffusion_parameters *p, sim_plan *out); /* sets device memory, checkpoint size, work */
  sim_status (*create)(diffusion_work *work); /* creates method, arrays and tables; kernels come from `find` */
  void (*destroy)(diffusion_work *work);
  /* appends the source of its kernels, in which `scenario_rates` is defined */
  void (*write)(const diffusion_work *work, diffusion_programs *programs);
  sim_status (*find)(diffusion_work *work);   /* finds these kernels in the compiled module */
  sim_status (*load)(diffusion_work *work);   /* computes the state from the real fields */
  sim_status (*resume)(diffusion_work *work); /* restores array [0] from the state; NULL: array [0] is the state */
  sim_status (*stage)(diffusion_work *work, int stage, const diffusion_step_context *context);
  /* DIFFUSION_EXACT: computes array [0] with the tables for time t; may be NULL */
  sim_status (*jump)(diffusion_work *work);
  sim_status (*store)(diffusion_work *work); /* computes the real fields from array [0]; the state is unchanged */
  /* For several ranks; NULL: not supported. Arguments as of `plan` and diffusion_ops. */
  void (*plan_ranks)(const diffusion_parameters *p, const sim_comm *comm, sim_plan *out);
  sim_status (*state_slab)(diffusion_work *work, sim_array *out);
  sim_status (*restore_slab)(diffusion_work *work, const sim_array *whole);
} diffusion_way;

extern const diffusion_way diffusion_way_flat, diffusion_way_fused, diffusion_way_axes, diffusion_way_flow_planes,
    diffusion_way_flow_boxes, diffusion_way_general;

#endif
