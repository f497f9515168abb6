/* The entries of the Jacobian in each cell: their means, and levels of stiffness. A cell has its number in the layout
 * of real fields between transforms, whose rows are padded. */
#include "kernels/diffusion/cuda/implicit/implicit.h"

#include "engine/device/cuda.h"

#include <cuda_runtime.h>
#include <math.h>

static cudaStream_t stream() { return (cudaStream_t)sim_cuda_stream(); }

enum { THREADS = DIFFUSION_THREADS, PIECE = 4096 }; /* PIECE: cells */

/* Reduces over a block in a fixed tree; only thread 0 has the result. */
enum { SUM, LEAST, GREATEST };
__device__ static double joined(int way, double a, double b) {
  return way == SUM ? a + b : (way == LEAST) == (b < a) && b != a ? b : a;
}
__device__ static double over_block(int way, double value) {
  __shared__ double shared[THREADS];
  __syncthreads();
  shared[threadIdx.x] = value;
  for (int step = THREADS / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) shared[threadIdx.x] = value = joined(way, value, shared[threadIdx.x + step]);
  }
  return value;
}

struct cells_of {
  long long n, row, field, count; /* cells of a row and its stride; stride of fields; all cells of a field */
};
static cells_of cells(const diffusion_layout *p) { return {p->n[0], p->row, p->field, p->n[0] * p->n[1] * p->n[2]}; }
__device__ static long long place_of(const cells_of &c, long long i) { return i / c.n * c.row + i % c.n; }

long long diffusion_implicit_pieces(const diffusion_layout *p) {
  return (p->n[0] * p->n[1] * p->n[2] + PIECE - 1) / PIECE;
}

static unsigned blocks_for(long long cells) {
  const long long blocks = (cells + THREADS - 1) / THREADS, most = 16LL * sim_cuda_multiprocessors();
  return (unsigned)(blocks < most ? blocks : most);
}

#define EACH_CELL(i, cells)                                                                                            \
  long long i = blockIdx.x * (long long)THREADS + threadIdx.x;                                                         \
  i < (cells);                                                                                                         \
  i += (long long)gridDim.x * THREADS
#define EACH_OF_PIECE(i, cells)                                                                                        \
  long long i = blockIdx.x * (long long)PIECE + threadIdx.x;                                                           \
  i < (cells) && i < (blockIdx.x + 1) * (long long)PIECE;                                                              \
  i += THREADS

/* ---- means ---- */

/* partial[entry][piece], and after those of all entries the greatest values. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    average_pieces(const real *values, const cells_of c, double *partial) {
  double sum = 0, most = 0;
  values += blockIdx.y * c.field;
  for (EACH_OF_PIECE(i, c.count)) {
    const double value = (double)values[place_of(c, i)];
    sum += value;
    if (value > most) most = value;
  }
  sum = over_block(SUM, sum);
  most = over_block(GREATEST, most);
  if (threadIdx.x == 0) {
    partial[blockIdx.y * (long long)gridDim.x + blockIdx.x] = sum;
    partial[(gridDim.y + blockIdx.y) * (long long)gridDim.x + blockIdx.x] = most;
  }
}

/* out[row] of partial[row][pieces], by sums for the first rows and then by another way. out: host memory. */
static __global__ void __launch_bounds__(THREADS)
    reduce_pieces(const double *partial, long long pieces, int first, int way_of_first, int then, double *out) {
  const int way = (int)blockIdx.x < first ? way_of_first : then;
  double value = way == SUM ? 0 : way == LEAST ? INFINITY : -INFINITY;
  for (long long i = threadIdx.x; i < pieces; i += THREADS)
    value = joined(way, value, partial[blockIdx.x * pieces + i]);
  value = over_block(way, value);
  if (threadIdx.x == 0) out[blockIdx.x] = value;
}

static void reduce(const diffusion_reduced *r, int rows, long long pieces, int way_of_first, int then) {
  static const sim_kernel kernel = {"diffusion_reduce", "vectors", SIM_LIMIT_BYTES};
  sim_cuda_begin(&kernel);
  reduce_pieces<<<(unsigned)(2 * rows), THREADS, 0, stream()>>>(r->partial, pieces, rows, way_of_first, then, r->host);
  sim_cuda_end(&kernel, sizeof(double) * 2 * rows * (double)pieces);
}

sim_status diffusion_cells_average(diffusion_work *w, int entries, double *sums, double *most) {
  static const sim_kernel kernel = {"diffusion_average", "vectors", SIM_LIMIT_BYTES};
  const diffusion_implicit_memory *own = diffusion_implicit_of(w);
  const cells_of c = cells(&w->planes);
  const dim3 grid((unsigned)diffusion_implicit_pieces(&w->planes), (unsigned)entries);
  if (entries == 0) return SIM_OK;
  sim_cuda_begin(&kernel);
  if (w->single)
    average_pieces<<<grid, THREADS, 0, stream()>>>((const float *)own->values.data, c, own->reduced.partial);
  else
    average_pieces<<<grid, THREADS, 0, stream()>>>((const double *)own->values.data, c, own->reduced.partial);
  sim_cuda_end(&kernel, diffusion_cuda_number_size(w->p) * entries * (double)c.count);
  reduce(&own->reduced, entries, grid.x, SUM, GREATEST);
  SIM_TRY(sim_queue_cuda.finish());
  for (int i = 0; i < entries; i++) {
    sums[i] = own->reduced.host[i];
    most[i] = own->reduced.host[entries + i];
  }
  return SIM_OK;
}

/* ---- levels ---- */

struct stiffness_terms {
  double first, factor[DIFFUSION_ENTRIES];
  int count, of[DIFFUSION_ENTRIES];
};

/* partial[least, greatest][piece] */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    stiffness_pieces(real *place, const real *values, const cells_of c, const __grid_constant__ stiffness_terms t,
                     double *partial) {
  double least = INFINITY, most = -INFINITY;
  for (EACH_OF_PIECE(i, c.count)) {
    const long long at = place_of(c, i);
    real sum = (real)t.first;
    for (int k = 0; k < t.count; k++) sum += (real)t.factor[k] * values[t.of[k] * c.field + at];
    place[at] = sum;
    if ((double)sum < least) least = (double)sum;
    if ((double)sum > most) most = (double)sum;
  }
  least = over_block(LEAST, least);
  most = over_block(GREATEST, most);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = least;
    partial[gridDim.x + blockIdx.x] = most;
  }
}

sim_status diffusion_cells_stiffness(diffusion_work *w, int field, double first, int terms, const double *factor,
                                     const int *of, double *least, double *greatest) {
  static const sim_kernel kernel = {"diffusion_stiffness", "vectors", SIM_LIMIT_BYTES};
  const diffusion_implicit_memory *own = diffusion_implicit_of(w);
  const cells_of c = cells(&w->planes);
  const unsigned pieces = (unsigned)diffusion_implicit_pieces(&w->planes);
  stiffness_terms t = {};
  t.first = first;
  t.count = terms;
  for (int k = 0; k < terms; k++) t.factor[k] = factor[k], t.of[k] = of[k];
  sim_cuda_begin(&kernel);
  if (w->single)
    stiffness_pieces<<<pieces, THREADS, 0, stream()>>>((float *)own->place.data + field * c.field,
                                                       (const float *)own->values.data, c, t, own->reduced.partial);
  else
    stiffness_pieces<<<pieces, THREADS, 0, stream()>>>((double *)own->place.data + field * c.field,
                                                       (const double *)own->values.data, c, t, own->reduced.partial);
  sim_cuda_end(&kernel, diffusion_cuda_number_size(w->p) * (terms + 1) * (double)c.count);
  reduce(&own->reduced, 1, pieces, LEAST, GREATEST);
  SIM_TRY(sim_queue_cuda.finish());
  *least = own->reduced.host[0];
  *greatest = own->reduced.host[1];
  return SIM_OK;
}

/* As `place` of cpu/implicit/levels.inc. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    place_cells(real *values, const cells_of c, double low, double ratio, int levels) {
  for (EACH_CELL(i, c.count)) {
    real *value_at = values + place_of(c, i);
    const double value = (double)*value_at;
    double at = low, place = 0;
    int q = 0;
    for (; q + 2 < levels && value > at * ratio; q++) at *= ratio;
    if (value > at) {
      place = (1 / at - 1 / value) / (1 / at - 1 / (at * ratio));
      place = q + (place < 1 ? place : 1);
    }
    *value_at = (real)(value > at ? place : q);
  }
}

void diffusion_cells_place(diffusion_work *w, int field, double low, double ratio, int levels) {
  static const sim_kernel kernel = {"diffusion_place", "vectors", SIM_LIMIT_BYTES};
  void *place = diffusion_implicit_of(w)->place.data;
  const cells_of c = cells(&w->planes);
  sim_cuda_begin(&kernel);
  if (w->single)
    place_cells<<<blocks_for(c.count), THREADS, 0, stream()>>>((float *)place + field * c.field, c, low, ratio, levels);
  else
    place_cells<<<blocks_for(c.count), THREADS, 0, stream()>>>((double *)place + field * c.field, c, low, ratio,
                                                               levels);
  sim_cuda_end(&kernel, 2 * diffusion_cuda_number_size(w->p) * (double)c.count);
}

template <typename real>
static __global__ void __launch_bounds__(THREADS)
    weigh_cells(real *fields, const real *mixed, const real *place, const cells_of c, int level) {
  const long long before = blockIdx.y * c.field;
  for (EACH_CELL(i, c.count)) {
    const long long at = before + place_of(c, i);
    const real away = place[at] > (real)level ? place[at] - (real)level : (real)level - place[at];
    fields[at] = mixed[at] * (away < 1 ? 1 - away : 0);
  }
}

void diffusion_cells_weigh(diffusion_work *w, int level, void *fields) {
  static const sim_kernel kernel = {"diffusion_weigh", "vectors", SIM_LIMIT_BYTES};
  const diffusion_implicit_memory *own = diffusion_implicit_of(w);
  const cells_of c = cells(&w->planes);
  const dim3 grid(blocks_for(c.count), (unsigned)w->fields);
  sim_cuda_begin(&kernel);
  if (w->single)
    weigh_cells<<<grid, THREADS, 0, stream()>>>((float *)fields, (const float *)own->mixed.data,
                                                (const float *)own->place.data, c, level);
  else
    weigh_cells<<<grid, THREADS, 0, stream()>>>((double *)fields, (const double *)own->mixed.data,
                                                (const double *)own->place.data, c, level);
  sim_cuda_end(&kernel, 3 * diffusion_cuda_number_size(w->p) * w->fields * (double)c.count);
}
