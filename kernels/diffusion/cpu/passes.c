/* Passes over columns: on one rank, on fields in memory that the ranks of a host share, or between two turns. */
#include "engine/comm/fault.h"
#include "kernels/diffusion/cpu/work.h"

#include <string.h>

/* The pass over columns of whole fields in shared memory. It begins when all ranks have written theirs, and ends when
 * all are done. */
static sim_status columns_in_common(diffusion_work *w, const diffusion_stage *stage, const diffusion_arrays *arrays) {
  diffusion_arrays of = *arrays;
  uint64_t most;
  for (int f = 0; f < w->fields; f++) of.array[f][0] = (char *)arrays->array[f][0] - work_begin_bytes(w);
  for (int g = 0; g < w->read.count && arrays->gradient[g]; g++)
    of.gradient[g] = (char *)arrays->gradient[g] - work_begin_bytes(w);
  for (int i = 0; i < w->read.fluxes && arrays->flux[i]; i++)
    of.flux[i] = (char *)arrays->flux[i] - work_begin_bytes(w);
  const bool early = sim_comm_planted(w->comm) == SIM_PLANTED_EARLY;
  SIM_TRY(sim_comm_agree(w->comm, 0, &most));
  if (early) {
    SIM_TRY(sim_comm_agree(w->comm, 0, &most));
    sim_comm_planted_pause();
  }
  diffusion_columns(w->spectral, stage, &of);
  return early ? SIM_OK : sim_comm_agree(w->comm, 0, &most);
}

/* The pass over columns of arrays. The mixed fields and derivatives of `arrays` are those of slabs. */
sim_status diffusion_work_columns(diffusion_work *w, const diffusion_stage *stage, const diffusion_arrays *arrays) {
  diffusion_arrays of = *arrays;
  if (arrays->shared) return columns_in_common(w, stage, arrays);
  if (!w->slab.turned) {
    diffusion_columns(w->spectral, stage, arrays);
    return SIM_OK;
  }
  for (int f = 0; f < w->fields; f++) {
    of.array[f][0] = work_part(&w->columns, f);
    if (stage->forward) SIM_TRY(diffusion_to_columns(w->spectral, arrays->array[f][0], of.array[f][0], w->sent.data));
  }
  for (int g = 0; g < w->read.count; g++) of.gradient[g] = work_part(&w->columns, w->fields + g);
  for (int i = 0; i < w->read.fluxes && arrays->flux[i]; i++) {
    of.flux[i] = work_part(&w->columns, w->fields + w->read.count + i);
    SIM_TRY(diffusion_to_columns(w->spectral, arrays->flux[i], of.flux[i], w->sent.data));
  }
  diffusion_columns(w->spectral, stage, &of);
  for (int f = 0; f < w->fields && stage->inverse; f++)
    SIM_TRY(diffusion_to_slab(w->spectral, of.array[f][0], arrays->array[f][0], w->sent.data));
  for (int g = 0; g < w->read.count && arrays->gradient[g] && stage->inverse; g++)
    SIM_TRY(diffusion_to_slab(w->spectral, of.gradient[g], arrays->gradient[g], w->sent.data));
  return SIM_OK;
}

/* A stage with one term: array [target] = factor times table times array [source]. */
sim_status diffusion_work_visit(diffusion_work *w, int forward, int inverse, int target, int source, int table,
                                double factor) {
  diffusion_stage stage = {forward, inverse, 1, {{target, 1, {{factor, table, source}}}}};
  if (target != 0 && inverse) stage.set[stage.sets++] = (diffusion_set){0, 1, {{1, -1, target}}};
  return diffusion_work_columns(w, &stage, &w->arrays);
}

/* The sums of a stage with matrices, between two passes that transform all columns. */
sim_status diffusion_work_sum(diffusion_work *w, const diffusion_stage *stage) {
  static const diffusion_stage forward = {1, 0, 1, {{1, 1, {{1, -1, 0}}}}}, inverse = {0, 1, 1, {{0, 1, {{1, -1, 1}}}}};
  diffusion_arrays of = w->arrays;
  void *arrays[DIFFUSION_FIELDS][DIFFUSION_ARRAYS];
  memcpy(arrays, w->arrays.array, sizeof arrays);
  for (int f = 0; f < w->fields; f++) {
    of.array[f][1] = arrays[f][0] = work_part(&w->column, f);
    for (int a = 2; a < DIFFUSION_ARRAYS; a++) of.array[f][a] = NULL;
  }
  if (stage->forward) SIM_TRY(diffusion_work_columns(w, &forward, &of));
  diffusion_coupled_apply(w->coupled, w->slot, stage, arrays);
  return stage->inverse ? diffusion_work_columns(w, &inverse, &of) : SIM_OK;
}

sim_status diffusion_work_norm(diffusion_work *w, int field, const void *coefficients, double *out) {
  if (!w->slab.turned) return diffusion_norm_of(w->norm, field, coefficients, out);
  SIM_TRY(diffusion_to_slab(w->spectral, coefficients, w->turned.data, w->sent.data));
  return diffusion_norm_of(w->norm, field, w->turned.data, out);
}
