/* Rows of `sim bench`. */
#include "kernels/diffusion/diffusion.h"

/* Bytes of one cell and step: two passes over the half spectrum in fp32, read and written. */
static sim_bench_cost cost(sim_backend_kind kind, sim_isa isa, int n) {
  (void)kind, (void)isa, (void)n;
  return (sim_bench_cost){SIM_LIMIT_BYTES, 16};
}

const sim_bench diffusion_bench[] = {
    {.title = "cubic reaction, lie, single",
     .size = "cells an axis",
     .power = 3,
     .warm_steps = 10,
     .scenario =
         "local n = sim.param('n', 64, 'cells an axis')\n"
         "return sim.diffusion { precision = 'single',\n"
         "  grid = { n = {n, n, n}, size = {2 * math.pi, 2 * math.pi, 2 * math.pi}, boundary = 'periodic' },\n"
         "  fields = { { name = 'u', D = 0.01,\n"
         "    initial = function(x, y, z) return math.sin(x) * math.cos(2 * y) + 0.5 * math.cos(3 * z) end } },\n"
         "  rates = function(u) return 0.1 * (u - u^3) end,\n"
         "  integrate = { scheme = 'lie', dt = 0.1, t_end = 1e6 }, " SIM_BENCH_NO_OUTPUT " }\n",
     .sizes = {[SIM_BACKEND_CPU] = {{64, 128, 256}, {32, 64, 128}, {8, 256, 2}},
               [SIM_BACKEND_CUDA] = {{256, 512, 1024}, {64, 128, 256}, {16, 512, 2}}},
     .cost = cost},
    {.title = NULL},
};
