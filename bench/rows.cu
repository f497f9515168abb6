/* Small kernels for the table that many comparisons of GPU languages begin with: the sum of two vectors of 10^7 floats,
 * a product of two matrices of 1024^2 in fp32 (a hundred times), and a complex transform of 8192 points; each is
 * checked against sums in double on the host before it is timed. (The table's fourth row, a million spheres that
 * collide, is gas.lua.)
 *
 *   bench_rows [--rounds R]   prints "add", "matmul", "fft" and "cufft" with microseconds of one, median of R batches
 *
 * Of some forms of a kernel the fastest is taken, as libraries do. */
#include "kernels/common/device.cuh"

#include <cuda_runtime.h>
#include <cufft.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "bench_rows: %s\n", cudaGetErrorString(error));
  exit(1);
}

/* ---- the sum ---- */

/* Every thread reads AHEAD float4 of each vector at a time. */
template <int AHEAD>
__global__ void __launch_bounds__(256) add(const float4 *a, const float4 *b, float4 *c, int count) {
  const int stride = (int)(gridDim.x * blockDim.x);
  for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += AHEAD * stride) {
    float4 x[AHEAD], y[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
      if (i + k * stride < count) x[k] = a[i + k * stride], y[k] = b[i + k * stride];
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
      if (i + k * stride < count)
        c[i + k * stride] = make_float4(x[k].x + y[k].x, x[k].y + y[k].y, x[k].z + y[k].z, x[k].w + y[k].w);
  }
}

/* ---- the product ---- */

/* C = A B, row by row. A block makes 64 x 128 numbers of C: 128 blocks, one a multiprocessor. Its two groups of four
 * warps take half of each slab of K, and are added up at the end; a thread keeps 8 x 8 sums in registers. Slabs come by
 * asynchronous copies, STAGES - 1 ahead. Rows of A are four floats longer in shared memory, so that the four rows that
 * a warp reads at once lie in different banks. */
enum { M = 1024, TILE_M = 64, TILE_N = 128, GROUPS = 2, THREADS = 256 };

__device__ __forceinline__ void fetch(float *to, const float *from) {
  copy_async_through((float4 *)to, (const float4 *)from);
}

template <int SLAB>
__device__ __forceinline__ void fetch_slab(const float *a, const float *b, float *stage, int row, int column, int k) {
  constexpr int ROW_A = SLAB + 4;
  const int t = (int)threadIdx.x;
#pragma unroll
  for (int i = 0; i < TILE_M * SLAB / 4 / THREADS; i++) {
    const int at = t + i * THREADS, m = at / (SLAB / 4), q = at % (SLAB / 4) * 4;
    fetch(stage + m * ROW_A + q, a + (row + m) * M + k + q);
  }
#pragma unroll
  for (int i = 0; i < SLAB * TILE_N / 4 / THREADS; i++) {
    const int at = t + i * THREADS, r = at / (TILE_N / 4), q = at % (TILE_N / 4) * 4;
    fetch(stage + TILE_M * ROW_A + r * TILE_N + q, b + (k + r) * M + column + q);
  }
}

template <int SLAB, int STAGES>
__global__ void __launch_bounds__(THREADS) matmul(const float *a, const float *b, float *c) {
  constexpr int ROW_A = SLAB + 4, STAGE = TILE_M * ROW_A + SLAB * TILE_N;
  extern __shared__ __align__(16) float room[];
  const int t = (int)threadIdx.x, group = t / 128, warp = t / 32 % 4, lane = t % 32;
  const int m = warp / 2 * 32 + lane / 8, n = warp % 2 * 64 + lane % 8 * 4; /* rows m + 4 i, columns n + 32 j + 0...3 */
  const int row = (int)blockIdx.y * TILE_M, column = (int)blockIdx.x * TILE_N;
  float sum[8][8] = {};
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) {
    fetch_slab<SLAB>(a, b, room + s * STAGE, row, column, s * SLAB);
    commit_async();
  }
  for (int s = 0; s < M / SLAB; s++) {
    wait_async<STAGES - 2>();
    __syncthreads();
    const int next = s + STAGES - 1;
    if (next < M / SLAB) fetch_slab<SLAB>(a, b, room + next % STAGES * STAGE, row, column, next * SLAB);
    commit_async();
    const float *mine = room + s % STAGES * STAGE + m * ROW_A + group * (SLAB / GROUPS);
    const float *other = room + s % STAGES * STAGE + TILE_M * ROW_A + group * (SLAB / GROUPS) * TILE_N + n;
#pragma unroll
    for (int k = 0; k < SLAB / GROUPS; k += 4) {
      float4 x[8];
#pragma unroll
      for (int i = 0; i < 8; i++) x[i] = *(const float4 *)(mine + 4 * i * ROW_A + k);
#pragma unroll
      for (int e = 0; e < 4; e++) {
        const float4 left = *(const float4 *)(other + (k + e) * TILE_N);
        const float4 right = *(const float4 *)(other + (k + e) * TILE_N + 32);
        const float y[8] = {left.x, left.y, left.z, left.w, right.x, right.y, right.z, right.w};
#pragma unroll
        for (int i = 0; i < 8; i++) {
          const float f = e == 0 ? x[i].x : e == 1 ? x[i].y : e == 2 ? x[i].z : x[i].w;
#pragma unroll
          for (int j = 0; j < 8; j++) sum[i][j] = fmaf(f, y[j], sum[i][j]);
        }
      }
    }
  }
  __syncthreads();
  if (group == 1)
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
      for (int j = 0; j < 8; j += 4)
        *(float4 *)(room + (m + 4 * i) * TILE_N + n + 8 * j) =
            make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
  __syncthreads();
  if (group == 0)
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
        const float4 o = *(const float4 *)(room + (m + 4 * i) * TILE_N + n + 8 * j);
        *(float4 *)(c + (row + m + 4 * i) * M + column + n + 8 * j) =
            make_float4(sum[i][j] + o.x, sum[i][j + 1] + o.y, sum[i][j + 2] + o.z, sum[i][j + 3] + o.w);
      }
}

/* ---- the transform ---- */

/* One block, 8192 points in shared memory: passes of radix 16, 16, 16 and 2 that keep the natural order (Stockham). In
 * the pass of radix R after passes whose product is S, butterfly j reads the points j + r N/R, times exp(-2 pi i r (j
 * mod S) / (S R)), and writes them to (j / S) S R + j mod S + r S. */
enum { N = 8192, FFT_THREADS = 512, EACH = N / FFT_THREADS };

__device__ __forceinline__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ float2 operator*(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ __forceinline__ float2 turned(float2 a) { return make_float2(a.y, -a.x); } /* times -i */

__device__ __forceinline__ void four(float2 &a, float2 &b, float2 &c, float2 &d) {
  const float2 p = a + c, q = a - c, r = b + d, s = turned(b - d);
  a = p + r, b = q + s, c = p - r, d = q - s;
}

/* x[k] becomes the k-th coefficient. */
__device__ __forceinline__ void sixteen(float2 x[16]) {
  const float c = 0.923879532511286756f, s = 0.382683432365089772f, h = 0.707106781186547524f;
#pragma unroll
  for (int k = 0; k < 4; k++) four(x[k], x[k + 4], x[k + 8], x[k + 12]);
  x[5] = x[5] * make_float2(c, -s), x[9] = x[9] * make_float2(h, -h), x[13] = x[13] * make_float2(s, -c);
  x[6] = x[6] * make_float2(h, -h), x[10] = turned(x[10]), x[14] = x[14] * make_float2(-h, -h);
  x[7] = x[7] * make_float2(s, -c), x[11] = x[11] * make_float2(-h, -h), x[15] = x[15] * make_float2(-c, s);
#pragma unroll
  for (int k = 0; k < 4; k++) four(x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]);
  float2 y[16];
#pragma unroll
  for (int k = 0; k < 16; k++) y[k % 4 * 4 + k / 4] = x[k];
#pragma unroll
  for (int k = 0; k < 16; k++) x[k] = y[k];
}

__device__ __forceinline__ int spread(int i) { return i + (i >> 4); } /* against bank conflicts */

template <int S> __device__ __forceinline__ void twiddle(float2 x[16], int j) {
  if (S == 1) return;
  float2 w;
  sincospif(-2.0f * (float)(j % S) / (float)(16 * S), &w.y, &w.x);
  const float2 w2 = w * w, w4 = w2 * w2, w8 = w4 * w4;
#pragma unroll
  for (int r = 1; r < 16; r++) {
    if (r & 1) x[r] = x[r] * w;
    if (r & 2) x[r] = x[r] * w2;
    if (r & 4) x[r] = x[r] * w4;
    if (r & 8) x[r] = x[r] * w8;
  }
}

template <int S> __device__ __forceinline__ void leave(const float2 x[16], float2 *room, int j) {
  __syncthreads();
#pragma unroll
  for (int r = 0; r < 16; r++) room[spread(j / S * S * 16 + j % S + r * S)] = x[r];
  __syncthreads();
}

__device__ __forceinline__ void arrive(float2 x[16], const float2 *room, int j) {
#pragma unroll
  for (int r = 0; r < 16; r++) x[r] = room[spread(j + r * (N / 16))];
}

__global__ void __launch_bounds__(FFT_THREADS) fft(const float2 *in, float2 *out) {
  extern __shared__ float2 points[];
  const int j = (int)threadIdx.x;
  float2 x[16];
#pragma unroll
  for (int r = 0; r < 16; r++) x[r] = in[j + r * (N / 16)];
  sixteen(x);
  leave<1>(x, points, j);
  arrive(x, points, j);
  twiddle<16>(x, j);
  sixteen(x);
  leave<16>(x, points, j);
  arrive(x, points, j);
  twiddle<256>(x, j);
  sixteen(x);
  leave<256>(x, points, j);
#pragma unroll
  for (int r = 0; r < 8; r++) {
    const int i = j + r * FFT_THREADS;
    float2 w;
    sincospif(-2.0f * (float)i / (float)N, &w.y, &w.x);
    const float2 a = points[spread(i)], b = points[spread(i + N / 2)] * w;
    out[i] = a + b;
    out[i + N / 2] = a - b;
  }
}
enum { FFT_BYTES = (N + N / 16) * 8 };

/* ---- checks ---- */

static float uniform(unsigned *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (float)(*seed >> 8) * 0x1p-24f - 0.5f;
}

static void check(const char *name, double worst, double bound) {
  if (worst <= bound) return;
  fprintf(stderr, "bench_rows: %s is wrong by %g, above %g\n", name, worst, bound);
  exit(1);
}

enum { VECTOR = 10000000 };
static float *host, *device[3];
static cufftHandle plan;

template <int AHEAD, int BLOCK> static void run_add(void) {
  const int all = (VECTOR / 4 + BLOCK - 1) / BLOCK, blocks = AHEAD == 1 ? all : 132 * 16; /* of 132 multiprocessors */
  add<AHEAD><<<blocks, BLOCK>>>((const float4 *)device[0], (const float4 *)device[1], (float4 *)device[2], VECTOR / 4);
}

template <int SLAB, int STAGES> static void run_matmul(void) {
  constexpr int bytes = STAGES * (TILE_M * (SLAB + 4) + SLAB * TILE_N) * 4;
  static bool ready;
  if (!ready) must(cudaFuncSetAttribute(matmul<SLAB, STAGES>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  ready = true;
  matmul<SLAB, STAGES><<<dim3(M / TILE_N, M / TILE_M), THREADS, bytes>>>(device[0], device[1], device[2]);
}

static void run_fft(void) { fft<<<1, FFT_THREADS, FFT_BYTES>>>((const float2 *)device[0], (float2 *)device[2]); }
static void run_cufft(void) {
  (void)cufftExecC2C(plan, (cufftComplex *)device[0], (cufftComplex *)device[2], CUFFT_FORWARD);
}

static void check_add(const char *name) {
  double worst = 0;
  for (int i = 0; i < VECTOR; i++)
    worst = fmax(worst, fabs((double)(host[i] + host[VECTOR + i]) - host[2 * VECTOR + i]));
  check(name, worst, 0);
}

/* Every 61st number of C: 1024 products of at most 1/4, each rounded into a sum of at most 256. */
static void check_matmul(const char *name) {
  const float *a = host, *b = host + VECTOR, *c = host + 2 * VECTOR;
  double worst = 0;
  for (int at = 0; at < M * M; at += 61) {
    double sum = 0;
    for (int k = 0; k < M; k++) sum += (double)a[at / M * M + k] * b[k * M + at % M];
    worst = fmax(worst, fabs(sum - c[at]));
  }
  check(name, worst, 1024 * 256 * 0x1p-24);
}

/* Every 37th coefficient; 13 levels of rounding, of sums whose root mean square is sqrt(8192 / 6) = 37, at most 5 times
 * that. */
static void check_fft(const char *name) {
  const float *x = host, *c = host + 2 * VECTOR;
  double worst = 0;
  for (int k = 0; k < N; k += 37) {
    double re = 0, im = 0;
    for (int i = 0; i < N; i++) {
      const double angle = -2 * 3.14159265358979323846 * (double)((long)i * k % N) / (double)N, u = cos(angle),
                   v = sin(angle);
      re += x[2 * i] * u - x[2 * i + 1] * v;
      im += x[2 * i] * v + x[2 * i + 1] * u;
    }
    worst = fmax(worst, fmax(fabs(re - c[2 * k]), fabs(im - c[2 * k + 1])));
  }
  check(name, worst, 13 * 5 * 37 * 0x1p-23);
}

static int compare(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

enum { ROUNDS_MAX = 1000 };

/* Microseconds of one call in batches of 100: us[rounds], the least first. */
static void time_calls(void (*call)(void), int rounds, float us[ROUNDS_MAX]) {
  cudaEvent_t begin, end;
  must(cudaEventCreate(&begin));
  must(cudaEventCreate(&end));
  for (int r = -2; r < rounds; r++) {
    must(cudaEventRecord(begin));
    for (int k = 0; k < 100; k++) call();
    must(cudaEventRecord(end));
    must(cudaEventSynchronize(end));
    float ms;
    must(cudaEventElapsedTime(&ms, begin, end));
    if (r >= 0) us[r] = 10 * ms;
  }
  qsort(us, (size_t)rounds, sizeof us[0], compare);
}

typedef struct form {
  const char *name;
  void (*call)(void);
} form;

/* Checks every form of a kernel, and times the form that was fastest at a first try. */
static void row(const char *name, const form *forms, int count, void (*right)(const char *name), int rounds) {
  float us[ROUNDS_MAX] = {}, least = 0;
  const form *best = NULL;
  for (int k = 0; k < count; k++) {
    must(cudaMemset(device[2], 0, sizeof(float) * VECTOR));
    forms[k].call();
    must(cudaDeviceSynchronize());
    must(cudaMemcpy(host + 2 * VECTOR, device[2], sizeof(float) * VECTOR, cudaMemcpyDeviceToHost));
    right(name);
    if (count > 1) time_calls(forms[k].call, 5, us);
    if (!best || us[2] < least) best = &forms[k], least = us[2];
  }
  time_calls(best->call, rounds, us);
  printf("%-8s %.3f us (%.3f ... %.3f), %s\n", name, (double)us[rounds / 2], (double)us[0], (double)us[rounds - 1],
         best->name);
}

int main(int argc, char **argv) {
  const int rounds = argc == 3 && !strcmp(argv[1], "--rounds") ? atoi(argv[2]) : 21;
  if (rounds < 1 || rounds > ROUNDS_MAX || (argc > 1 && argc != 3)) return 64;
  host = (float *)malloc(sizeof(float) * 3 * VECTOR);
  if (!host) return 71;
  unsigned seed = 1;
  for (int i = 0; i < 2 * VECTOR; i++) host[i] = uniform(&seed);
  for (int k = 0; k < 3; k++) must(cudaMalloc(&device[k], sizeof(float) * VECTOR));
  for (int k = 0; k < 2; k++)
    must(cudaMemcpy(device[k], host + k * VECTOR, sizeof(float) * VECTOR, cudaMemcpyHostToDevice));
  must(cudaFuncSetAttribute(fft, cudaFuncAttributeMaxDynamicSharedMemorySize, FFT_BYTES));
  if (cufftPlan1d(&plan, N, CUFFT_C2C, 1)) return 1;
  static const form adds[] = {{"one float4 a thread, 128 threads a block", run_add<1, 128>},
                              {"one float4 a thread", run_add<1, 256>},
                              {"four float4 under way a thread", run_add<4, 256>}};
  static const form products[] = {{"slabs of 32, 4 stages", run_matmul<32, 4>},
                                  {"slabs of 32, 6 stages", run_matmul<32, 6>},
                                  {"slabs of 64, 3 stages", run_matmul<64, 3>}};
  static const form transforms[] = {{"one block", run_fft}}, libraries[] = {{"cuFFT", run_cufft}};
  row("add", adds, 3, check_add, rounds);
  row("matmul", products, 3, check_matmul, rounds);
  row("fft", transforms, 1, check_fft, rounds);
  row("cufft", libraries, 1, check_fft, rounds);
  return 0;
}
