/* Fast multipole method on the CPU: the table of the solver and the order of its phases. ../fmm.h defines the
 * arithmetic.
 *
 *   state --frame, keys, sort--> bodies, cells --leaves, then levels upward--> moments
 *         --levels downward: lists, M2L, L2L; leaves: L2P, pairs--> acceleration or potential, in the state's order
 *
 * Threads. One thread computes a cell, from values that were ready before its level began. Therefore the bits do not
 * depend on the number of threads.
 *
 * Potential. It goes through the same phases with a tree of its own. In precision single and open space that tree is in
 * fp32, whose roundings average out over the bodies; else it is in fp64. The terms of the bodies are added up in fp64.
 *
 * Ranks. They divide the bodies in the order of keys (shares.h). Each rank sorts and packs a range of keys, makes the
 * moments of the cells within a range, and computes the forces on the bodies of a range. The last of these ranges are
 * cut by the work that the force before took. All ranks then gather the results. The tree, every list and every sum are
 * those of one rank.
 *
 * Individual steps. A force on some bodies walks only the cells that contain some of them. The first such force after a
 * force on all bodies builds a tree; the next NBODY_FMM_REFITS keep that tree, with new centres, radii and moments. */
#include "kernels/nbody/fmm/cpu/work.h"

#include "engine/reduce.h"

#include <math.h>
#include <omp.h>
#include <string.h>
#include <time.h>

enum {
  CELLS_EACH = 8,      /* cells that a thread takes at once */
  TARGETS_EACH = 2,    /* target cells that a thread takes at once: one takes some 20 us */
  PARALLEL_FROM = 512, /* number of bodies from which threads divide the target cells */
  TIMED_FROM = 8192    /* number of bodies from which stages are timed: with fewer, reading clocks takes time */
};

/* Deepest level of a tree in fp32 for a potential. At that level the rounding of a centre of mass, 2^-25, is 2^-13 of
 * the cell's edge. M2L of such cells then leaves out a dipole of 10^-4 of their potential, of either sign. */
enum { POTENTIAL_LEVELS = 12 };

/* ---- phases ---- */

/* Whether a cell has a target of this rank; job->walked of its children is known. */
static bool has_target(const nbody_fmm_job *job, int64_t cell) {
  const nbody_fmm_tree *t = job->tree;
  const int64_t first = t->first[cell], last = first + (t->children[cell] == 0 ? t->count[cell] : 0);
  for (int64_t i = first > job->first ? first : job->first; i < last && i < job->end; i++)
    if (job->targets->level[t->order[i]] >= job->targets->least) return true;
  for (int64_t k = t->child[cell], end = k + t->children[cell]; k < end; k++)
    if ((int64_t)t->first[k] + t->count[k] > job->first && t->first[k] < job->end && job->walked[k]) return true;
  return false;
}

/* Fills in job->walked: the cells that have targets of this rank. */
static void find_walked(const nbody_fmm_job *job) {
  const nbody_fmm_tree *t = job->tree;
  for (int level = t->levels - 1; level >= 0; level--) {
    const nbody_fmm_range cells = nbody_fmm_cells_with(t, level, job->first, job->end);
#pragma omp parallel for schedule(dynamic, CELLS_EACH) num_threads(t->threads) if (cells.end - cells.first > CELLS_EACH)
    for (int64_t cell = cells.first; cell < cells.end; cell++) job->walked[cell] = has_target(job, cell);
  }
}

/* Makes centre, radius and moments of a cell. */
static void make_moments(nbody_solver_work *w, int64_t cell, bool single) {
  if (w->tree.children[cell] == 0)
    w->leaf[single](&w->tree, cell);
  else
    w->translate[single]->inner(&w->tree, cell);
}

/* Makes the moments of all cells whose bodies are all among first ... end - 1. */
static void upward(nbody_solver_work *w, bool single, int64_t first, int64_t end) {
  const nbody_fmm_tree *t = &w->tree;
  for (int level = t->levels - 1; level >= 0; level--) {
    const nbody_fmm_range cells = nbody_fmm_cells_within(t, level, first, end);
#pragma omp parallel for schedule(dynamic, CELLS_EACH) num_threads(t->threads) if (cells.end - cells.first > CELLS_EACH)
    for (int64_t cell = cells.first; cell < cells.end; cell++) make_moments(w, cell, single);
  }
}

/* Makes all moments: each rank makes those of the cells within its range, and every rank those of the cells that a cut
 * goes through. */
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

/* Work that a thread has done so far, in units of the time of a near pair. far[single][order]: units of an M2L and its
 * share of the walk, fitted at order 5 to times of ranks with a Plummer sphere, and scaled by the number of operations
 * for the other orders. */
static uint64_t work_of(const nbody_fmm_scratch *scratch, int order, bool single) {
  static const uint64_t far[2][NBODY_FMM_ORDER_MAX + 1] = {{[3] = 10, [4] = 22, [5] = 47, [6] = 105},
                                                           {[3] = 16, [4] = 35, [5] = 75, [6] = 115}};
  return (uint64_t)scratch->far_count * far[single][order] + (uint64_t)scratch->near_count;
}

/* Computes lists, field and forces of a cell; with several ranks it also counts the work. */
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

/* Visits all cells with bodies of this rank, level by level. SIM_ERR_NO_MEMORY. */
static sim_status downward(nbody_solver_work *w, const nbody_fmm_job *job, bool single) {
  const nbody_fmm_tree *t = &w->tree;
  bool failed = false;
  for (int level = 0; level < t->levels && !failed; level++) {
    const nbody_fmm_range cells = nbody_fmm_cells_with(t, level, job->first, job->end);
    for (int k = 0; k < t->threads; k++) w->scratch[k].open[level % 2].count = 0;
#pragma omp parallel for schedule(dynamic, TARGETS_EACH)                                                               \
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

/* Row of w->work and w->counted that belongs to a job. */
static int row_of(const nbody_fmm_job *job) { return job->targets != NULL ? job->targets->least : 0; }

/* Sets the bodies whose forces each rank computes, cut by counted work. Where no such force was counted, the work of a
 * force on more bodies serves; before the first force each rank has as many bodies. */
static void take_share(nbody_solver_work *w, nbody_fmm_job *job) {
  const sim_comm *comm = w->options.comm;
  const int64_t n = w->options.n;
  int row = row_of(job);
  while (row > 0 && !w->counted[row]) row--;
  job->cuts = w->counted[row] ? nbody_fmm_cut_by_work(comm, n, w->work[row]) : nbody_fmm_cut_equally(comm, n);
  job->first = job->cuts.at[comm->rank];
  job->end = job->cuts.at[comm->rank + 1];
}

/* Gathers the results of all ranks on every rank, and adds up their counted work. */
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

/* Index of the first sorted body whose key begins with the six bits `code` or with higher ones. */
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

/* Divides the cubes among ranks for their outer moments: a rank has the cubes whose first body is in its equal share of
 * the bodies. */
static nbody_fmm_cuts cut_cubes(const nbody_fmm_tree *t, const nbody_fmm_outer *o) {
  const nbody_fmm_cuts equal = nbody_fmm_cut_equally(t->comm, t->n);
  nbody_fmm_cuts out = {.at = {0}};
  for (int r = 1; r <= t->comm->size; r++)
    for (out.at[r] = out.at[r - 1]; out.at[r] < NBODY_FMM_OUTER_CUBES; out.at[r]++)
      if (o->first[out.at[r]] >= equal.at[r] && r < t->comm->size) break;
  return out;
}

/* Gathers the outer moments of all cubes on every rank. The memory of the fields is its buffer. */
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

/* Adds the outer images to the results of `job`, and multiplies accelerations by G and the unit of mass. */
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

/* Whether all positions are finite: the centre of the root is the mean of all, weighted by mass. */
static bool is_finite(const nbody_fmm_tree *t) {
  bool finite = true;
  for (int c = 0; c < 3; c++)
    finite = finite && isfinite(t->single ? (double)((const float *)t->bounds)[c] : ((const double *)t->bounds)[c]);
  return finite;
}

/* Ends a stage: stores the processor time since the last call. -1: begins the first stage. */
static void end_stage(nbody_solver_work *w, int stage) {
  struct timespec t;
  if (w->options.n < TIMED_FROM || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0) return;
  const double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
  if (stage >= 0) w->seconds[stage] = now - w->since;
  w->since = now;
}

/* Makes or refits the tree. A potential whose tree in fp32 has too small cells gets a tree in fp64, and *single becomes
 * false. */
static sim_status make_tree(nbody_solver_work *w, const nbody_fmm_job *job, bool refit, bool *single) {
  nbody_fmm_tree *t = &w->tree;
  const double softening = w->options.softening;
  const bool potential = job->acceleration == NULL;
  if (refit) return nbody_fmm_tree_refit(t, &w->state);
  SIM_TRY(nbody_fmm_tree_build(t, &w->state, softening, *single, potential));
  if (!potential || !*single || t->levels - 1 <= POTENTIAL_LEVELS) return SIM_OK;
  *single = false;
  return nbody_fmm_tree_build(t, &w->state, softening, false, potential);
}

/* Computes a force or a potential; `single`: in fp32. SIM_ERR_NO_MEMORY, SIM_ERR_DIVERGED, a failure of the ranks. */
static sim_status compute(nbody_solver_work *w, bool single, nbody_fmm_job *job) {
  nbody_fmm_tree *t = &w->tree;
  if (w->failure.status != SIM_OK) return w->failure.status; /* other ranks may not take part in an exchange */
  const int refits = w->refits;
  end_stage(w, -1);
  w->refits = 0; /* no refit after a failure */
  w->sampled.count = 0;
  SIM_TRY(make_tree(w, job, job->targets != NULL && refits > 0, &single));
  SIM_TRY(nbody_fmm_work_take_cells(w));
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

/* A periodic box takes fp64: in nearly uniform matter the potentials of images cancel to 10^-4 of themselves. */
static double potential(nbody_solver_work *w) {
  nbody_fmm_job job = {.potential = w->terms};
  const bool single = w->state.dtype == SIM_F32 && w->options.box == 0;
  if (nbody_failure_keep(&w->failure, compute(w, single, &job)) != SIM_OK) return NAN;
  const double sum = sim_reduce_sum(w->terms, (size_t)w->state.n, w->partial, w->options.threads);
  w->energy = nbody_fmm_unit_of_energy(w);
  if (w->tree.box > 0) return -0.5 * ldexp(w->options.G * sum, 2 * w->tree.mass) * w->tree.scale;
  return -0.5 * ldexp(w->options.G * sum, 2 * w->tree.mass - w->tree.position);
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

static sim_status supports(const nbody_options *options) {
  SIM_TRY(nbody_fmm_serves(options));
  if (options->n > INT32_MAX)
    return sim_fail(SIM_ERR_SCENARIO, "gravity.solver = \"fmm\" takes at most %d bodies", INT32_MAX);
  return SIM_OK;
}

/* Fills in what ranks exchange in a force that takes `seconds` on one rank, and the share of it that every rank does
 * itself: the cells of the tree, and with few bodies also keys, sort and moments. `most_ranks`: beyond this number the
 * share of a rank takes less time than the exchange, with the latency and the rate that `sim check` assumes. */
static void add_exchange(const nbody_options *options, double n, double seconds, nbody_cost *out) {
  const double ranks = options->comm->size, exchange_seconds = 2e-5, exchange_rate = 4e9;
  double exchanges;
  const double received = nbody_fmm_tree_received(options, &exchanges);
  if (ranks == 1) return;
  out->undivided = fmin(1, n * (received > 0 ? 5e-9 : 50e-9) / seconds);
  const double dealt = received > 0 ? n * (sizeof(uint32_t) + 3 * sizeof(double)) / ranks : 0; /* results, by slices */
  out->bytes_received = (received + dealt + 3 * n * sizeof(double)) * (ranks - 1) / ranks;
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
    .supports = supports,
    .bytes = nbody_fmm_work_bytes,
    .room = nbody_fmm_work_room,
    .estimate = estimate,
    .create = nbody_fmm_work_create,
    .destroy = nbody_fmm_work_destroy,
    .describe = describe,
    .accelerate = accelerate,
    .accelerate_some = accelerate_some,
    .potential = potential,
    .check = check,
    .sample = nbody_fmm_sample,
    .sample_potential = nbody_fmm_sample_potential,
};
