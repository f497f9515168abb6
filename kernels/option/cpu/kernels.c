/* Tables of the path and sum kernels that this build has. */
#include "kernels/option/cpu/particles.h"
#include "kernels/option/cpu/sums.h"

#include <stddef.h>

option_path_kernel option_paths_single_plain, option_paths_double_plain;
#if OPTION_X86
option_path_kernel option_paths_single_avx2, option_paths_double_avx2;
option_path_kernel option_paths_single_avx512, option_paths_double_avx512;
#endif

option_particle_kernel option_particles_double_plain;
#if OPTION_X86
option_particle_kernel option_particles_double_avx2, option_particles_double_avx512;
#endif

option_sum_kernel option_sums_single_plain, option_sums_double_plain;
#if OPTION_X86
option_sum_kernel option_sums_single_avx2, option_sums_double_avx2;
option_sum_kernel option_sums_single_avx512, option_sums_double_avx512;
#endif

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

option_particle_kernel *option_particle_find(sim_isa isa) {
  static option_particle_kernel *const kernels[SIM_ISA_COUNT] = {
    [SIM_ISA_PLAIN] = option_particles_double_plain,
#if OPTION_X86
    [SIM_ISA_AVX2] = option_particles_double_avx2,
    [SIM_ISA_AVX512] = option_particles_double_avx512,
#endif
  };
  return kernels[isa];
}
