/* What holds for a wavenumber on the CPU and on the device alike. For NVRTC too. */
#ifndef DIFFUSION_MODES_CUH
#define DIFFUSION_MODES_CUH

#ifdef __CUDACC__
#define DIFFUSION_BOTH static __host__ __device__ inline
#else
#include <math.h>
#define DIFFUSION_BOTH static inline
#endif

/* Whether `dealias` keeps a mode along an axis of n cells. Modes go to n/2 where it is periodic and to n between walls.
 * Below 2/(p + 1) of that, no product of p modes is taken for a mode that is kept (Orszag, J. Atmos. Sci. 28, 1971). A
 * mode at the limit itself would be: it is cut, whatever rounding makes of the fraction. fraction 0: all are kept. */
DIFFUSION_BOTH int diffusion_mode_kept(long long mode, long long n, int periodic, double fraction) {
  const double most = periodic ? 0.5 * (double)n : (double)n;
  return !(fraction > 0) || (double)(mode < 0 ? -mode : mode) < (fraction - 1e-9) * most || mode == 0;
}

/* Lines of cells along an axis, `count` of all there are, evenly: the first cell of line j, in [nz][ny][nx], and the
 * cells from one to the next. */
DIFFUSION_BOTH long long diffusion_line_begin(const long long n[3], int axis, long long count, long long j) {
  const long long q = (2 * j + 1) * (n[0] * n[1] * n[2] / n[axis]) / (2 * count);
  return axis == 0 ? q * n[0] : axis == 1 ? q / n[0] * n[0] * n[1] + q % n[0] : q;
}
DIFFUSION_BOTH long long diffusion_line_stride(const long long n[3], int axis) {
  return axis == 0 ? 1 : axis == 1 ? n[0] : n[0] * n[1];
}

#endif
