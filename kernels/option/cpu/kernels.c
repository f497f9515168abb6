/* Which kernels this build has. */
#include "kernels/option/cpu/sum.h"

#include <stddef.h>

option_path_kernel option_paths_single_plain, option_paths_double_plain;
#if OPTION_X86
option_path_kernel option_paths_single_avx2, option_paths_double_avx2;
option_path_kernel option_paths_single_avx512, option_paths_double_avx512;
#endif

option_sum_kernel option_sums_single_plain, option_sums_double_plain;
#if OPTION_X86
option_sum_kernel option_sums_single_avx2, option_sums_double_avx2;
option_sum_kernel option_sums_single_avx512, option_sums_double_avx512;
#endif

/* sqrt(-2 ln 2^-32) */
const double option_normal_max = 6.6604;

option_path_kernel *option_path_find(bool single, sim_isa isa) {
  static option_path_kernel *const kernels[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {option_paths_double_plain, option_paths_single_plain},
#if OPTION_X86
    [SIM_ISA_AVX2] = {option_paths_double_avx2, option_paths_single_avx2},
    [SIM_ISA_AVX512] = {option_paths_double_avx512, option_paths_single_avx512},
#endif
  };
  return kernels[isa][single];
}

size_t option_path_scratch(int assets, int variants, size_t program) {
  return OPTION_SCRATCH_BASE + (size_t)assets * (size_t)variants * OPTION_SCRATCH_TRACK + program;
}

size_t option_bridge_scratch(int assets, int steps) { return (size_t)assets * ((size_t)steps + 1) * 64; }

size_t option_match_scratch(int assets, int steps) {
  return ((size_t)assets * (size_t)steps * 2 * sizeof(double) + 63) / 64 * 64;
}

size_t option_tangent_scratch(int tangents, int variants) { return (size_t)tangents * (size_t)variants * 5 * 64; }

option_sum_kernel *option_sum_find(bool single, sim_isa isa) {
  static option_sum_kernel *const kernels[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {option_sums_double_plain, option_sums_single_plain},
#if OPTION_X86
    [SIM_ISA_AVX2] = {option_sums_double_avx2, option_sums_single_avx2},
    [SIM_ISA_AVX512] = {option_sums_double_avx512, option_sums_single_avx512},
#endif
  };
  return kernels[isa][single];
}
