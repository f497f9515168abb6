/* cuRAND's Philox4x32-10 on the device gives the words of sim_rng_bits: the streams of device code and of the host are
 * one. */
extern "C" {
#include "engine/rng.h"
}
#include "engine/device/cuda.h"
#include "tests/gpu/gpu.h"

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <vector>

struct place {
  uint64_t seed, entity, step;
  uint32_t draw;
};

__global__ void words(const place *at, int count, uint4 *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const place p = at[i];
  const uint4 counter = make_uint4((unsigned)p.entity, (unsigned)(p.entity >> 32), (unsigned)p.step,
                                   (unsigned)(p.step >> 32) << 16 | p.draw);
  out[i] = curand_Philox4x32_10(counter, make_uint2((unsigned)p.seed, (unsigned)(p.seed >> 32)));
}

int main() {
  const int missing = gpu_open();
  if (missing != 0) return missing;
  enum { COUNT = 1 << 16 };
  std::vector<place> at(COUNT);
  uint64_t word = 1;
  auto next = [&word] { return word = word * 6364136223846793005u + 1442695040888963407u; };
  for (place &p : at) {
    p.seed = next() ^ next() >> 32;
    p.entity = next() ^ next() >> 32;
    p.step = next() >> 16;
    p.draw = (uint32_t)(next() >> 48);
  }
  void *in, *out;
  std::vector<uint4> got(COUNT);
  if (sim_backend_cuda.alloc(COUNT * sizeof(place), &in) != SIM_OK ||
      sim_backend_cuda.alloc(COUNT * sizeof(uint4), &out) != SIM_OK ||
      sim_backend_cuda.copy(in, at.data(), COUNT * sizeof(place)) != SIM_OK)
    return 1;
  words<<<COUNT / 256, 256, 0, (cudaStream_t)sim_cuda_stream()>>>((const place *)in, COUNT, (uint4 *)out);
  if (sim_backend_cuda.copy(got.data(), out, COUNT * sizeof(uint4)) != SIM_OK) return 1;
  int wrong = 0;
  for (int i = 0; i < COUNT; i++) {
    uint32_t expected[4];
    sim_rng_bits(at[(size_t)i].seed, at[(size_t)i].entity, at[(size_t)i].step, at[(size_t)i].draw, expected);
    wrong += memcmp(expected, &got[(size_t)i], sizeof expected) != 0;
  }
  printf("%d of %d counters differ\n", wrong, COUNT);
  return wrong != 0;
}
