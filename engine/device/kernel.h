/* Names of kernels and what limits their speed: for errors, traces, profiles and `sim bench`. */
#ifndef SIM_ENGINE_KERNEL_H
#define SIM_ENGINE_KERNEL_H

/* What limits a kernel: bytes from and to memory, or floating-point instructions. */
typedef enum sim_limit { SIM_LIMIT_BYTES, SIM_LIMIT_FP32, SIM_LIMIT_FP64, SIM_LIMITS } sim_limit;

typedef struct sim_kernel {
  const char *name;  /* "nbody_symmetric_f32" */
  const char *group; /* part of the step for traces: "force", "kick and drift", "observe" */
  sim_limit limit;
} sim_kernel;

#endif
