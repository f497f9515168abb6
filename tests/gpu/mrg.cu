/* The words of generator = "mrg32k3a" on the CPU, and those of the text that GPUs get, are those of cuRAND's device
 * generator. cuRAND's functions, and here the text's, run on the host too: no GPU is needed. */
extern "C" {
#include "kernels/option/random/mrg.h"
}
#define QUALIFIERS static inline __host__ __device__
#include <cstdio>
#include <cstdlib>
#include <curand_kernel.h>

/* The device's text as functions of the host. */
#undef __device__
#define __device__ static
#define __ldg(pointer) (*(pointer))
#define __dmul_rn(a, b) ((a) * (b))
#include "kernels/option/cuda/paths/mrg.cuh"

int main() {
  option_mrg *mrg = (option_mrg *)malloc(sizeof *mrg);
  if (mrg == nullptr) return 1;
  uint64_t number = 1;
  auto next = [&number] { return number = number * 6364136223846793005u + 1442695040888963407u; };
  auto upper = [&next](int least) { return next() >> (least + (int)(next() >> 59)); }; /* of all lengths */
  int wrong = 0, all = 0;
  for (int s = 0; s < 4; s++) {
    const uint64_t seed = s < 2 ? (uint64_t)s : next() ^ next() >> 32;
    option_mrg_make(seed, mrg);
    option_keys keys;
    keys.mrg = mrg->seed;
    for (int i = 0; i < 1000; i++) {
      const uint64_t path = upper(16) | next() >> 61 << 61;
      const uint32_t group = (uint32_t)upper(32), draw = (uint32_t)(next() >> 54);
      uint32_t bits4[4][OPTION_MRG_LANES];
      curandStateMRG32k3a_t state;
      option_mrg_bits(mrg, path, 1, group, draw, bits4);
      curand_init((unsigned long long)seed, (unsigned long long)option_mrg_subsequence(path),
                  (unsigned long long)draw << 40 | 4 * (unsigned long long)group, &state);
      const ::bits4 text = random_bits(begin_stream((unsigned)(path >> 32), (unsigned)path), keys, group, draw);
      for (int k = 0; k < 4; k++, all++) {
        const unsigned expected = curand(&state);
        wrong += expected != bits4[k][0] || expected != text.bits[k];
      }
    }
  }
  free(mrg);
  printf("%d of %d words differ from cuRAND's\n", wrong, all);
  return wrong != 0;
}
