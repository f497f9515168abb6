/* Rows of `sim bench`. */
#include "kernels/nbody/nbody.h"

/* Limit and instructions of one interaction in fp32. Newton's third law gives two interactions for each pair: in
 * direct/cpu/tile.c on the CPU, in direct/cuda/symmetric.cu (equal masses) on the GPU. Below 5120 bodies a GPU computes
 * all ordered pairs. */
static sim_bench_cost cost_single(sim_backend_kind kind, sim_isa isa, int n) {
  if (kind == SIM_BACKEND_CUDA) return (sim_bench_cost){SIM_LIMIT_FP32, n < 5120 ? 13 : 7.5};
  if (isa == SIM_ISA_PLAIN) return (sim_bench_cost){0};
  return (sim_bench_cost){SIM_LIMIT_FP32, isa == SIM_ISA_AVX512 ? 9.5 : 10};
}

static sim_bench_cost cost_double(sim_backend_kind kind, sim_isa isa, int n) {
  (void)n;
  if (kind == SIM_BACKEND_CUDA) return (sim_bench_cost){SIM_LIMIT_FP64, 16};
  return isa == SIM_ISA_PLAIN ? (sim_bench_cost){0} : (sim_bench_cost){SIM_LIMIT_FP64, 11.5};
}

/* No single limit holds for multipoles: their interactions are pairs and cells. */
static sim_bench_cost cost_unknown(sim_backend_kind kind, sim_isa isa, int n) {
  (void)kind, (void)isa, (void)n;
  return (sim_bench_cost){0};
}

#define NBODY(precision, solver)                                                                                       \
  "local n = sim.param('n', 1024, 'bodies')\n"                                                                         \
  "return sim.nbody { precision = '" precision "', bodies = { sim.plummer { n = n, mass = 1, radius = 1 } },\n"        \
  "  gravity = { softening = 0.05, solver = '" solver                                                                  \
  "' }, integrate = { dt = 1/16384, t_end = 1e6 }, " SIM_BENCH_NO_OUTPUT " }\n"

const sim_bench nbody_bench[] = {
    {.title = "direct sum, single",
     .size = "bodies",
     .power = 1,
     .warm_steps = 2,
     .scenario = NBODY("single", "direct"),
     .sizes = {[SIM_BACKEND_CPU] = {{4096, 16384, 65536}, {512, 2048, 8192}, {10, 100000, 3.1622776601683795}},
               [SIM_BACKEND_CUDA] = {{16384, 65536, 262144}, {4096, 16384, 65536}, {100, 1000000, 3.1622776601683795}}},
     .cost = cost_single},
    {.title = "direct sum, double",
     .size = "bodies",
     .power = 1,
     .warm_steps = 2,
     .scenario = NBODY("double", "direct"),
     .sizes = {[SIM_BACKEND_CPU] = {{4096, 16384, 65536}, {512, 2048, 8192}, {10, 100000, 3.1622776601683795}},
               [SIM_BACKEND_CUDA] = {{16384, 65536, 262144}, {4096, 16384, 65536}, {100, 1000000, 3.1622776601683795}}},
     .cost = cost_double},
    {.title = "fast multipoles, single",
     .size = "bodies",
     .power = 1,
     .warm_steps = 2,
     .scenario = NBODY("single", "fmm"),
     .sizes = {[SIM_BACKEND_CPU] = {{16384, 131072, 1048576}, {4096, 16384, 65536}, {100, 1000000, 3.1622776601683795}},
               [SIM_BACKEND_CUDA] = {{131072, 1048576, 8388608},
                                     {65536, 262144, 1048576},
                                     {1000, 10000000, 3.1622776601683795}}},
     .cost = cost_unknown},
    {.title = NULL},
};
