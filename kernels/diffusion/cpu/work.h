/* The arrays, tables and transforms of a run on the CPU. */
#ifndef DIFFUSION_CPU_WORK_H
#define DIFFUSION_CPU_WORK_H

#include "kernels/diffusion/cpu/coupled.h"
#include "kernels/diffusion/cpu/derivation.h"
#include "kernels/diffusion/cpu/forcing.h"
#include "kernels/diffusion/cpu/implicit/linearized.h"
#include "kernels/diffusion/cpu/plan.h"
#include "kernels/diffusion/cpu/stirring.h"

struct diffusion_work {
  const diffusion_parameters *p;
  grid_shape grid;
  diffusion_spectral *spectral;
  diffusion_rates *rates;
  diffusion_method method;
  diffusion_arrays arrays;
  diffusion_gradients read;
  sim_buffer array[DIFFUSION_ARRAYS], table[DIFFUSION_TABLES], real;
  sim_buffer gradients; /* derivatives and fluxes: inputs of the rates beside the fields */
  void *flux[DIFFUSION_FLUXES];
  diffusion_derivation *derivation; /* coefficients of derived fields; NULL: none */
  diffusion_shell *shell;           /* of the forcing; NULL: none */
  diffusion_stirring *stirring;     /* random forcing; NULL: none */
  diffusion_spectral *white;        /* transforms of white noise, where they differ from those of fields; else NULL */
  const sim_comm *comm;
  diffusion_slab slab;
  /* Where columns differ from slabs: the columns of the mixed fields and derivatives, the numbers that one turn sends,
   * and slabs to which arrays of columns are turned. */
  sim_buffer columns, sent, turned;
  /* Ranks on one host: the mixed fields and derivatives, whole, [inputs][numbers of a field]. Array [0] and `gradients`
   * are this rank's slabs in it. NULL: each rank has its own memory. */
  char *common;
  size_t common_bytes;
  sim_buffer partial, block;
  diffusion_measured measured;
  diffusion_coupled *coupled;             /* cross diffusion: matrices instead of tables; else NULL */
  sim_buffer column;                      /* and the transformed columns */
  int distinct, shared[DIFFUSION_FIELDS]; /* number of different tables of fields, and the one of each field */
  int slot;
  diffusion_linearized *linearized; /* of implicit steps; NULL: none */
  diffusion_norm *norm;             /* norms of coefficients; NULL where neither errors nor a twin need them */
  double length[DIFFUSION_SLOTS];   /* adaptive steps: tables in slot s are for steps of length[s] */
  int64_t first, end;               /* cells of the slab */
  int threads, fields;
  bool single;
};

static inline void *work_part(const sim_buffer *buffer, int field) {
  return (char *)buffer->data + (size_t)field * (size_t)buffer->shape[1] * sim_dtype_size(buffer->dtype);
}

/* Sets the tables of the slot w->slot. */
static inline void work_set_tables(diffusion_work *w) {
  for (int f = 0; f < w->fields; f++)
    for (int t = 0; t < w->method.tables && !w->coupled; t++)
      w->arrays.table[f][t] = work_part(&w->table[t], w->slot * w->distinct + w->shared[f]);
}

static inline void work_each_field(const diffusion_work *w, const sim_buffer *buffer, void **out) {
  for (int f = 0; f < w->fields; f++) out[f] = work_part(buffer, f);
}

static inline size_t work_number_size(const diffusion_work *w) { return w->single ? sizeof(float) : sizeof(double); }

/* Returns the bytes of a whole field before this rank's slab. */
static inline size_t work_begin_bytes(const diffusion_work *w) {
  return (size_t)diffusion_slab_begin(&w->grid, w->single, &w->slab) * work_number_size(w);
}

static inline int work_state_array(const diffusion_work *w) { return w->method.arrays > 0 ? 1 : 0; }

/* ---- work.c: memory and tables ---- */

/* Does what diffusion_ops.create does, with this method and without the tables of a step. */
sim_status diffusion_work_create(const diffusion_parameters *p, const sim_setup *setup, const diffusion_method *method,
                                 diffusion_work **out) SIM_MUST_CHECK;
void diffusion_work_destroy(diffusion_work **work);
/* Computes the scheme's tables for steps of dt, in the slot w->slot. */
sim_status diffusion_work_tables(diffusion_work *w, double dt) SIM_MUST_CHECK;

/* ---- passes.c: passes over columns, on all ranks ---- */

/* The pass over columns of arrays. The mixed fields and derivatives of `arrays` are those of slabs. */
sim_status diffusion_work_columns(diffusion_work *w, const diffusion_stage *stage,
                                  const diffusion_arrays *arrays) SIM_MUST_CHECK;
/* A stage with one term: array [target] = factor times table times array [source]. */
sim_status diffusion_work_visit(diffusion_work *w, int forward, int inverse, int target, int source, int table,
                                double factor) SIM_MUST_CHECK;
/* The sums of a stage with matrices, between two passes that transform all columns. */
sim_status diffusion_work_sum(diffusion_work *w, const diffusion_stage *stage) SIM_MUST_CHECK;
/* Computes the root mean square of a field from its coefficients, in an array of columns. */
sim_status diffusion_work_norm(diffusion_work *w, int field, const void *coefficients, double *out) SIM_MUST_CHECK;

/* ---- twin.c ---- */

sim_status diffusion_work_twin(diffusion_work *w, diffusion_work *twin, double size, double *distance,
                               double *magnitude) SIM_MUST_CHECK; /* diffusion_ops.twin */

#endif
