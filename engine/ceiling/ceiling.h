/* Measured limits of a machine, to which `sim bench` compares the rates of kernels. */
#ifndef SIM_ENGINE_CEILING_CEILING_H
#define SIM_ENGINE_CEILING_CEILING_H

#include "engine/device/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rates per second of all threads together; NaN: not measured on this device. */
typedef struct sim_ceilings {
  double copy;      /* bytes read and written; arrays larger than all caches */
  double fma32;     /* fp32 multiply-adds, counted per lane of a vector */
  double fma64;     /* fp64 multiply-adds */
  double rsqrt;     /* fp32 estimates of 1/sqrt */
  double fft;       /* operations of complex fp32 transforms of n = 4096, 5 n log2 n each */
  double host_copy; /* bytes from a GPU to pinned host memory */
  double launch;    /* seconds from one empty kernel to the next */
} sim_ceilings;

/* Measures all rates except fft on the CPU; `seconds`: approximate duration of each. SIM_ERR_NO_MEMORY. */
sim_status sim_ceilings_cpu(sim_isa isa, int threads, double seconds, sim_ceilings *out) SIM_MUST_CHECK;
/* Measures the open GPU; fft is NaN without cuFFT. Only in builds with GPU code. SIM_ERR_DEVICE. */
sim_status sim_ceilings_cuda(double seconds, sim_ceilings *out) SIM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
