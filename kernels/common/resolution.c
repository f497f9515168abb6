#include "kernels/common/resolution.h"

#include "engine/log.h"

#include <math.h>

double sim_single_spacing(double x) {
  const float far = (float)fabs(x);
  return (double)far - (double)nextafterf(far, 0);
}

void sim_resolution_warn(double far, double length, const char *of, const char *remedy) {
  const double spacing = sim_single_spacing(far);
  if (spacing > 1e-3 * length)
    sim_log(SIM_LOG_WARN,
            "precision: numbers near %.6g are %.2g apart in single precision, %.2g of %s: %s, or precision = "
            "\"double\"",
            far, spacing, spacing / length, of, remedy);
}
