/* What the kernels of two passes a step are given. For NVRTC too. */
#ifndef DIFFUSION_CUDA_FUSED_CUH
#define DIFFUSION_CUDA_FUSED_CUH

typedef struct diffusion_fused {
  float *mixed, *real;       /* [nz][ny][nx] both, of one field */
  long long field;           /* numbers from one mixed field to the next */
  float nyquist[2];          /* of each field: what kx = nx / 2 is multiplied by beside kx = 0 */
  const void *turns_x;       /* float4 [16][nx/32]: of lines (dft.cuh) */
  const void *turns_z;       /* the same of nz */
  const void *turns_y;       /* float2 [ny]: exp(-2 pi i n / ny) */
  const float *ex, *ey, *ez; /* factors of the multiplier: [nx/2], [ny], [nz] */
  long long nz;
  double size[3];
} diffusion_fused;

/* A CUtensorMap. */
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
