/* Small kernels for the tests of the backend: right ones, wrong ones, and one wrong for each tool of compute-sanitizer.
 */
#include "tests/gpu/kernels.h"

#include "engine/device/cuda.h"

#include <cuda_runtime.h>

namespace {

enum { BLOCK = 128 };

const sim_kernel add_kernel = {"gpu_test_add", "force", SIM_LIMIT_BYTES};
const sim_kernel wait_kernel = {"gpu_test_wait", "force", SIM_LIMIT_FP32};
const sim_kernel contract_kernel = {"gpu_test_contract", "force", SIM_LIMIT_FP64};
const sim_kernel launch_kernel = {"gpu_test_bad_launch", "force", SIM_LIMIT_FP32};
const sim_kernel address_kernel = {"gpu_test_bad_address", "force", SIM_LIMIT_FP32};

cudaStream_t stream() { return (cudaStream_t)sim_cuda_stream(); }

__global__ void add(unsigned *x, size_t n, unsigned more) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    x[i] += more;
}

__global__ void spin(long long clocks) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {}
}

__global__ void contract(double *x) { x[2] = x[0] * x[1] - 1; }

__global__ void write_at(unsigned *x, size_t i) { x[i] = 1; }

/* Each thread reads what its neighbour writes, without synchronisation. */
__global__ void race(unsigned *x) {
  __shared__ unsigned shared[BLOCK];
  shared[threadIdx.x] = threadIdx.x;
  x[threadIdx.x] = shared[(threadIdx.x + 37) % BLOCK];
}

__global__ void part_of_a_barrier(unsigned *x) {
  if (threadIdx.x < BLOCK / 2 + 7) __syncthreads();
  x[threadIdx.x] = 1;
}

__global__ void count(const unsigned *x, unsigned *sum) {
  if (x[threadIdx.x] != 0) atomicAdd(sum, 1u);
}

} // namespace

void gpu_test_add(unsigned *x, size_t n, unsigned more) {
  sim_cuda_begin(&add_kernel);
  add<<<sim_cuda_multiprocessors(), BLOCK, 0, stream()>>>(x, n, more);
  sim_cuda_end(&add_kernel, 8 * (double)n);
}

void gpu_test_wait(long long clocks) {
  sim_cuda_begin(&wait_kernel);
  spin<<<1, 1, 0, stream()>>>(clocks);
  sim_cuda_end(&wait_kernel, 0);
}

void gpu_test_contract(double *x) {
  sim_cuda_begin(&contract_kernel);
  contract<<<1, 1, 0, stream()>>>(x);
  sim_cuda_end(&contract_kernel, 2);
}

void gpu_test_bad_launch(void) {
  sim_cuda_begin(&launch_kernel);
  spin<<<1, 1 << 20, 0, stream()>>>(0);
  sim_cuda_end(&launch_kernel, 0);
}

void gpu_test_bad_address(void) {
  sim_cuda_begin(&address_kernel);
  write_at<<<1, 1, 0, stream()>>>(nullptr, 0);
  sim_cuda_end(&address_kernel, 0);
}

int gpu_test_planted(int tool) {
  unsigned *x = nullptr, *sum = nullptr;
  if (cudaMalloc(&x, BLOCK * sizeof *x)) return 1; /* the memory behind it is not allocated */
  if (tool == GPU_TEST_INITCHECK && cudaMalloc(&sum, sizeof *sum)) return 1;
  if (tool == GPU_TEST_MEMCHECK) write_at<<<1, 1>>>(x, BLOCK);
  if (tool == GPU_TEST_RACECHECK) race<<<1, BLOCK>>>(x);
  if (tool == GPU_TEST_SYNCCHECK) part_of_a_barrier<<<1, BLOCK>>>(x);
  if (tool == GPU_TEST_INITCHECK && cudaMemset(sum, 0, sizeof *sum) == cudaSuccess) count<<<1, BLOCK>>>(x, sum);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(sum);
  return error != cudaSuccess && tool != GPU_TEST_MEMCHECK && tool != GPU_TEST_SYNCCHECK;
}
