/* Parameters of the kernels of two passes a stage over grids with two axes. Compiled by NVRTC too. */
#ifndef DIFFUSION_CUDA_FLAT_CUH
#define DIFFUSION_CUDA_FLAT_CUH

/* Mixed fields are complex, transformed along x: [kx / FLAT_WIDE][y / 2][kx % FLAT_WIDE][y % 2], kx = 0 ... nx / 2,
 * padded with zeros to a multiple of FLAT_WIDE. The scheme's arrays have the same size, with ky in the order of
 * threads of flat/columns.cuh. */
enum { FLAT_WIDE = 2, FLAT_TABLES = 7 };

typedef struct diffusion_flat {
  float *mixed, *real;           /* device memory; mixed: all fields; real: [ny][nx] each */
  long long field, cells;        /* strides of fields: in complex numbers, in cells */
  const void *turns_x, *turns_y; /* twiddle factors, float2 [6][n / 16], then [6][n / 256] (flat/lines.cuh) */
  double size[2];
} diffusion_flat;

#endif
