/* Rows of `sim bench`: scenarios of a model that it times, their sizes, and the least cost of their work. */
#ifndef SIM_ENGINE_BENCH_H
#define SIM_ENGINE_BENCH_H

#include "engine/device/backend.h"
#include "engine/device/kernel.h"

enum { SIM_BENCH_SIZES = 3 };

/* Least cost of one unit of a model's work: bytes moved, or floating-point instructions. amount 0: unknown. */
typedef struct sim_bench_cost {
  sim_limit limit;
  double amount;
} sim_bench_cost;

/* Values of n on one kind of backend: default, --quick, and --scaling (from, to, factor between). */
typedef struct sim_bench_sizes {
  int usual[SIM_BENCH_SIZES], quick[SIM_BENCH_SIZES];
  struct {
    int from, to;
    double factor;
  } scaling;
} sim_bench_sizes;

typedef struct sim_bench {
  const char *title;         /* "direct sum, single"; NULL ends the list */
  const char *size;          /* what n counts: "bodies" */
  int power;                 /* --scaling counts n^power */
  int warm_steps;            /* most untimed steps before the timed ones, until the state is typical of a run */
  const char *scenario;      /* Lua; its parameter is n */
  const char *grows, *grown; /* --scaling: the parameter that grows instead of n, and what it counts; NULL: n */
  sim_bench_sizes sizes[SIM_BACKEND_KINDS];
  sim_bench_cost (*cost)(sim_backend_kind kind, sim_isa isa, int n);
} sim_bench;

/* Output table of these scenarios: none. */
#define SIM_BENCH_NO_OUTPUT "output = { snapshots = 'never', tables = 'never', checkpoint = 'never' }"

#endif
