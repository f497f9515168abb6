#include "kernels/nbody/cuda/range.h"

#include "engine/device/cuda.h"

#include <math.h>

sim_status nbody_cuda_range(const void *data, sim_dtype dtype, size_t first, size_t count, nbody_range *out) {
  static double piece[16384];
  const size_t most = sizeof piece / sizeof *piece, size = sim_dtype_size(dtype);
  *out = (nbody_range){INFINITY, -INFINITY, 0};
  for (size_t done = 0; done < count; done += most) {
    const size_t here = count - done < most ? count - done : most;
    SIM_TRY(sim_backend_cuda.copy(piece, (const char *)data + (first + done) * size, here * size));
    for (size_t i = 0; i < here; i++) {
      const double value = dtype == SIM_F32 ? (double)((const float *)(const void *)piece)[i] : piece[i];
      out->low = fmin(out->low, value);
      out->high = fmax(out->high, value);
      out->sum += value;
    }
  }
  return SIM_OK;
}

double nbody_power_above(double a) {
  int exponent = 0;
  if (a > 0 && isfinite(a)) (void)frexp(a, &exponent);
  return ldexp(1, exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent);
}
