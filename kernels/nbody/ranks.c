#include "kernels/nbody/ranks.h"

#include <math.h>
#include <stdio.h>

nbody_share nbody_share_of(const sim_comm *comm, int64_t count, int64_t unit) {
  const size_t units = (size_t)((count + unit - 1) / unit);
  size_t end;
  const size_t first = sim_comm_first(comm, units, &end);
  nbody_share out = {.first = (int64_t)first * unit, .end = (int64_t)end * unit};
  out.room = (int64_t)sim_comm_share(comm, units) * unit;
  if (out.first > count) out.first = count;
  if (out.end > count) out.end = count;
  return out;
}

double nbody_share_total(const sim_comm *comm, double count, int64_t unit) {
  const double units = ceil(count / (double)unit), ranks = comm->size;
  return ceil(units / ranks) * ranks * (double)unit;
}

sim_status nbody_share_gather(const sim_comm *comm, const nbody_share *share, double *rows) {
  const size_t count = 3 * (size_t)share->room;
  return comm->ops->gather(comm, rows + (size_t)comm->rank * count, count * sizeof *rows, rows);
}

sim_status nbody_failure_keep(nbody_failure *failure, sim_status status) {
  if (status != SIM_OK && failure->status == SIM_OK) {
    failure->status = status;
    snprintf(failure->message, sizeof failure->message, "%s", sim_error_last()->message);
  }
  return status;
}

sim_status nbody_failure_report(nbody_failure *failure) {
  const sim_status status = failure->status;
  failure->status = SIM_OK;
  return status == SIM_OK ? SIM_OK : sim_fail(status, "%s", failure->message);
}
