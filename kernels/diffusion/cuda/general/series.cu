/* Series of sines and cosines along axes with walls, of fields with series of their own (`aligned`, work.h): each field
 * has its own kind along each axis. Cells are in their natural order, and entry k of every series is mode k; mode n of
 * a sine series is entry 0. A transform along an axis is a product with a matrix of n x n sines, made of tiles from a
 * table of 8 n cosines, or with a matrix of bases.c where a wall mixes value and slope. CPU: kernels/common/fft. */
#include "kernels/diffusion/cuda/general/passes.h"

#include "engine/device/cuda.h"
#include "kernels/diffusion/waves.h"

#include <cuda_runtime.h>
#include <math.h>
#include <stdlib.h>

static cudaStream_t stream() { return (cudaStream_t)sim_cuda_stream(); }

enum { TILE = 64, DEPTH = 16, LOAD = TILE * DEPTH / DIFFUSION_THREADS };
static_assert(DIFFUSION_THREADS == TILE * TILE / 16, "a thread has 4 x 4 results");

/* Lines along an axis: number r of batch b begins at b * batch + r * line, and its numbers are `step` apart. */
typedef struct series_lines {
  long long n, lines, step, line, batches, batch;
  long long written; /* numbers of a line that are written: n, and zeros beyond */
  int kind;          /* grid_boundary */
} series_lines;

/* Factor of a cell in a coefficient (FORWARD), or of a coefficient in a cell: cos or sin of pi (k + q) (j + 1/2)/n,
 * where q = 1/2 in quarter waves. table[m] = cos(pi m / 4n), m < 8n. Between walls that mix value and slope the table
 * has the factors themselves, [out][in]. */
template <typename real, bool FORWARD>
__device__ __forceinline__ real series_factor(const series_lines &s, long long out, long long in, const real *table) {
  const long long k = FORWARD ? out : in, j = FORWARD ? in : out;
  const bool sine = s.kind == GRID_FIXED || s.kind == GRID_FIXED_LOW,
             whole = s.kind == GRID_NO_FLUX || s.kind == GRID_FIXED;
  if (out >= s.n || in >= s.n) return 0;
  if (s.kind == GRID_ROBIN) return table[out * s.n + in];
  const long long twice = whole ? (sine && k == 0 ? 2 * s.n : 2 * k) : 2 * k + 1, back = sine ? 6 * s.n : 0;
  const real factor = s.n <= 16384
                          ? table[((unsigned)twice * (unsigned)(2 * j + 1) + (unsigned)back) % (unsigned)(8 * s.n)]
                          : table[(unsigned long long)(twice * (2 * j + 1) + back) % (unsigned long long)(8 * s.n)];
  return FORWARD || (whole && k == 0) ? factor : 2 * factor;
}

/* A block computes TILE entries of TILE lines. ALONG: a line's numbers are adjacent; else those of adjacent lines. */
template <typename real, bool FORWARD, bool ALONG>
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    series_of(const real *__restrict__ from, real *__restrict__ to, const series_lines s,
              const real *__restrict__ table) {
  __shared__ real factors[DEPTH][TILE + 1], numbers[DEPTH][TILE + 1];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const long long tiles = (s.written + TILE - 1) / TILE;
  const long long first_line = blockIdx.x / tiles * TILE, first_entry = blockIdx.x % tiles * TILE;
  for (long long b = blockIdx.y; b < s.batches; b += gridDim.y) {
    const long long begin = b * s.batch;
    real sum[4][4] = {};
    for (long long first = 0; first < s.n; first += DEPTH) {
#pragma unroll
      for (int q = 0; q < LOAD; q++) {
        const int e = threadIdx.x + q * DIFFUSION_THREADS;
        factors[e % DEPTH][e / DEPTH] =
            series_factor<real, FORWARD>(s, first_entry + e / DEPTH, first + e % DEPTH, table);
        const int at = ALONG ? e % DEPTH : e / TILE, line = ALONG ? e / DEPTH : e % TILE;
        numbers[at][line] = first + at < s.n && first_line + line < s.lines
                                ? from[begin + (first_line + line) * s.line + (first + at) * s.step]
                                : 0;
      }
      __syncthreads();
#pragma unroll
      for (int at = 0; at < DEPTH; at++) {
        real f[4], v[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
          f[i] = factors[at][ALONG ? tx + 16 * i : ty * 4 + i];
          v[i] = numbers[at][ALONG ? ty * 4 + i : tx + 16 * i];
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
          for (int l = 0; l < 4; l++) sum[i][l] = fma(f[i], v[l], sum[i][l]);
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int l = 0; l < 4; l++) {
        const long long entry = first_entry + (ALONG ? tx + 16 * i : ty * 4 + i);
        const long long line = first_line + (ALONG ? ty * 4 + l : tx + 16 * l);
        if (entry < s.written && line < s.lines) to[begin + line * s.line + entry * s.step] = sum[i][l];
      }
  }
}

/* Lines along axis i of the layout of numbers, whose rows are padded. Along the fast axis the padding is set to 0. */
static series_lines lines_of(const diffusion_layout *p, int i, int kind) {
  series_lines s = {};
  s.n = s.written = p->n[i];
  s.kind = kind;
  s.batches = 1;
  s.line = 1;
  if (i == 0) {
    s.lines = p->n[1] * p->n[2], s.line = p->row, s.step = 1;
    s.written = p->row;
  } else if (i == 1) {
    s.lines = s.step = p->row;
    s.batches = p->n[2], s.batch = p->row * p->n[1];
  } else {
    s.lines = s.step = p->row * p->n[1];
  }
  return s;
}

/* The table of a column along x, y or z: cosines, or a matrix. */
template <typename real>
static const real *table_of(const diffusion_work *w, int column, int axis, int kind, bool forward) {
  bool slope;
  const int source = diffusion_cuda_column_source(w, column, axis, &slope);
  if (kind != GRID_ROBIN) return (const real *)w->own.general->cosines[axis].data;
  const int part = forward ? DIFFUSION_BASIS_FORWARD : slope ? DIFFUSION_BASIS_SLOPE : DIFFUSION_BASIS_INVERSE;
  const int number = w->bases->of[source][axis];
  return (const real *)w->bases->matrices[number].data + part * w->grid.n[axis] * w->grid.n[axis];
}

int diffusion_general_series_kind(const diffusion_work *w, int column, int axis, diffusion_pass pass) {
  const int own = diffusion_cuda_column_kind(w, column, axis);
  return pass == DIFFUSION_WHITE && own == GRID_ROBIN ? (int)GRID_NO_FLUX : own;
}

/* along: the numbers of a line are adjacent. */
template <typename real>
static void transform(const void *from, void *to, const series_lines &s, bool along, const real *table, bool forward) {
  static const sim_kernel kernel = {"diffusion_series", "transforms", SIM_LIMIT_BYTES};
  const long long tiles = (s.lines + TILE - 1) / TILE * ((s.written + TILE - 1) / TILE);
  const dim3 grid((unsigned)tiles, (unsigned)(s.batches < 65535 ? s.batches : 65535));
  if (grid.x == 0 || grid.y == 0) return; /* a rank without members */
  sim_cuda_begin(&kernel);
  if (along && forward)
    series_of<real, true, true><<<grid, DIFFUSION_THREADS, 0, stream()>>>((const real *)from, (real *)to, s, table);
  else if (along)
    series_of<real, false, true><<<grid, DIFFUSION_THREADS, 0, stream()>>>((const real *)from, (real *)to, s, table);
  else if (forward)
    series_of<real, true, false><<<grid, DIFFUSION_THREADS, 0, stream()>>>((const real *)from, (real *)to, s, table);
  else
    series_of<real, false, false><<<grid, DIFFUSION_THREADS, 0, stream()>>>((const real *)from, (real *)to, s, table);
  sim_cuda_end(&kernel, 2.0 * sizeof(real) * (double)(s.batches * s.lines * s.n));
}

template <typename real>
static void transform_column(diffusion_work *w, void *column, const diffusion_layout *p, int number,
                             diffusion_pass pass) {
  const bool forward = pass != DIFFUSION_INVERSE;
  const size_t bytes = (size_t)(p->row * p->n[1] * p->n[2]) * sizeof(real);
  void *from = column, *to = w->own.general->line.data;
  for (int step = 0; step < 3; step++) {
    const int i = forward ? step : 2 - step, axis = p->axis[i];
    const int kind = diffusion_general_series_kind(w, number, axis, pass);
    if (p->series[i] == GRID_PERIODIC) continue;
    transform(from, to, lines_of(p, i, kind), i == 0, table_of<real>(w, number, axis, kind, forward), forward);
    void *other = from;
    from = to;
    to = other;
  }
  if (from != column)
    sim_cuda_failed(cudaMemcpyAsync(column, from, bytes, cudaMemcpyDeviceToDevice, stream()), "cudaMemcpyAsync",
                    "a series");
}

void diffusion_general_series_of(diffusion_work *w, void *column, const diffusion_layout *p, int number,
                                 diffusion_pass pass) {
  if (w->single)
    transform_column<float>(w, column, p, number, pass);
  else
    transform_column<double>(w, column, p, number, pass);
}

void diffusion_general_series(diffusion_work *w, void *columns, int first, int count, diffusion_pass pass) {
  const size_t bytes = (size_t)w->planes.field * (size_t)diffusion_cuda_number_size(w->p);
  for (int c = 0; c < count; c++)
    diffusion_general_series_of(w, (char *)columns + (size_t)c * bytes, &w->planes, first + c, pass);
}

void diffusion_general_series_z(diffusion_work *w, const void *from, void *to, long long blocks, int number,
                                diffusion_pass pass) {
  const diffusion_layout *p = &w->layout;
  const bool forward = pass != DIFFUSION_INVERSE;
  const int kind = diffusion_general_series_kind(w, number, 2, pass);
  series_lines s = {};
  s.n = s.written = p->n[2];
  s.kind = kind;
  s.lines = s.step = p->wide * p->row;
  s.line = 1;
  s.batches = blocks;
  s.batch = s.lines * s.n;
  if (w->single)
    transform(from, to, s, false, table_of<float>(w, number, 2, kind, forward), forward);
  else
    transform(from, to, s, false, table_of<double>(w, number, 2, kind, forward), forward);
}

/* cos(pi m / 4n) for 0 <= m < 8n, by angles up to pi/4. */
static double cosine(int64_t m, int64_t n) {
  const double unit = DIFFUSION_PI / (4 * (double)n);
  if (m > 4 * n) m = 8 * n - m;
  if (m > 2 * n) return -cosine(4 * n - m, n);
  return m > n ? sin(unit * (double)(2 * n - m)) : cos(unit * (double)m);
}

sim_status diffusion_general_cosines(diffusion_work *w, int axis) {
  const int64_t n = w->grid.n[axis], count = 8 * n;
  sim_buffer *out = &w->own.general->cosines[axis];
  const size_t size = (size_t)diffusion_cuda_number_size(w->p);
  SIM_TRY(sim_buffer_create(&sim_backend_cuda, w->single ? SIM_F32 : SIM_F64, 1, &count, out));
  void *host = malloc((size_t)count * size);
  if (!host) return sim_no_memory("a table of %lld cosines", (long long)count);
  for (int64_t m = 0; m < count; m++) {
    const double value = cosine(m, n);
    if (w->single)
      ((float *)host)[m] = (float)value;
    else
      ((double *)host)[m] = value;
  }
  const sim_status status = sim_backend_cuda.copy(out->data, host, (size_t)count * size);
  free(host);
  return status;
}
