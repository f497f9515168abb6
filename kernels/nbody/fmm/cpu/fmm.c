/* Fast multipole method on the CPU: the table of the solver, memory, and the order of its phases.
 *
 *   state --frame, keys, sort--> bodies, cells --leaves, then levels upward--> moments
 *         --levels downward: lists, M2L, L2L; leaves: L2P, pairs--> acceleration or potential, in the state's order
 *
 * Every cell is computed by one thread from what was ready before its level began, so that the bits do not depend on
 * the number of threads. The potential takes the same way with its own tree in fp64.
 *
 * Forces of some bodies (individual steps) walk the cells that have some of them. The first one after a force of all
 * bodies builds a tree, which the next NBODY_FMM_REFITS ones keep, with new centres, radii and moments. */
#include "kernels/nbody/fmm/cpu/fmm.h"

#include "engine/reduce.h"
#include "kernels/nbody/direct/cpu/periodic.h"
#include "kernels/nbody/fmm/cpu/kernels.h"
#include "kernels/nbody/fmm/cpu/outer.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  CELLS_EACH = 8,     /* cells that a thread takes at once */
  PARALLEL_FROM = 512 /* bodies; below, one thread does all */
};

struct nbody_solver_work {
  nbody_options options;
  nbody_state state;
  const nbody_fmm_translate *translate[2]; /* [single] */
  const nbody_fmm_down *down[2];
  nbody_fmm_tree tree;
  nbody_fmm_scratch *scratch; /* [threads] */
  nbody_fmm_open *open;       /* [open_capacity]: of each cell */
  int64_t open_capacity;
  uint8_t *walked;         /* individual steps: [open_capacity] */
  int refits;              /* that the tree may still see; 0: the next force builds one */
  double *terms, *partial; /* of the potential: [n], [blocks] */
  double energy;           /* unit of the terms */
  /* In a periodic box: the outer images, and direct sums, against which the error is measured. */
  const nbody_fmm_outer_loops *outer_loops;
  nbody_fmm_outer outer;
  nbody_solver_work *direct;
  sim_status failure; /* of the forces and potentials since the last check */
  char message[1024], text[32];
};

static const nbody_fmm_translate *const all_translate[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {&nbody_fmm_translate_double_plain, &nbody_fmm_translate_single_plain},
#if NBODY_X86
    [SIM_ISA_AVX2] = {&nbody_fmm_translate_double_avx2, &nbody_fmm_translate_single_avx2},
    [SIM_ISA_AVX512] = {&nbody_fmm_translate_double_avx512, &nbody_fmm_translate_single_avx512},
#endif
};

static const nbody_fmm_down *const all_down[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {&nbody_fmm_down_double_plain, &nbody_fmm_down_single_plain},
#if NBODY_X86
    [SIM_ISA_AVX2] = {&nbody_fmm_down_double_avx2, &nbody_fmm_down_single_avx2},
    [SIM_ISA_AVX512] = {&nbody_fmm_down_double_avx512, &nbody_fmm_down_single_avx512},
#endif
};

static const nbody_fmm_outer_loops *const all_outer[SIM_ISA_COUNT] = {
    [SIM_ISA_PLAIN] = &nbody_fmm_outer_double_plain,
#if NBODY_X86
    [SIM_ISA_AVX2] = &nbody_fmm_outer_double_avx2,
    [SIM_ISA_AVX512] = &nbody_fmm_outer_double_avx512,
#endif
};

/* ---- memory ---- */

sim_status nbody_fmm_list_reserve(nbody_fmm_list *list, int64_t more) {
  if (list->count + more <= list->capacity) return SIM_OK;
  const int64_t capacity = 3 * (list->count + more) / 2 + 1024;
  uint32_t *cell = realloc(list->cell, (size_t)capacity * sizeof *cell);
  if (cell == NULL) return sim_no_memory("a list of %lld cells", (long long)capacity);
  list->cell = cell;
  list->capacity = capacity;
  return SIM_OK;
}

static void destroy(nbody_solver_work **work) {
  nbody_solver_work *w = *work;
  if (w == NULL) return;
  for (int k = 0; w->scratch != NULL && k < w->options.threads; k++) {
    nbody_fmm_scratch *s = &w->scratch[k];
    free(s->queue.cell), free(s->far.cell), free(s->near.cell), free(s->open[0].cell), free(s->open[1].cell);
    free(s->targets.cell), free(s->sources), free(s->sums);
  }
  free(w->scratch);
  free(w->open);
  free(w->outer.tensors), free(w->outer.moments), free(w->outer.fields);
  nbody_direct_periodic_cpu.destroy(&w->direct);
  free(w->walked);
  free(w->terms);
  nbody_fmm_tree_destroy(&w->tree);
  free(w);
  *work = NULL;
}

static const size_t outer_moments = (size_t)NBODY_FMM_OUTER_COUNT * NBODY_FMM_OUTER_CUBES;

static nbody_options for_direct(const nbody_options *options) {
  nbody_options out = *options;
  out.single_pairs = out.individual = false;
  return out;
}

static sim_status create_outer(nbody_solver_work *w) {
  nbody_fmm_outer *o = &w->outer;
  const nbody_options direct = for_direct(&w->options);
  o->tensors = malloc(NBODY_FMM_OUTER_TENSORS * sizeof *o->tensors);
  o->moments = malloc(outer_moments * sizeof *o->moments);
  o->fields = malloc(NBODY_FMM_OUTER_CUBES * sizeof *o->fields);
  if (o->tensors == NULL || o->moments == NULL || o->fields == NULL)
    return sim_no_memory("the images of a periodic box");
  nbody_fmm_outer_tensors(w->options.softening / w->options.box, o->tensors);
  return nbody_direct_periodic_cpu.create(&direct, &w->state, &w->direct);
}

/* Memory for each cell of the tree. SIM_ERR_NO_MEMORY. */
static sim_status take_cells(nbody_solver_work *w) {
  const size_t cells = (size_t)w->tree.capacity;
  if (w->open_capacity >= w->tree.capacity) return SIM_OK;
  free(w->open);
  free(w->walked);
  w->open = malloc(cells * sizeof *w->open);
  w->walked = w->options.individual ? malloc(cells) : NULL;
  w->open_capacity = 0;
  if (w->open == NULL || (w->options.individual && w->walked == NULL))
    return sim_no_memory("lists of %lld cells", (long long)w->tree.capacity);
  w->open_capacity = w->tree.capacity;
  return SIM_OK;
}

static size_t term_count(int64_t n) { return (size_t)n + sim_reduce_blocks((size_t)n); }

static sim_status create(const nbody_options *options, const nbody_state *state, nbody_solver_work **out) {
  nbody_solver_work *w = *out = calloc(1, sizeof *w);
  if (w == NULL) return sim_no_memory("the multipole solver");
  w->options = *options;
  w->state = *state;
  int isa = options->isa < sim_isa_best() ? options->isa : sim_isa_best();
  while (all_down[isa][0] == NULL) isa--;
  for (int single = 0; single < 2; single++) {
    w->translate[single] = all_translate[isa][single];
    w->down[single] = all_down[isa][single];
  }
  w->outer_loops = all_outer[isa];
  sim_status status = nbody_fmm_tree_create(options->n, &options->fmm, options->box, options->threads, &w->tree);
  if (status == SIM_OK) {
    w->scratch = calloc((size_t)options->threads, sizeof *w->scratch);
    w->terms = malloc(term_count(options->n) * sizeof *w->terms);
    if (w->scratch == NULL || w->terms == NULL)
      status = sim_no_memory("the multipole solver of %lld bodies", (long long)options->n);
    else
      status = take_cells(w);
  }
  if (status == SIM_OK && options->box > 0) status = create_outer(w);
  if (status != SIM_OK)
    destroy(out);
  else
    w->partial = w->terms + options->n;
  if (status == SIM_OK) snprintf(w->text, sizeof w->text, "leaves of %d", options->fmm.leaf);
  return status;
}

/* ---- phases ---- */

static bool has_target(const nbody_fmm_job *job, int64_t cell) {
  const nbody_fmm_tree *t = job->tree;
  const uint32_t *order = t->order + t->first[cell];
  const uint32_t count = t->children[cell] == 0 ? t->count[cell] : 0;
  for (uint32_t i = 0; i < count; i++)
    if (job->targets->level[order[i]] >= job->targets->least) return true;
  for (int k = 0; k < t->children[cell]; k++)
    if (job->walked[t->child[cell] + (uint32_t)k]) return true;
  return false;
}

static void upward(nbody_solver_work *w, const nbody_fmm_job *job, bool single) {
  nbody_fmm_tree *t = &w->tree;
  const nbody_fmm_translate *translate = w->translate[single];
  for (int level = t->levels - 1; level >= 0; level--) {
    const int64_t first = t->level_first[level], end = t->level_first[level + 1];
#pragma omp parallel for schedule(dynamic, CELLS_EACH) num_threads(t->threads) if (end - first > CELLS_EACH)
    for (int64_t cell = first; cell < end; cell++) {
      if (t->children[cell] == 0)
        translate->leaf(t, cell);
      else
        translate->inner(t, cell);
      if (job->targets != NULL) job->walked[cell] = has_target(job, cell);
    }
  }
}

static sim_status downward(nbody_solver_work *w, const nbody_fmm_job *job, bool single) {
  const nbody_fmm_tree *t = &w->tree;
  bool failed = false;
  for (int level = 0; level < t->levels && !failed; level++) {
    const int64_t first = t->level_first[level], end = t->level_first[level + 1];
    for (int k = 0; k < t->threads; k++) w->scratch[k].open[level % 2].count = 0;
#pragma omp parallel for schedule(dynamic, CELLS_EACH)                                                                 \
    num_threads(t->threads) if (end - first > 1 && t->n >= PARALLEL_FROM)
    for (int64_t cell = first; cell < end; cell++) {
      if (job->targets != NULL && !job->walked[cell]) continue;
      w->translate[single]->shift(t, cell);
      if (w->down[single]->target(job, cell, omp_get_thread_num()) != SIM_OK) {
#pragma omp atomic write
        failed = true;
      }
    }
  }
  if (failed) return sim_no_memory("the lists of the multipole solver for %lld bodies", (long long)t->n);
  return SIM_OK;
}

/* First body of all sorted ones whose key begins with at least these bits. */
static int64_t find_cube(const nbody_fmm_tree *t, uint64_t code) {
  int64_t first = 0, last = t->n;
  while (first < last) {
    const int64_t middle = first + (last - first) / 2;
    if (t->key[middle] >> 57 < code)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

/* Adds the outer images to what `job` has given, and multiplies accelerations by the units of mass and G. */
static void add_outer(nbody_solver_work *w, const nbody_fmm_job *job) {
  const nbody_fmm_tree *t = &w->tree;
  nbody_fmm_outer *o = &w->outer;
  const nbody_fmm_outer_loops *loops = w->outer_loops;
  for (int cube = 0; cube <= NBODY_FMM_OUTER_CUBES; cube++) o->first[cube] = find_cube(t, (uint64_t)cube);
#pragma omp parallel num_threads(t->threads) if (t->threads > 1)
  {
#pragma omp for schedule(dynamic, 1)
    for (int cube = 0; cube < NBODY_FMM_OUTER_CUBES; cube++) loops->moments(t, o, cube);
#pragma omp for schedule(dynamic, 1)
    for (int cube = 0; cube < NBODY_FMM_OUTER_CUBES; cube++) {
      if (o->first[cube] == o->first[cube + 1]) continue;
      loops->field(o, cube);
      if (job->acceleration != NULL)
        loops->accelerate(t, o, cube, job->targets, job->factor, ldexp(w->options.G, t->mass), job->acceleration);
      else
        loops->potential(t, o, cube, job->potential);
    }
  }
}

/* Whether all positions are finite: the root's centre is the sum of all, with masses. */
static bool is_finite(const nbody_fmm_tree *t) {
  bool finite = true;
  for (int c = 0; c < 3; c++)
    finite = finite && isfinite(t->single ? (double)((const float *)t->bounds)[c] : ((const double *)t->bounds)[c]);
  return finite;
}

static sim_status compute(nbody_solver_work *w, bool single, nbody_fmm_job *job) {
  nbody_fmm_tree *t = &w->tree;
  const int refits = w->refits;
  w->refits = 0; /* until all has gone well */
  if (job->targets != NULL && refits > 0)
    nbody_fmm_tree_refit(t, &w->state);
  else
    SIM_TRY(nbody_fmm_tree_build(t, &w->state, w->options.softening, single));
  SIM_TRY(take_cells(w));
  for (int k = 0; k < t->threads; k++) w->scratch[k].far_count = w->scratch[k].near_count = 0;
  job->factor = t->box > 0 ? t->scale * t->scale : ldexp(w->options.G, t->mass - 2 * t->position);
  job->tree = t;
  job->scratch = w->scratch;
  job->open = w->open;
  job->walked = w->walked;
  upward(w, job, single);
  if (!is_finite(t)) return sim_fail(SIM_ERR_DIVERGED, "a position is not finite");
  SIM_TRY(downward(w, job, single));
  if (t->box > 0) add_outer(w, job);
  /* In a box a body that is wrapped leaves its cell: every tree is a new one. */
  if (job->targets != NULL && t->box == 0) w->refits = refits > 0 ? refits - 1 : NBODY_FMM_REFITS;
  return SIM_OK;
}

/* Keeps a failure for `check`, since forces are not asked for one by one. */
static void keep_failure(nbody_solver_work *w, sim_status status) {
  if (status == SIM_OK || w->failure != SIM_OK) return;
  w->failure = status;
  snprintf(w->message, sizeof w->message, "%s", sim_error_last()->message);
}

static void accelerate_some(nbody_solver_work *w, const nbody_targets *targets) {
  double *const a = w->state.acceleration;
  nbody_fmm_job job = {.acceleration = a, .targets = targets};
  const sim_status status = compute(w, w->options.single_pairs, &job);
  keep_failure(w, status);
  for (int64_t k = 0; status != SIM_OK && k < 3 * w->state.n; k++) a[k] = NAN;
}

static void accelerate(nbody_solver_work *w, bool zeroed, nbody_raw_force *out) {
  (void)zeroed;
  *out = (nbody_raw_force){.kind = NBODY_FORCE_FINAL};
  accelerate_some(w, NULL);
}

/* Of a mass times a potential in the frame of the last tree. */
static double unit_of_energy(const nbody_solver_work *w) {
  const nbody_fmm_tree *t = &w->tree;
  return t->box > 0 ? ldexp(w->options.G, 2 * t->mass) * t->scale : ldexp(w->options.G, 2 * t->mass - t->position);
}

static double potential(nbody_solver_work *w) {
  nbody_fmm_job job = {.potential = w->terms};
  const sim_status status = compute(w, false, &job);
  keep_failure(w, status);
  if (status != SIM_OK) return NAN;
  const double sum = sim_reduce_sum(w->terms, (size_t)w->state.n, w->partial, w->options.threads);
  w->energy = unit_of_energy(w);
  if (w->tree.box > 0) return -0.5 * ldexp(w->options.G * sum, 2 * w->tree.mass) * w->tree.scale;
  return -0.5 * ldexp(w->options.G * sum, 2 * w->tree.mass - w->tree.position);
}

static double position_at(const nbody_state *state, int64_t i) {
  return state->dtype == SIM_F32 ? (double)((const float *)state->position)[i] : ((const double *)state->position)[i];
}

static sim_status sample(nbody_solver_work *w, const int64_t *numbers, int count, double *position, double *got,
                         double *exact) {
  if (w->options.box > 0) {
    for (int c = 0; c < 3; c++)
      for (int k = 0; k < count; k++) {
        got[c * count + k] = w->state.acceleration[c * w->state.n + numbers[k]];
        position[c * count + k] = position_at(&w->state, c * w->state.n + numbers[k]);
      }
    return nbody_direct_periodic_sample(w->direct, numbers, count, exact);
  }
  nbody_fmm_tree *t = &w->tree;
  w->refits = 0; /* that ends the tree */
  nbody_fmm_tree_pack(t, &w->state);
  const double factor = ldexp(w->options.G, t->mass - 2 * t->position);
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads)
  for (int first = 0; first < count; first += 8) {
    int64_t eight[8];
    double a[24];
    for (int k = 0; k < 8; k++) eight[k] = numbers[first + k < count ? first + k : first];
    w->down[0]->exact(t, eight, a);
    for (int c = 0; c < 3; c++)
      for (int k = 0; k < 8 && first + k < count; k++) {
        position[c * count + first + k] = position_at(&w->state, c * w->state.n + eight[k]);
        got[c * count + first + k] = w->state.acceleration[c * w->state.n + eight[k]];
        exact[c * count + first + k] = a[8 * c + k] * factor;
      }
  }
  return SIM_OK;
}

static sim_status sample_potential(nbody_solver_work *w, const int64_t *numbers, int count, double *got,
                                   double *exact) {
  for (int k = 0; k < count; k++) got[k] = -w->terms[numbers[k]] * w->energy;
  if (w->options.box > 0) { return nbody_direct_periodic_sample_potential(w->direct, numbers, count, exact); }
  nbody_fmm_tree *t = &w->tree;
  w->refits = 0; /* that ends the tree */
  nbody_fmm_tree_pack(t, &w->state);
  const double unit = unit_of_energy(w);
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads)
  for (int first = 0; first < count; first += 8) {
    int64_t eight[8];
    double u[8];
    for (int k = 0; k < 8; k++) eight[k] = numbers[first + k < count ? first + k : first];
    w->down[0]->exact_potential(t, eight, u);
    for (int k = 0; k < 8 && first + k < count; k++)
      exact[first + k] = -((const double *)t->bodies)[4 * eight[k] + 3] * u[k] * unit;
  }
  return SIM_OK;
}

static sim_status check(nbody_solver_work *w) {
  const sim_status status = w->failure;
  w->failure = SIM_OK;
  return status == SIM_OK ? SIM_OK : sim_fail(status, "%s", w->message);
}

nbody_fmm_counts nbody_fmm_cpu_counts(const nbody_solver_work *w) {
  nbody_fmm_counts out = {.cells = (double)w->tree.cells};
  for (int k = 0; k < w->options.threads; k++) {
    out.far += (double)w->scratch[k].far_count;
    out.near += (double)w->scratch[k].near_count;
  }
  return out;
}

static const char *describe(const nbody_solver_work *w) { return w->text; }

/* Lists, which grow as they need: at most what is usual. Counted with 2 10^4 and 10^5 bodies of a Plummer sphere and of
 * a uniform one: up to 21 entries a cell were left open at angles from 0.7 on, 155 at 0.4; other lists of a thread have
 * up to 18000, at 0.4 29000. */
static double list_bytes(const nbody_options *options) {
  enum { OPEN = 25, OTHERS = 40000 };
  const double wider = 0.8 / options->fmm.theta, leaf = options->fmm.leaf;
  const double cells = nbody_fmm_tree_usual_cells((double)options->n, options->fmm.leaf);
  const double sources = NBODY_FMM_P2P_PIECE * leaf * 2 * 4 * sizeof(double);
  return cells * (OPEN * wider * wider * wider * sizeof(uint32_t) + sizeof(nbody_fmm_open) + options->individual) +
         options->threads * (OTHERS * wider * sizeof(uint32_t) + sources);
}

static void bytes(const nbody_options *options, double *host, double *device) {
  const double n = (double)options->n;
  double outer = 0;
  if (options->box > 0) {
    const nbody_options direct = for_direct(options);
    nbody_direct_periodic_cpu.bytes(&direct, &outer, device);
    outer += (double)((NBODY_FMM_OUTER_TENSORS + 2 * outer_moments) * sizeof(double));
  }
  *host = nbody_fmm_tree_bytes(n, &options->fmm) + list_bytes(options) +
          (double)(term_count(options->n) * sizeof(double)) + outer;
  *device = 0;
}

static sim_status supports(const nbody_options *options) {
  SIM_TRY(nbody_fmm_serves(options));
  if (options->n > INT32_MAX)
    return sim_fail(SIM_ERR_SCENARIO, "gravity.solver = \"fmm\" takes at most %d bodies", INT32_MAX);
  return SIM_OK;
}

static sim_status estimate(const nbody_options *options, double n, nbody_cost *out) {
  const nbody_fmm_estimate cost = nbody_fmm_estimate_for(options, SIM_BACKEND_CPU, n);
  *out = (nbody_cost){.interactions = n * (cost.far + cost.near)};
  out->rate = out->interactions / cost.seconds;
  return SIM_OK;
}

const nbody_solver nbody_fmm_cpu = {
    .name = "fast multipoles",
    .supports = supports,
    .bytes = bytes,
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .describe = describe,
    .accelerate = accelerate,
    .accelerate_some = accelerate_some,
    .potential = potential,
    .check = check,
    .sample = sample,
    .sample_potential = sample_potential,
};
