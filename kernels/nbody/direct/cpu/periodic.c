/* The solver table of direct sums in a periodic box on the CPU. Every target is summed by one thread of one rank. */
#include "kernels/nbody/direct/cpu/periodic.h"

#include "engine/reduce.h"
#include "kernels/nbody/direct/direct.h"
#include "kernels/nbody/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };
/* fp32 terms tell bodies apart by their numbers, as floats. */
static const int64_t most_bodies = INT64_C(1) << 24;

struct nbody_solver_work {
  nbody_options options;
  nbody_state state;
  nbody_periodic_bodies bodies; /* columns of the pair terms, or of the potential, in the same memory */
  double *columns[4];           /* x y z m, [n] */
  double *table;
  float *single_table; /* with options.single_pairs */
  double *terms, *partial;
  int64_t *numbers; /* individual steps: indices of the targets, [n] */
  double *found;    /* accelerations of the targets, [3][n] */
  double *rows;     /* with several ranks: accelerations of targets, [ranks][3][room] */
  void *memory;     /* one allocation for all arrays above */
  nbody_failure failure;
};

static const nbody_periodic *const all_loops[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {&nbody_periodic_double_plain, &nbody_periodic_single_plain},
#if NBODY_X86
    [SIM_ISA_AVX2] = {&nbody_periodic_double_avx2, &nbody_periodic_single_avx2},
    [SIM_ISA_AVX512] = {&nbody_periodic_double_avx512, &nbody_periodic_single_avx512},
#endif
};

/* Loops of an instruction set, or of the next lower one that exists. */
static const nbody_periodic *loops_of(const nbody_solver_work *w, bool single) {
  int isa = (int)(w->options.isa < sim_isa_best() ? w->options.isa : sim_isa_best());
  while (all_loops[isa][single] == NULL) isa--;
  return all_loops[isa][single];
}

/* ---- memory ---- */

/* Byte offsets of the arrays. */
typedef struct layout {
  size_t columns[4], table, single_table, terms, partial, numbers, found, rows, total;
} layout;

static size_t take(size_t *total, double count, size_t size) {
  const size_t at = *total;
  *total = (at + (size_t)count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return at;
}

static layout layout_of(const nbody_options *options) {
  const double n = (double)options->n;
  layout l = {.total = 0};
  for (int c = 0; c < 4; c++) l.columns[c] = take(&l.total, n, sizeof(double));
  l.table = take(&l.total, (double)NBODY_TABLE_ROWS * NBODY_TABLE_ROW, sizeof(double));
  l.single_table =
      take(&l.total, options->single_pairs ? (double)NBODY_TABLE_ROWS * NBODY_TABLE_ROW : 0, sizeof(float));
  const double all = nbody_share_total(options->comm, n, NBODY_PERIODIC_TARGETS);
  l.terms = take(&l.total, all, sizeof(double));
  l.partial = take(&l.total, n / SIM_REDUCE_BLOCK + 1, sizeof(double));
  l.numbers = take(&l.total, options->individual ? n : 0, sizeof(int64_t));
  l.found = take(&l.total, options->individual ? 3 * n : 0, sizeof(double));
  l.rows = take(&l.total, options->comm->size > 1 ? 3 * all : 0, sizeof(double));
  return l;
}

static void bytes(const nbody_options *options, double *host, double *device) {
  *host = options->laws.no_pairs ? 0 : (double)layout_of(options).total;
  *device = 0;
}

static void destroy(nbody_solver_work **work) {
  if (*work == NULL) return;
  free((*work)->memory);
  free(*work);
  *work = NULL;
}

static sim_status create(const nbody_options *options, const nbody_state *state, nbody_solver_work **out) {
  nbody_solver_work *w = *out = calloc(1, sizeof *w);
  if (w == NULL) return sim_no_memory("the direct sum");
  w->options = *options;
  w->state = *state;
  if (options->laws.no_pairs) return SIM_OK;
  const layout l = layout_of(options);
  char *const at = w->memory = aligned_alloc(ALIGNMENT, l.total);
  if (at == NULL) {
    destroy(out);
    return sim_no_memory("the direct sum of %lld bodies: %.0f MB", (long long)options->n, (double)l.total / 1e6);
  }
  for (int c = 0; c < 4; c++) w->columns[c] = (double *)(void *)(at + l.columns[c]);
  w->table = (double *)(void *)(at + l.table);
  w->terms = (double *)(void *)(at + l.terms);
  w->partial = (double *)(void *)(at + l.partial);
  w->numbers = (int64_t *)(void *)(at + l.numbers);
  w->found = (double *)(void *)(at + l.found);
  w->rows = (double *)(void *)(at + l.rows);
  nbody_lattice_fill_table(options->softening / options->box, options->threads, w->table);
  if (!options->single_pairs) return SIM_OK;
  w->single_table = (float *)(void *)(at + l.single_table);
  for (int k = 0; k < NBODY_TABLE_ROWS * NBODY_TABLE_ROW; k++) w->single_table[k] = (float)w->table[k];
  return SIM_OK;
}

static const char *describe(const nbody_solver_work *w) {
  (void)w;
  return "nearest images and Ewald's expansions of all others";
}

/* ---- sums ---- */

static inline double element(sim_dtype dtype, const void *data, int64_t i) {
  return dtype == SIM_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* Puts the bodies into columns of float or double; returns the unit of masses, a power of two. */
static double pack(nbody_solver_work *w, bool single) {
  const nbody_state *state = &w->state;
  const int64_t n = state->n;
  const double per_size = 1 / w->options.box;
  double greatest = 0;
  int exponent = 0;
  for (int64_t i = 0; i < n; i++) greatest = fmax(greatest, fabs(element(state->dtype, state->mass, i)));
  if (greatest > 0 && isfinite(greatest)) (void)frexp(greatest, &exponent);
  for (int c = 0; c < 4; c++)
    for (int64_t i = 0; i < n; i++) {
      const double value = c < 3 ? element(state->dtype, state->position, c * n + i) * per_size
                                 : ldexp(element(state->dtype, state->mass, i), -exponent);
      if (single)
        ((float *)(void *)w->columns[c])[i] = (float)value;
      else
        w->columns[c][i] = value;
    }
  const double softening = w->options.softening * per_size;
  w->bodies = (nbody_periodic_bodies){.n = n,
                                      .softening2 = softening * softening,
                                      .position = {w->columns[0], w->columns[1], w->columns[2]},
                                      .mass = w->columns[3],
                                      .table = single ? (const void *)w->single_table : w->table};
  return ldexp(1, exponent);
}

/* Lists the next NBODY_PERIODIC_TARGETS targets from `first` on, of the n in `of` (NULL: all bodies); repeats the last
 * target behind the end. */
static void list_targets(const int64_t *of, int64_t first, int64_t n, int64_t *numbers) {
  for (int64_t k = 0; k < NBODY_PERIODIC_TARGETS; k++) {
    const int64_t at = first + k < n ? first + k : n - 1;
    numbers[k] = of != NULL ? of[at] : at;
  }
}

/* Computes a[3][count], the accelerations of bodies of[count] (NULL: of all bodies); NaN where the exchange fails. */
static sim_status accelerate_some(nbody_solver_work *w, const int64_t *of, int64_t count, double *a) {
  const sim_comm *comm = w->options.comm;
  const bool alone = comm->size == 1;
  const nbody_share share = nbody_share_of(comm, count, NBODY_PERIODIC_TARGETS);
  double *const rows = alone ? a : w->rows;
  const nbody_periodic *loops = loops_of(w, w->options.single_pairs);
  const double mass = pack(w, w->options.single_pairs), size = w->options.box;
  const double factor = w->options.G * mass / (size * size);
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->options.threads)
  for (int64_t first = share.first; first < share.end; first += NBODY_PERIODIC_TARGETS) {
    int64_t numbers[NBODY_PERIODIC_TARGETS];
    double sum[3][NBODY_PERIODIC_TARGETS];
    list_targets(of, first, count, numbers);
    loops->acceleration(&w->bodies, numbers, sum);
    for (int c = 0; c < 3; c++)
      for (int64_t k = 0; k < NBODY_PERIODIC_TARGETS && first + k < count; k++)
        rows[alone ? (size_t)(c * count + first + k) : nbody_share_index(&share, c, first + k)] = sum[c][k] * factor;
  }
  if (alone) return SIM_OK;
  const sim_status status = nbody_share_gather(comm, &share, rows);
  for (int c = 0; c < 3; c++)
    for (int64_t i = 0; i < count; i++)
      a[c * count + i] = status == SIM_OK ? rows[nbody_share_index(&share, c, i)] : NAN;
  return status;
}

sim_status nbody_direct_periodic_sample(nbody_solver_work *w, const int64_t *numbers, int count, double *exact) {
  return accelerate_some(w, numbers, count, exact);
}

static void accelerate(nbody_solver_work *w, bool zeroed, nbody_raw_force *out) {
  const int64_t n = w->state.n;
  double *const a = w->state.acceleration;
  *out = (nbody_raw_force){.kind = NBODY_FORCE_FINAL};
  if (w->options.laws.no_pairs) {
    if (!zeroed) memset(a, 0, (size_t)(3 * n) * sizeof *a);
    return;
  }
  (void)nbody_failure_keep(&w->failure, accelerate_some(w, NULL, n, a));
}

static void accelerate_targets(nbody_solver_work *w, const nbody_targets *targets) {
  const int64_t n = w->state.n;
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++)
    if (targets->level[i] >= targets->least) w->numbers[count++] = i;
  (void)nbody_failure_keep(&w->failure, accelerate_some(w, w->numbers, count, w->found));
  for (int c = 0; c < 3; c++)
    for (int64_t k = 0; k < count; k++) w->state.acceleration[c * n + w->numbers[k]] = w->found[c * count + k];
}

/* Computes w->terms: mass times the sum over all bodies, for bodies of[count] (NULL: for all bodies). */
static sim_status find_terms(nbody_solver_work *w, const int64_t *of, int64_t count) {
  const nbody_periodic *loops = loops_of(w, false);
  const sim_comm *comm = w->options.comm;
  const nbody_share share = nbody_share_of(comm, count, NBODY_PERIODIC_TARGETS);
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->options.threads)
  for (int64_t first = share.first; first < share.end; first += NBODY_PERIODIC_TARGETS) {
    int64_t numbers[NBODY_PERIODIC_TARGETS];
    double sum[NBODY_PERIODIC_TARGETS];
    list_targets(of, first, count, numbers);
    loops->potential(&w->bodies, numbers, sum);
    for (int64_t k = 0; k < NBODY_PERIODIC_TARGETS && first + k < count; k++)
      w->terms[first + k] = w->columns[3][numbers[k]] * sum[k];
  }
  const double *own = w->terms + comm->rank * share.room;
  return comm->ops->gather(comm, own, (size_t)share.room * sizeof *own, w->terms);
}

sim_status nbody_direct_periodic_sample_potential(nbody_solver_work *w, const int64_t *of, int count, double *exact) {
  const double mass = pack(w, false);
  SIM_TRY(find_terms(w, of, count));
  for (int k = 0; k < count; k++) exact[k] = -(w->options.G * mass * mass / w->options.box) * w->terms[k];
  return SIM_OK;
}

static double potential(nbody_solver_work *w) {
  const int64_t n = w->state.n;
  if (w->options.laws.no_pairs) return 0;
  const double mass = pack(w, false);
  if (nbody_failure_keep(&w->failure, find_terms(w, NULL, n)) != SIM_OK) return NAN;
  const double sum = sim_reduce_sum(w->terms, (size_t)n, w->partial, w->options.threads);
  return -0.5 * (w->options.G * mass * mass / w->options.box) * sum;
}

static sim_status check(nbody_solver_work *w) { return nbody_failure_report(&w->failure); }

/* ---- the table ---- */

static sim_status supports(const nbody_options *options) {
  if (options->n <= most_bodies || options->laws.no_pairs) return SIM_OK;
  return sim_fail(SIM_ERR_SCENARIO, "bodies: %.9g are more than the %lld that direct sums in a periodic box take",
                  (double)options->n, (long long)most_bodies);
}

static sim_status estimate(const nbody_options *options, double n, nbody_cost *out) {
  out->rate = n * n / nbody_fmm_estimate_for(options, SIM_BACKEND_CPU, n).direct;
  SIM_TRY(nbody_direct_count(options, n, out));
  if (options->laws.no_pairs) return SIM_OK;
  const double ranks = options->comm->size;
  out->most_ranks = (int)fmin(ceil(n / NBODY_PERIODIC_TARGETS), SIM_RANKS_MAX);
  out->exchanges = 1;
  out->bytes_received = 3 * n * sizeof(double) * (ranks - 1) / ranks;
  return SIM_OK;
}

const nbody_solver nbody_direct_periodic_cpu = {
    .name = "direct sum",
    .supports = supports,
    .bytes = bytes,
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .describe = describe,
    .accelerate = accelerate,
    .accelerate_some = accelerate_targets,
    .potential = potential,
    .check = check,
};
