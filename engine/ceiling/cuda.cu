#include "engine/ceiling/ceiling.h"
#include "engine/device/compile.h"
#include "engine/device/cuda.h"

#include <cuda_runtime.h>
#include <cufft.h>
#include <dlfcn.h>
#include <math.h>

enum { THREADS = 256, CHAINS = 8, ROUNDS = 4096 };

static __global__ void copy(const float4 *from, float4 *to, size_t count) {
  const size_t stride = (size_t)gridDim.x * blockDim.x;
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + 3 * stride < count; i += 4 * stride) {
    const float4 a = __ldcs(from + i), b = __ldcs(from + i + stride), c = __ldcs(from + i + 2 * stride),
                 d = __ldcs(from + i + 3 * stride);
    __stcs(to + i, a), __stcs(to + i + stride, b), __stcs(to + i + 2 * stride, c), __stcs(to + i + 3 * stride, d);
  }
  for (; i < count; i += stride) to[i] = from[i];
}

static __device__ float operate(float x, float factor, float term) { return __fmaf_rn(x, factor, term); }
static __device__ double operate(double x, double factor, double term) { return __fma_rn(x, factor, term); }

template <typename T> static __global__ void __launch_bounds__(THREADS) multiply_add(T *out, T factor, T term) {
  T x[CHAINS];
#pragma unroll
  for (int k = 0; k < CHAINS; k++) x[k] = (T)(threadIdx.x + k);
  for (int i = 0; i < ROUNDS; i += 8) {
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
      for (int k = 0; k < CHAINS; k++) x[k] = operate(x[k], factor, term);
  }
  T sum = 0;
#pragma unroll
  for (int k = 0; k < CHAINS; k++) sum += x[k];
  if (sum == (T)-1) *out = sum;
}

static __global__ void __launch_bounds__(THREADS) root(float *out) {
  float x[CHAINS];
#pragma unroll
  for (int k = 0; k < CHAINS; k++) x[k] = (float)(threadIdx.x + k + 1);
  for (int i = 0; i < ROUNDS; i += 8) {
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
      for (int k = 0; k < CHAINS; k++) asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x[k]));
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < CHAINS; k++) sum += x[k];
  if (sum == -1) *out = sum;
}

static __global__ void nothing() {}

/* Arrays of a measurement, and the transforms of cuFFT. */
struct work {
  void *from, *to, *host;
  size_t bytes;
  cufftHandle plan;
  cufftResult (*execute)(cufftHandle, cufftComplex *, cufftComplex *, int);
};

enum { LAUNCHES = 1000 };

static cudaStream_t stream() { return (cudaStream_t)sim_cuda_stream(); }
static unsigned blocks() { return 8u * (unsigned)sim_cuda_multiprocessors(); }

static int do_copy(work *w) {
  copy<<<blocks(), THREADS, 0, stream()>>>((const float4 *)w->from, (float4 *)w->to, w->bytes / sizeof(float4));
  return 0;
}
static int do_memcpy(work *w) { return cudaMemcpyAsync(w->to, w->from, w->bytes, cudaMemcpyDeviceToDevice, stream()); }
static int do_fma32(work *w) {
  multiply_add<<<blocks(), THREADS, 0, stream()>>>((float *)w->to, 0.999f, 0.001f);
  return 0;
}
static int do_fma64(work *w) {
  multiply_add<<<blocks(), THREADS, 0, stream()>>>((double *)w->to, 0.999, 0.001);
  return 0;
}
static int do_root(work *w) {
  root<<<blocks(), THREADS, 0, stream()>>>((float *)w->to);
  return 0;
}
static int do_launches(work *) {
  for (int k = 0; k < LAUNCHES; k++) nothing<<<1, 32, 0, stream()>>>();
  return 0;
}
static int do_leave(work *w) {
  return cudaMemcpyAsync(w->host, w->from, w->bytes / 4, cudaMemcpyDeviceToHost, stream());
}
static int do_fft(work *w) {
  return w->execute(w->plan, (cufftComplex *)w->from, (cufftComplex *)w->from, CUFFT_FORWARD) ? cudaErrorUnknown : 0;
}

/* Shortest duration of a call in seconds. */
static sim_status least(work *w, int (*call)(work *), double seconds, double *out) {
  cudaEvent_t begin, end;
  int error = cudaEventCreate(&begin);
  if (!error) error = cudaEventCreate(&end);
  double spent = 0;
  *out = INFINITY;
  for (int k = 0; !error && (k < 4 || spent < seconds); k++) {
    float ms = 0;
    error = cudaEventRecord(begin, stream());
    if (!error) error = call(w);
    if (!error) error = cudaGetLastError();
    if (!error) error = cudaEventRecord(end, stream());
    if (!error) error = cudaEventSynchronize(end);
    if (!error) error = cudaEventElapsedTime(&ms, begin, end);
    if (k > 0) *out = fmin(*out, 1e-3 * ms);
    spent += 1e-3 * ms;
  }
  if (error) sim_cuda_failed(error, "measuring", "a ceiling");
  return sim_queue_cuda.status();
}

/* Plans the transforms of 2^24 complex points in rows of 4096; returns false without cuFFT. */
static bool open_fft(work *w, void **library) {
  static const char *const names[] = {"libcufft.so.12", "libcufft.so.11", NULL};
  char path[4096];
  const int n = 4096, rows = 1 << 12;
  if (!sim_cuda_library("SIM_CUFFT", names, path, sizeof path)) return false;
  *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!*library) return false;
  auto plan = (cufftResult(*)(cufftHandle *, int, cufftType, int))dlsym(*library, "cufftPlan1d");
  auto set = (cufftResult(*)(cufftHandle, cudaStream_t))dlsym(*library, "cufftSetStream");
  w->execute = (cufftResult(*)(cufftHandle, cufftComplex *, cufftComplex *, int))dlsym(*library, "cufftExecC2C");
  return plan && set && w->execute && !plan(&w->plan, n, CUFFT_C2C, rows) && !set(w->plan, stream());
}

static void close_fft(work *w, void *library) {
  auto destroy = library ? (cufftResult(*)(cufftHandle))dlsym(library, "cufftDestroy") : NULL;
  if (destroy && w->plan) (void)destroy(w->plan);
}

static sim_status measure(work *w, double seconds, sim_ceilings *out) {
  const double operations = (double)blocks() * (double)(THREADS * CHAINS * ROUNDS), points = 1 << 24;
  double t;
  SIM_TRY(least(w, do_copy, seconds, &t));
  out->copy = 2 * (double)w->bytes / t;
  SIM_TRY(least(w, do_memcpy, seconds, &t));
  out->copy = fmax(out->copy, 2 * (double)w->bytes / t);
  SIM_TRY(least(w, do_fma32, seconds, &t));
  out->fma32 = operations / t;
  SIM_TRY(least(w, do_fma64, seconds, &t));
  out->fma64 = operations / t;
  SIM_TRY(least(w, do_root, seconds, &t));
  out->rsqrt = operations / t;
  SIM_TRY(least(w, do_launches, seconds, &t));
  out->launch = t / (double)LAUNCHES;
  SIM_TRY(least(w, do_leave, seconds, &t));
  out->host_copy = (double)(w->bytes / 4) / t;
  void *library = NULL;
  const bool able = open_fft(w, &library);
  sim_status status = able ? least(w, do_fft, seconds, &t) : SIM_OK;
  if (able) out->fft = 5 * points * 12 / t;
  close_fft(w, library);
  return status;
}

extern "C" sim_status sim_ceilings_cuda(double seconds, sim_ceilings *out) {
  work w = {};
  *out = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  const size_t quarter = sim_backend_cuda.memory_free() / 4, most = (size_t)1 << 30, least_bytes = (size_t)1 << 27;
  w.bytes = quarter < most ? quarter / 4096 * 4096 : most;
  if (w.bytes < least_bytes) return sim_no_memory("half a GiB on the GPU");
  sim_status status = sim_backend_cuda.alloc(w.bytes, &w.from);
  if (status == SIM_OK) status = sim_backend_cuda.alloc(w.bytes, &w.to);
  if (status == SIM_OK) status = sim_backend_cuda.alloc_host(w.bytes / 4, &w.host);
  if (status == SIM_OK) status = measure(&w, seconds, out);
  if (w.host) sim_backend_cuda.free_host(w.host);
  if (w.to) sim_backend_cuda.free(w.to);
  if (w.from) sim_backend_cuda.free(w.from);
  return status;
}
