/* Chooses the method of `gravity.solver = "auto"` at the start of a run. */
#include "kernels/nbody/run.h"

#include <inttypes.h>
#include <stdlib.h>

/* Copy of the bodies, sorted bodies, and cells; the lists of cells are short in comparison. */
double nbody_settle_bytes(double n) { return n * (4 * 8 + 3 * 8 + 16 + 64 / 4) + 0x1p18; }

/* Counts the lists that multipoles would have for the bodies of the state. */
static sim_status count_lists(const nbody_run *run, nbody_options *options) {
  const size_t n = (size_t)run->n, size = sim_dtype_size(run->ops->dtype);
  double *const values = malloc(4 * n * sizeof *values);
  void *const typed = malloc(3 * n * size);
  sim_status status = SIM_OK;
  if (values == NULL || typed == NULL) status = sim_no_memory("lists of %" PRId64 " bodies", run->n);
  const sim_buffer *const from[] = {&run->position, &run->mass};
  double *to = values;
  for (int k = 0; status == SIM_OK && k < 2; k++) {
    const size_t count = k == 0 ? 3 * n : n;
    status = run->backend->copy(typed, from[k]->data, count * size);
    for (size_t i = 0; i < count; i++)
      *to++ = run->ops->dtype == SIM_F32 ? (double)((const float *)typed)[i] : ((const double *)typed)[i];
  }
  const double *const position[] = {values, values + n, values + 2 * n};
  if (status == SIM_OK)
    status = nbody_fmm_count(position, values + 3 * n, run->n, options->box, &options->fmm, &options->far,
                             &options->near, &options->depth);
  free(values);
  free(typed);
  return status;
}

/* Takes the method that rank 0 has chosen: other ranks may have another processor. */
static sim_status agree(const sim_comm *comm, nbody_method *method) {
  int64_t all[SIM_RANKS_MAX];
  if (comm->size == 1) return SIM_OK;
  const int64_t own = *method;
  SIM_TRY(comm->ops->gather(comm, &own, sizeof own, all));
  *method = (nbody_method)all[0];
  return SIM_OK;
}

sim_status nbody_settle_method(nbody_run *run) {
  nbody_options *const options = &run->options;
  const sim_backend_kind kind = run->backend->kind;
  if (options->method != NBODY_AUTO) return SIM_OK;
  SIM_TRY(nbody_solver_choose(options, kind, &run->choice));
  if (run->choice.other != NULL) {
    SIM_TRY(count_lists(run, options));
    SIM_TRY(nbody_solver_choose(options, kind, &run->choice));
  }
  nbody_method method = run->choice.method;
  SIM_TRY(agree(options->comm, &method));
  options->method = method;
  return SIM_OK;
}
