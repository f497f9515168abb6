/* Rows of `sim bench`. */
#include "kernels/collision/collision.h"

/* Limit and bytes of one grain and step: positions and momenta (24 bytes) are read and written; on the CPU one sweep
 * makes two steps. */
static sim_bench_cost cost(sim_backend_kind kind, sim_isa isa, int n) {
  (void)isa, (void)n;
  return (sim_bench_cost){SIM_LIMIT_BYTES, kind == SIM_BACKEND_CPU ? 24 : 48};
}

const sim_bench collision_bench[] = {
    {.title = "gas, linear contacts, single",
     .size = "grains",
     .power = 1,
     .warm_steps = 1500,
     .scenario =
         "local n = sim.param('n', 10000, 'grains')\n"
         "local side = (n * math.pi / 6 / 0.3)^(1/3)\n"
         "return sim.collision { precision = 'single', box = { size = {side, side, side}, boundary = 'periodic' },\n"
         "  grains = { sim.lattice { n = n, radius = 0.5, density = 6 / math.pi, temperature = 0.1 } },\n"
         "  contact = { law = 'linear', stiffness = 1000 }, integrate = { dt = 0.0014, t_end = 1e6 "
         "}, " SIM_BENCH_NO_OUTPUT " }\n",
     .sizes = {[SIM_BACKEND_CPU] = {{10000, 100000, 1000000}, {3000, 10000, 30000}, {100, 1000000, 3.1622776601683795}},
               [SIM_BACKEND_CUDA] = {{100000, 1000000, 10000000},
                                     {10000, 100000, 1000000},
                                     {1000, 10000000, 3.1622776601683795}}},
     .cost = cost},
    {.title = NULL},
};
