/* Parameters of the kernels that pass over one axis. Compiled by NVRTC too. */
#ifndef DIFFUSION_CUDA_AXES_CUH
#define DIFFUSION_CUDA_AXES_CUH

typedef struct diffusion_axes {
  float *field, *real;     /* device memory, [fields][nz][ny][nx]: in the order of axes/passes.cuh, and for outputs */
  long long cells, n[3];   /* n: x, y, z */
  const void *turns[3];    /* twiddle factors, float4 [16][n/32] of each axis (dft.cuh) */
  const float *factors[3]; /* e_k; for an axis with walls {s_k, re c_k, im c_k, 0} */
  long long all_factors;   /* stride of the fields in `factors` */
  double size[3];
} diffusion_axes;

enum { AXES_ROWS = 128 }; /* threads of a block of rows */
#define AXES_WIDE(q)                                                                                                   \
  ((q) < 32 ? 16 : 8) /* pairs of lines that a block of the y or z pass takes, of 32 q points each                     \
                       */
#define AXES_PITCH(q) (32 * ((q) + 2) + 2)

#endif
