/* The solver table of pair forces with a cutoff on the CPU. */
#include "kernels/nbody/short/short.h"

#include "kernels/nbody/short/cpu/list.h"

#include "engine/reduce.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

struct nbody_solver_work {
  nbody_options options;
  nbody_state state;
  nbody_short_lists lists;
  bool listed;                                      /* the lists have the pairs of state->searched */
  sim_expr_program *force, *wide_force, *potential; /* of the pair terms; fp64; fp64 */
  double shift;                                     /* potential at the cutoff; 0: not shifted */
  double common;                                    /* mass of every body; NaN: masses differ */
  size_t stride;                                    /* bytes of scratch of a thread */
  nbody_pair_sums sums;
  bool summed; /* `sums` is up to date with the positions */
  nbody_failure failure;
  /* one allocation for all arrays below; bodies are in the order of the lists */
  void *memory;
  double *position; /* [n][4] doubles; int32_t [n][4] in the same memory for fp32 pair terms */
  double *sum;      /* [n][4] */
  double *mass;     /* [n] in fp64, then in the precision of the pair terms */
  float *single_mass;
  double *partial; /* [side^2][3], then [blocks]: partial sums */
  char *scratch;   /* [threads][stride] */
};

static const nbody_short_loops *const all_loops[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {&nbody_short_double_plain, &nbody_short_single_plain},
#if NBODY_X86
    [SIM_ISA_AVX2] = {&nbody_short_double_avx2, &nbody_short_single_avx2},
    [SIM_ISA_AVX512] = {&nbody_short_double_avx512, &nbody_short_single_avx512},
#endif
};

/* Loops of an instruction set, or of the next lower one that exists. */
static const nbody_short_loops *loops_of(const nbody_options *options, bool single) {
  int isa = (int)(options->isa < sim_isa_best() ? options->isa : sim_isa_best());
  while (all_loops[isa][single] == NULL) isa--;
  return all_loops[isa][single];
}

/* ---- memory ---- */

/* Byte offsets of the arrays. */
typedef struct layout {
  size_t position, sum, mass, single_mass, partial, scratch, total;
} layout;

static size_t take(size_t *total, double count, size_t size) {
  const size_t at = *total;
  *total = (at + (size_t)count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return at;
}

static double reach_of(const nbody_options *options) { return options->cutoff + nbody_short_skin(options); }

static layout layout_of(const nbody_options *options, size_t stride) {
  const double n = (double)options->n, side = nbody_short_side(options->n, options->box, reach_of(options));
  layout l = {.total = 0};
  l.position = take(&l.total, 4 * n, sizeof(double));
  l.sum = take(&l.total, 4 * n, sizeof(double));
  l.mass = take(&l.total, n, sizeof(double));
  l.single_mass = take(&l.total, options->single_pairs ? n : 0, sizeof(float));
  l.partial = take(&l.total, fmax(3 * side * side, (double)sim_reduce_blocks((size_t)n)), sizeof(double));
  l.scratch = take(&l.total, options->threads, stride);
  return l;
}

static sim_status create_program(const nbody_options *options, int result, bool single, sim_expr_program **out) {
  sim_expr *part;
  SIM_TRY(nbody_laws_pick(options->laws.pair, result, 1, &part));
  sim_status status = sim_expr_program_create(part, &(sim_expr_target){.single = single, .isa = options->isa}, out);
  sim_expr_free(&part);
  return status;
}

static sim_status create_programs(nbody_solver_work *w) {
  const nbody_options *o = &w->options;
  SIM_TRY(create_program(o, 0, o->single_pairs, &w->force));
  SIM_TRY(create_program(o, 0, false, &w->wide_force));
  SIM_TRY(create_program(o, 1, false, &w->potential));
  const sim_expr_program *const programs[] = {w->force, w->wide_force, w->potential};
  size_t most = 0;
  for (int k = 0; k < 3; k++) {
    const size_t size = sim_expr_program_scratch(programs[k]);
    most = size > most ? size : most;
  }
  w->stride = nbody_short_scratch(most);
  return SIM_OK;
}

static void destroy(nbody_solver_work **work) {
  nbody_solver_work *w = *work;
  if (w == NULL) return;
  nbody_short_lists_destroy(&w->lists);
  sim_expr_program_free(&w->force);
  sim_expr_program_free(&w->wide_force);
  sim_expr_program_free(&w->potential);
  free(w->memory);
  free(w);
  *work = NULL;
}

static void bytes(const nbody_options *options, double *host, double *device) {
  nbody_solver_work w = {.options = *options};
  *host = *device = 0;
  if (create_programs(&w) == SIM_OK) {
    *host = (double)layout_of(options, w.stride).total +
            nbody_short_lists_bytes(options->n, options->box, reach_of(options),
                                    nbody_short_pairs(options, (double)options->n));
    *host += (double)(sim_expr_program_bytes(w.force) + sim_expr_program_bytes(w.wide_force) +
                      sim_expr_program_bytes(w.potential));
  }
  sim_expr_program_free(&w.force);
  sim_expr_program_free(&w.wide_force);
  sim_expr_program_free(&w.potential);
}

static double element(sim_dtype dtype, const void *data, int64_t i) {
  return dtype == SIM_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static double common_mass(const nbody_state *state) {
  const double first = element(state->dtype, state->mass, 0);
  for (int64_t i = 1; i < state->n; i++)
    if (element(state->dtype, state->mass, i) != first) return NAN;
  return first;
}

static sim_status create_arrays(nbody_solver_work *w) {
  const nbody_options *o = &w->options;
  SIM_TRY(create_programs(w));
  SIM_TRY(nbody_short_shift(o, &w->shift));
  const layout l = layout_of(o, w->stride);
  char *const at = w->memory = aligned_alloc(ALIGNMENT, l.total);
  if (at == NULL) return sim_no_memory("pair forces of %lld bodies: %.0f MB", (long long)o->n, (double)l.total / 1e6);
  w->position = (double *)(void *)(at + l.position);
  w->sum = (double *)(void *)(at + l.sum);
  w->mass = (double *)(void *)(at + l.mass);
  w->single_mass = (float *)(void *)(at + l.single_mass);
  w->partial = (double *)(void *)(at + l.partial);
  w->scratch = at + l.scratch;
  w->lists = (nbody_short_lists){
      .n = o->n, .box = o->box, .reach = reach_of(o), .threads = o->threads, .loops = loops_of(o, false)};
  return nbody_short_lists_create(&w->lists);
}

static sim_status create(const nbody_options *options, const nbody_state *state, nbody_solver_work **out) {
  nbody_solver_work *w = *out = calloc(1, sizeof *w);
  if (w == NULL) return sim_no_memory("pair forces");
  w->options = *options;
  w->state = *state;
  w->common = common_mass(state);
  const sim_status status = create_arrays(w);
  if (status != SIM_OK) destroy(out);
  return status;
}

static const char *describe(const nbody_solver_work *w) {
  return w->lists.side == 1 ? "lists of neighbours in one column" : "lists of neighbours in columns";
}

/* ---- lists ---- */

/* Adds to `travelled` what each body has moved since the last search, and searches at the present positions. */
static sim_status search_here(nbody_solver_work *w, bool first) {
  const nbody_state *s = &w->state;
  const int64_t n = s->n;
  const double box = w->options.box;
#pragma omp parallel for schedule(static) num_threads(w->options.threads)
  for (int64_t k = 0; k < 3 * n; k++) {
    const double x = element(s->dtype, s->position, k), d = x - s->searched[k];
    if (!first) s->travelled[k] += d - box * rint(d / box);
    s->searched[k] = x;
  }
  return nbody_short_lists_search(&w->lists, s->searched);
}

static void sort_masses(nbody_solver_work *w) {
  for (int64_t k = 0; k < w->state.n; k++) {
    w->mass[k] = element(w->state.dtype, w->state.mass, w->lists.order[k]);
    if (w->options.single_pairs) w->single_mass[k] = (float)w->mass[k];
  }
}

static sim_status make_lists(nbody_solver_work *w, bool anew) {
  if (anew)
    SIM_TRY(search_here(w, !w->listed && !w->options.listed));
  else
    SIM_TRY(nbody_short_lists_search(&w->lists, w->state.searched));
  w->listed = true;
  sort_masses(w);
  return SIM_OK;
}

/* Packs bodies first ... end - 1 of the lists' order. Returns the largest squared displacement of a body since the
 * search; INFINITY where a position is not finite. */
static double pack_range(nbody_solver_work *w, bool single, int64_t first, int64_t end) {
  const nbody_state *s = &w->state;
  const nbody_short_lists *l = &w->lists;
  const int64_t n = s->n;
  const double box = w->options.box, half = 0.5 * box, scale = 0x1p32 / box;
  double *const to = w->position;
  int32_t *const fixed = (int32_t *)(void *)w->position;
  double most = 0;
  for (int64_t k = first; k < end; k++) {
    const int64_t i = l->order[k];
    double moved = 0;
    for (int c = 0; c < 3; c++) {
      double x = element(s->dtype, s->position, c * n + i);
      const double from = l->x[c][k];
      x += x - from > half ? -box : x - from < -half ? box : 0;
      moved += (x - from) * (x - from);
      if (single) {
        const double shifted = x * scale + 0x1.8p52; /* its low 32 bits are the nearest integer */
        uint64_t bits;
        memcpy(&bits, &shifted, sizeof bits);
        fixed[4 * k + c] = (int32_t)(uint32_t)bits;
      } else
        to[4 * k + c] = x;
    }
    most = moved > most ? moved : moved == moved ? most : INFINITY;
  }
  return most;
}

/* Packs the positions of all bodies in the order of the lists, in fp64 or as int32_t (loop.h); returns as
 * pack_range. */
static double pack(nbody_solver_work *w, bool single) {
  enum { RANGE = SIM_REDUCE_BLOCK };
  const int64_t n = w->state.n;
  double most = 0;
#pragma omp parallel for schedule(static) num_threads(w->options.threads)
  for (int64_t first = 0; first < n; first += RANGE)
    w->partial[first / RANGE] = pack_range(w, single, first, first + RANGE < n ? first + RANGE : n);
  for (int64_t range = 0; range * RANGE < n; range++) most = fmax(most, w->partial[range]);
  return most;
}

/* Packs the present positions, and renews the lists where they do not serve any more. */
static sim_status prepare(nbody_solver_work *w) {
  const double half_skin = 0.5 * nbody_short_skin(&w->options) * (1 - 1e-6);
  if (!w->listed) SIM_TRY(make_lists(w, !w->options.listed));
  const double moved = pack(w, w->options.single_pairs);
  if (moved <= half_skin * half_skin) return SIM_OK;
  if (!(moved < INFINITY)) return sim_fail(SIM_ERR_DIVERGED, "positions are not finite");
  SIM_TRY(make_lists(w, true));
  (void)pack(w, w->options.single_pairs);
  return SIM_OK;
}

/* ---- sums ---- */

static nbody_short_bodies bodies_of(const nbody_solver_work *w, bool single) {
  const bool same = !isnan(w->common);
  return (nbody_short_bodies){.position = w->position,
                              .mass = same     ? NULL
                                      : single ? (const void *)w->single_mass
                                               : w->mass,
                              .sum = w->sum,
                              .cutoff2 = w->options.cutoff * w->options.cutoff,
                              .box = w->options.box,
                              .force = single ? w->force : w->wide_force,
                              .potential = w->potential};
}

static void add_forces(nbody_solver_work *w) {
  const bool single = w->options.single_pairs;
  const nbody_short_lists *l = &w->lists;
  const nbody_short_bodies bodies = bodies_of(w, single);
  const nbody_short_loops *loops = loops_of(&w->options, single);
  const int64_t n = w->state.n;
  const double scale = isnan(w->common) ? 1 : w->common;
  double *const sum = w->sum, *const a = w->state.acceleration;
#pragma omp parallel num_threads(w->options.threads)
  {
    void *const scratch = w->scratch + (size_t)omp_get_thread_num() * w->stride;
#pragma omp for schedule(static)
    for (int64_t k = 0; k < 4 * n; k++) sum[k] = 0;
    for (int colour = 0; colour < NBODY_SHORT_COLOURS; colour++) {
      if (l->colour[colour] == l->colour[colour + 1]) continue;
#pragma omp for schedule(dynamic, 1)
      for (int k = l->colour[colour]; k < l->colour[colour + 1]; k++) {
        const nbody_short_rows rows = nbody_short_lists_rows(l, l->coloured[k]);
        loops->accelerate(&bodies, &rows, scratch);
      }
    }
#pragma omp for schedule(static)
    for (int64_t k = 0; k < n; k++)
      for (int c = 0; c < 3; c++) a[c * n + l->order[k]] = sum[4 * k + c] * scale;
  }
}

static void accelerate(nbody_solver_work *w, bool zeroed, nbody_raw_force *out) {
  (void)zeroed;
  *out = (nbody_raw_force){.kind = NBODY_FORCE_FINAL};
  w->summed = false;
  if (nbody_failure_keep(&w->failure, prepare(w)) == SIM_OK) {
    add_forces(w);
    return;
  }
  for (int64_t k = 0; k < 3 * w->state.n; k++) w->state.acceleration[k] = NAN;
}

/* Mean over the bodies of the squared displacement since the start of the run. */
static double mean_square(nbody_solver_work *w) {
  const nbody_state *s = &w->state;
  const int64_t n = s->n;
  const double box = w->options.box;
  double *const term = w->sum; /* sum is free between forces */
#pragma omp parallel for schedule(static) num_threads(w->options.threads)
  for (int64_t i = 0; i < n; i++) {
    term[i] = 0;
    for (int64_t k = i; k < 3 * n; k += n) {
      const double d = element(s->dtype, s->position, k) - s->searched[k];
      const double all = s->travelled[k] + (d - box * rint(d / box));
      term[i] += all * all;
    }
  }
  return sim_reduce_sum(term, (size_t)n, w->partial, w->options.threads) / (double)n;
}

/* Computes w->sums in fp64, in every precision of the pair terms. */
static sim_status find_sums(nbody_solver_work *w) {
  const nbody_short_lists *l = &w->lists;
  const int columns = l->side * l->side;
  SIM_TRY(prepare(w));
  w->sums.displacement2 = mean_square(w);
  if (w->options.single_pairs) (void)pack(w, false);
  const nbody_short_bodies bodies = bodies_of(w, false);
  const nbody_short_loops *loops = loops_of(&w->options, false);
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->options.threads)
  for (int k = 0; k < columns; k++) {
    const nbody_short_rows rows = nbody_short_lists_rows(l, k);
    nbody_short_sums sums;
    loops->observe(&bodies, &rows, w->scratch + (size_t)omp_get_thread_num() * w->stride, &sums);
    w->partial[k] = sums.potential;
    w->partial[columns + k] = sums.virial;
    w->partial[2 * columns + k] = sums.weight;
  }
  double all[3];
  for (int q = 0; q < 3; q++) all[q] = sim_reduce_tree(w->partial + q * columns, (size_t)columns);
  const double common = isnan(w->common) ? 1 : w->common * w->common;
  w->sums.weight = common * all[2];
  w->sums.potential = common * (all[0] - w->shift * all[2]);
  w->sums.shifted_by = w->shift * w->sums.weight;
  w->sums.virial = -common * all[1];
  w->summed = true;
  return SIM_OK;
}

static void pairs(nbody_solver_work *w, nbody_pair_sums *out) {
  if (!w->summed && nbody_failure_keep(&w->failure, find_sums(w)) != SIM_OK)
    w->sums = (nbody_pair_sums){NAN, NAN, NAN, NAN, NAN};
  *out = w->sums;
}

static double potential(nbody_solver_work *w) {
  nbody_pair_sums sums;
  pairs(w, &sums);
  return sums.potential;
}

static sim_status check(nbody_solver_work *w) { return nbody_failure_report(&w->failure); }

/* ---- the table ---- */

static sim_status estimate(const nbody_options *options, double n, nbody_cost *out) {
  out->rate = (options->single_pairs ? 1e9 : 5e8) * options->threads;
  return nbody_short_count(options, n, out);
}

const nbody_solver nbody_short_cpu = {
    .name = "pairs within the cutoff",
    .supports = nbody_short_supports,
    .bytes = bytes,
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .describe = describe,
    .accelerate = accelerate,
    .check = check,
    .potential = potential,
    .pairs = pairs,
};
