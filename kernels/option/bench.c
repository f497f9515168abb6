/* Rows of `sim bench`. */
#include "kernels/option/option.h"

/* fp32 instructions of one path step: generator, normal, exponential and sum take 89 for four steps
 * (docs/performance.md). */
static sim_bench_cost cost(sim_backend_kind kind, sim_isa isa, int n) {
  (void)isa, (void)n;
  return kind == SIM_BACKEND_CUDA ? (sim_bench_cost){SIM_LIMIT_FP32, 22.25} : (sim_bench_cost){0};
}

const sim_bench option_bench[] = {
    {.title = "Asian call, mixed",
     .size = "dates a path",
     .power = 1,
     .warm_steps = 2,
     .scenario = "local n = sim.param('n', 12, 'dates')\n"
                 "local paths = sim.param('paths', 2^40, 'paths in all')\n"
                 "return sim.option { precision = 'mixed', assets = { { spot = 100, vol = 0.2 } }, rate = 0.05,\n"
                 "  maturity = 1, steps = n, payoffs = { sim.asian { strike = 100 } },\n"
                 "  sampling = { paths = paths }, " SIM_BENCH_NO_OUTPUT " }\n",
     .grows = "paths",
     .grown = "paths",
     .sizes = {[SIM_BACKEND_CPU] = {{12, 52, 252}, {4, 12, 52}, {1024, 16777216, 4}},
               [SIM_BACKEND_CUDA] = {{12, 52, 252}, {4, 12, 52}, {4096, 67108864, 4}}},
     .cost = cost},
    {.title = NULL},
};
