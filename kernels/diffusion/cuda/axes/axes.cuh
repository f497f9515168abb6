/* Parameters of the kernels that pass over one axis. Compiled by NVRTC too. */
#ifndef DIFFUSION_CUDA_AXES_CUH
#define DIFFUSION_CUDA_AXES_CUH

typedef struct diffusion_axes {
  long long n[3];          /* cells of the whole grid along x, y, z */
  const float *turns[3];   /* twiddle factors, float4 [16][n/32] of each axis (dft.cuh) */
  const float *factors[3]; /* e_k; for an axis with walls {s_k, re c_k, im c_k, 0} */
  long long all_factors;   /* stride of the fields in `factors` */
  double size[3];
} diffusion_axes;

/* Fields of a part of the grid, [planes][rows][nx] each in device memory; x in the order of axes/passes.cuh. */
typedef struct diffusion_axes_slab {
  float *field;
  long long cells; /* stride of fields */
  long long rows;  /* rows of a plane */
  long long y, z;  /* of the first row in the whole grid */
} diffusion_axes_slab;

/* Part of a slab over which a kernel passes: `rows` rows, from row y on, of the planes from z on. A pass along y or z
 * begins with pair x of its lines. */
typedef struct diffusion_axes_part {
  long long x, y, z, rows;
} diffusion_axes_part;

/* The other slabs of all ranks, into which a pass along an axis stores. Point q of the pair of lines `column` of line
 * `other` (a plane for y, a row for z) belongs to rank r = q / share. Its position is the pair of numbers (start[r] + f
 * * fields[r] + other * lines[r]) / 2 + q * NEXT + column of that rank's slab. */
enum { AXES_PEERS = 8 };
typedef struct diffusion_axes_targets {
  float *slab[AXES_PEERS];
  long long start[AXES_PEERS], fields[AXES_PEERS], lines[AXES_PEERS];
} diffusion_axes_targets;

enum { AXES_ROWS = 128 }; /* threads of a block of rows */
/* Pairs of lines, of 32 q points each, that a block of the y or z pass takes; and one that stores into other slabs:
 * rows of 128 bytes, of which the link between GPUs passes more than of 64. */
#define AXES_WIDE(q) ((q) < 32 ? 16 : 8)
enum { AXES_TURN_WIDE = 16 };

/* Blocks of a kernel of several ranks: `turned` blocks take lines of a turn, `beside` others something else. A row or
 * plane has `across` blocks of the turn, and `across_beside` of other lines. */
typedef struct diffusion_axes_blocks {
  unsigned turned, beside, across, across_beside;
} diffusion_axes_blocks;
#define AXES_PITCH(q) (32 * ((q) + 2) + 2)

#endif
