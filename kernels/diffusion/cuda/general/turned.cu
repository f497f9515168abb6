/* Passes over the blocks of slabs (slabs.c) between a turn and the transform along z. Blocks of a column follow each
 * other. */
#include "kernels/diffusion/cuda/general/passes.h"

#include "engine/device/cuda.h"
#include "kernels/diffusion/cuda/general/fold.cuh"

#include <cuda_runtime.h>

static cudaStream_t stream() { return (cudaStream_t)sim_cuda_stream(); }

enum { TILE = 32, LINES = 8 };
static const long long MOST = 65535; /* blocks of threads along y and z */

static dim3 grid_of(long long numbers, long long rows) {
  return dim3((unsigned)((numbers + DIFFUSION_THREADS - 1) / DIFFUSION_THREADS), (unsigned)(rows < MOST ? rows : MOST));
}

/* ---- the order of cells ---- */

template <typename real, bool FORWARD>
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    order_rows(const complex_of<real> *__restrict__ from, complex_of<real> *__restrict__ to, long long n,
               long long strip, long long rows, int kind) {
  const long long i = blockIdx.x * (long long)DIFFUSION_THREADS + threadIdx.x;
  for (long long row = blockIdx.y; row < rows && i < strip; row += gridDim.y) {
    const long long cell = row % n, other = row - cell + layout_position(kind, n, cell);
    complex_of<real> v = from[(FORWARD ? row : other) * strip + i];
    if (layout_negated(kind, cell)) v = {-v.re, -v.im};
    to[(FORWARD ? other : row) * strip + i] = v;
  }
}

template <typename real>
static void order(const diffusion_work *w, const void *from, void *to, long long blocks, int kind, bool forward) {
  static const sim_kernel kernel = {"diffusion_order", "transforms", SIM_LIMIT_BYTES};
  const long long n = w->layout.n[2], strip = w->layout.wide * w->layout.row / 2, rows = n * blocks;
  const dim3 grid = grid_of(strip, rows);
  if (rows == 0) return; /* a rank without blocks */
  sim_cuda_begin(&kernel);
  if (forward)
    order_rows<real, true><<<grid, DIFFUSION_THREADS, 0, stream()>>>((const complex_of<real> *)from,
                                                                     (complex_of<real> *)to, n, strip, rows, kind);
  else
    order_rows<real, false><<<grid, DIFFUSION_THREADS, 0, stream()>>>((const complex_of<real> *)from,
                                                                      (complex_of<real> *)to, n, strip, rows, kind);
  sim_cuda_end(&kernel, 4.0 * sizeof(real) * (double)(strip * rows));
}

void diffusion_turned_order(const diffusion_work *w, const void *from, void *to, long long blocks, int kind,
                            bool forward) {
  if (w->single)
    order<float>(w, from, to, blocks, kind, forward);
  else
    order<double>(w, from, to, blocks, kind, forward);
}

/* ---- cosine coefficients ---- */

/* One thread handles wavenumbers k and n - k. rows: of k <= n/2 in all blocks. */
template <typename real, bool FORWARD>
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    fold_rows(complex_of<real> *blocks, long long n, long long strip, long long rows, bool mirrored) {
  const long long i = blockIdx.x * (long long)DIFFUSION_THREADS + threadIdx.x, half = n / 2 + 1;
  for (long long row = blockIdx.y; row < rows && i < strip; row += gridDim.y) {
    const long long k = row % half, begin = row / half * n;
    complex_of<real> *at[2] = {blocks + (begin + k) * strip + i, blocks + (begin + (k ? n - k : 0)) * strip + i};
    const int in = mirrored && !FORWARD, out = mirrored && FORWARD;
    complex_of<real> a = *at[in], b = *at[1 - in];
    fold_pair<real, FORWARD>(a, b, turn(k, n, (real)0), k);
    *at[1 - out] = b;
    *at[out] = a; /* last, because both may be the same number */
  }
}

template <typename real>
static void fold(const diffusion_work *w, void *blocks, long long count, bool mirrored, bool forward) {
  static const sim_kernel kernel = {"diffusion_fold_z", "transforms", SIM_LIMIT_BYTES};
  const long long n = w->layout.n[2], strip = w->layout.wide * w->layout.row / 2, rows = (n / 2 + 1) * count;
  const dim3 grid = grid_of(strip, rows);
  if (rows == 0) return;
  sim_cuda_begin(&kernel);
  if (forward)
    fold_rows<real, true>
        <<<grid, DIFFUSION_THREADS, 0, stream()>>>((complex_of<real> *)blocks, n, strip, rows, mirrored);
  else
    fold_rows<real, false>
        <<<grid, DIFFUSION_THREADS, 0, stream()>>>((complex_of<real> *)blocks, n, strip, rows, mirrored);
  sim_cuda_end(&kernel, 4.0 * sizeof(real) * (double)(strip * n * count));
}

void diffusion_turned_fold(const diffusion_work *w, void *blocks, long long count, bool mirrored, bool forward) {
  if (w->single)
    fold<float>(w, blocks, count, mirrored, forward);
  else
    fold<double>(w, blocks, count, mirrored, forward);
}

/* ---- real lines along z ---- */

/* Blocks [nz][wide][row_x] and [nx][wide][row_z] of numbers; lines: wide times blocks. paired: number 2 k of a row is
 * the coefficient of wavenumber k of x, and number 2 k + 1 that of n - k; else number k. */
typedef struct across_shape {
  long long nx, nz, wide, row_x, row_z, lines;
  bool paired;
} across_shape;

/* Wavenumber of x of a number of a row; -1: none. Of the even nx, number nx + 1 is the coefficient nx/2 once more. */
__device__ __forceinline__ long long across_wave(const across_shape &s, long long number, bool forward) {
  const long long k = number / 2;
  if (!s.paired) return number < s.nx ? number : -1;
  if (number % 2 == 0) return k;
  if (2 * k == s.nx) return forward ? -1 : k;
  return k > 0 ? s.nx - k : -1;
}

template <typename real, bool FORWARD>
static __global__ void __launch_bounds__(TILE *LINES)
    across_rows(const real *__restrict__ from, real *__restrict__ to, const across_shape s) {
  __shared__ real tile[TILE][TILE + 1]; /* [z][number of the row along x] */
  const long long first_x = blockIdx.x * (long long)TILE, first_z = blockIdx.y * (long long)TILE;
  for (long long line = blockIdx.z; line < s.lines; line += gridDim.z) {
    const long long block = line / s.wide, b = line % s.wide;
    const long long of_z = (block * s.nz * s.wide + b) * s.row_x; /* z = 0 */
    const long long of_x = (block * s.nx * s.wide + b) * s.row_z; /* wavenumber 0 of x */
#pragma unroll
    for (int i = threadIdx.y; i < TILE; i += LINES) {
      const long long z = first_z + (FORWARD ? i : (int)threadIdx.x), x = first_x + (FORWARD ? (int)threadIdx.x : i);
      if (z >= s.nz || x >= s.row_x) continue;
      const long long k = FORWARD ? 0 : across_wave(s, x, false);
      tile[FORWARD ? i : threadIdx.x][FORWARD ? threadIdx.x : i] = FORWARD  ? from[of_z + z * s.wide * s.row_x + x]
                                                                   : k >= 0 ? from[of_x + k * s.wide * s.row_z + z]
                                                                            : 0;
    }
    __syncthreads();
#pragma unroll
    for (int i = threadIdx.y; i < TILE; i += LINES) {
      const long long z = first_z + (FORWARD ? (int)threadIdx.x : i), x = first_x + (FORWARD ? i : (int)threadIdx.x);
      if (z >= s.nz || x >= s.row_x) continue;
      const long long k = FORWARD ? across_wave(s, x, true) : 0;
      if (FORWARD && k >= 0) to[of_x + k * s.wide * s.row_z + z] = tile[threadIdx.x][i];
      if (!FORWARD) to[of_z + z * s.wide * s.row_x + x] = tile[i][threadIdx.x];
    }
    __syncthreads();
  }
}

template <typename real>
static void across(const diffusion_work *w, const void *from, void *to, long long blocks, bool forward) {
  static const sim_kernel kernel = {"diffusion_across", "transforms", SIM_LIMIT_BYTES};
  const diffusion_layout *p = &w->layout;
  across_shape s = {};
  s.nx = p->n[2], s.nz = p->n[0], s.wide = p->wide, s.row_x = w->planes.row, s.row_z = p->row;
  s.lines = blocks * p->wide;
  s.paired = !w->aligned;
  const dim3 grid((unsigned)((s.row_x + TILE - 1) / TILE), (unsigned)((s.nz + TILE - 1) / TILE),
                  (unsigned)(s.lines < MOST ? s.lines : MOST));
  if (s.lines == 0) return;
  sim_cuda_begin(&kernel);
  if (forward)
    across_rows<real, true><<<grid, dim3(TILE, LINES), 0, stream()>>>((const real *)from, (real *)to, s);
  else
    across_rows<real, false><<<grid, dim3(TILE, LINES), 0, stream()>>>((const real *)from, (real *)to, s);
  sim_cuda_end(&kernel, 2.0 * sizeof(real) * (double)(s.lines * s.nx * s.nz));
}

void diffusion_turned_across(const diffusion_work *w, const void *from, void *to, long long blocks, bool forward) {
  if (w->single)
    across<float>(w, from, to, blocks, forward);
  else
    across<double>(w, from, to, blocks, forward);
}
