/* Implicit steps on the device, with the transforms of the way `general`. Pointers are to device memory. */
#ifndef DIFFUSION_CUDA_IMPLICIT_H
#define DIFFUSION_CUDA_IMPLICIT_H

#include "kernels/diffusion/cuda/general/passes.h"
#include "kernels/diffusion/implicit/parts.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DIFFUSION_RESULTS = 2 * (int)DIFFUSION_ENTRIES };

/* Numbers that the host reads after kernels have ended: pinned memory, and sums of blocks in device memory. */
typedef struct diffusion_reduced {
  double *host; /* [DIFFUSION_RESULTS] */
  double *partial;
} diffusion_reduced;

/* Memory of implicit steps, diffusion_linearized.own. */
typedef struct diffusion_implicit_memory {
  sim_expr *entries, *by_time;     /* until kernels are written */
  void *kernel, *products, *timed; /* cudaKernel_t: of entries, products, derivatives by t */
  sim_buffer values, means, place; /* [entries][planes.field], [entries], [fields][planes.field] */
  sim_buffer mixed;                /* [fields][field]: real fields that levels divide */
  sim_buffer partial;
  diffusion_reduced reduced;
} diffusion_implicit_memory;

static inline diffusion_implicit_memory *diffusion_implicit_of(const diffusion_work *work) {
  return (diffusion_implicit_memory *)work->own.general->linearized->own;
}

/* ---- implicit.c ---- */
/* Creates work->own.general->linearized, which the caller destroys, also after an error. */
sim_status diffusion_implicit_create(diffusion_work *work) SIM_MUST_CHECK;
void diffusion_implicit_plan(const diffusion_parameters *p, const diffusion_layout *layout,
                             const diffusion_layout *planes, sim_plan *out);
void diffusion_implicit_visits(const diffusion_work *work, sim_bytes *text); /* writes the passes over coefficients */
sim_status diffusion_implicit_find(diffusion_work *work) SIM_MUST_CHECK;     /* finds the kernels */
/* Makes a step of context->h from array [1]: see diffusion_linearized_stage. */
sim_status diffusion_implicit_stage(diffusion_work *work, const diffusion_step_context *context) SIM_MUST_CHECK;

/* ---- text.c ---- */
sim_status diffusion_implicit_write(const diffusion_work *work, diffusion_programs *programs) SIM_MUST_CHECK;

/* ---- vectors.cu: diffusion_vectors_cuda; `own` of vectors is a diffusion_reduced ---- */
long long diffusion_implicit_blocks(int fields, long long count); /* sums of blocks of one product of vectors */

/* ---- cells.cu ---- */
long long diffusion_implicit_pieces(const diffusion_layout *planes); /* sums of pieces of one entry */
/* Computes sums[entries] over all cells, and the greatest value of each entry, at least 0: most[entries]. */
sim_status diffusion_cells_average(diffusion_work *work, int entries, double *sums, double *most) SIM_MUST_CHECK;
/* The operations stiffness, place and level (its pointwise part, to `fields`) of diffusion_linear_ops. */
sim_status diffusion_cells_stiffness(diffusion_work *work, int field, double first, int terms, const double *factor,
                                     const int *of, double *least, double *greatest) SIM_MUST_CHECK;
void diffusion_cells_place(diffusion_work *work, int field, double low, double ratio, int levels);
void diffusion_cells_weigh(diffusion_work *work, int level, void *fields);

#ifdef __cplusplus
}
#endif

#endif
