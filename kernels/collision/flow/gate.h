/* Gates: planes and discs through which grains are counted. C, nvcc and NVRTC compile this text. */
#ifndef COLLISION_GATE_H
#define COLLISION_GATE_H

#include "kernels/collision/scenario/limits.h"
#include "kernels/common/integers.h"

#include <math.h>

#ifdef __CUDACC__
#define GATE_INLINE static __device__ __forceinline__
#else
#define GATE_INLINE static inline __attribute__((always_inline))
#endif

/* Returns 1 where a grain that moves from `from` to `to` passes the gate along its normal, -1 against it, else 0.
 * Along a periodic side the image of the gate nearest to `to` counts. The side of a position depends on that
 * position alone, so that no grain is counted twice, however positions are rounded. */
GATE_INLINE int gate_passed(const collision_gate *gate, const double from[3], const double to[3], const double size[3],
                            const bool periodic[3]) {
  double d[3], before = 0, after = 0, square = 0;
  for (int c = 0; c < 3; c++) {
    double e = from[c] - gate->point[c];
    d[c] = to[c] - gate->point[c];
    if (periodic[c]) {
      d[c] -= size[c] * rint(d[c] / size[c]);
      e -= size[c] * rint(e / size[c]);
      e += size[c] * rint((d[c] - e) / size[c]);
    }
    after += d[c] * gate->normal[c];
    before += e * gate->normal[c];
  }
  if ((after >= 0) == (before >= 0)) return 0;
  for (int c = 0; c < 3; c++) {
    const double across = d[c] - after * gate->normal[c];
    square += across * across;
  }
  return square > gate->radius * gate->radius ? 0 : after >= 0 ? 1 : -1;
}

#endif
