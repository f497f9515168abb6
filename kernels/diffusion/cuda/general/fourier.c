#include "kernels/diffusion/cuda/general/fourier.h"

#include "engine/device/compile.h"
#include "engine/device/cuda.h"

#include <cufft.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* The functions of cuFFT that are used. */
#define CUFFT_FUNCTIONS(X)                                                                                             \
  X(Create)                                                                                                            \
  X(Destroy)                                                                                                           \
  X(SetAutoAllocation)                                                                                                 \
  X(MakePlanMany64)                                                                                                    \
  X(SetStream)                                                                                                         \
  X(SetWorkArea)                                                                                                       \
  X(ExecR2C)                                                                                                           \
  X(ExecC2R)                                                                                                           \
  X(ExecD2Z)                                                                                                           \
  X(ExecC2C)                                                                                                           \
  X(ExecZ2Z)                                                                                                           \
  X(ExecZ2D)

static struct {
  pthread_mutex_t lock;
  void *library;
#define CUFFT_MEMBER(name) __typeof__(&cufft##name) name;
  CUFFT_FUNCTIONS(CUFFT_MEMBER)
} cufft = {.lock = PTHREAD_MUTEX_INITIALIZER};

static sim_status load(void) {
  static const char *const names[] = {"libcufft.so.12", "libcufft.so.11", NULL};
  char path[512], why[600] = "";
  pthread_mutex_lock(&cufft.lock);
  if (!cufft.library && !sim_cuda_library("SIM_CUFFT", names, path, sizeof path))
    snprintf(why, sizeof why, "it is not found");
  if (!cufft.library && !*why) {
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) snprintf(why, sizeof why, "%s cannot be used", path);
#define CUFFT_FIND(name)                                                                                               \
  if (library && !*why && !(*(void **)&cufft.name = dlsym(library, "cufft" #name)))                                    \
    snprintf(why, sizeof why, "%s lacks cufft" #name, path);
    CUFFT_FUNCTIONS(CUFFT_FIND)
    if (!*why) cufft.library = library;
  }
  pthread_mutex_unlock(&cufft.lock);
  if (!*why) return SIM_OK;
  return sim_fail(SIM_ERR_NO_DEVICE,
                  "transforms on a GPU need cuFFT, and %s: install the CUDA toolkit (libcufft.so), name its path in "
                  "SIM_CUFFT, or use --device cpu",
                  why);
}

/* Grids beyond a multiple of the batch are transformed in `rest`, which has memory for a whole batch. */
struct diffusion_fourier {
  cufftHandle forward, inverse;
  bool made[2], single, complex; /* complex: `forward` serves both ways */
  int rank;
  long long batch;
  size_t stride; /* bytes from one grid to the next */
  void *work, *rest;
};

long long diffusion_fourier_batch(const diffusion_fourier *fourier) { return fourier->batch; }

static sim_status check(cufftResult result, const char *call) {
  if (result == CUFFT_SUCCESS) return SIM_OK;
  if (result == CUFFT_ALLOC_FAILED) return sim_no_memory("cuFFT (%s)", call);
  return sim_fail(SIM_ERR_DEVICE, "cuFFT: %s failed with code %d", call, (int)result);
}

#define CUFFT_TRY(function, ...) SIM_TRY(check(cufft.function(__VA_ARGS__), "cufft" #function))

static sim_status plan(diffusion_fourier *f, bool forward, const long long *n, size_t *work) {
  const int last = f->rank - 1;
  long long size[3], real[3], half[3], row = n[last] / 2 + 1, rows = 1;
  cufftHandle *handle = forward ? &f->forward : &f->inverse;
  for (int a = 0; a < f->rank; a++) {
    size[a] = real[a] = half[a] = n[a];
    if (a < last) rows *= n[a];
  }
  real[last] = 2 * row;
  half[last] = row;
  CUFFT_TRY(Create, handle);
  f->made[forward] = true;
  CUFFT_TRY(SetAutoAllocation, *handle, 0);
  const cufftType type = forward ? (f->single ? CUFFT_R2C : CUFFT_D2Z) : (f->single ? CUFFT_C2R : CUFFT_Z2D);
  CUFFT_TRY(MakePlanMany64, *handle, f->rank, size, forward ? real : half, 1, forward ? 2 * row * rows : row * rows,
            forward ? half : real, 1, forward ? row * rows : 2 * row * rows, type, f->batch, work);
  CUFFT_TRY(SetStream, *handle, sim_cuda_stream());
  return SIM_OK;
}

sim_status diffusion_fourier_create(int rank, const long long *n, long long batch, bool ragged, bool single,
                                    diffusion_fourier **out) {
  diffusion_fourier *f = *out = calloc(1, sizeof *f);
  if (!f) return sim_no_memory("the transforms");
  double numbers = rank > 0 ? 2 * (double)(n[rank - 1] / 2 + 1) : 2;
  for (int a = 0; a < rank - 1; a++) numbers *= (double)n[a];
  f->rank = rank;
  f->single = single;
  f->batch = batch;
  f->stride = (size_t)numbers * (single ? sizeof(float) : sizeof(double));
  if (rank == 0) return SIM_OK;
  size_t forward = 0, inverse = 0;
  sim_status status = load();
  if (status == SIM_OK) status = plan(f, true, n, &forward);
  if (status == SIM_OK) status = plan(f, false, n, &inverse);
  if (status == SIM_OK) status = sim_backend_cuda.alloc(forward > inverse ? forward : inverse, &f->work);
  if (status == SIM_OK && ragged) status = sim_backend_cuda.alloc((size_t)batch * f->stride, &f->rest);
  if (status == SIM_OK) status = check(cufft.SetWorkArea(f->forward, f->work), "cufftSetWorkArea");
  if (status == SIM_OK) status = check(cufft.SetWorkArea(f->inverse, f->work), "cufftSetWorkArea");
  if (status != SIM_OK) diffusion_fourier_destroy(out);
  return status;
}

static sim_status plan_lines(diffusion_fourier *f, long long n, long long stride) {
  size_t work = 0;
  SIM_TRY(load());
  CUFFT_TRY(Create, &f->forward);
  f->made[true] = true;
  CUFFT_TRY(SetAutoAllocation, f->forward, 0);
  CUFFT_TRY(MakePlanMany64, f->forward, 1, &n, &n, stride, 1, &n, stride, 1, f->single ? CUFFT_C2C : CUFFT_Z2Z, stride,
            &work);
  CUFFT_TRY(SetStream, f->forward, sim_cuda_stream());
  SIM_TRY(sim_backend_cuda.alloc(work, &f->work));
  return check(cufft.SetWorkArea(f->forward, f->work), "cufftSetWorkArea");
}

sim_status diffusion_fourier_lines(long long n, long long stride, bool single, diffusion_fourier **out) {
  diffusion_fourier *f = *out = calloc(1, sizeof *f);
  if (!f) return sim_no_memory("the transforms");
  f->rank = 1;
  f->single = single;
  f->complex = true;
  f->batch = 1;
  f->stride = (size_t)(2 * n * stride) * (single ? sizeof(float) : sizeof(double));
  const sim_status status = plan_lines(f, n, stride);
  if (status != SIM_OK) diffusion_fourier_destroy(out);
  return status;
}

void diffusion_fourier_destroy(diffusion_fourier **fourier) {
  diffusion_fourier *f = *fourier;
  if (!f) return;
  if (f->made[true]) (void)cufft.Destroy(f->forward);
  if (f->made[false]) (void)cufft.Destroy(f->inverse);
  sim_backend_cuda.free(f->work);
  sim_backend_cuda.free(f->rest);
  free(f);
  *fourier = NULL;
}

static cufftResult execute(const diffusion_fourier *f, bool forward, void *data) {
  const int direction = forward ? CUFFT_FORWARD : CUFFT_INVERSE;
  if (f->complex && f->single) return cufft.ExecC2C(f->forward, data, data, direction);
  if (f->complex) return cufft.ExecZ2Z(f->forward, data, data, direction);
  if (forward && f->single) return cufft.ExecR2C(f->forward, data, data);
  if (forward) return cufft.ExecD2Z(f->forward, data, data);
  if (f->single) return cufft.ExecC2R(f->inverse, data, data);
  return cufft.ExecZ2D(f->inverse, data, data);
}

static sim_status transform(diffusion_fourier *f, bool forward, void *data, long long count) {
  static const sim_kernel kernels[2] = {{"cufft_inverse", "transforms", SIM_LIMIT_BYTES},
                                        {"cufft_forward", "transforms", SIM_LIMIT_BYTES}};
  for (long long first = 0; f->rank > 0 && first < count; first += f->batch) {
    char *grids = (char *)data + (size_t)first * f->stride;
    const size_t bytes = (size_t)(count - first) * f->stride; /* of a rest */
    const bool rest = count - first < f->batch;
    if (rest) SIM_TRY(sim_queue_cuda.stage(f->rest, grids, bytes));
    sim_cuda_begin(&kernels[forward]);
    cufftResult result = execute(f, forward, rest ? f->rest : grids);
    sim_cuda_end(&kernels[forward], 2.0 * f->rank * (double)f->stride * (double)f->batch);
    SIM_TRY(check(result, forward ? "forward transform" : "inverse transform"));
    if (rest) SIM_TRY(sim_queue_cuda.stage(grids, f->rest, bytes));
  }
  return SIM_OK;
}

sim_status diffusion_fourier_forward(diffusion_fourier *f, void *data, long long count) {
  return transform(f, true, data, count);
}
sim_status diffusion_fourier_inverse(diffusion_fourier *f, void *data, long long count) {
  return transform(f, false, data, count);
}
