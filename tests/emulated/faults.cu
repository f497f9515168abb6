/* Whether the emulated device shows faults of device code: faults.cu CASE runs a kernel with one fault. Without a fault
 * it prints "sum N", the same N for each order of threads. */
#include "kernels/common/device.cuh"

#include <stdio.h>
#include <string.h>

enum { THREADS = 128, N = 1000 };
enum fault { NONE, NO_BARRIER, BEYOND, UNWRITTEN, NO_WAIT, DIVERGED };

static __global__ void sum_of(const int *from, int n, int *out, int fault) {
  __shared__ int part[THREADS];
  __shared__ __align__(16) int ahead[4 * THREADS];
  const int t = (int)threadIdx.x;
  int sum = 0;
  if (t < N / 4 / THREADS * THREADS) copy_async((int4 *)ahead + t, (const int4 *)from + t);
  commit_async();
  if (fault != NO_WAIT) wait_async<0>();
  for (int c = 0; c < 4; c++) sum += ahead[4 * t + c];
  for (int i = 4 * THREADS + t; i < n + (fault == BEYOND ? 100 : 0); i += THREADS) sum += from[i];
  if (fault != UNWRITTEN || t != 5) part[t] = sum;
  if (fault == DIVERGED && t == 7) return;
  if (fault == DIVERGED && t == 40) warp_barrier();
  for (int step = THREADS / 2; step > 0; step /= 2) {
    if (fault != NO_BARRIER) __syncthreads();
    if (t < step) part[t] += part[t + step];
  }
  if (t == 0) *out = part[0];
}

int main(int count, char **words) {
  static const char *const names[] = {"none", "no_barrier", "beyond", "unwritten", "no_wait", "diverged"};
  int fault = -1, *from, *out, sum, given[N];
  for (int k = 0; k < 6; k++)
    if (count == 2 && strcmp(words[1], names[k]) == 0) fault = k;
  if (fault < 0 || cudaMalloc((void **)&from, N * sizeof *from) || cudaMalloc((void **)&out, sizeof *out)) return 2;
  for (int i = 0; i < N; i++) given[i] = i * i % 1009;
  if (cudaMemcpy(from, given, sizeof given, cudaMemcpyHostToDevice)) return 2;
  sum_of<<<1, THREADS>>>(from, N, out, fault);
  if (cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost)) return 2;
  printf("sum %d\n", sum);
  return 0;
}
