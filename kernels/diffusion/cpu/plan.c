/* Memory, work and exchanges of a run on the CPU. */
#include "kernels/diffusion/cpu/plan.h"

#include "kernels/diffusion/cpu/coupled.h"
#include "kernels/diffusion/cpu/derivation.h"
#include "kernels/diffusion/cpu/forcing.h"
#include "kernels/diffusion/cpu/implicit/linearized.h"
#include "kernels/diffusion/cpu/implicit/vectors.h"
#include "kernels/diffusion/cpu/stirring.h"

#include <limits.h>
#include <math.h>

int diffusion_inputs_of(const diffusion_parameters *p) {
  return (int)p->fields.count + diffusion_gradients_of(p).count;
}

/* An implicit step solves four systems with some 10 iterations each. With levels they take the time of this many
 * stages, each of which has two passes over columns. */
enum { IMPLICIT_ITERATIONS = 40, IMPLICIT_STAGES = 300 };

static int fluxes_of(const diffusion_parameters *p) { return diffusion_gradients_of(p).fluxes; }

/* Whether arrays of columns are turned back to slabs (states and errors), or slabs of noise to columns. */
static bool turns_arrays(const diffusion_parameters *p) {
  return diffusion_method_of(p)->arrays > 0 || diffusion_fluctuates(p);
}

bool diffusion_in_common(const diffusion_slab *slab, const sim_comm *comm) {
  return slab->turned && comm->host_size == comm->size;
}

/* Returns the transforms in a step, over the number of fields. */
static double transforms_of(const diffusion_parameters *p) {
  const diffusion_method *method = diffusion_method_of(p);
  const double back = (double)diffusion_inputs_of(p) / (double)p->fields.count;
  double transforms = 0;
  for (int i = 0; i < method->stages; i++)
    transforms += method->stage[i].forward * (1 + (double)fluxes_of(p) / (double)p->fields.count) +
                  method->stage[i].inverse * back;
  return transforms;
}

/* Returns the turns of one field in a step. */
static double turns_of(const diffusion_parameters *p, bool common) {
  const double repeats = diffusion_implicit(p) ? IMPLICIT_STAGES : 1;
  return (diffusion_fluctuates(p) ? 1 : 0) + (common ? 0 : repeats * transforms_of(p)) +
         (diffusion_estimates(p) ? 3 : 0); /* the norms of two errors and of the state */
}

/* Adds the time of the products with matrices along walls that mix value and slope, and of their inversion. */
static void plan_products(const diffusion_parameters *p, int threads, sim_plan *out) {
  /* Measured on one thread: a stage of 9e7 cells a second and 2.3e10 multiplications of products, in single precision
   * twice as many; 1.6e9 multiplications of an inversion. */
  const double of_stage = diffusion_single(p) ? 540 : 270, inversion = 1.6e9;
  const double stages = diffusion_method_of(p)->stages, rate = out->work_rate_guess * stages;
  double points = 0, seconds = 0; /* points: length of such axes, mean over the fields */
  for (int f = 0; f < (int)p->fields.count; f++) {
    const grid_shape own = diffusion_shape_of(p, f);
    bool made = false;
    for (int before = 0; before < f; before++) made = made || diffusion_same_walls(p, f, before);
    for (int axis = 0; axis < own.rank; axis++) {
      const double n = (double)own.n[axis];
      if (own.boundary[axis] != GRID_ROBIN) continue;
      points += n / (double)p->fields.count;
      seconds += made ? 0 : n * n * n / (inversion * threads);
    }
  }
  if (seconds >= 0.1) out->start_seconds += seconds;
  if (stages > 0) out->work_rate_guess = rate / (stages + transforms_of(p) * points / of_stage);
}

/* Passes over columns in a step. */
static double passes_of(const diffusion_parameters *p) {
  if (diffusion_implicit(p)) return 2 * IMPLICIT_STAGES;
  return diffusion_method_of(p)->stages * (diffusion_crossed(p) ? 2.0 : 1.0);
}

/* Plans what ranks exchange in a step. A turn brings a rank all of its columns except its own part. */
static void plan_ranks(const diffusion_parameters *p, const diffusion_slab *slab, const sim_comm *comm, sim_plan *out) {
  const grid_shape grid = diffusion_grid_of(p);
  const bool single = diffusion_single(p);
  const double fields = (double)p->fields.count, number = single ? sizeof(float) : sizeof(double);
  const double strips = grid.rank == 3   ? (double)grid.n[2]
                        : grid.rank == 2 ? ceil((double)grid.n[1] / (2 * fft_group(single)))
                                         : 1;
  out->most_ranks = (int)fmin(strips, SIM_RANKS_MAX);
  out->parts = (int)fmin(strips, INT_MAX);
  out->work_rate_guess *= sim_plan_shares(out, comm->size);
  if (comm->size == 1) return;
  if (slab->turned) {
    const bool common = diffusion_in_common(slab, comm);
    const double turns = turns_of(p, common);
    out->bytes_received = turns * fields * diffusion_turn_received(&grid, single, comm) * number;
    out->exchanges = turns * fields * 2 * diffusion_turn_rounds(&grid, single, comm); /* a swap waits twice */
    if (common) out->exchanges += 2 * passes_of(p);
  }
  if (diffusion_held(p)) { /* sums over the shell, at each stage */
    out->exchanges += diffusion_method_of(p)->stages;
    out->bytes_received += diffusion_method_of(p)->stages * diffusion_shell_received(p);
  }
  if (diffusion_implicit(p)) { /* products of an iteration with half of the vectors, twice, and a norm */
    const double one = diffusion_vectors_received(&grid, single, comm);
    out->exchanges += 3 * IMPLICIT_ITERATIONS;
    out->bytes_received += (double)(DIFFUSION_KRYLOV + 1) * IMPLICIT_ITERATIONS * one;
  }
  out->bytes_received += (comm->size - 1) * (double)sizeof(uint64_t); /* whether the state is finite */
  out->exchanges += 1 + (diffusion_estimates(p) ? 3 * fields : diffusion_adaptive(p) ? (double)p->grid.n.rows : 0);
}

int diffusion_columns_of(const diffusion_parameters *p, const diffusion_slab *slab, const sim_comm *comm) {
  return !diffusion_in_common(slab, comm) ? diffusion_inputs_of(p) + fluxes_of(p)
         : diffusion_fluctuates(p)        ? (int)p->fields.count
                                          : 0;
}

bool diffusion_needs_sent(const diffusion_parameters *p, const diffusion_slab *slab, const sim_comm *comm) {
  return slab->turned && (!diffusion_in_common(slab, comm) || turns_arrays(p));
}
bool diffusion_needs_turned(const diffusion_parameters *p, const diffusion_slab *slab, const sim_comm *comm) {
  return slab->turned && (turns_arrays(p) || (diffusion_in_common(slab, comm) && p->fields.count > 1));
}

bool diffusion_white_series(const diffusion_parameters *p, diffusion_series *out) {
  const diffusion_gradients none = {0};
  if (!diffusion_fluctuates(p) || !diffusion_mixes(p) || !diffusion_series_of(p, &none, out)) return false;
  for (int source = 0; source < DIFFUSION_SOURCES; source++)
    for (int axis = 0; axis < 3; axis++)
      if (out->of[source][axis] == GRID_ROBIN) out->of[source][axis] = GRID_NO_FLUX;
  return true;
}

void diffusion_cpu_plan(const diffusion_parameters *p, const sim_setup *setup, sim_plan *out) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_method *method = diffusion_method_of(p);
  const bool single = diffusion_single(p);
  const diffusion_slab slab = diffusion_own_slab(&grid, single, setup->comm);
  const double fields = (double)p->fields.count, number = single ? sizeof(float) : sizeof(double);
  const double field = number * diffusion_slab_numbers(&grid, single, &slab);
  const double column = number * diffusion_column_numbers(&grid, single, &slab);
  const double table =
      diffusion_distinct_tables(p) * number * diffusion_table_numbers(&grid, single, diffusion_unfolded(p), &slab);
  const diffusion_gradients read = diffusion_gradients_of(p);
  const int gradients = read.count;
  sim_plan_add(out, "transformed fields", fields * field);
  sim_plan_add(out, "arrays of the scheme",
               fields * column * (diffusion_method_with(p, 1).arrays + diffusion_has_noise(p)));
  if (diffusion_implicit(p))
    sim_plan_add(out, "implicit equations", diffusion_linearized_bytes(p, setup, fields * column));
  if (gradients > 0) sim_plan_add(out, "derivatives of fields", field * gradients);
  if (read.fluxes > 0) sim_plan_add(out, "fluxes", field * read.fluxes);
  if (diffusion_forced(p) != 0)
    sim_plan_add(out, "shell of the forcing",
                 diffusion_stirred(p) ? diffusion_stirring_bytes(p) : diffusion_shell_bytes(p));
  const double coefficients = diffusion_derivation_bytes(p, &read, single, &slab);
  if (coefficients > 0) sim_plan_add(out, "coefficients of derived fields", coefficients);
  double exchanged = slab.turned ? column * diffusion_columns_of(p, &slab, setup->comm) : 0;
  if (diffusion_needs_sent(p, &slab, setup->comm))
    exchanged += number * diffusion_turn_numbers(&grid, single, setup->comm);
  if (diffusion_needs_turned(p, &slab, setup->comm)) exchanged += fields * field;
  if (exchanged > 0) sim_plan_add(out, "exchanged fields", exchanged);
  const int slots = diffusion_adaptive(p) ? DIFFUSION_SLOTS : 1;
  if (diffusion_crossed(p)) {
    sim_plan_add(out, "matrices of the scheme", diffusion_coupled_bytes(p, &slab, slots));
    sim_plan_add(out, "columns", fields * column);
  } else {
    sim_plan_add(out, "tables of the scheme", table * diffusion_table_count(p) * slots);
  }
  diffusion_series series;
  sim_plan_add(out, "transforms",
               diffusion_spectral_bytes(&grid, (int)p->fields.count, gradients, read.fluxes,
                                        diffusion_series_of(p, &read, &series), single, setup->threads));
  if (diffusion_white_series(p, &series))
    sim_plan_add(out, "transforms of white noise",
                 diffusion_spectral_bytes(&grid, (int)p->fields.count, 0, 0, &series, single, setup->threads));
  sim_plan_add(out, "rates", diffusion_rates_bytes(p, setup->threads));
  sim_plan_add(out, "statistics", diffusion_measure_bytes(&grid));
  if (setup->comm->size > 1)
    sim_plan_add(out, "lines of all ranks", diffusion_lines_bytes(&grid, single) * setup->comm->size);
  out->checkpoint_bytes = fields * number * diffusion_field_numbers(&grid, single);
  /* Cells a second of one thread: a stage was measured at 9e7 (1.8e8 in single precision); steps of the exact scheme,
   * each of which is an output, at 1.4e7 to 2e7. */
  const double each = !p->rates ? 2e7 : single ? 1.8e8 : 9e7;
  const int stages = diffusion_implicit(p) ? IMPLICIT_STAGES : method->stages > 0 ? method->stages : 1;
  out->work_rate_guess = fmin(each * setup->threads, 5e8) / stages;
  plan_products(p, setup->threads, out);
  plan_ranks(p, &slab, setup->comm, out);
}

double diffusion_budget_bytes(const diffusion_parameters *p, int threads) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_gradients read = diffusion_gradients_of(p);
  const diffusion_slab whole = diffusion_own_slab(&grid, false, &sim_comm_alone);
  const double fields = (double)p->fields.count, field = sizeof(double) * diffusion_field_numbers(&grid, false);
  const double table = sizeof(double) * diffusion_table_numbers(&grid, false, diffusion_unfolded(p), &whole);
  diffusion_series series;
  return (3 * fields + read.count + read.fluxes) * field + fields * sizeof(double) * grid_cells_wanted(&grid) +
         diffusion_distinct_tables(p) * table + diffusion_derivation_bytes(p, &read, false, &whole) +
         diffusion_measure_bytes(&grid) + diffusion_rates_bytes(p, threads) +
         diffusion_spectral_bytes(&grid, (int)fields, read.count, read.fluxes, diffusion_series_of(p, &read, &series),
                                  false, threads);
}
