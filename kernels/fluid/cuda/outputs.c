/* Outputs beside fields, `flow` and forces, of moments and of populations: velocities beside walls, the change of a
 * step, gates, and running means. */
#include "kernels/fluid/cuda/host.h"

#include "engine/device/cuda.h"
#include "engine/reduce.h"
#include "kernels/fluid/gates.h"

#include <math.h>
#include <stdlib.h>

/* ---- velocities beside walls ---- */

sim_status fluid_cuda_wall_velocities(fluid_work *w, double *out) {
  const int cells = w->d.cells;
  const size_t bytes = 3 * (size_t)cells * sizeof *out;
  void *there;
  if (cells == 0) return SIM_OK;
  SIM_TRY(sim_backend_cuda.alloc(bytes, &there));
  (w->d.populations ? fluid_trt_wall_velocities : fluid_cuda_find_wall_velocities)(&w->d, there);
  const sim_status status = sim_backend_cuda.copy(out, there, bytes);
  sim_backend_cuda.free(there);
  return status;
}
