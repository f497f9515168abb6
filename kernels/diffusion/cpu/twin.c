/* Two neighbouring states: their distance, and moving the second state along their difference. */
#include "kernels/diffusion/cpu/work.h"

#include <math.h>

sim_status diffusion_work_twin(diffusion_work *w, diffusion_work *twin, double size, double *distance,
                               double *magnitude) {
  double apart = 0, of_state = 0;
  for (int f = 0; f < w->fields; f++) {
    const double *here = w->arrays.array[f][1];
    double *there = twin->arrays.array[f][1], norm;
    const int64_t count = w->array[1].shape[1];
#pragma omp parallel for schedule(static) num_threads(w->threads) if (w->threads > 1 && count > 65536)
    for (int64_t i = 0; i < count; i++) there[i] -= here[i];
    SIM_TRY(diffusion_work_norm(w, f, there, &norm));
    apart += norm * norm;
    SIM_TRY(diffusion_work_norm(w, f, here, &norm));
    of_state += norm * norm;
  }
  *distance = sqrt(apart);
  *magnitude = sqrt(of_state);
  const double factor = size * *magnitude / *distance;
  for (int f = 0; f < w->fields; f++) {
    const double *here = w->arrays.array[f][1];
    double *there = twin->arrays.array[f][1];
    const int64_t count = w->array[1].shape[1];
#pragma omp parallel for schedule(static) num_threads(w->threads) if (w->threads > 1 && count > 65536)
    for (int64_t i = 0; i < count; i++) there[i] = here[i] + factor * there[i];
  }
  return diffusion_work_visit(twin, 0, 1, 0, 1, -1, 1); /* array [0] */
}
