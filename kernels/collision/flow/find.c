/* Finds the grains inside given regions. */
#include "kernels/collision/flow/flow.h"

static bool is_in(const collision_region *regions, int count, const double x[3]) {
  for (int k = 0; k < count; k++) {
    bool in = true;
    for (int c = 0; c < 3; c++) in = in && x[c] >= regions[k].low[c] && x[c] < regions[k].high[c];
    if (in) return true;
  }
  return false;
}

sim_status collision_flow_find(collision_run *run, const collision_region *regions, int count, collision_indices *out) {
  out->count = 0;
  if (run->n == 0 || count == 0) return SIM_OK;
  if (run->ops->pick != NULL) return run->ops->pick(run->work, regions, count, out);
  for (int64_t i = 0; i < run->n; i++) {
    double x[3];
    for (int c = 0; c < 3; c++) x[c] = collision_get(run, COLLISION_POSITION, c, i);
    if (is_in(regions, count, x) && !collision_indices_add(out, i)) return sim_no_memory("grains that come and go");
  }
  return SIM_OK;
}
