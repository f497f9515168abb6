/* cuFFT for the emulated device: transforms in double precision by their sums, along one axis after another, in place.
 */
#include "include/cufft.h"

#include <cmath>
#include <complex>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

namespace {

typedef std::complex<double> complex;

struct plan {
  int rank = 0;
  long long n[3] = {1, 1, 1}, from_shape[3] = {}, to_shape[3] = {}, from_stride = 1, from_distance = 0, to_stride = 1,
            to_distance = 0, batch = 1;
};
std::mutex lock;
std::map<int, plan> plans;

/* a[n] -> its transform: by halves while n is even, then by the sum. w[k] = exp(sign 2 pi i k / all), all a multiple of
 * n. */
void transform(const complex *a, long long stride, complex *out, long long n, const std::vector<complex> &w) {
  const long long all = (long long)w.size(), step = all / n;
  if (n % 2 == 0) {
    const long long half = n / 2;
    transform(a, 2 * stride, out, half, w);
    transform(a + stride, 2 * stride, out + half, half, w);
    for (long long k = 0; k < half; k++) {
      const complex even = out[k], odd = w[(size_t)(k * step)] * out[half + k];
      out[k] = even + odd, out[half + k] = even - odd;
    }
    return;
  }
  for (long long k = 0; k < n; k++) {
    complex sum = 0;
    for (long long j = 0; j < n; j++) sum += a[j * stride] * w[(size_t)(j * k % n * step)];
    out[k] = sum;
  }
}

/* Transforms along an axis of a[n0][n1][n2]. */
void along(std::vector<complex> &a, const plan &p, int axis, int sign) {
  const long long n = p.n[axis];
  long long inner = 1, outer = 1;
  for (int k = axis + 1; k < p.rank; k++) inner *= p.n[k];
  for (int k = 0; k < axis; k++) outer *= p.n[k];
  std::vector<complex> w((size_t)n), line((size_t)n), made((size_t)n);
  for (long long k = 0; k < n; k++) w[(size_t)k] = std::polar(1.0, sign * 2 * M_PI * (double)k / (double)n);
  for (long long o = 0; o < outer; o++)
    for (long long i = 0; i < inner; i++) {
      complex *const first = &a[(size_t)(o * n * inner + i)];
      for (long long j = 0; j < n; j++) line[(size_t)j] = first[j * inner];
      transform(line.data(), 1, made.data(), n, w);
      for (long long j = 0; j < n; j++) first[j * inner] = made[(size_t)j];
    }
}

long long index_of(const plan &p, const long long *shape, const long long *at) {
  long long x = at[0];
  for (int k = 1; k < p.rank; k++) x = x * shape[k] + at[k];
  return x;
}
void split(const plan &p, long long x, long long *at) {
  for (int k = p.rank - 1; k >= 0; k--) at[k] = x % p.n[k], x /= p.n[k];
}

/* Reads a grid, transforms, writes; `half`: the complex side has the first n/2 + 1 numbers of the last axis. */
template <typename From, typename To>
cufftResult execute(int handle, const From *from, To *to, int sign, bool from_half, bool to_half) {
  plan p;
  {
    std::lock_guard<std::mutex> held(lock);
    const auto found = plans.find(handle);
    if (found == plans.end()) return CUFFT_INVALID_PLAN;
    p = found->second;
  }
  const long long all = p.n[0] * p.n[1] * p.n[2], last = p.n[p.rank - 1];
  std::vector<complex> a((size_t)all);
  for (long long b = 0; b < p.batch; b++) {
    for (long long x = 0; x < all; x++) {
      long long at[3];
      split(p, x, at);
      const bool mirrored = from_half && at[p.rank - 1] > last / 2;
      if (mirrored)
        for (int k = 0; k < p.rank; k++) at[k] = at[k] ? p.n[k] - at[k] : 0;
      const complex value = complex(from[b * p.from_distance + index_of(p, p.from_shape, at) * p.from_stride]);
      a[(size_t)x] = mirrored ? std::conj(value) : value;
    }
    for (int axis = 0; axis < p.rank; axis++) along(a, p, axis, sign);
    for (long long x = 0; x < all; x++) {
      long long at[3];
      split(p, x, at);
      if (to_half && at[p.rank - 1] > last / 2) continue;
      To &there = to[b * p.to_distance + index_of(p, p.to_shape, at) * p.to_stride];
      if constexpr (std::is_floating_point_v<To>)
        there = (To)a[(size_t)x].real();
      else
        there = To(a[(size_t)x]);
    }
  }
  return CUFFT_SUCCESS;
}
typedef std::complex<float> single;

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cufftResult cufftCreate(cufftHandle *out) {
  static int number;
  std::lock_guard<std::mutex> held(lock);
  plans[ *out = ++number] = plan();
  return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle handle) {
  std::lock_guard<std::mutex> held(lock);
  return plans.erase(handle) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
cufftResult cufftSetAutoAllocation(cufftHandle, int) { return CUFFT_SUCCESS; }
cufftResult cufftSetStream(cufftHandle, cudaStream_t) { return CUFFT_SUCCESS; }
cufftResult cufftSetWorkArea(cufftHandle, void *) { return CUFFT_SUCCESS; }
cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long *n, long long *from_shape,
                                long long from_stride, long long from_distance, long long *to_shape,
                                long long to_stride, long long to_distance, cufftType, long long batch, size_t *bytes) {
  if (rank < 1 || rank > 3) return CUFFT_INVALID_VALUE;
  std::lock_guard<std::mutex> held(lock);
  plan &p = plans[handle];
  p.rank = rank;
  for (int k = 0; k < rank; k++) p.n[k] = n[k], p.from_shape[k] = from_shape[k], p.to_shape[k] = to_shape[k];
  p.from_stride = from_stride, p.from_distance = from_distance;
  p.to_stride = to_stride, p.to_distance = to_distance;
  p.batch = batch;
  *bytes = 64;
  return CUFFT_SUCCESS;
}
cufftResult cufftPlan1d(cufftHandle *out, int n, cufftType type, int batch) {
  long long length = n, half = n / 2 + 1;
  size_t bytes;
  (void)cufftCreate(out);
  const bool from_half = type == CUFFT_C2R || type == CUFFT_Z2D, to_half = type == CUFFT_R2C || type == CUFFT_D2Z;
  return cufftMakePlanMany64(*out, 1, &length, &length, 1, from_half ? half : n, &length, 1, to_half ? half : n, type,
                             batch, &bytes);
}
cufftResult cufftExecR2C(cufftHandle h, cufftReal *a, cufftComplex *b) {
  return execute(h, a, (single *)b, CUFFT_FORWARD, false, true);
}
cufftResult cufftExecC2R(cufftHandle h, cufftComplex *a, cufftReal *b) {
  return execute(h, (single *)a, b, CUFFT_INVERSE, true, false);
}
cufftResult cufftExecD2Z(cufftHandle h, cufftDoubleReal *a, cufftDoubleComplex *b) {
  return execute(h, a, (complex *)b, CUFFT_FORWARD, false, true);
}
cufftResult cufftExecZ2D(cufftHandle h, cufftDoubleComplex *a, cufftDoubleReal *b) {
  return execute(h, (complex *)a, b, CUFFT_INVERSE, true, false);
}
cufftResult cufftExecC2C(cufftHandle h, cufftComplex *a, cufftComplex *b, int direction) {
  return execute(h, (single *)a, (single *)b, direction, false, false);
}
cufftResult cufftExecZ2Z(cufftHandle h, cufftDoubleComplex *a, cufftDoubleComplex *b, int direction) {
  return execute(h, (complex *)a, (complex *)b, direction, false, false);
}

} // extern "C"
