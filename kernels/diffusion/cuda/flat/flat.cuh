/* What the kernels of two passes a stage over grids of two axes are given. For NVRTC too. */
#ifndef DIFFUSION_CUDA_FLAT_CUH
#define DIFFUSION_CUDA_FLAT_CUH

/* Mixed fields are complex, transformed along x: [kx / FLAT_WIDE][y / 2][kx % FLAT_WIDE][y % 2], kx = 0 ... nx / 2, and
 * up to a multiple of FLAT_WIDE zeros. The scheme's arrays have the same size, and the order in which the threads of
 * flat/columns.cuh have ky. */
enum { FLAT_WIDE = 2, FLAT_TABLES = 7 };

typedef struct diffusion_flat {
  float *mixed, *real;           /* of all fields; real: [ny][nx] */
  long long field, cells;        /* from one field to the next: complex numbers, and real ones */
  const void *turns_x, *turns_y; /* float2 [6][n / 16], then [6][n / 256]: of lines (flat/lines.cuh) */
  double size[2];
} diffusion_flat;

#endif
