/* First part of a force: box and units, Morton keys, sorted bodies; or new positions for the bodies of a kept tree. */
#include "kernels/nbody/fmm/cuda/stages.cuh"

#include "engine/device/cuda.h"
#include "kernels/common/launch.cuh"

#include <cub/device/device_radix_sort.cuh>

enum { THREADS = 256, BITS = 63 };

/* Returns an integer that is ordered as the numbers are, and above 0. */
__device__ static unsigned long long ordered(double x) {
  const long long bits = __double_as_longlong(x);
  return bits < 0 ? ~(unsigned long long)bits : (unsigned long long)bits | 1ull << 63;
}
__device__ static double number(unsigned long long ordered) {
  return __longlong_as_double((long long)(ordered >> 63 ? ordered & ~(1ull << 63) : ~ordered));
}

/* Resets the counters of the stages after the tree. For one thread block. */
__device__ static void restart(nbody_fmm_counters *counters) {
  for (int k = threadIdx.x; k < NBODY_FMM_TICKETS; k += THREADS) counters->ticket[k] = 0;
  if (threadIdx.x > 0) return;
  counters->segments = counters->tasks = counters->failed = 0;
  counters->forces++;
}

static __global__ void __launch_bounds__(THREADS)
    begin(nbody_fmm_counters *counters, unsigned long long *status, unsigned tiles) {
  after_previous();
  for (unsigned k = blockIdx.x * THREADS + threadIdx.x; k < tiles; k += gridDim.x * THREADS) status[k] = 0;
  if (blockIdx.x > 0) return;
  restart(counters);
  for (int k = threadIdx.x; k < 3; k += THREADS) counters->low[k] = counters->high[k] = 0;
}

/* NaN is left out. */
template <typename real>
static __global__ void __launch_bounds__(THREADS) extent(int n, const real *position, nbody_fmm_counters *counters) {
  after_previous();
  double low[3], high[3];
  for (int c = 0; c < 3; c++) {
    low[c] = INFINITY, high[c] = -INFINITY;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
      const double x = position[(size_t)c * n + i];
      low[c] = fmin(low[c], x), high[c] = fmax(high[c], x);
    }
    for (int step = 16; step > 0; step /= 2) {
      low[c] = fmin(low[c], warp_read_xor(low[c], step));
      high[c] = fmax(high[c], warp_read_xor(high[c], step));
    }
    if (threadIdx.x % 32 == 0) {
      atomicMax(&counters->low[c], ordered(-low[c]));
      atomicMax(&counters->high[c], ordered(high[c]));
    }
  }
}

template <typename real> __device__ static double in_box(double x, double origin, double per_edge) {
  return (double)(real)((x - origin) * per_edge);
}

template <typename real>
static __global__ void make_frame(double softening, double box, const nbody_fmm_counters *counters,
                                  nbody_fmm_frame *frame) {
  after_previous();
  if (box > 0) {
    nbody_fmm_frame f = {};
    f.per_edge = 1 / box;
    f.softening = softening * f.per_edge;
    *frame = f;
    return;
  }
  double length = softening * 0x1p-10, low[3], high[3];
  for (int c = 0; c < 3; c++) {
    low[c] = -number(counters->low[c]), high[c] = number(counters->high[c]);
    length = fmax(length, high[c] - low[c]);
  }
  int exponent = 0;
  if (length > 0 && length < INFINITY) frexp(length, &exponent);
  const double edge = ldexp(1.0, exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent);
  nbody_fmm_frame f;
  f.per_edge = 1 / edge;
  for (int c = 0; c < 3; c++) {
    f.origin[c] = edge * trunc((low[c] / 2 + high[c] / 2) * f.per_edge);
    f.low[c] = in_box<real>(low[c], f.origin[c], f.per_edge);
  }
  f.softening = softening * f.per_edge;
  *frame = f;
}

/* Spreads the lowest 21 bits: two zero bits follow each. */
__device__ static unsigned long long spread(unsigned digit) {
  unsigned long long x = digit;
  x = (x | x << 32) & 0x001f00000000ffffull;
  x = (x | x << 16) & 0x001f0000ff0000ffull;
  x = (x | x << 8) & 0x100f00f00f00f00full;
  x = (x | x << 4) & 0x10c30c30c30c30c3ull;
  x = (x | x << 2) & 0x1249249249249249ull;
  return x;
}

/* Body i of the state in the frame. */
template <typename real, typename state_real>
__device__ static typename quad<real>::type body_of(int n, const state_real *position, const state_real *mass,
                                                    double mass_scale, const nbody_fmm_frame *frame, size_t i) {
  real x[3];
  for (int c = 0; c < 3; c++) x[c] = (real)(((double)position[(size_t)c * n + i] - frame->origin[c]) * frame->per_edge);
  typename quad<real>::type b;
  b.x = x[0], b.y = x[1], b.z = x[2], b.w = (real)((double)mass[i] * mass_scale);
  return b;
}

template <typename real, typename state_real>
static __global__ void __launch_bounds__(THREADS)
    make_keys(int n, const state_real *position, const state_real *mass, double mass_scale,
              const nbody_fmm_frame *frame, unsigned long long *key, unsigned *id, typename quad<real>::type *packed) {
  after_previous();
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  const typename quad<real>::type b = body_of<real>(n, position, mass, mass_scale, frame, (size_t)i);
  const real x[3] = {b.x, b.y, b.z};
  unsigned long long k = 0;
  for (int c = 0; c < 3; c++) {
    const unsigned digit = (unsigned)(((double)x[c] - frame->low[c]) * 0x1p21); /* 0 for NaN */
    k |= spread(min(digit, (1u << 21) - 1)) << (2 - c);
  }
  key[i] = k;
  id[i] = (unsigned)i;
  packed[i] = b;
}

/* A body is one piece of memory, where an array for each component would take four. */
template <typename body_type>
static __global__ void __launch_bounds__(THREADS)
    gather(int n, const unsigned *id, const body_type *packed, body_type *body) {
  after_previous();
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < n) body[i] = packed[id[i]];
}

/* Bodies of a kept tree where they are now; cells and counters as they are before `up`. */
template <typename real, typename state_real>
static __global__ void __launch_bounds__(THREADS)
    refit(const nbody_fmm_tree<real> t, const state_real *position, const state_real *mass, double mass_scale) {
  after_previous();
  const unsigned cells = t.counters->level_begin[NBODY_FMM_LEVEL_MAX + 1];
  const unsigned first = blockIdx.x * THREADS + threadIdx.x, stride = gridDim.x * THREADS;
  for (unsigned i = first; i < (unsigned)t.n; i += stride)
    t.body[i] = body_of<real>(t.n, position, mass, mass_scale, t.frame, t.id[i]);
  for (unsigned c = first; c < cells; c += stride) t.stage[c] = FMM_STAGE_NEW;
  if (blockIdx.x == 0) restart(t.counters);
}

static unsigned blocks_for(int n) { return (unsigned)((n + THREADS - 1) / THREADS); }
static unsigned at_most(unsigned blocks, int per_multiprocessor) {
  const unsigned most = (unsigned)(per_multiprocessor * sim_cuda_multiprocessors());
  return blocks < most ? blocks : most;
}

static cudaError_t radix_sort(const nbody_fmm_sort *s, int n, void *room, size_t *bytes, bool *swapped) {
  cub::DoubleBuffer<unsigned long long> keys(s->key[0], s->key[1]);
  cub::DoubleBuffer<unsigned> values(s->id[0], s->id[1]);
  const cudaError_t error =
      cub::DeviceRadixSort::SortPairs(room, *bytes, keys, values, n, 0, BITS, (cudaStream_t)sim_cuda_stream());
  *swapped = keys.Current() != s->key[0];
  return error;
}

size_t nbody_fmm_sort_room(int n) {
  size_t bytes = 0;
  bool swapped;
  const nbody_fmm_sort none = {};
  return sim_cuda_failed(radix_sort(&none, n, nullptr, &bytes, &swapped), "SortPairs", "size") ? 0 : bytes;
}

template <typename real> void nbody_fmm_take_order(nbody_fmm_tree<real> *t, const nbody_fmm_sort *s, bool swapped) {
  t->key = s->key[swapped];
  t->id = s->id[swapped];
  t->done = s->id[!swapped];
}

template <typename real, typename state_real>
void nbody_fmm_refit(nbody_fmm_tree<real> *t, const nbody_state *state, double mass_scale) {
  static const sim_kernel kernel = {"nbody_fmm_refit", "sort", SIM_LIMIT_BYTES};
  const double n = t->n;
  device_launch(&kernel, (4 * sizeof(state_real) + 4 * sizeof(real) + 4) * n, at_most(blocks_for(t->n), 8), THREADS,
                refit<real, state_real>, *t, (const state_real *)state->position, (const state_real *)state->mass,
                mass_scale);
}

template <typename real, typename state_real>
bool nbody_fmm_sort_bodies(nbody_fmm_tree<real> *t, const nbody_fmm_sort *s, const nbody_state *state, double softening,
                           double mass_scale) {
  static const sim_kernel kernels[] = {
      {"nbody_fmm_begin", "sort", SIM_LIMIT_BYTES}, {"nbody_fmm_extent", "sort", SIM_LIMIT_BYTES},
      {"nbody_fmm_frame", "sort", SIM_LIMIT_BYTES}, {"nbody_fmm_keys", "sort", SIM_LIMIT_BYTES},
      {"nbody_fmm_sort", "sort", SIM_LIMIT_BYTES},  {"nbody_fmm_gather", "sort", SIM_LIMIT_BYTES}};
  const state_real *position = (const state_real *)state->position, *mass = (const state_real *)state->mass;
  const double n = t->n, vectors = 3 * sizeof(state_real) * n;
  const unsigned tiles = t->cells_most / NBODY_FMM_TILE + 1;
  device_launch(&kernels[0], 8.0 * tiles, at_most(tiles / THREADS + 1, 1), THREADS, begin, t->counters, t->status,
                tiles);
  device_launch(&kernels[1], vectors, at_most(blocks_for(t->n), 4), THREADS, extent<state_real>, t->n, position,
                t->counters);
  device_launch(&kernels[2], 0, 1, 1, make_frame<real>, softening, t->box, t->counters, t->frame);
  auto *const packed = (typename nbody_fmm_tree<real>::body_type *)s->packed;
  device_launch(&kernels[3], vectors + (sizeof(state_real) + 12 + 4 * sizeof(real)) * n, blocks_for(t->n), THREADS,
                make_keys<real, state_real>, t->n, position, mass, mass_scale, t->frame, s->key[0], s->id[0], packed);
  size_t bytes = s->bytes;
  bool swapped;
  sim_cuda_begin(&kernels[4]);
  sim_cuda_failed(radix_sort(s, t->n, s->room, &bytes, &swapped), "SortPairs", "nbody_fmm_sort");
  sim_cuda_end(&kernels[4], 8 * 24 * n);
  nbody_fmm_take_order(t, s, swapped);
  device_launch(&kernels[5], (8 * sizeof(real) + 4) * n, blocks_for(t->n), THREADS,
                gather<typename nbody_fmm_tree<real>::body_type>, t->n, t->id, packed, t->body);
  return swapped;
}

#define SORT_OF(real, state_real)                                                                                      \
  template bool nbody_fmm_sort_bodies<real, state_real>(nbody_fmm_tree<real> *, const nbody_fmm_sort *,                \
                                                        const nbody_state *, double, double);                          \
  template void nbody_fmm_refit<real, state_real>(nbody_fmm_tree<real> *, const nbody_state *, double);
SORT_OF(float, float)
SORT_OF(double, float)
SORT_OF(float, double)
SORT_OF(double, double)
template void nbody_fmm_take_order<float>(nbody_fmm_tree<float> *, const nbody_fmm_sort *, bool);
template void nbody_fmm_take_order<double>(nbody_fmm_tree<double> *, const nbody_fmm_sort *, bool);
