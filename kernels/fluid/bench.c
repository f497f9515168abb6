/* Rows of `sim bench`. */
#include "kernels/fluid/fluid.h"

/* Bytes of one cell and step: all moments, read and written. */
static sim_bench_cost single(sim_backend_kind kind, sim_isa isa, int n) {
  (void)kind, (void)isa, (void)n;
  return (sim_bench_cost){SIM_LIMIT_BYTES, 80};
}
static sim_bench_cost wide(sim_backend_kind kind, sim_isa isa, int n) {
  (void)kind, (void)isa, (void)n;
  return (sim_bench_cost){SIM_LIMIT_BYTES, 160};
}
/* All populations, read and written. */
static sim_bench_cost populations(sim_backend_kind kind, sim_isa isa, int n) {
  (void)kind, (void)isa, (void)n;
  return (sim_bench_cost){SIM_LIMIT_BYTES, 152};
}
static sim_bench_cost populations_half(sim_backend_kind kind, sim_isa isa, int n) {
  (void)kind, (void)isa, (void)n;
  return (sim_bench_cost){SIM_LIMIT_BYTES, 76};
}
static sim_bench_cost flat(sim_backend_kind kind, sim_isa isa, int n) {
  (void)kind, (void)isa, (void)n;
  return (sim_bench_cost){SIM_LIMIT_BYTES, 48};
}

/* With the temperature, which the CPU keeps in double precision. */
static sim_bench_cost warm(sim_backend_kind kind, sim_isa isa, int n) {
  (void)isa, (void)n;
  return (sim_bench_cost){SIM_LIMIT_BYTES, kind == SIM_BACKEND_CPU ? 144 : 112};
}
static sim_bench_cost warm_wide(sim_backend_kind kind, sim_isa isa, int n) {
  (void)kind, (void)isa, (void)n;
  return (sim_bench_cost){SIM_LIMIT_BYTES, 224};
}

#define SIZES                                                                                                          \
  {                                                                                                                    \
    [SIM_BACKEND_CPU] = {{64, 128, 256}, {32, 64, 128}, {16, 256, 2}}, [SIM_BACKEND_CUDA] = {                          \
      {128, 256, 512},                                                                                                 \
      {64, 128, 256},                                                                                                  \
      {32, 512, 2}                                                                                                     \
    }                                                                                                                  \
  }
/* A cube with a shear flow; `more`: other keys. */
#define CUBE(precision, more)                                                                                          \
  "local n = sim.param('n', 64, 'cells an axis')\n"                                                                    \
  "return sim.fluid { precision = '" precision "',\n"                                                                  \
  "  grid = { n = {n, n, n}, size = {1, 1, 1} }, viscosity = 1e-3, speed = 0.1,\n"                                     \
  "  initial = function(x, y, z) return 0.08 * math.sin(2 * math.pi * y), 0.03 * math.sin(2 * math.pi * z), 0 end,\n"  \
  "  integrate = { t_end = 1e6 }, " more SIM_BENCH_NO_OUTPUT " }\n"

/* Heat that the flow carries and that pushes it. */
#define HEAT                                                                                                           \
  "heat = { diffusivity = 1e-3, expansion = 1, gravity = {0, 0, -0.01},\n"                                             \
  "  initial = function(x, y, z) return math.sin(2 * math.pi * x) end }, "

const sim_bench fluid_bench[] = {
    {.title = "D3Q19 in moments, periodic, single",
     .size = "cells an axis",
     .power = 3,
     .warm_steps = 4,
     .scenario = CUBE("single", ""),
     .sizes = SIZES,
     .cost = single},
    {.title = "the same with a ball, interpolated bounce-back",
     .size = "cells an axis",
     .power = 3,
     .warm_steps = 4,
     .scenario = CUBE("single", "bodies = { sim.ball { point = {0.5, 0.5, 0.5}, radius = 0.1 } }, "),
     .sizes = SIZES,
     .cost = single},
    {.title = "the same with Smagorinsky's eddies, no ball",
     .size = "cells an axis",
     .power = 3,
     .warm_steps = 4,
     .scenario = CUBE("single", "turbulence = { smagorinsky = 0.16 }, "),
     .sizes = SIZES,
     .cost = single},
    {.title = "the same with heat and buoyancy, no eddies",
     .size = "cells an axis",
     .power = 3,
     .warm_steps = 4,
     .scenario = CUBE("single", HEAT),
     .sizes = SIZES,
     .cost = warm},
    {.title = "D3Q19 in moments, periodic, double",
     .size = "cells an axis",
     .power = 3,
     .warm_steps = 4,
     .scenario = CUBE("double", ""),
     .sizes = SIZES,
     .cost = wide},
    {.title = "the same with heat and buoyancy, double",
     .size = "cells an axis",
     .power = 3,
     .warm_steps = 4,
     .scenario = CUBE("double", HEAT),
     .sizes = SIZES,
     .cost = warm_wide},
    {.title = "D3Q19 in populations (trt), periodic, single",
     .size = "cells an axis",
     .power = 3,
     .warm_steps = 4,
     .scenario = CUBE("single", "collision = 'trt', "),
     .sizes = SIZES,
     .cost = populations},
    {.title = "the same with a ball, interpolated bounce-back, trt",
     .size = "cells an axis",
     .power = 3,
     .warm_steps = 4,
     .scenario = CUBE("single", "collision = 'trt', bodies = { sim.ball { point = {0.5, 0.5, 0.5}, radius = 0.1 } }, "),
     .sizes = SIZES,
     .cost = populations},
    {.title = "D3Q19 in populations (trt), periodic, half",
     .size = "cells an axis",
     .power = 3,
     .warm_steps = 4,
     .scenario = CUBE("half", "collision = 'trt', "),
     .sizes = {[SIM_BACKEND_CUDA] = {{128, 256, 512}, {64, 128, 256}, {32, 512, 2}}},
     .cost = populations_half},
    {.title = "D2Q9 in moments, periodic, single",
     .size = "cells an axis",
     .power = 2,
     .warm_steps = 4,
     .scenario = "local n = sim.param('n', 64, 'cells an axis')\n"
                 "return sim.fluid { precision = 'single',\n"
                 "  grid = { n = {n, n}, size = {1, 1} }, viscosity = 1e-3, speed = 0.1,\n"
                 "  initial = function(x, y) return 0.1 * math.sin(2 * math.pi * y), 0 end,\n"
                 "  integrate = { t_end = 1e6 }, " SIM_BENCH_NO_OUTPUT " }\n",
     .sizes = {[SIM_BACKEND_CPU] = {{256, 1024, 4096}, {128, 256, 512}, {64, 4096, 4}},
               [SIM_BACKEND_CUDA] = {{1024, 4096, 16384}, {256, 1024, 4096}, {64, 16384, 4}}},
     .cost = flat},
    {.title = NULL},
};
