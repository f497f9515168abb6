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
static const int PIECE = DIFFUSION_PIECE;

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

/* A field of which a rank has values[grids][count], each grid in `each` pieces: the first piece, and the pieces and
 * cells of all ranks. */
struct measured {
  long long count, each, first, pieces, cells;
};

/* partial[way][pieces]. With `sum` only the sum of squared differences from the mean. */
template <typename real>
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    measure_pieces(const real *values, const measured m, const double *sum, double *partial) {
  const long long first = blockIdx.x % m.each * PIECE, end = first + PIECE < m.count ? first + PIECE : m.count;
  values += blockIdx.x / m.each * m.count;
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

/* Sums over the pieces of this rank, and then over all. */
template <typename real>
static void measure_once(diffusion_work *w, const real *values, const measured &m, const double *sum, double *partial,
                         double *result) {
  static const sim_kernel first = {"diffusion_measure", "observe", SIM_LIMIT_BYTES};
  static const sim_kernel then = {"diffusion_measure_all", "observe", SIM_LIMIT_BYTES};
  const long long cells = w->natural.field;
  const unsigned pieces = cells > 0 ? (unsigned)(cells / m.count * m.each) : 0, ways = sum ? 1 : (unsigned)MEASURES;
  sim_cuda_begin(&first);
  if (pieces > 0) measure_pieces<<<pieces, DIFFUSION_THREADS, 0, stream()>>>(values, m, sum, partial);
  sim_cuda_end(&first, sizeof(real) * (double)cells);
  const sim_columns columns = diffusion_cuda_measured(w->p, w->comm);
  if (w->exchange) sim_exchange_gather_columns(w->exchange, &columns, partial);
  sim_cuda_begin(&then);
  measure_all<<<ways, DIFFUSION_THREADS, 0, stream()>>>(partial, m.pieces, result);
  sim_cuda_end(&then, sizeof(double) * (double)ways * (double)m.pieces);
}

template <typename real> static void measure_field(diffusion_work *w, int field) {
  const long long plane = w->natural.n[0] * w->natural.n[1], parts = diffusion_cuda_measured_parts(w->p);
  const sim_columns all = diffusion_cuda_measured(w->p, w->comm);
  measured m = {w->natural.field, diffusion_cuda_pieces_of((double)w->natural.field), w->natural.first * plane / PIECE,
                (long long)all.n, grid_cells(&w->grid)};
  if (parts > 1) m.count = plane, m.each = m.pieces / parts, m.first = w->natural.first * m.each;
  const real *values = (const real *)w->real.data + field * w->natural.field;
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
  const long long pieces = diffusion_cuda_pieces_of((double)numbers), most = 8LL * sim_cuda_multiprocessors();
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
  long long members;   /* of all ranks */
  const double *waves; /* of diffusion_bases */
  long long squares[DIFFUSION_FIELDS][3]; /* where the mean squares of its functions begin there */
  long long deep, wide, begin;            /* rows of this rank, as in diffusion_layout; deep: its n[2] */
  int flat;                               /* threads of a column in the order of flat/columns.cuh; 0: another order */
} weighing;

__device__ static double weight_of(const weighing &w, int field, int axis, long long k) {
  const int kind = w.kind[field][axis];
  if (axis > 0 && axis == w.member_axis) return 1 / (double)w.members;
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
  const long long k = i % w.n[0], row = i / w.n[0], line = row / w.wide; /* as layout_wave */
  const double others =
      weight_of(w, field, 1, w.begin + line / w.deep * w.wide + row % w.wide) * weight_of(w, field, 2, line % w.deep);
  if (w.kind[field][0] && w.aligned)
    return {weight_of(w, field, 0, 2 * k) * others, weight_of(w, field, 0, 2 * k + 1) * others};
  if (w.kind[field][0]) return {(k ? 2 : 1) * others, k == 0 || 2 * k == w.length ? 0 : 2 * others};
  const double weight = (k == 0 || 2 * k == w.length ? 1 : 2) * others;
  return {weight, weight};
}

/* Coefficients of which a rank has parts of `count` numbers, each in `each` pieces: see struct measured. */
typedef struct weighed {
  const void *array[3];
  long long field, count; /* stride of fields, and size of a part, in complex numbers */
  long long each, before, pieces;
} weighed;

/* Numbers of a piece of a part, which the number of the piece on this rank gives. */
__device__ static void piece_of(const weighed &a, long long number, long long &first, long long &end) {
  const long long begin = number / a.each * a.count, last = begin + a.count;
  first = begin + number % a.each * PIECE;
  end = first + PIECE < last ? first + PIECE : last;
}

/* partial[array][field][piece] */
template <typename Pair>
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    square_pieces(const weighed a, const weighing w, double *partial) {
  long long first, end;
  piece_of(a, blockIdx.x, first, end);
  const Pair *from = (const Pair *)a.array[blockIdx.z] + blockIdx.y * a.field;
  double sum = 0;
  for (long long i = first + threadIdx.x; i < end; i += DIFFUSION_THREADS) {
    const Pair c = from[i];
    const double2 by = weights_at(w, blockIdx.y, i);
    sum += by.x * ((double)c.x * (double)c.x) + by.y * ((double)c.y * (double)c.y);
  }
  sum = over_block(SUM, sum);
  if (threadIdx.x == 0) partial[(blockIdx.z * gridDim.y + blockIdx.y) * a.pieces + a.before + blockIdx.x] = sum;
}

static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    square_all(const double *partial, long long pieces, double *result) {
  double sum = 0;
  for (long long i = threadIdx.x; i < pieces; i += DIFFUSION_THREADS) sum += partial[blockIdx.x * pieces + i];
  sum = over_block(SUM, sum);
  if (threadIdx.x == 0) result[blockIdx.x] = sum;
}

sim_status diffusion_cuda_norms_create(diffusion_work *w) {
  void *norms = NULL;
  SIM_TRY(sim_backend_cuda.alloc((size_t)diffusion_cuda_norms_bytes(&w->parts, w->fields), &norms));
  w->norms = (double *)norms;
  return SIM_OK;
}

/* The parts of a rank, without their arrays. */
static weighed weighed_of(const diffusion_work *w) {
  const diffusion_share *parts = &w->parts;
  weighed a = {};
  a.field = w->spectrum.field;
  a.count = parts->numbers;
  a.each = diffusion_cuda_pieces_of((double)a.count);
  a.before = parts->first * a.each;
  a.pieces = parts->all * a.each;
  return a;
}

/* Gathers sums partial[rows][pieces] of all parts. */
static void gather_parts(const diffusion_work *w, int rows, double *partial) {
  const sim_columns columns = diffusion_cuda_shared(&w->parts, rows);
  if (w->exchange && w->parts.all > 1) sim_exchange_gather_columns(w->exchange, &columns, partial);
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
  by.members = grid_members(&w->grid);
  by.deep = by.n[2];
  by.wide = w->slabs ? w->layout.wide : by.n[1];
  by.begin = w->slabs ? w->layout.begin : 0;
  by.flat = w->spectrum.column_threads;
  return by;
}

/* sums[array][field]: mean squares of the coefficients in 3 arrays at most. */
static sim_status mean_squares(diffusion_work *w, int arrays, const void *const *array, double *sums) {
  static const sim_kernel kernel = {"diffusion_norms", "error", SIM_LIMIT_BYTES};
  static const sim_kernel then = {"diffusion_norms_all", "error", SIM_LIMIT_BYTES};
  const int rows = arrays * w->fields;
  weighed a = weighed_of(w);
  const weighing by = weighing_of(w);
  for (int i = 0; i < arrays; i++) a.array[i] = array[i];
  const dim3 grid((unsigned)(a.each * w->parts.own), (unsigned)w->fields, (unsigned)arrays);
  double *partial = w->norms + rows;
  sim_cuda_begin(&kernel);
  if (grid.x > 0 && w->single)
    square_pieces<float2><<<grid, DIFFUSION_THREADS, 0, stream()>>>(a, by, partial);
  else if (grid.x > 0)
    square_pieces<double2><<<grid, DIFFUSION_THREADS, 0, stream()>>>(a, by, partial);
  sim_cuda_end(&kernel, 2.0 * rows * diffusion_cuda_number_size(w->p) * (double)a.field);
  gather_parts(w, rows, partial);
  sim_cuda_begin(&then);
  square_all<<<rows, DIFFUSION_THREADS, 0, stream()>>>(partial, a.pieces, w->norms);
  sim_cuda_end(&then, 8.0 * rows * (double)a.pieces);
  return sim_backend_cuda.copy(sums, w->norms, (size_t)rows * sizeof(double));
}

sim_status diffusion_cuda_error(diffusion_work *w, double *errors, double *sizes) {
  const void *const arrays[3] = {w->array[DIFFUSION_ERROR].data, w->array[DIFFUSION_BETWEEN].data,
                                 w->array[DIFFUSION_NEXT].data};
  double sums[3 * DIFFUSION_FIELDS];
  SIM_TRY(mean_squares(w, 3, arrays, sums));
  for (int f = 0; f < w->fields; f++) {
    const double error = sqrt(sums[f]), between = sqrt(sums[w->fields + f]);
    errors[f] = !(between <= error) && !isnan(error) ? between : error;
    sizes[f] = sqrt(sums[2 * w->fields + f]);
  }
  return SIM_OK;
}

/* ---- two neighbouring states ---- */

/* there = there - here; with `moves` there = here + factor there. */
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    move_twin(const double *here, double *there, long long numbers, bool moves, double factor) {
  const long long i = blockIdx.x * (long long)DIFFUSION_THREADS + threadIdx.x;
  if (i < numbers) there[i] = moves ? here[i] + factor * there[i] : there[i] - here[i];
}

/* Whole arrays, which both states have in the same shape, with any numbers between their fields. */
static void launch_twin(const diffusion_work *w, diffusion_work *twin, bool moves, double factor) {
  static const sim_kernel kernel = {"diffusion_twin", "error", SIM_LIMIT_BYTES};
  const long long numbers = (long long)(sim_buffer_bytes(&w->array[1]) / sizeof(double));
  const unsigned blocks = (unsigned)((numbers + DIFFUSION_THREADS - 1) / DIFFUSION_THREADS);
  sim_cuda_begin(&kernel);
  if (blocks > 0)
    move_twin<<<blocks, DIFFUSION_THREADS, 0, stream()>>>((const double *)w->array[1].data,
                                                          (double *)twin->array[1].data, numbers, moves, factor);
  sim_cuda_end(&kernel, 3.0 * sizeof(double) * (double)numbers);
}

sim_status diffusion_cuda_twin(diffusion_work *w, diffusion_work *twin, double size, double *distance,
                               double *magnitude) {
  const void *const arrays[2] = {twin->array[1].data, w->array[1].data};
  double sums[2 * DIFFUSION_FIELDS], squares[2] = {0, 0};
  launch_twin(w, twin, false, 0);
  SIM_TRY(mean_squares(w, 2, arrays, sums));
  for (int i = 0; i < 2 * w->fields; i++) squares[i / w->fields] += sums[i];
  *distance = sqrt(squares[0]);
  *magnitude = sqrt(squares[1]);
  launch_twin(w, twin, true, size * *magnitude / *distance);
  return twin->way->resume(twin);
}

/* ---- forcing ---- */

/* The table that is 1 in the shell; its entries are those of visit() in pointwise.cuh. */
struct shell_of {
  long long n[2], entries[3], numbers; /* entries: of the table; numbers: of a field's table */
  int parts;                           /* numbers of an entry */
  bool each;                           /* of re and im */
};

/* partial[field][piece]: sums of squares of the shell's coefficients. */
template <typename real, typename Pair>
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    shell_pieces(const weighed of_rank, const real *table, const shell_of s, const weighing w, double *partial) {
  const Pair *coefficients = (const Pair *)of_rank.array[0] + blockIdx.y * of_rank.field;
  long long first, end;
  piece_of(of_rank, blockIdx.x, first, end);
  table += blockIdx.y * s.numbers;
  double sum = 0;
  for (long long i = first + threadIdx.x; i < end; i += DIFFUSION_THREADS) {
    const long long row = i / w.n[0], line = row / w.wide; /* as layout_wave */
    const long long k1 = w.begin + line / w.deep * w.wide + row % w.wide, k2 = line % w.deep;
    const long long b = k1 < s.entries[1] ? k1 : s.n[0] - k1, c = k2 < s.entries[2] ? k2 : s.n[1] - k2;
    const real *of = table + ((c * s.entries[1] + b) * s.entries[0] + i % w.n[0]) * s.parts;
    const double re = of[0], im = s.each ? of[1] : of[0];
    if (re == 0 && im == 0) continue;
    const Pair a = coefficients[i];
    const double2 by = weights_at(w, blockIdx.y, i);
    sum += re * by.x * ((double)a.x * (double)a.x) + im * by.y * ((double)a.y * (double)a.y);
  }
  sum = over_block(SUM, sum);
  if (threadIdx.x == 0) partial[blockIdx.y * of_rank.pieces + of_rank.before + blockIdx.x] = sum;
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
  SIM_TRY(sim_backend_cuda.alloc((size_t)diffusion_cuda_force_bytes(&w->parts, w->fields), &force));
  w->force = (double *)force;
  return SIM_OK;
}

void diffusion_cuda_force(diffusion_work *w, int array, double h) {
  static const sim_kernel kernel = {"diffusion_force", "sums", SIM_LIMIT_BYTES};
  static const sim_kernel then = {"diffusion_force_all", "sums", SIM_LIMIT_BYTES};
  const diffusion_spectrum *p = &w->spectrum;
  const shell_of s = {{p->n[1], p->n[2]},
                      {p->table[0], p->table[1], p->table[2]},
                      p->tables,
                      p->factor == DIFFUSION_ALIKE ? 1 : 2,
                      p->factor == DIFFUSION_EACH};
  const weighing by = weighing_of(w);
  weighed a = weighed_of(w);
  a.array[0] = w->array[array].data;
  const dim3 grid((unsigned)(a.each * w->parts.own), (unsigned)w->fields);
  const void *table = diffusion_cuda_table(w, w->method.tables - 1);
  double *partial = w->force + 1;
  sim_cuda_begin(&kernel);
  if (grid.x > 0 && w->single)
    shell_pieces<float, float2><<<grid, DIFFUSION_THREADS, 0, stream()>>>(a, (const float *)table, s, by, partial);
  else if (grid.x > 0)
    shell_pieces<double, double2><<<grid, DIFFUSION_THREADS, 0, stream()>>>(a, (const double *)table, s, by, partial);
  sim_cuda_end(&kernel, diffusion_cuda_number_size(w->p) * (double)(w->fields * p->tables));
  gather_parts(w, w->fields, partial);
  sim_cuda_begin(&then);
  shell_factor<<<1, DIFFUSION_THREADS, 0, stream()>>>(partial, a.pieces * w->fields, w->p->forcing.power, h, w->force);
  sim_cuda_end(&then, sizeof(double) * (double)(a.pieces * w->fields));
}

sim_status diffusion_cuda_force_energy(diffusion_work *w, double *out) {
  const long long pieces = (long long)diffusion_cuda_shared(&w->parts, 1).n * w->fields;
  double *partial = (double *)malloc((size_t)pieces * sizeof(double));
  if (!partial) return sim_no_memory("the energy of the forcing");
  const sim_status status = sim_backend_cuda.copy(partial, w->force + 1, (size_t)pieces * sizeof(double));
  *out = 0;
  for (long long i = 0; i < pieces; i++) *out += partial[i] / 2;
  free(partial);
  return status;
}
