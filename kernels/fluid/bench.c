/* Rows of `sim bench`. */
#include "kernels/fluid/fluid.h"

/* Bytes of one cell and step: ten moments read and written in fp32. */
static sim_bench_cost cost(sim_backend_kind kind, sim_isa isa, int n) {
  (void)kind, (void)isa, (void)n;
  return (sim_bench_cost){SIM_LIMIT_BYTES, 80};
}

const sim_bench fluid_bench[] = {
    {.title = "D3Q19 in moments, periodic, single",
     .size = "cells an axis",
     .power = 3,
     .warm_steps = 4,
     .scenario = "local n = sim.param('n', 64, 'cells an axis')\n"
                 "return sim.fluid { precision = 'single',\n"
                 "  grid = { n = {n, n, n}, size = {1, 1, 1} }, viscosity = 1e-3, speed = 0.1,\n"
                 "  initial = function(x, y, z) return 0.1 * math.sin(2 * math.pi * y), 0, 0 end,\n"
                 "  integrate = { t_end = 1e6 }, " SIM_BENCH_NO_OUTPUT " }\n",
     .sizes = {[SIM_BACKEND_CPU] = {{64, 128, 256}, {32, 64, 128}, {16, 256, 2}}},
     .cost = cost},
    {.title = NULL},
};
