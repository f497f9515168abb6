/* Parameters of the kernels that make a stage of a flow in two passes (two axes) or four (three axes). Compiled by
 * NVRTC too.
 *
 * Complex numbers between the passes, only of the wavenumbers that dealiasing keeps. Each run defines their shape,
 * `scenario_shape`, with these constants: NX, NY, NZ: cells; KX: number of kx = 0, 1, ...; WIDE: neighbouring kx of a
 * tile; TX: tiles; KY, KY_LOW: number of ky, and of those from 0 on (three axes); DEEP: neighbouring ky of a tile of
 * columns along z; TY: these tiles; SLAB: neighbouring z of rows; LOW: number of wavenumbers from 0 on along the last
 * axis; GROUP: inputs of the rates that are stored side by side.
 *
 *   by rows:    [group][z / SLAB][kx / WIDE][y][z % SLAB][kx % WIDE][GROUP], transformed along x
 *   by columns: [field][kx / WIDE][ky / DEEP][z][ky % DEEP][kx % WIDE], transformed along x and y (three axes)
 *   state:      [field][kx / WIDE][ky / DEEP][i][thread], v[i] of a thread as in flat/lines.cuh, transformed along all
 *
 * On two axes the order by rows is that of columns along y: DEEP, TY and SLAB are 1. */
#ifndef DIFFUSION_CUDA_FLOW_CUH
#define DIFFUSION_CUDA_FLOW_CUH

typedef struct diffusion_flow {
  float *real;           /* fields for outputs, [fields][nz][ny][nx]; device memory */
  long long rowed, deep; /* strides of a field by rows and by columns, in complex numbers */
  long long cells;       /* stride of `real` */
  const void *turns[3];  /* twiddle factors along x, y, z: float2 [6][n / 16], then [6][n / 256] (flat/lines.cuh) */
  double size[3];
  int plane; /* three axes: first plane of the part that is by rows */
} diffusion_flow;

#endif
