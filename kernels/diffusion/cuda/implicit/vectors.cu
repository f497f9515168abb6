/* Vectors of coefficients in device memory: complex numbers (re, im), or real ones where all axes have walls. Sums have
 * blocks of a fixed size and a fixed tree, so that a run has the same bits each time. */
#include "kernels/diffusion/cuda/implicit/implicit.h"

#include "engine/device/cuda.h"

#include <cuda_runtime.h>
#include <math.h>

static cudaStream_t stream() { return (cudaStream_t)sim_cuda_stream(); }

/* numbers of a block of a sum; products that one thread block computes at once */
enum { THREADS = DIFFUSION_THREADS, BLOCK = 2048, TOGETHER = 8 };

template <typename real> struct pair_of;
template <> struct pair_of<float> { using type = float2; };
template <> struct pair_of<double> { using type = double2; };

struct terms_of {
  const void *of[DIFFUSION_VECTOR_TERMS];
  double factor[DIFFUSION_VECTOR_TERMS];
  int count;
};

struct per_field {
  double of[DIFFUSION_FIELDS];
};

static long long pairs_of(const diffusion_vectors *v) { return v->fields * v->count / 2; }
static double bytes_of(const diffusion_vectors *v) {
  return (double)(v->fields * v->count) * (v->single ? sizeof(float) : sizeof(double));
}

/* Returns the thread blocks of a grid-stride loop over `pairs`. */
static unsigned blocks_for(long long pairs) {
  const long long blocks = (pairs + THREADS - 1) / THREADS, most = 16LL * sim_cuda_multiprocessors();
  return (unsigned)(blocks < most ? blocks : most);
}

#define EACH_PAIR(i, pairs)                                                                                            \
  long long i = blockIdx.x * (long long)THREADS + threadIdx.x;                                                         \
  i < (pairs);                                                                                                         \
  i += (long long)gridDim.x * THREADS

/* ---- one number at a time ---- */

template <typename real>
static __global__ void __launch_bounds__(THREADS) sum_of(real *out, long long pairs, const terms_of t) {
  using pair = typename pair_of<real>::type;
  for (EACH_PAIR(i, pairs)) {
    const pair a = ((const pair *)t.of[0])[i];
    pair sum = {(real)t.factor[0] * a.x, (real)t.factor[0] * a.y};
#pragma unroll 4
    for (int k = 1; k < t.count; k++) {
      const pair b = ((const pair *)t.of[k])[i];
      const real d = (real)t.factor[k];
      sum.x += d * b.x;
      sum.y += d * b.y;
    }
    ((pair *)out)[i] = sum;
  }
}

static void sum(const diffusion_vectors *v, void *out, int terms, const double *factor, const void *const *of) {
  static const sim_kernel kernel = {"diffusion_vectors", "vectors", SIM_LIMIT_BYTES};
  /* the target goes first, as on a CPU */
  terms_of t = {};
  int own = 0;
  t.count = terms;
  for (int k = 0; k < terms; k++)
    if (of[k] == out) own = k;
  for (int k = 0; k < terms; k++) {
    const int from = k == 0 ? own : k <= own ? k - 1 : k;
    t.of[k] = of[from];
    t.factor[k] = factor[from];
  }
  const long long pairs = pairs_of(v);
  sim_cuda_begin(&kernel);
  if (v->single)
    sum_of<<<blocks_for(pairs), THREADS, 0, stream()>>>((float *)out, pairs, t);
  else
    sum_of<<<blocks_for(pairs), THREADS, 0, stream()>>>((double *)out, pairs, t);
  sim_cuda_end(&kernel, (terms + 1) * bytes_of(v));
}

/* Returns the real part of a divisor. */
__device__ static double kept(double wanted, double first) { return wanted > first / 2 ? wanted : first / 2; }

template <typename real>
static __global__ void __launch_bounds__(THREADS)
    resolve_of(real *out, const real *symbol, long long pairs, long long in_field, bool complex, double first,
               const per_field factor) {
  using pair = typename pair_of<real>::type;
  for (EACH_PAIR(i, pairs)) {
    const pair s = ((const pair *)symbol)[i], u = ((const pair *)out)[i];
    const double by = factor.of[i / in_field], a = (double)u.x, b = (double)u.y;
    const double x = kept(first - by * (double)s.x, first);
    if (complex) {
      const double y = -by * (double)s.y, square = x * x + y * y;
      ((pair *)out)[i] = pair{(real)((a * x + b * y) / square), (real)((b * x - a * y) / square)};
    } else {
      ((pair *)out)[i] = pair{(real)(a / x), (real)(b / kept(first - by * (double)s.y, first))};
    }
  }
}

static void resolve(const diffusion_vectors *v, void *out, double first, const double *factor, const void *symbol) {
  static const sim_kernel kernel = {"diffusion_resolve", "vectors", SIM_LIMIT_BYTES};
  per_field by = {};
  const long long pairs = pairs_of(v), in_field = v->count / 2;
  for (int f = 0; f < v->fields; f++) by.of[f] = factor[f];
  sim_cuda_begin(&kernel);
  if (v->single)
    resolve_of<<<blocks_for(pairs), THREADS, 0, stream()>>>((float *)out, (const float *)symbol, pairs, in_field,
                                                            v->lanes > 0, first, by);
  else
    resolve_of<<<blocks_for(pairs), THREADS, 0, stream()>>>((double *)out, (const double *)symbol, pairs, in_field,
                                                            v->lanes > 0, first, by);
  sim_cuda_end(&kernel, 3 * bytes_of(v));
}

template <typename real>
static __global__ void __launch_bounds__(THREADS)
    choose_of(real *out, const real *other, const real *where, long long pairs) {
  using pair = typename pair_of<real>::type;
  for (EACH_PAIR(i, pairs)) {
    const pair a = ((const pair *)out)[i], b = ((const pair *)other)[i], w = ((const pair *)where)[i];
    ((pair *)out)[i] = pair{w.x != 0 ? b.x : a.x, w.y != 0 ? b.y : a.y};
  }
}

static void choose(const diffusion_vectors *v, void *out, const void *other, const void *where) {
  static const sim_kernel kernel = {"diffusion_choose", "vectors", SIM_LIMIT_BYTES};
  const long long pairs = pairs_of(v);
  sim_cuda_begin(&kernel);
  if (v->single)
    choose_of<<<blocks_for(pairs), THREADS, 0, stream()>>>((float *)out, (const float *)other, (const float *)where,
                                                           pairs);
  else
    choose_of<<<blocks_for(pairs), THREADS, 0, stream()>>>((double *)out, (const double *)other, (const double *)where,
                                                           pairs);
  sim_cuda_end(&kernel, 4 * bytes_of(v));
}

template <typename real>
static __global__ void __launch_bounds__(THREADS) fill_with(real *out, long long pairs, real re, real im) {
  using pair = typename pair_of<real>::type;
  for (EACH_PAIR(i, pairs)) ((pair *)out)[i] = pair{re, im};
}

static void fill(const diffusion_vectors *v, void *out, double re, double im) {
  static const sim_kernel kernel = {"diffusion_vectors_fill", "vectors", SIM_LIMIT_BYTES};
  const long long pairs = pairs_of(v);
  const double other = v->lanes > 0 ? im : re;
  sim_cuda_begin(&kernel);
  if (v->single)
    fill_with<<<blocks_for(pairs), THREADS, 0, stream()>>>((float *)out, pairs, (float)re, (float)other);
  else
    fill_with<<<blocks_for(pairs), THREADS, 0, stream()>>>((double *)out, pairs, re, other);
  sim_cuda_end(&kernel, bytes_of(v));
}

/* ---- sums ---- */

/* Reduces over a block in a fixed tree; only thread 0 has the result. */
__device__ static double over_block(double value, bool greatest) {
  __shared__ double shared[THREADS];
  __syncthreads();
  shared[threadIdx.x] = value;
  for (int step = THREADS / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) {
      const double other = shared[threadIdx.x + step];
      shared[threadIdx.x] = value = !greatest ? value + other : other > value ? other : value;
    }
  }
  return value;
}

/* The same for TOGETHER sums; thread k < TOGETHER returns sum k. */
__device__ static double over_block_together(const double *values) {
  __shared__ double shared[TOGETHER][THREADS];
  enum { SHARE = THREADS / TOGETHER }; /* threads of one sum */
  const int own = threadIdx.x / SHARE, lane = threadIdx.x % SHARE;
#pragma unroll
  for (int k = 0; k < TOGETHER; k++) shared[k][threadIdx.x] = values[k];
  __syncthreads();
  double sum = 0;
#pragma unroll
  for (int k = 0; k < TOGETHER; k++) sum += shared[own][lane + k * SHARE];
  __syncthreads();
  shared[own][lane] = sum;
  for (int step = SHARE / 2; step > 0; step /= 2) {
    __syncthreads();
    if (lane < step) shared[own][lane] = sum = sum + shared[own][lane + step];
  }
  __syncthreads();
  return threadIdx.x < TOGETHER ? shared[threadIdx.x][0] : 0;
}

static long long field_blocks(long long count) { return (count + BLOCK - 1) / BLOCK; }
long long diffusion_implicit_blocks(int fields, long long count) { return fields * field_blocks(count); }

/* Pairs of a block, within a field. */
__device__ static void block_at(long long in_field, long long count, long long &first, long long &end) {
  const long long field = blockIdx.x / in_field, begin = field * count;
  first = begin + blockIdx.x % in_field * BLOCK;
  end = first + BLOCK < begin + count ? first + BLOCK : begin + count;
  first /= 2;
  end /= 2;
}

/* partial[dot][block]: TOGETHER products from number TOGETHER * blockIdx.y on. */
template <typename real>
static __global__ void __launch_bounds__(THREADS) dots_of(const real *a, const terms_of t, long long in_field,
                                                          long long count, const per_field weight, double *partial) {
  using pair = typename pair_of<real>::type;
  long long first, end;
  block_at(in_field, count, first, end);
  const int begin = blockIdx.y * TOGETHER;
  double sums[TOGETHER] = {};
  for (long long i = first + threadIdx.x; i < end; i += THREADS) {
    const pair own = ((const pair *)a)[i];
#pragma unroll
    for (int k = 0; k < TOGETHER; k++)
      if (begin + k < t.count) {
        const pair other = ((const pair *)t.of[begin + k])[i];
        sums[k] += (double)own.x * (double)other.x + (double)own.y * (double)other.y;
      }
  }
  const double sum = over_block_together(sums);
  if (threadIdx.x < TOGETHER && begin + (int)threadIdx.x < t.count)
    partial[(begin + threadIdx.x) * (long long)gridDim.x + blockIdx.x] = weight.of[blockIdx.x / in_field] * sum;
}

/* out[row] of partial[row][count]. out: host memory. */
static __global__ void __launch_bounds__(THREADS)
    reduce_rows(const double *partial, long long count, bool greatest, double *out) {
  double value = greatest ? -INFINITY : 0;
  for (long long i = threadIdx.x; i < count; i += THREADS) {
    const double other = partial[blockIdx.x * count + i];
    value = !greatest ? value + other : other > value ? other : value;
  }
  value = over_block(value, greatest);
  if (threadIdx.x == 0) out[blockIdx.x] = value;
}

static void reduce(const diffusion_reduced *r, int rows, long long count, bool greatest) {
  static const sim_kernel kernel = {"diffusion_reduce", "vectors", SIM_LIMIT_BYTES};
  sim_cuda_begin(&kernel);
  reduce_rows<<<(unsigned)rows, THREADS, 0, stream()>>>(r->partial, count, greatest, r->host);
  sim_cuda_end(&kernel, sizeof(double) * rows * (double)count);
}

static const diffusion_reduced *reduced_of(const diffusion_vectors *v) { return (const diffusion_reduced *)v->own; }

static sim_status dots(const diffusion_vectors *v, const double *weight, const void *a, int count,
                       const void *const *of, double *out) {
  static const sim_kernel kernel = {"diffusion_dots", "vectors", SIM_LIMIT_BYTES};
  const diffusion_reduced *r = reduced_of(v);
  const long long in_field = field_blocks(v->count), blocks = v->fields * in_field;
  const dim3 grid((unsigned)blocks, (unsigned)((count + TOGETHER - 1) / TOGETHER));
  terms_of t = {};
  per_field by = {};
  t.count = count;
  for (int i = 0; i < count; i++) t.of[i] = of[i];
  for (int f = 0; f < v->fields; f++) by.of[f] = weight[f];
  sim_cuda_begin(&kernel);
  if (v->single)
    dots_of<<<grid, THREADS, 0, stream()>>>((const float *)a, t, in_field, (long long)v->count, by, r->partial);
  else
    dots_of<<<grid, THREADS, 0, stream()>>>((const double *)a, t, in_field, (long long)v->count, by, r->partial);
  sim_cuda_end(&kernel, (count + 1) * bytes_of(v));
  reduce(r, count, blocks, false);
  SIM_TRY(sim_queue_cuda.finish());
  for (int i = 0; i < count; i++) out[i] = r->host[i];
  return SIM_OK;
}

template <typename real>
static __global__ void __launch_bounds__(THREADS)
    greatest_of(const real *a, long long in_field, long long count, bool complex, double *partial) {
  using pair = typename pair_of<real>::type;
  long long first, end;
  block_at(in_field, count, first, end);
  double most = -INFINITY;
  for (long long i = first + threadIdx.x; i < end; i += THREADS) {
    const pair own = ((const pair *)a)[i];
    if ((double)own.x > most) most = (double)own.x;
    if (!complex && (double)own.y > most) most = (double)own.y;
  }
  most = over_block(most, true);
  if (threadIdx.x == 0) partial[blockIdx.x] = most;
}

static sim_status greatest(const diffusion_vectors *v, const void *a, double *most) {
  static const sim_kernel kernel = {"diffusion_greatest", "vectors", SIM_LIMIT_BYTES};
  const diffusion_reduced *r = reduced_of(v);
  const long long in_field = field_blocks(v->count), blocks = v->fields * in_field;
  sim_cuda_begin(&kernel);
  if (v->single)
    greatest_of<<<(unsigned)blocks, THREADS, 0, stream()>>>((const float *)a, in_field, (long long)v->count,
                                                            v->lanes > 0, r->partial);
  else
    greatest_of<<<(unsigned)blocks, THREADS, 0, stream()>>>((const double *)a, in_field, (long long)v->count,
                                                            v->lanes > 0, r->partial);
  sim_cuda_end(&kernel, bytes_of(v));
  reduce(r, 1, blocks, true);
  SIM_TRY(sim_queue_cuda.finish());
  *most = fmax(*most, r->host[0]);
  return SIM_OK;
}

const diffusion_vector_ops diffusion_vectors_cuda = {sum, resolve, choose, fill, dots, greatest};
