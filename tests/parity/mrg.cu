/* The text that makes the words of generator = "mrg32k3a" on a GPU gives there what cuRAND's device generator gives. */
extern "C" {
#include "kernels/option/random/mrg.h"
}
#define OPTION_MRG 1
#include "engine/device/cuda.h"
#include "kernels/option/cuda/paths/random.cuh"
#include "tests/gpu/gpu.h"

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <curand_kernel.h>

enum { COUNT = 1 << 14 };

/* Paths of all sizes, with the upper bits of pilots and fits too. */
__global__ void compare(option_keys keys, unsigned long long seed, unsigned *wrong) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint4 random = curand_Philox4x32_10(make_uint4(i, 0, 0, 0), make_uint2(1, 2));
  const unsigned long long low = ((unsigned long long)random.x << 32 | random.y) >> (16 + i % 32), top = i / 32 % 8;
  const unsigned long long path = top << 61 | low;
  const unsigned group = random.z >> (i / 256 % 32), draw = random.w >> 22;
  const bits4 ours = random_bits(begin_stream((unsigned)(path >> 32), (unsigned)path), keys, group, draw);
  curandStateMRG32k3a_t state;
  curand_init(seed, top << 48 | low, (unsigned long long)draw << 40 | 4ull * group, &state);
  for (int k = 0; k < 4; k++)
    if (curand(&state) != ours.bits[k]) atomicAdd(wrong, 1);
}

int main() {
  const int missing = gpu_open();
  if (missing != 0) return missing;
  static const unsigned long long seeds[] = {0, 1, 0x123456789abcdefull};
  option_mrg *mrg = (option_mrg *)malloc(sizeof *mrg);
  void *tables, *count;
  if (mrg == nullptr || sim_backend_cuda.alloc(sizeof *mrg, &tables) != SIM_OK ||
      sim_backend_cuda.alloc(sizeof(unsigned), &count) != SIM_OK)
    return 1;
  unsigned wrong = 0;
  if (sim_backend_cuda.copy(count, &wrong, sizeof wrong) != SIM_OK) return 1;
  for (unsigned long long seed : seeds) {
    option_keys keys = {};
    option_mrg_make(seed, mrg);
    if (sim_backend_cuda.copy(tables, mrg, sizeof *mrg) != SIM_OK) return 1;
    keys.mrg = (const unsigned *)tables;
    compare<<<COUNT / 256, 256, 0, (cudaStream_t)sim_cuda_stream()>>>(keys, seed, (unsigned *)count);
    if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) return 1;
  }
  if (sim_backend_cuda.copy(&wrong, count, sizeof wrong) != SIM_OK) return 1;
  free(mrg);
  printf("%u of %d words differ from cuRAND's\n", wrong, 3 * 4 * COUNT);
  return wrong != 0;
}
