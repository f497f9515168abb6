/* Parameters of the kernels of two passes a step. Compiled by NVRTC too. */
#ifndef DIFFUSION_CUDA_FUSED_CUH
#define DIFFUSION_CUDA_FUSED_CUH

typedef struct diffusion_fused {
  float *mixed, *real;       /* device memory, [nz][ny][nx] of one field each */
  long long field;           /* stride of mixed fields, in numbers */
  float nyquist[2];          /* of each field: factor of kx = nx / 2 relative to kx = 0 */
  const void *turns_x;       /* twiddle factors, float4 [16][nx/32] (dft.cuh) */
  const void *turns_z;       /* twiddle factors, float4 [16][nz/32] */
  const void *turns_y;       /* float2 [ny]: exp(-2 pi i n / ny) */
  const float *ex, *ey, *ez; /* factors of the multiplier: [nx/2], [ny], [nz] */
  long long nz;
  double size[3];
} diffusion_fused;

/* Storage of a CUtensorMap. */
typedef struct diffusion_map {
#ifdef __cplusplus
  alignas(64)
#else
  _Alignas(64)
#endif
      unsigned char bytes[128];
} diffusion_map;

enum { COLUMNS_WIDE = 4 }; /* kx of a tile of columns */

#endif
