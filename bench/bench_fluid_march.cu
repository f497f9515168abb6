/* Forms of the kernel that steps a fluid in moments, and launches of the one of populations in place, on random numbers
 * in a periodic box: billions of cells a second, and whether each has the bits of the first form.
 *
 *   bench_fluid_march [--cells N] [--steps S] [--only NAME]
 *
 * A row is one form (march.cuh), and how many planes a block makes. */
#include "kernels/fluid/cuda/tiles.cuh"
#include "kernels/fluid/cuda/trt.cuh"

#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "bench_fluid_march: %s\n", cudaGetErrorString(error));
  exit(1);
}

/* ---- memory ---- */

struct bench {
  int n, steps;
  const char *only;
  void *state[2];
  size_t bytes; /* of a state */
  fluid_guard *guard;
  unsigned long long *step; /* [2] */
  unsigned long long *sum;
  cudaEvent_t begin, end;
};

__device__ __forceinline__ float random_part(unsigned long long i) {
  i = (i + 1) * 0x9e3779b97f4a7c15ull;
  i = (i ^ (i >> 31)) * 0xbf58476d1ce4e5b9ull;
  return (float)(int)(i >> 32) * 0x1p-31f;
}
template <typename real> static __global__ void fill(real *to, size_t count, float size) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
    to[i] = (real)(size * random_part(i));
}
/* Adds the bits of all words, each times an odd number that depends on its place. */
static __global__ void add_bits(const unsigned *from, size_t count, unsigned long long *sum) {
  unsigned long long s = 0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
    s += from[i] * (2ull * i + 1);
  atomicAdd(sum, s);
}

static unsigned long long bits_of_state(const bench *b, int now) {
  unsigned long long out = 0;
  must(cudaMemset(b->sum, 0, sizeof out));
  add_bits<<<1024, 256>>>((const unsigned *)b->state[now], b->bytes / 4, b->sum);
  must(cudaMemcpy(&out, b->sum, sizeof out, cudaMemcpyDeviceToHost));
  return out;
}

/* Both states, guards and step numbers of `numbers` numbers in all. */
template <typename real> static void begin(bench *b, size_t numbers) {
  b->bytes = numbers * sizeof(real);
  fill<<<2048, 256>>>((real *)b->state[0], numbers, 0.01f);
  must(cudaMemset(b->step, 0, 2 * sizeof *b->step));
  must(cudaMemset(b->guard, 0xff, sizeof *b->guard));
}

static bool wanted(const bench *b, const char *name) { return !b->only || strstr(name, b->only); }

/* Runs `launch(now)` for `steps` steps; prints the row, and the bits after 4 steps if they are not *first. */
template <typename Launch>
static void row(bench *b, const char *name, unsigned long long *first, const Launch &launch) {
  float ms = 0;
  const unsigned long long before = bits_of_state(b, 0);
  for (int i = 0; i < 4; i++) launch(i & 1);
  const unsigned long long bits = bits_of_state(b, 0);
  if (bits == before) printf("no step was made: ");
  must(cudaEventRecord(b->begin));
  for (int i = 0; i < b->steps; i++) launch(i & 1);
  must(cudaEventRecord(b->end));
  must(cudaEventSynchronize(b->end));
  must(cudaEventElapsedTime(&ms, b->begin, b->end));
  if (*first == 0) *first = bits;
  const double cells = (double)b->n * b->n * b->n;
  printf("%-76s %6.2f%s\n", name, cells * b->steps / (ms * 1e6), bits == *first ? "" : " OTHER BITS");
  fflush(stdout);
}

/* ---- moments ---- */

template <typename form, bool HEAT, bool EDDY, typename real>
static void moments(bench *b, const char *name, unsigned long long *first, int chunk) {
  using made = march_kernel<form, HEAT>;
  using tile = typename made::tile;
  constexpr int TX = form::tx, TY = form::ty;
  if (!wanted(b, name)) return;
  fluid_step<real> s = {};
  for (int a = 0; a < 3; a++) s.l.n[a] = b->n;
  s.l.groups = (b->n + FLUID_GROUP - 1) / FLUID_GROUP;
  s.l.numbers = tile::cell;
  s.end = b->n;
  s.stride = s.chunk = chunk;
  s.k.keep = (real)0.4;
  s.k.add = (real)0.6;
  s.k.tau = (real)(1 / 0.6);
  s.k.tau_square = s.k.tau * s.k.tau;
  s.k.eddy = (real)0.5;
  s.k.unit = (real)0x1p-30;
  s.k.per_unit = (real)(0x1p30 / 1022);
  s.k.fast = s.k.fastest = (real)0.3;
  s.w.omega = (real)0.7;
  s.w.tau = 1 / s.w.omega;
  s.w.push[2] = (real)1e-5;
  s.w.least = -10;
  s.w.most = 10;
  s.guard = b->guard;
  begin<real>(b, (size_t)b->n * (size_t)b->n * (size_t)s.l.groups * FLUID_GROUP * tile::cell);
  auto *function = made::template function<false, HEAT, EDDY, real>();
  const size_t shared = tile::template bytes<real>();
  must(cudaFuncSetAttribute((const void *)function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  const dim3 grid((unsigned)((b->n + TX - 1) / TX), (unsigned)((b->n + TY - 3) / (TY - 2)),
                  (unsigned)((b->n + chunk - 1) / chunk));
  row(b, name, first, [&](int now) {
    s.from = (const real *)b->state[now];
    s.to = (real *)b->state[1 - now];
    s.step = b->step + now;
    s.next = b->step + 1 - now;
    function<<<grid, tile::threads, shared>>>(s);
  });
}

static void all_moments(bench *b) {
  unsigned long long f = 0, h = 0, d = 0, w = 0;
#define FORM(TX, TY, BLOCKS, STAGES, AHEAD, HEAT, real, CHUNK, first)                                                  \
  OF(march_form, "", TX, TY, BLOCKS, STAGES, AHEAD, HEAT, real, CHUNK, first)
#define OF(form, kind, TX, TY, BLOCKS, STAGES, AHEAD, HEAT, real, CHUNK, first)                                        \
  moments<form<TX, TY, BLOCKS, STAGES, AHEAD>, HEAT, false, real>(b,                                                   \
                                                                  #HEAT " heat " #real " " #TX "x" #TY                 \
                                                                        " blocks " #BLOCKS " stages " #STAGES          \
                                                                        " ahead " #AHEAD " planes " #CHUNK kind,       \
                                                                  &first, CHUNK)
  FORM(64, 8, 2, 1, 0, false, float, 64, f);
  FORM(64, 8, 2, 1, 1, false, float, 64, f);
  FORM(64, 8, 2, 1, 1, false, float, 128, f);
  FORM(64, 14, 1, 1, 0, false, float, 64, f);
  FORM(64, 14, 1, 1, 1, false, float, 64, f);
  FORM(64, 14, 1, 2, 1, false, float, 64, f);
  FORM(96, 9, 1, 1, 1, false, float, 64, f);
  FORM(128, 7, 1, 1, 1, false, float, 64, f);
  FORM(128, 6, 1, 1, 2, true, float, 64, h);
  FORM(64, 6, 2, 1, 0, true, float, 64, h);
  FORM(64, 11, 1, 1, 2, true, float, 64, h);
  FORM(64, 11, 1, 2, 0, true, float, 64, h);
  FORM(96, 7, 1, 2, 0, true, float, 64, h);
  FORM(128, 6, 1, 1, 1, true, float, 128, h);
  FORM(96, 8, 1, 1, 2, true, float, 64, h);
  FORM(64, 12, 1, 1, 2, true, float, 64, h);
  OF(march_bulk_form, " bulk", 64, 12, 1, 1, 0, true, float, 64, h);
  OF(march_bulk_form, " bulk", 128, 6, 1, 1, 2, true, float, 64, h);
  FORM(64, 6, 1, 2, 0, false, double, 64, d);
  FORM(64, 7, 1, 2, 0, false, double, 64, d);
  FORM(64, 8, 1, 1, 0, false, double, 64, d);
  FORM(64, 6, 1, 1, 0, true, double, 64, w);
#undef FORM
#undef OF
}

/* ---- populations in place ---- */

/* Blocks of a multiprocessor are fewer where each has `shared` bytes of memory that it does not use. */
template <typename store>
static void populations(bench *b, const char *name, unsigned long long *first, int shift, int shared) {
  typedef typename store::real real;
  char text[100];
  snprintf(text, sizeof text, "trt %s, 2^%d cells along x, %d KB of shared memory", name, shift, shared);
  if (!wanted(b, text)) return;
  fluid_in_place<store> s = {};
  for (int a = 0; a < 3; a++) s.slots.n[a] = b->n;
  s.slots.pitch = b->n;
  s.slots.depth[0] = b->n;
  s.slots.depth[1] = b->n / store::cells;
  s.slots.words = (size_t)b->n * (size_t)b->n * (size_t)s.slots.depth[1];
  s.slots.state = (typename store::word *)b->state[0];
  s.k.half_even = (real)0.4;
  s.k.half_odd = (real)0.3;
  s.k.push_even = (real)0.6;
  s.k.push_odd = (real)0.7;
  s.k.part = (real)1 / 36;
  s.k.rest = (real)fma(-36, (double)s.k.part, 1) / 36;
  s.k.fast = s.k.fastest = (real)0.3;
  s.across_shift = shift;
  s.count[0] = b->n;
  s.count[1] = s.slots.depth[1];
  s.guard = b->guard;
  begin<typename store::word>(b, s.slots.words * 19);
  auto *function = step_populations<19, false, false, false, store>;
  must(cudaFuncSetAttribute((const void *)function, cudaFuncAttributeMaxDynamicSharedMemorySize, 128 << 10));
  const int across = 1 << shift, up = FLUID_TRT_THREADS >> shift;
  const unsigned blocks = (unsigned)((size_t)(b->n / across) * (size_t)(b->n / up) * (size_t)s.slots.depth[1]);
  row(b, text, first, [&](int now) {
    for (int c = 1; c < 19; c += 2) {
      s.own[c / 2] = s.slots.state + (size_t)(c + now) * s.slots.words;
      s.other[c / 2] = s.slots.state + (size_t)(c + 1 - now) * s.slots.words;
    }
    s.step = b->step + now;
    s.next = b->step + 1 - now;
    function<<<blocks, FLUID_TRT_THREADS, (size_t)shared << 10>>>(s);
  });
}

static void all_populations(bench *b) {
  for (int shift = 5; shift <= 7; shift++) {
    unsigned long long f = 0;
    for (int shared : {0, 24, 28, 32, 37, 45, 56}) populations<fluid_store_whole<float>>(b, "float", &f, shift, shared);
  }
  unsigned long long d = 0;
  for (int shared : {0, 32, 45, 56}) populations<fluid_store_whole<double>>(b, "double", &d, 7, shared);
}

int main(int count, char **words) {
  bench b = {};
  b.n = 512;
  b.steps = 20;
  for (int i = 1; i + 1 < count; i += 2) {
    if (!strcmp(words[i], "--cells")) b.n = atoi(words[i + 1]);
    if (!strcmp(words[i], "--steps")) b.steps = 2 * (atoi(words[i + 1]) / 2);
    if (!strcmp(words[i], "--only")) b.only = words[i + 1];
  }
  const size_t most = (size_t)b.n * (size_t)b.n * (size_t)b.n * 19 * sizeof(double);
  for (int i = 0; i < 2; i++) must(cudaMalloc(&b.state[i], most));
  must(cudaMalloc((void **)&b.guard, sizeof *b.guard));
  must(cudaMalloc((void **)&b.step, 2 * sizeof *b.step));
  must(cudaMalloc((void **)&b.sum, sizeof *b.sum));
  must(cudaEventCreate(&b.begin));
  must(cudaEventCreate(&b.end));
  all_populations(&b);
  all_moments(&b);
  must(cudaGetLastError());
  return 0;
}
