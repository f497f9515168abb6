/* Layout of fields on the device. Compiled by nvcc, and by NVRTC with the rates of a scenario.
 *
 * A field transformed by cuFFT has its axes reordered to fast, middle, slow, with a periodic axis as the fast one if
 * there is any. Along axes with walls cells are ordered 0, 2, 4, ..., 5, 3, 1, with the odd ones negated where walls
 * are fixed: the Fourier transform of this order gives the cosine and sine transforms (Makhoul, IEEE Trans. ASSP 28,
 * 1980).
 *
 * Where fields have series of their own (`aligned`, work.h), periodic axes come first and then those with walls, along
 * which cells have their natural order (series.cu). */
#ifndef DIFFUSION_CUDA_LAYOUT_CUH
#define DIFFUSION_CUDA_LAYOUT_CUH

enum { DIFFUSION_THREADS = 256 };

typedef struct diffusion_layout {
  long long n[3];       /* fast, middle, slow */
  long long row, field; /* strides of rows and of fields, in numbers */
  int axis[3], kind[3]; /* axis: 0, 1, 2 for x, y, z; kind: grid_boundary, 0 also where there is one cell */
  int series[3];        /* the kind, and not 0 where fields have series of their own, with cells in natural order */
  int member_axis;      /* 2 where the slow axis is that of members, along which nothing is transformed; 0: none */
  double size[3];       /* of the box; 0 beyond the rank */
  long long first, all; /* of a rank's part of the slow axis: its first cell, and those of all ranks */
  /* Rows of coefficients that a rank has: blocks [slow][wide] of the middle axis, from its wavenumber `begin` on. One
   * block, wide = n[1], has all of them. */
  long long rows, wide, begin;
  const double *waves; /* device memory of diffusion_bases (work.h); NULL: no wall mixes value and slope */
} diffusion_layout;

#ifdef __CUDACC__
/* Wavenumbers of a row along the middle and the slow axis. */
__device__ inline void layout_wave(const diffusion_layout &p, long long row, long long &middle, long long &slow) {
  const long long line = row / p.wide, block = line / p.n[2];
  middle = p.begin + block * p.wide + row % p.wide;
  slow = line % p.n[2];
}
__device__ inline long long layout_cell(int kind, long long n, long long position) {
  if (kind == 0) return position;
  return position < (n + 1) / 2 ? 2 * position : 2 * (n - 1 - position) + 1;
}
__device__ inline long long layout_position(int kind, long long n, long long cell) {
  if (kind == 0) return cell;
  return cell % 2 == 0 ? cell / 2 : n - 1 - cell / 2;
}
__device__ inline bool layout_negated(int kind, long long cell) { return kind == 2 && cell % 2 != 0; }
/* Number of a cell in [z][y][x], from its indices along the layout's axes. */
__device__ inline unsigned long long layout_number(const diffusion_layout &p, const long long cell[3]) {
  unsigned long long stride = 1, number = 0;
#pragma unroll
  for (int k = 0; k < 3; k++)
#pragma unroll
    for (int i = 0; i < 3; i++)
      if (p.axis[i] == k) {
        number += (unsigned long long)cell[i] * stride;
        stride *= (unsigned long long)p.n[i];
      }
  return number;
}
#endif

#endif
