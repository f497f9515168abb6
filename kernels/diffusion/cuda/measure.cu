/* Measurements on the device: statistics of real fields, and root mean squares of coefficients by Parseval's
 * theorem. Sums have a fixed tree, the same on every GPU. */
#include "kernels/diffusion/cuda/work.h"

#include "engine/device/cuda.h"
#include "kernels/diffusion/cuda/flat/flat.cuh"
#include "kernels/diffusion/modes.cuh"

#include <cuda_runtime.h>
#include <math.h>
#include <stdlib.h>

static cudaStream_t stream() { return (cudaStream_t)sim_cuda_stream(); }

/* ---- statistics ---- */

enum { SUM, LEAST, GREATEST, MEASURES };
static const int PIECE = 65536;

/* NaN is kept. */
__device__ static double joined(int way, double a, double b) {
  if (way == SUM || a != a || b != b) return a + b;
  return (way == LEAST) == (b < a) ? b : a;
}
__device__ static double none_of(int way) { return way == SUM ? 0 : way == LEAST ? INFINITY : -INFINITY; }

/* Reduces over a block in a fixed tree; only thread 0 has the result. */
__device__ static double over_block(int way, double value) {
  __shared__ double shared[DIFFUSION_THREADS];
  __syncthreads();
  shared[threadIdx.x] = value;
  for (int step = DIFFUSION_THREADS / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) shared[threadIdx.x] = value = joined(way, value, shared[threadIdx.x + step]);
  }
  return value;
}

/* A field of which a rank has values[count]: its first piece, and the pieces and cells of all ranks. */
struct measured {
  long long count, first, pieces, cells;
};

/* partial[way][pieces]. With `sum` only the sum of squared differences from the mean. */
template <typename real>
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    measure_pieces(const real *values, const measured m, const double *sum, double *partial) {
  const long long first = (long long)blockIdx.x * PIECE, end = first + PIECE < m.count ? first + PIECE : m.count;
  const double mean = sum ? *sum / (double)m.cells : 0;
  double sums = 0, least = INFINITY, greatest = -INFINITY;
  for (long long i = first + threadIdx.x; i < end; i += DIFFUSION_THREADS) {
    const double value = (double)values[i] - mean;
    sums += sum ? value * value : value;
    least = joined(LEAST, least, value);
    greatest = joined(GREATEST, greatest, value);
  }
  const double results[MEASURES] = {over_block(SUM, sums), sum ? 0 : over_block(LEAST, least),
                                    sum ? 0 : over_block(GREATEST, greatest)};
  for (int way = 0; threadIdx.x == 0 && way < (sum ? 1 : (int)MEASURES); way++)
    partial[way * m.pieces + m.first + blockIdx.x] = results[way];
}

static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    measure_all(const double *partial, long long pieces, double *result) {
  const int way = blockIdx.x;
  double value = none_of(way);
  for (long long i = threadIdx.x; i < pieces; i += DIFFUSION_THREADS)
    value = joined(way, value, partial[way * pieces + i]);
  value = over_block(way, value);
  if (threadIdx.x == 0) result[way] = value;
}

static long long pieces_of(double cells) { return (long long)((cells + PIECE - 1) / PIECE); }

double diffusion_cuda_measure_bytes(double cells) {
  return sizeof(double) *
         (MEASURES + 1 + (int)MEASURES * (double)pieces_of(cells)); /* at least 7, of which mark_not_finite uses 4 */
}

/* Several ranks have whole planes, and a plane has whole pieces: every grid that ranks divide has planes of 65536 cells
 * or a multiple of that. */
sim_columns diffusion_cuda_pieces(const grid_shape *grid, const sim_comm *comm) {
  const size_t plane = (size_t)(grid->n[0] * grid->n[1] / PIECE);
  return {MEASURES, (size_t)pieces_of(grid_cells_wanted(grid)), sim_comm_share(comm, (size_t)grid->n[2]) * plane};
}

/* Sums over the pieces of this rank, and then over all. */
template <typename real>
static void measure_once(diffusion_work *w, const real *values, const measured &m, const double *sum, double *partial,
                         double *result) {
  static const sim_kernel first = {"diffusion_measure", "observe", SIM_LIMIT_BYTES};
  static const sim_kernel then = {"diffusion_measure_all", "observe", SIM_LIMIT_BYTES};
  const unsigned pieces = (unsigned)pieces_of((double)m.count), ways = sum ? 1 : (unsigned)MEASURES;
  sim_cuda_begin(&first);
  if (pieces > 0) measure_pieces<<<pieces, DIFFUSION_THREADS, 0, stream()>>>(values, m, sum, partial);
  sim_cuda_end(&first, sizeof(real) * (double)m.count);
  if (w->exchange) sim_exchange_gather(w->exchange, partial);
  sim_cuda_begin(&then);
  measure_all<<<ways, DIFFUSION_THREADS, 0, stream()>>>(partial, m.pieces, result);
  sim_cuda_end(&then, sizeof(double) * (double)ways * (double)m.pieces);
}

template <typename real> static void measure_field(diffusion_work *w, int field) {
  const long long plane = w->natural.n[0] * w->natural.n[1];
  const measured m = {w->natural.field, w->natural.first * plane / PIECE, pieces_of(grid_cells_wanted(&w->grid)),
                      grid_cells(&w->grid)};
  const real *values = (const real *)w->real.data + field * m.count;
  double *result = w->statistics, *partial = result + MEASURES + 1;
  measure_once(w, values, m, nullptr, partial, result);
  measure_once(w, values, m, result, partial, result + MEASURES);
}

sim_status diffusion_cuda_measure(diffusion_work *w, int field, double cell, diffusion_statistics *out) {
  double results[MEASURES + 1];
  if (w->single)
    measure_field<float>(w, field);
  else
    measure_field<double>(w, field);
  SIM_TRY(sim_backend_cuda.copy(results, w->statistics, sizeof results));
  const double count = (double)grid_cells(&w->grid);
  *out = (diffusion_statistics){.mean = results[SUM] / count,
                                .variance = results[MEASURES] / count,
                                .least = results[LEAST],
                                .greatest = results[GREATEST],
                                .mass = results[SUM] * cell};
  return SIM_OK;
}

/* ---- lines of cells ---- */

struct line_shape {
  long long n[3], count, first, cells; /* this rank has cells first <= i < first + cells */
  int axis;
};

template <typename real>
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    take_lines(const real *values, const line_shape s, real *lines) {
  const long long i = blockIdx.x * (long long)DIFFUSION_THREADS + threadIdx.x, n = s.n[s.axis], j = i / n;
  if (j >= s.count) return;
  const long long cell =
      diffusion_line_begin(s.n, s.axis, s.count, j) + i % n * diffusion_line_stride(s.n, s.axis) - s.first;
  lines[i] = cell >= 0 && cell < s.cells ? values[cell] : 0;
}

sim_status diffusion_cuda_lines(diffusion_work *w, int field, int axis, int64_t count, void *out) {
  static const sim_kernel kernel = {"diffusion_lines", "observe", SIM_LIMIT_BYTES};
  const line_shape s = {{w->grid.n[0], w->grid.n[1], w->grid.n[2]},
                        count,
                        w->natural.first * w->natural.n[0] * w->natural.n[1],
                        w->natural.field,
                        axis};
  const long long numbers = count * s.n[axis], first = field * w->natural.field;
  const unsigned blocks = (unsigned)((numbers + DIFFUSION_THREADS - 1) / DIFFUSION_THREADS);
  const double bytes = diffusion_cuda_number_size(w->p) * (double)numbers;
  sim_cuda_begin(&kernel);
  if (w->single)
    take_lines<<<blocks, DIFFUSION_THREADS, 0, stream()>>>((const float *)w->real.data + first, s, (float *)w->lines);
  else
    take_lines<<<blocks, DIFFUSION_THREADS, 0, stream()>>>((const double *)w->real.data + first, s, (double *)w->lines);
  sim_cuda_end(&kernel, 2 * bytes);
  SIM_TRY(sim_backend_cuda.copy(out, w->lines, (size_t)bytes));
  return diffusion_join_lines(w->comm, (size_t)bytes, out);
}

/* ---- search for values that are not finite ---- */

template <typename real>
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    mark_not_finite(const real *state, long long numbers, int *broken) {
  state += blockIdx.y * numbers;
  for (long long i = blockIdx.x * (long long)DIFFUSION_THREADS + threadIdx.x; i < numbers;
       i += (long long)gridDim.x * DIFFUSION_THREADS)
    if (!isfinite(state[i])) broken[blockIdx.y] = 1;
}

sim_status diffusion_cuda_broken(diffusion_work *w, const sim_buffer *state, int *field) {
  static const sim_kernel kernel = {"diffusion_finite", "observe", SIM_LIMIT_BYTES};
  long long numbers = 1;
  for (int i = 1; i < state->rank; i++) numbers *= state->shape[i];
  const long long pieces = pieces_of((double)numbers), most = 8LL * sim_cuda_multiprocessors();
  const dim3 grid((unsigned)(pieces < most ? pieces : most), (unsigned)w->fields);
  int *there = (int *)w->statistics, broken[DIFFUSION_FIELDS];
  uint64_t from = 0;
  sim_cuda_begin(&kernel);
  sim_cuda_failed(cudaMemsetAsync(there, 0, sizeof broken, stream()), "cudaMemsetAsync", "fields that are not finite");
  if (w->single && pieces > 0)
    mark_not_finite<<<grid, DIFFUSION_THREADS, 0, stream()>>>((const float *)state->data, numbers, there);
  else if (pieces > 0)
    mark_not_finite<<<grid, DIFFUSION_THREADS, 0, stream()>>>((const double *)state->data, numbers, there);
  sim_cuda_end(&kernel, diffusion_cuda_number_size(w->p) * w->fields * (double)numbers);
  SIM_TRY(sim_backend_cuda.copy(broken, there, sizeof broken));
  for (int f = w->fields - 1; f >= 0; f--)
    if (broken[f]) from = (uint64_t)(w->fields - f);
  return diffusion_first_broken(w->comm, w->fields, from, field);
}

/* ---- root mean squares ---- */

/* Weights of coefficients in the mean of squares: 2 where k and -k are stored once, 1/2 for cos^2 and sin^2. */
typedef struct weighing {
  long long n[3];                             /* complex numbers along the fast, middle and slow axis */
  long long length;                           /* cells of the fast axis; wavenumber length/2 is its own mirror image */
  int kind[DIFFUSION_FIELDS][3], member_axis; /* kind: of each field, grid_boundary */
  bool aligned;        /* where the fast axis has walls, re and im of number i belong to 2i and 2i + 1 */
  const double *waves; /* of diffusion_bases */
  long long squares[DIFFUSION_FIELDS][3]; /* where the mean squares of its functions begin there */
  int flat;                               /* threads of a column in the order of flat/columns.cuh; 0: another order */
} weighing;

__device__ static double weight_of(const weighing &w, int field, int axis, long long k) {
  const int kind = w.kind[field][axis];
  if (axis > 0 && axis == w.member_axis) return 1 / (double)w.n[axis];
  if (kind == GRID_ROBIN) return w.waves[w.squares[field][axis] + k];
  return kind && (k || kind == GRID_FIXED_LOW || kind == GRID_FIXED_HIGH) ? 2 : 1;
}

/* Weights of re and im of number i. With walls along the fast axis re belongs to k and im to n - k. */
__device__ static double2 weights_at(const weighing &w, int field, long long i) {
  if (w.flat) {
    const long long kx = i / (FLAT_WIDE * w.n[1]) * FLAT_WIDE + i % (FLAT_WIDE * w.flat) / w.flat;
    const double weight = 2 * kx > w.length ? 0 : kx == 0 || 2 * kx == w.length ? 1 : 2;
    return {weight, weight};
  }
  const long long k = i % w.n[0], row = i / w.n[0];
  const double others = weight_of(w, field, 1, row % w.n[1]) * weight_of(w, field, 2, row / w.n[1]);
  if (w.kind[field][0] && w.aligned)
    return {weight_of(w, field, 0, 2 * k) * others, weight_of(w, field, 0, 2 * k + 1) * others};
  if (w.kind[field][0]) return {(k ? 2 : 1) * others, k == 0 || 2 * k == w.length ? 0 : 2 * others};
  const double weight = (k == 0 || 2 * k == w.length ? 1 : 2) * others;
  return {weight, weight};
}

typedef struct weighed {
  const void *array[3];
  long long field, count; /* stride of fields, and size of one, in complex numbers */
} weighed;

/* partial[array][field][piece] */
template <typename Pair>
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    square_pieces(const weighed a, const weighing w, double *partial) {
  const long long first = (long long)blockIdx.x * PIECE, end = first + PIECE < a.count ? first + PIECE : a.count;
  const Pair *from = (const Pair *)a.array[blockIdx.z] + blockIdx.y * a.field;
  double sum = 0;
  for (long long i = first + threadIdx.x; i < end; i += DIFFUSION_THREADS) {
    const Pair c = from[i];
    const double2 by = weights_at(w, blockIdx.y, i);
    sum += by.x * ((double)c.x * (double)c.x) + by.y * ((double)c.y * (double)c.y);
  }
  sum = over_block(SUM, sum);
  if (threadIdx.x == 0) partial[(blockIdx.z * gridDim.y + blockIdx.y) * (long long)gridDim.x + blockIdx.x] = sum;
}

static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    square_all(const double *partial, long long pieces, double *result) {
  double sum = 0;
  for (long long i = threadIdx.x; i < pieces; i += DIFFUSION_THREADS) sum += partial[blockIdx.x * pieces + i];
  sum = over_block(SUM, sum);
  if (threadIdx.x == 0) result[blockIdx.x] = sum;
}

sim_status diffusion_cuda_norms_create(diffusion_work *w) {
  const double pieces = (double)pieces_of((double)w->spectrum.field);
  void *norms = NULL;
  SIM_TRY(sim_backend_cuda.alloc((size_t)((1 + pieces) * 3 * w->fields) * sizeof(double), &norms));
  w->norms = (double *)norms;
  return SIM_OK;
}

/* Collects the weights of the coefficients of a run. */
static weighing weighing_of(const diffusion_work *w) {
  weighing by = {};
  for (int i = 0; i < 3; i++) {
    by.n[i] = w->spectrum.n[i];
    for (int f = 0; f < w->fields; f++)
      by.kind[f][i] = w->aligned ? diffusion_cuda_kind(w, f, w->layout.axis[i]) : w->layout.kind[i];
    for (int f = 0; f < w->fields; f++)
      by.squares[f][i] = diffusion_bases_waves(w, f, w->layout.axis[i]) + w->layout.n[i] + 2;
  }
  by.waves = w->layout.waves;
  by.aligned = w->aligned;
  by.length = w->layout.n[0];
  by.member_axis = w->layout.member_axis;
  by.flat = w->spectrum.column_threads;
  return by;
}

sim_status diffusion_cuda_error(diffusion_work *w, double *errors, double *sizes) {
  static const sim_kernel kernel = {"diffusion_norms", "error", SIM_LIMIT_BYTES};
  static const int arrays[3] = {DIFFUSION_ERROR, DIFFUSION_BETWEEN, DIFFUSION_NEXT};
  weighed a = {};
  const weighing by = weighing_of(w);
  double sums[3 * DIFFUSION_FIELDS];
  for (int i = 0; i < 3; i++) a.array[i] = w->array[arrays[i]].data;
  a.field = a.count = w->spectrum.field;
  const dim3 grid((unsigned)pieces_of((double)a.count), (unsigned)w->fields, 3);
  double *partial = w->norms + 3 * w->fields;
  sim_cuda_begin(&kernel);
  if (w->single)
    square_pieces<float2><<<grid, DIFFUSION_THREADS, 0, stream()>>>(a, by, partial);
  else
    square_pieces<double2><<<grid, DIFFUSION_THREADS, 0, stream()>>>(a, by, partial);
  square_all<<<3 * w->fields, DIFFUSION_THREADS, 0, stream()>>>(partial, grid.x, w->norms);
  sim_cuda_end(&kernel, 6.0 * diffusion_cuda_number_size(w->p) * w->fields * (double)a.count);
  SIM_TRY(sim_backend_cuda.copy(sums, w->norms, (size_t)(3 * w->fields) * sizeof(double)));
  for (int f = 0; f < w->fields; f++) {
    const double error = sqrt(sums[f]), between = sqrt(sums[w->fields + f]);
    errors[f] = !(between <= error) && !isnan(error) ? between : error;
    sizes[f] = sqrt(sums[2 * w->fields + f]);
  }
  return SIM_OK;
}

double diffusion_cuda_norms_bytes(double fields, double numbers) {
  return sizeof(double) * 3 * fields * (1 + (double)pieces_of(numbers));
}

/* ---- forcing ---- */

/* The table that is 1 in the shell; its entries are those of visit() in pointwise.cuh. */
struct shell_of {
  long long field, count, n[2], entries[3], numbers; /* entries: of the table; numbers: of a field's table */
  int parts;                                         /* numbers of an entry */
  bool each;                                         /* of re and im */
};

/* partial[field][piece]: sums of squares of the shell's coefficients. */
template <typename real, typename Pair>
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    shell_pieces(const Pair *coefficients, const real *table, const shell_of s, const weighing w, double *partial) {
  const long long first = (long long)blockIdx.x * PIECE, end = first + PIECE < s.count ? first + PIECE : s.count;
  coefficients += blockIdx.y * s.field;
  table += blockIdx.y * s.numbers;
  double sum = 0;
  for (long long i = first + threadIdx.x; i < end; i += DIFFUSION_THREADS) {
    const long long row = i / w.n[0], k1 = row % s.n[0], k2 = row / s.n[0];
    const long long b = k1 < s.entries[1] ? k1 : s.n[0] - k1, c = k2 < s.entries[2] ? k2 : s.n[1] - k2;
    const real *of = table + ((c * s.entries[1] + b) * s.entries[0] + i % w.n[0]) * s.parts;
    const double re = of[0], im = s.each ? of[1] : of[0];
    if (re == 0 && im == 0) continue;
    const Pair a = coefficients[i];
    const double2 by = weights_at(w, blockIdx.y, i);
    sum += re * by.x * ((double)a.x * (double)a.x) + im * by.y * ((double)a.y * (double)a.y);
  }
  sum = over_block(SUM, sum);
  if (threadIdx.x == 0) partial[blockIdx.y * (long long)gridDim.x + blockIdx.x] = sum;
}

/* *force = power over the sum of all pieces, which is 2 E. NaN where a step of h is not accurate with it, as in
 * diffusion_force_factor. */
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    shell_factor(const double *partial, long long pieces, double power, double h, double *force) {
  double sum = 0;
  for (long long i = threadIdx.x; i < pieces; i += DIFFUSION_THREADS) sum += partial[i];
  sum = over_block(SUM, sum);
  if (threadIdx.x == 0) *force = power * h > sum ? NAN : power / sum;
}

sim_status diffusion_cuda_force_create(diffusion_work *w) {
  void *force = NULL;
  SIM_TRY(sim_backend_cuda.alloc((size_t)diffusion_cuda_force_bytes(w->fields, (double)w->spectrum.field), &force));
  w->force = (double *)force;
  return SIM_OK;
}

double diffusion_cuda_force_bytes(double fields, double numbers) {
  return sizeof(double) * (1 + fields * (double)pieces_of(numbers));
}

void diffusion_cuda_force(diffusion_work *w, int array, double h) {
  static const sim_kernel kernel = {"diffusion_force", "sums", SIM_LIMIT_BYTES};
  const diffusion_spectrum *p = &w->spectrum;
  const shell_of s = {p->field,
                      p->field,
                      {p->n[1], p->n[2]},
                      {p->table[0], p->table[1], p->table[2]},
                      p->tables,
                      p->factor == DIFFUSION_ALIKE ? 1 : 2,
                      p->factor == DIFFUSION_EACH};
  const weighing by = weighing_of(w);
  const dim3 grid((unsigned)pieces_of((double)p->field), (unsigned)w->fields);
  const void *from = w->array[array].data, *table = diffusion_cuda_table(w, w->method.tables - 1);
  double *partial = w->force + 1;
  sim_cuda_begin(&kernel);
  if (w->single)
    shell_pieces<<<grid, DIFFUSION_THREADS, 0, stream()>>>((const float2 *)from, (const float *)table, s, by, partial);
  else
    shell_pieces<<<grid, DIFFUSION_THREADS, 0, stream()>>>((const double2 *)from, (const double *)table, s, by,
                                                           partial);
  shell_factor<<<1, DIFFUSION_THREADS, 0, stream()>>>(partial, (long long)grid.x * grid.y, w->p->forcing.power, h,
                                                      w->force);
  sim_cuda_end(&kernel, diffusion_cuda_number_size(w->p) * (double)(w->fields * p->tables));
}

sim_status diffusion_cuda_force_energy(diffusion_work *w, double *out) {
  const long long pieces = pieces_of((double)w->spectrum.field) * w->fields;
  double *partial = (double *)malloc((size_t)pieces * sizeof(double));
  if (!partial) return sim_no_memory("the energy of the forcing");
  const sim_status status = sim_backend_cuda.copy(partial, w->force + 1, (size_t)pieces * sizeof(double));
  *out = 0;
  for (long long i = 0; i < pieces; i++) *out += partial[i] / 2;
  free(partial);
  return status;
}
