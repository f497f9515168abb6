/* Fast multipole method on the CPU: the table of the solver, memory, and the order of its phases.
 *
 *   state --frame, keys, sort--> bodies, cells --leaves, then levels upward--> moments
 *         --levels downward: lists, M2L, L2L; leaves: L2P, pairs--> acceleration or potential, in the state's order
 *
 * Every cell is computed by one thread from what was ready before its level began, so that the bits do not depend on
 * the number of threads. The potential takes the same way with its own tree in fp64.
 *
 * Ranks divide the bodies in the order of keys (shares.h): each sorts and packs a range of keys, makes the moments of
 * the cells within a range, and computes the forces on the bodies of a range, cut by the work of the force before; what
 * they have made is gathered. The tree, and with it every list and every sum, is that of one rank.
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
#include <time.h>

enum {
  CELLS_EACH = 8,      /* cells that a thread takes at once */
  PARALLEL_FROM = 512, /* bodies; below, one thread does all */
  TIMED_FROM = 8192    /* bodies; below, reading clocks would take time */
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
  /* With several ranks, in bins of bodies in the order of keys: work that the last force of all bodies, and the last
   * ones of individual steps by their least level, took; of a thread; of each rank. */
  uint64_t (*work)[NBODY_FMM_BINS];
  bool counted[NBODY_LEVELS_MAX + 1];
  /* In a periodic box: the outer images, and direct sums, against which the error is measured. */
  const nbody_fmm_outer_loops *outer_loops;
  nbody_fmm_outer outer;
  nbody_solver_work *direct;
  double seconds[NBODY_FMM_STAGES], since;
  nbody_failure failure;
  char text[32];
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
  free(w->work);
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

/* Rows of bins. */
static size_t work_rows(const nbody_options *options) {
  const size_t ranks = (size_t)options->comm->size;
  return ranks > 1 ? NBODY_LEVELS_MAX + 1 + (size_t)options->threads + ranks : 1;
}

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
  sim_status status = nbody_fmm_tree_create(options, &w->tree);
  if (status == SIM_OK) {
    w->scratch = calloc((size_t)options->threads, sizeof *w->scratch);
    w->terms = malloc(term_count(options->n) * sizeof *w->terms);
    w->work = calloc(work_rows(options), sizeof *w->work);
    if (w->scratch == NULL || w->terms == NULL || w->work == NULL)
      status = sim_no_memory("the multipole solver of %lld bodies", (long long)options->n);
    else
      status = take_cells(w);
  }
  for (int k = 0; status == SIM_OK && k < options->threads && options->comm->size > 1; k++)
    w->scratch[k].work = w->work[NBODY_LEVELS_MAX + 1 + k];
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
  const int64_t first = t->first[cell], last = first + (t->children[cell] == 0 ? t->count[cell] : 0);
  for (int64_t i = first > job->first ? first : job->first; i < last && i < job->end; i++)
    if (job->targets->level[t->order[i]] >= job->targets->least) return true;
  for (int64_t k = t->child[cell], end = k + t->children[cell]; k < end; k++)
    if ((int64_t)t->first[k] + t->count[k] > job->first && t->first[k] < job->end && job->walked[k]) return true;
  return false;
}

/* Which cells have targets of this rank. */
static void find_walked(const nbody_fmm_job *job) {
  const nbody_fmm_tree *t = job->tree;
  for (int level = t->levels - 1; level >= 0; level--) {
    const nbody_fmm_range cells = nbody_fmm_cells_with(t, level, job->first, job->end);
#pragma omp parallel for schedule(dynamic, CELLS_EACH) num_threads(t->threads) if (cells.end - cells.first > CELLS_EACH)
    for (int64_t cell = cells.first; cell < cells.end; cell++) job->walked[cell] = has_target(job, cell);
  }
}

static void make_moments(nbody_solver_work *w, int64_t cell, bool single) {
  if (w->tree.children[cell] == 0)
    w->translate[single]->leaf(&w->tree, cell);
  else
    w->translate[single]->inner(&w->tree, cell);
}

/* Of the cells whose bodies are all among first ... end - 1. */
static void upward(nbody_solver_work *w, bool single, int64_t first, int64_t end) {
  const nbody_fmm_tree *t = &w->tree;
  for (int level = t->levels - 1; level >= 0; level--) {
    const nbody_fmm_range cells = nbody_fmm_cells_within(t, level, first, end);
#pragma omp parallel for schedule(dynamic, CELLS_EACH) num_threads(t->threads) if (cells.end - cells.first > CELLS_EACH)
    for (int64_t cell = cells.first; cell < cells.end; cell++) make_moments(w, cell, single);
  }
}

/* Each rank makes the moments of the cells within its range, and all ranks those of the cells across cuts. */
static sim_status upward_by_ranks(nbody_solver_work *w, bool single) {
  nbody_fmm_tree *t = &w->tree;
  const nbody_fmm_cuts cuts = nbody_fmm_cut_equally(t->comm, t->n);
  upward(w, single, cuts.at[t->comm->rank], cuts.at[t->comm->rank + 1]);
  SIM_TRY(nbody_fmm_gather_moments(t, &cuts));
  for (int level = t->levels - 1; level >= 0; level--)
    for (int64_t r = 1, last = -1; r < t->comm->size; r++) {
      const int64_t cell = nbody_fmm_cell_across(t, level, cuts.at[r]);
      if (cell >= 0 && cell != last) make_moments(w, cell, single);
      last = cell;
    }
  return SIM_OK;
}

/* Work that a thread has done so far, in pairs of bodies. An M2L and its share of the walk: fitted to times of ranks of
 * a Plummer sphere at order 5, scaled by operations for the others. */
static uint64_t work_of(const nbody_fmm_scratch *scratch, int order, bool single) {
  static const uint64_t far[2][NBODY_FMM_ORDER_MAX + 1] = {{[3] = 10, [4] = 22, [5] = 47, [6] = 105},
                                                           {[3] = 16, [4] = 35, [5] = 75, [6] = 180}};
  return (uint64_t)scratch->far_count * far[single][order] + (uint64_t)scratch->near_count;
}

/* Lists, field and forces of a cell; and, with several ranks, what work that was. */
static sim_status visit(nbody_solver_work *w, const nbody_fmm_job *job, bool single, int64_t cell) {
  const nbody_fmm_tree *t = &w->tree;
  const int thread = omp_get_thread_num(), order = t->settings.order;
  nbody_fmm_scratch *scratch = &w->scratch[thread];
  const uint64_t before = work_of(scratch, order, single);
  w->translate[single]->shift(t, cell);
  SIM_TRY(w->down[single]->target(job, cell, thread));
  if (scratch->work != NULL) {
    const int64_t first = t->first[cell], end = first + t->count[cell];
    nbody_fmm_count_work(scratch->work, t->n, first > job->first ? first : job->first, end < job->end ? end : job->end,
                         work_of(scratch, order, single) - before);
  }
  return SIM_OK;
}

static sim_status downward(nbody_solver_work *w, const nbody_fmm_job *job, bool single) {
  const nbody_fmm_tree *t = &w->tree;
  bool failed = false;
  for (int level = 0; level < t->levels && !failed; level++) {
    const nbody_fmm_range cells = nbody_fmm_cells_with(t, level, job->first, job->end);
    for (int k = 0; k < t->threads; k++) w->scratch[k].open[level % 2].count = 0;
#pragma omp parallel for schedule(dynamic, CELLS_EACH)                                                                 \
    num_threads(t->threads) if (cells.end - cells.first > 1 && t->n >= PARALLEL_FROM)
    for (int64_t cell = cells.first; cell < cells.end; cell++) {
      if (job->targets != NULL && !job->walked[cell]) continue;
      if (visit(w, job, single, cell) != SIM_OK) {
#pragma omp atomic write
        failed = true;
      }
    }
  }
  if (failed) return sim_no_memory("the lists of the multipole solver for %lld bodies", (long long)t->n);
  return SIM_OK;
}

/* ---- shares of the ranks ---- */

static int row_of(const nbody_fmm_job *job) { return job->targets != NULL ? job->targets->least : 0; }

/* By the work of the last such force; before the first one as many bodies for each rank. */
static void take_share(nbody_solver_work *w, nbody_fmm_job *job) {
  const sim_comm *comm = w->options.comm;
  const int64_t n = w->options.n;
  int row = row_of(job);
  while (row > 0 && !w->counted[row]) row--;
  job->cuts = w->counted[row] ? nbody_fmm_cut_by_work(comm, n, w->work[row]) : nbody_fmm_cut_equally(comm, n);
  job->first = job->cuts.at[comm->rank];
  job->end = job->cuts.at[comm->rank + 1];
}

/* What the ranks have computed becomes known to all; and how much work it was. */
static sim_status gather_forces(nbody_solver_work *w, const nbody_fmm_job *job) {
  const sim_comm *comm = w->options.comm;
  const int row = row_of(job), threads = w->options.threads;
  memset(w->work[row], 0, sizeof *w->work);
  for (int k = 0; k < threads; k++)
    for (int b = 0; b < NBODY_FMM_BINS; b++) w->work[row][b] += w->scratch[k].work[b];
  SIM_TRY(nbody_fmm_add_work(comm, w->work[row], w->work[NBODY_LEVELS_MAX + 1 + threads]));
  w->counted[row] = true;
  const bool potential = job->acceleration == NULL;
  return nbody_fmm_gather_values(&w->tree, &job->cuts, job->targets, potential ? 1 : 3,
                                 potential ? job->potential : job->acceleration);
}

/* ---- outer images ---- */

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

/* Cubes of each rank, whose first body is in an equal share: outer moments. */
static nbody_fmm_cuts cut_cubes(const nbody_fmm_tree *t, const nbody_fmm_outer *o) {
  const nbody_fmm_cuts equal = nbody_fmm_cut_equally(t->comm, t->n);
  nbody_fmm_cuts out = {.at = {0}};
  for (int r = 1; r <= t->comm->size; r++)
    for (out.at[r] = out.at[r - 1]; out.at[r] < NBODY_FMM_OUTER_CUBES; out.at[r]++)
      if (o->first[out.at[r]] >= equal.at[r] && r < t->comm->size) break;
  return out;
}

/* Every rank has the outer moments of its cubes; then all have all. Takes the memory of their fields. */
static sim_status gather_outer_moments(const nbody_fmm_tree *t, nbody_fmm_outer *o, const nbody_fmm_cuts *cuts) {
  enum { COUNT = NBODY_FMM_OUTER_COUNT, CUBES = NBODY_FMM_OUTER_CUBES };
  const int first = (int)cuts->at[t->comm->rank], end = (int)cuts->at[t->comm->rank + 1];
  for (int cube = first; cube < end; cube++)
    for (int k = 0, place = nbody_fmm_outer_place(cube); k < COUNT; k++)
      o->fields[cube][k] = o->moments[CUBES * k + place];
  SIM_TRY(nbody_fmm_gather(t->comm, cuts, sizeof *o->fields, o->fields));
  for (int cube = 0; cube < CUBES; cube++)
    for (int k = 0, place = nbody_fmm_outer_place(cube); k < COUNT; k++)
      o->moments[CUBES * k + place] = o->fields[cube][k];
  return SIM_OK;
}

/* Adds the outer images to what `job` has given, and multiplies accelerations by the units of mass and G. */
static sim_status add_outer(nbody_solver_work *w, const nbody_fmm_job *job) {
  const nbody_fmm_tree *t = &w->tree;
  nbody_fmm_outer *o = &w->outer;
  const nbody_fmm_outer_loops *loops = w->outer_loops;
  for (int cube = 0; cube <= NBODY_FMM_OUTER_CUBES; cube++) o->first[cube] = find_cube(t, (uint64_t)cube);
  const nbody_fmm_cuts cuts = cut_cubes(t, o);
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads) if (t->threads > 1)
  for (int64_t cube = cuts.at[t->comm->rank]; cube < cuts.at[t->comm->rank + 1]; cube++)
    loops->moments(t, o, (int)cube);
  if (t->comm->size > 1) SIM_TRY(gather_outer_moments(t, o, &cuts));
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads) if (t->threads > 1)
  for (int cube = 0; cube < NBODY_FMM_OUTER_CUBES; cube++) {
    const int64_t first = o->first[cube] > job->first ? o->first[cube] : job->first;
    const int64_t end = o->first[cube + 1] < job->end ? o->first[cube + 1] : job->end;
    if (first >= end) continue;
    loops->field(o, cube);
    if (job->acceleration != NULL)
      loops->accelerate(t, o, cube, first, end, job->targets, job->factor, ldexp(w->options.G, t->mass),
                        job->acceleration);
    else
      loops->potential(t, o, cube, first, end, job->potential);
  }
  return SIM_OK;
}

/* Whether all positions are finite: the root's centre is the sum of all, with masses. */
static bool is_finite(const nbody_fmm_tree *t) {
  bool finite = true;
  for (int c = 0; c < 3; c++)
    finite = finite && isfinite(t->single ? (double)((const float *)t->bounds)[c] : ((const double *)t->bounds)[c]);
  return finite;
}

/* Processor time since the last call belongs to a stage; -1: to none. */
static void end_stage(nbody_solver_work *w, int stage) {
  struct timespec t;
  if (w->options.n < TIMED_FROM || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0) return;
  const double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
  if (stage >= 0) w->seconds[stage] = now - w->since;
  w->since = now;
}

static sim_status compute(nbody_solver_work *w, bool single, nbody_fmm_job *job) {
  nbody_fmm_tree *t = &w->tree;
  if (w->failure.status != SIM_OK) return w->failure.status; /* the other ranks may be elsewhere */
  const int refits = w->refits;
  end_stage(w, -1);
  w->refits = 0; /* until all has gone well */
  if (job->targets != NULL && refits > 0)
    SIM_TRY(nbody_fmm_tree_refit(t, &w->state));
  else
    SIM_TRY(nbody_fmm_tree_build(t, &w->state, w->options.softening, single));
  SIM_TRY(take_cells(w));
  end_stage(w, NBODY_FMM_TREE);
  for (int k = 0; k < t->threads; k++) {
    nbody_fmm_scratch *scratch = &w->scratch[k];
    scratch->far_count = scratch->near_count = 0;
    if (scratch->work != NULL) memset(scratch->work, 0, sizeof *w->work);
  }
  job->factor = t->box > 0 ? t->scale * t->scale : ldexp(w->options.G, t->mass - 2 * t->position);
  job->tree = t;
  job->scratch = w->scratch;
  job->open = w->open;
  job->walked = w->walked;
  take_share(w, job);
  if (t->divided)
    SIM_TRY(upward_by_ranks(w, single));
  else
    upward(w, single, 0, t->n);
  end_stage(w, NBODY_FMM_UP);
  if (job->targets != NULL) find_walked(job);
  if (!is_finite(t)) return sim_fail(SIM_ERR_DIVERGED, "a position is not finite");
  SIM_TRY(downward(w, job, single));
  end_stage(w, NBODY_FMM_DOWN);
  if (t->box > 0) SIM_TRY(add_outer(w, job));
  end_stage(w, NBODY_FMM_OUTER);
  if (t->comm->size > 1) SIM_TRY(gather_forces(w, job));
  end_stage(w, NBODY_FMM_RESULTS);
  /* In a box a body that is wrapped leaves its cell: every tree is a new one. */
  if (job->targets != NULL && t->box == 0) w->refits = refits > 0 ? refits - 1 : NBODY_FMM_REFITS;
  return SIM_OK;
}

static void accelerate_some(nbody_solver_work *w, const nbody_targets *targets) {
  double *const a = w->state.acceleration;
  nbody_fmm_job job = {.acceleration = a, .targets = targets};
  const sim_status status = nbody_failure_keep(&w->failure, compute(w, w->options.single_pairs, &job));
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
  if (nbody_failure_keep(&w->failure, compute(w, false, &job)) != SIM_OK) return NAN;
  const double sum = sim_reduce_sum(w->terms, (size_t)w->state.n, w->partial, w->options.threads);
  w->energy = unit_of_energy(w);
  if (w->tree.box > 0) return -0.5 * ldexp(w->options.G * sum, 2 * w->tree.mass) * w->tree.scale;
  return -0.5 * ldexp(w->options.G * sum, 2 * w->tree.mass - w->tree.position);
}

/* Samples are taken in eights, which the ranks share out. */
static void list_eight(const int64_t *numbers, int count, size_t which, int64_t eight[8]) {
  const int first = 8 * (int)which;
  for (int k = 0; k < 8; k++) eight[k] = numbers[first + k < count ? first + k : first];
}

/* Every rank has its share of results[eights], of `bytes` each; then all have all. A failure of the ranks. */
static sim_status gather_eights(const sim_comm *comm, size_t eights, size_t bytes, void *results) {
  size_t ends[SIM_RANKS_MAX];
  for (int r = 0; r < comm->size; r++) {
    const size_t last = (size_t)(r + 1) * sim_comm_share(comm, eights);
    ends[r] = (last < eights ? last : eights) * bytes;
  }
  return sim_comm_gather_parts(comm, results, ends);
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
  const sim_comm *comm = t->comm;
  const double factor = ldexp(w->options.G, t->mass - 2 * t->position);
  const size_t eights = ((size_t)count + 7) / 8;
  size_t end;
  const size_t begin = sim_comm_first(comm, eights, &end);
  double(*sums)[24] = malloc(eights * sizeof *sums);
  if (sums == NULL) return sim_no_memory("direct sums of %d bodies", count);
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads)
  for (size_t e = begin; e < end; e++) {
    int64_t eight[8];
    list_eight(numbers, count, e, eight);
    w->down[0]->exact(t, eight, sums[e]);
  }
  const sim_status status = gather_eights(comm, eights, sizeof *sums, sums);
  for (int i = 0; status == SIM_OK && i < count; i++)
    for (int c = 0; c < 3; c++) {
      position[c * count + i] = position_at(&w->state, c * w->state.n + numbers[i]);
      got[c * count + i] = w->state.acceleration[c * w->state.n + numbers[i]];
      exact[c * count + i] = sums[i / 8][8 * c + i % 8] * factor;
    }
  free(sums);
  return status;
}

static sim_status sample_potential(nbody_solver_work *w, const int64_t *numbers, int count, double *got,
                                   double *exact) {
  for (int k = 0; k < count; k++) got[k] = -w->terms[numbers[k]] * w->energy;
  if (w->options.box > 0) return nbody_direct_periodic_sample_potential(w->direct, numbers, count, exact);
  nbody_fmm_tree *t = &w->tree;
  w->refits = 0; /* that ends the tree */
  nbody_fmm_tree_pack(t, &w->state);
  const double unit = unit_of_energy(w);
  const size_t eights = ((size_t)count + 7) / 8;
  size_t end;
  const size_t begin = sim_comm_first(t->comm, eights, &end);
  double(*sums)[8] = malloc(eights * sizeof *sums);
  if (sums == NULL) return sim_no_memory("direct sums of %d bodies", count);
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads)
  for (size_t e = begin; e < end; e++) {
    int64_t eight[8];
    list_eight(numbers, count, e, eight);
    w->down[0]->exact_potential(t, eight, sums[e]);
  }
  const sim_status status = gather_eights(t->comm, eights, sizeof *sums, sums);
  for (int i = 0; status == SIM_OK && i < count; i++)
    exact[i] = -((const double *)t->bodies)[4 * numbers[i] + 3] * sums[i / 8][i % 8] * unit;
  free(sums);
  return status;
}

static sim_status check(nbody_solver_work *w) { return nbody_failure_report(&w->failure); }

nbody_fmm_counts nbody_fmm_cpu_counts(const nbody_solver_work *w) {
  nbody_fmm_counts out = {.cells = (double)w->tree.cells};
  memcpy(out.seconds, w->seconds, sizeof out.seconds);
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
  const double ranks = options->comm->size;
  *host += ((double)work_rows(options) * NBODY_FMM_BINS + (ranks > 1 ? ranks * ranks : 0)) * sizeof(uint64_t);
  *device = 0;
}

static sim_status supports(const nbody_options *options) {
  SIM_TRY(nbody_fmm_serves(options));
  if (options->n > INT32_MAX)
    return sim_fail(SIM_ERR_SCENARIO, "gravity.solver = \"fmm\" takes at most %d bodies", INT32_MAX);
  return SIM_OK;
}

/* What ranks exchange in a force that takes one of them `seconds`, and what every rank does itself: cells of the tree,
 * and with few bodies keys, sort and moments. More ranks are of no use where their shares take less than the exchange,
 * as `sim check` assumes it. */
static void add_exchange(const nbody_options *options, double n, double seconds, nbody_cost *out) {
  const double ranks = options->comm->size, exchange_seconds = 2e-5, exchange_rate = 4e9;
  double exchanges;
  const double received = nbody_fmm_tree_received(options, &exchanges);
  if (ranks == 1) return;
  out->undivided = fmin(1, n * (received > 0 ? 5e-9 : 50e-9) / seconds);
  out->bytes_received = (received + 3 * n * sizeof(double)) * (ranks - 1) / ranks;
  out->bytes_received += (ranks - 1) * sizeof(uint64_t) * NBODY_FMM_BINS;
  out->exchanges = exchanges + 1 + (received > 0 ? 12 : 3) + (options->box > 0 ? 1 : 0);
  const double exchange = out->exchanges * exchange_seconds + out->bytes_received / exchange_rate;
  out->most_ranks = (int)fmax(1, fmin(fmin(n, SIM_RANKS_MAX), seconds / exchange));
}

static sim_status estimate(const nbody_options *options, double n, nbody_cost *out) {
  const nbody_fmm_estimate cost = nbody_fmm_estimate_for(options, SIM_BACKEND_CPU, n);
  *out = (nbody_cost){.interactions = n * (cost.far + cost.near)};
  out->rate = out->interactions / cost.seconds;
  add_exchange(options, n, cost.seconds * options->threads, out);
  return SIM_OK;
}

const nbody_solver nbody_fmm_cpu = {
    .name = "fast multipoles",
    .ranks = true,
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
