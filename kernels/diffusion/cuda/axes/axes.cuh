/* What the kernels of one pass an axis are given. For NVRTC too. */
#ifndef DIFFUSION_CUDA_AXES_CUH
#define DIFFUSION_CUDA_AXES_CUH

typedef struct diffusion_axes {
  float *field, *real;     /* [fields][nz][ny][nx]: as axes/passes.cuh has them, and for outputs */
  long long cells, n[3];   /* of one field */
  const void *turns[3];    /* float4 [16][n/32] of each axis (dft.cuh) */
  const float *factors[3]; /* e_k; or {s_k, re c_k, im c_k, 0} of an axis with walls */
  long long all_factors;   /* numbers from those of one field to those of the next */
  double size[3];
} diffusion_axes;

enum { AXES_ROWS = 128 };                /* threads of a block of rows */
#define AXES_WIDE(q) ((q) < 32 ? 16 : 8) /* pairs of lines of a block of columns, of 32 q points each */
#define AXES_PITCH(q) (32 * ((q) + 2) + 2)

#endif
