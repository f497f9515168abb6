/* What kernels leave for others to put together. */
#ifndef NBODY_CUDA_RAW_H
#define NBODY_CUDA_RAW_H

enum { NBODY_PARTIAL_BODIES = 256 }; /* that a thread block reduces over */

/* Where a direct sum has left its result, for the kernels that use it. */
typedef struct nbody_raw {
  enum {
    NBODY_RAW_NONE,   /* acceleration and jerk hold numbers */
    NBODY_RAW_FIXED,  /* the acceleration as int64, in its place */
    NBODY_RAW_PARTIAL /* in `parts` of [3][n], to be added in order */
  } kind;
  int parts;
  const double *acceleration, *jerk;
  double unit, unit_jerk; /* what sums are to be multiplied by */
} nbody_raw;

#ifdef __CUDACC__
/* Component k of the acceleration, or of the jerk. */
__device__ static inline double number(const nbody_raw &raw, const double *array, const double *part, double unit,
                                       size_t k, size_t components) {
  if (raw.kind == nbody_raw::NBODY_RAW_NONE) return array[k];
  if (raw.kind == nbody_raw::NBODY_RAW_FIXED) return (double)((const long long *)array)[k] * unit;
  double sum = 0;
#pragma unroll 8
  for (int p = 0; p < raw.parts; p++) sum += part[(size_t)p * components + k];
  return sum * unit;
}
#endif

#endif
