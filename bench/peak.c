/* Compiled once for each instruction set and precision, as the kernels are. */
#include "bench/peak.h"
#include "engine/wall_clock.h"
#include "kernels/nbody/cpu/simd.h"

enum { CHAINS = 12, ROUNDS = 200000 }; /* more chains than latency x ports, no more than registers */

bench_peak BENCH_PEAK;

double BENCH_PEAK(void) {
  vreal sum[CHAINS];
  const vreal factor = v_set((real)0.999), term = v_set((real)0.001);
  for (int k = 0; k < CHAINS; k++) sum[k] = v_set((real)k);
  double start = sim_wall_clock();
  for (int i = 0; i < ROUNDS; i++) {
#pragma GCC unroll 12
    for (int k = 0; k < CHAINS; k++) sum[k] = v_fma(sum[k], factor, term);
  }
  double seconds = sim_wall_clock() - start;
  _Alignas(64) volatile real keep[SIMD_WIDTH];
  _Alignas(64) real out[SIMD_WIDTH];
  for (int k = 0; k < CHAINS; k++) {
    v_store(out, sum[k]);
    keep[0] = out[0];
  }
  (void)keep;
  return (double)ROUNDS * CHAINS / seconds;
}
