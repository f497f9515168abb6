/* Form in which a solver leaves acceleration and jerk for the operations that read them: a leapfrog step on the GPU
 * then needs no kernel that only converts. For C, CUDA C++ and NVRTC. */
#ifndef NBODY_RAW_FORCE_H
#define NBODY_RAW_FORCE_H

typedef enum nbody_raw_kind {
  NBODY_FORCE_FINAL, /* final values in the state's arrays */
  NBODY_FORCE_FIXED, /* fixed point: int64 in the memory of the state's acceleration; no jerk */
  NBODY_FORCE_PARTS  /* double[parts][3][n], to be added in order; one part may be the state's own array */
} nbody_raw_kind;

/* Kernels take this struct by value. Its memory belongs to the solver or to the state, on the state's device. */
typedef struct nbody_raw_force {
  nbody_raw_kind kind;
  int parts;
  const double *acceleration, *jerk; /* parts, for NBODY_FORCE_PARTS; jerk is NULL where the state has none */
  double unit, unit_jerk;            /* factors of the sums */
} nbody_raw_force;

#ifdef __CUDACC__
/* Component k of the acceleration or of the jerk: `array` belongs to the state, `part` to the solver. */
__device__ static inline double raw_component(const nbody_raw_force &raw, const double *array, const double *part,
                                              double unit, size_t k, size_t components) {
  if (raw.kind == NBODY_FORCE_FINAL) return array[k];
  if (raw.kind == NBODY_FORCE_FIXED) return (double)((const long long *)array)[k] * unit;
  double sum = 0;
#pragma unroll 8
  for (int p = 0; p < raw.parts; p++) sum += part[(size_t)p * components + k];
  return sum * unit;
}
#endif

#endif
