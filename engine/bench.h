/* Rows of `sim bench`: the scenarios of a model that it times, their sizes, and the least cost of their work. */
#ifndef SIM_ENGINE_BENCH_H
#define SIM_ENGINE_BENCH_H

#include "engine/device/backend.h"
#include "engine/device/kernel.h"

enum { SIM_BENCH_SIZES = 3 };

/* Least cost of one unit of a model's work, in bytes moved or floating-point instructions; amount 0: unknown. */
typedef struct sim_bench_cost {
  sim_limit limit;
  double amount;
} sim_bench_cost;

/* Values of n on one kind of backend: by default, with --quick, and with --scaling (from, to, factor between two). */
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
  int power;                 /* with --scaling, the work grows as n^power */
  int warm_steps;            /* most untimed steps at the start, until the state is typical of a run */
  const char *scenario;      /* Lua; its parameter is n */
  const char *grows, *grown; /* --scaling: a parameter that grows instead of n, and what it counts; NULL: n */
  sim_bench_sizes sizes[SIM_BACKEND_KINDS]; /* all zero: no row for this kind of device */
  sim_bench_cost (*cost)(sim_backend_kind kind, sim_isa isa, int n);
} sim_bench;

/* The `output` table of a scenario without any output. */
#define SIM_BENCH_NO_OUTPUT "output = { snapshots = 'never', tables = 'never', checkpoint = 'never' }"

#endif
