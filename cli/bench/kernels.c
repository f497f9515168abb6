/* The kernels that sim bench times: scenarios like any other, and what their work takes at the least. */
#include "cli/bench/bench.h"

#define NEVER "output = { snapshots = 'never', tables = 'never', checkpoint = 'never' }"

/* Newton's third law gives two interactions for the instructions of one pair: kernels/nbody/direct/cpu/tile.c on the
 * CPU; on the GPU symmetric.cu (bodies of equal masses), and tiles of all ordered pairs below 5120 bodies. */
static bench_count count_nbody_single(sim_backend_kind device, sim_isa isa, int n) {
  if (device == SIM_BACKEND_CUDA) return (bench_count){BENCH_FMA32, n < 5120 ? 13 : 7.5};
  if (isa == SIM_ISA_PLAIN) return (bench_count){BENCH_NO_LIMIT, 0};
  return (bench_count){BENCH_FMA32, isa == SIM_ISA_AVX512 ? 9.5 : 10};
}

static bench_count count_nbody_double(sim_backend_kind device, sim_isa isa, int n) {
  (void)n;
  if (device == SIM_BACKEND_CUDA) return (bench_count){BENCH_FMA64, 16};
  return isa == SIM_ISA_PLAIN ? (bench_count){BENCH_NO_LIMIT, 0} : (bench_count){BENCH_FMA64, 11.5};
}

/* Positions and momenta, 24 bytes, read and written; on the CPU a sweep over them makes two steps. */
static bench_count count_collision(sim_backend_kind device, sim_isa isa, int n) {
  (void)isa, (void)n;
  return (bench_count){BENCH_COPY, device == SIM_BACKEND_CPU ? 24 : 48};
}

/* Two passes over the half spectrum in fp32, read and written. */
static bench_count count_diffusion(sim_backend_kind device, sim_isa isa, int n) {
  (void)device, (void)isa, (void)n;
  return (bench_count){BENCH_COPY, 16};
}

/* Philox, Box-Muller, the exponential and the sum: 89 instructions for four steps (docs/performance.md). */
static bench_count count_option(sim_backend_kind device, sim_isa isa, int n) {
  (void)isa, (void)n;
  return device == SIM_BACKEND_CUDA ? (bench_count){BENCH_FMA32, 22.25} : (bench_count){BENCH_NO_LIMIT, 0};
}

#define NBODY(precision)                                                                                               \
  "local n = sim.param('n', 1024, 'bodies')\n"                                                                         \
  "return sim.nbody { precision = '" precision "', bodies = { sim.plummer { n = n, mass = 1, radius = 1 } },\n"        \
  "  gravity = { softening = 0.05 }, integrate = { dt = 1/16384, t_end = 1e6 }, " NEVER " }\n"

const bench_kernel cli_bench_kernels[] = {
    {.model = "nbody",
     .title = "direct sum, single",
     .size = "bodies",
     .power = 1,
     .warm = 2,
     .scenario = NBODY("single"),
     .sizes = {[SIM_BACKEND_CPU] = {{4096, 16384, 65536}, {512, 2048, 8192}, {10, 100000, 3.1622776601683795}},
               [SIM_BACKEND_CUDA] = {{16384, 65536, 262144}, {4096, 16384, 65536}, {100, 1000000, 3.1622776601683795}}},
     .count = count_nbody_single},
    {.model = "nbody",
     .title = "direct sum, double",
     .size = "bodies",
     .power = 1,
     .warm = 2,
     .scenario = NBODY("double"),
     .sizes = {[SIM_BACKEND_CPU] = {{4096, 16384, 65536}, {512, 2048, 8192}, {10, 100000, 3.1622776601683795}},
               [SIM_BACKEND_CUDA] = {{16384, 65536, 262144}, {4096, 16384, 65536}, {100, 1000000, 3.1622776601683795}}},
     .count = count_nbody_double},
    {.model = "collision",
     .title = "gas, linear contacts, single",
     .size = "grains",
     .power = 1,
     .warm = 1500,
     .scenario =
         "local n = sim.param('n', 10000, 'grains')\n"
         "local side = (n * math.pi / 6 / 0.3)^(1/3)\n"
         "return sim.collision { precision = 'single', box = { size = {side, side, side}, boundary = 'periodic' },\n"
         "  grains = { sim.lattice { n = n, radius = 0.5, density = 6 / math.pi, temperature = 0.1 } },\n"
         "  contact = { law = 'linear', stiffness = 1000 }, integrate = { dt = 0.0014, t_end = 1e6 }, " NEVER " }\n",
     .sizes = {[SIM_BACKEND_CPU] = {{10000, 100000, 1000000}, {3000, 10000, 30000}, {100, 1000000, 3.1622776601683795}},
               [SIM_BACKEND_CUDA] = {{100000, 1000000, 10000000},
                                     {10000, 100000, 1000000},
                                     {1000, 10000000, 3.1622776601683795}}},
     .count = count_collision},
    {.model = "diffusion",
     .title = "cubic reaction, lie, single",
     .size = "cells an axis",
     .power = 3,
     .warm = 10,
     .scenario =
         "local n = sim.param('n', 64, 'cells an axis')\n"
         "return sim.diffusion { precision = 'single',\n"
         "  grid = { n = {n, n, n}, size = {2 * math.pi, 2 * math.pi, 2 * math.pi}, boundary = 'periodic' },\n"
         "  fields = { { name = 'u', D = 0.01,\n"
         "    initial = function(x, y, z) return math.sin(x) * math.cos(2 * y) + 0.5 * math.cos(3 * z) end } },\n"
         "  rates = function(u) return 0.1 * (u - u^3) end,\n"
         "  integrate = { scheme = 'lie', dt = 0.1, t_end = 1e6 }, " NEVER " }\n",
     .sizes = {[SIM_BACKEND_CPU] = {{64, 128, 256}, {32, 64, 128}, {8, 256, 2}},
               [SIM_BACKEND_CUDA] = {{256, 512, 1024}, {64, 128, 256}, {16, 512, 2}}},
     .count = count_diffusion},
    {.model = "option",
     .title = "Asian call, mixed",
     .size = "dates a path",
     .power = 1,
     .warm = 2,
     .scenario = "local n = sim.param('n', 12, 'dates')\n"
                 "local paths = sim.param('paths', 2^40, 'paths in all')\n"
                 "return sim.option { precision = 'mixed', assets = { { spot = 100, vol = 0.2 } }, rate = 0.05,\n"
                 "  maturity = 1, steps = n, payoffs = { sim.asian { strike = 100 } },\n"
                 "  sampling = { paths = paths }, " NEVER " }\n",
     .grows = "paths",
     .grown = "paths",
     .sizes = {[SIM_BACKEND_CPU] = {{12, 52, 252}, {4, 12, 52}, {1024, 16777216, 4}},
               [SIM_BACKEND_CUDA] = {{12, 52, 252}, {4, 12, 52}, {4096, 67108864, 4}}},
     .count = count_option},
    {.model = NULL},
};
