/* Least squares of each contract's payments on its state, date by date. The paths are divided into SLOTS parts, whose
 * sums are gathered and added in one order: no bit depends on threads or ranks. */
#include "kernels/option/cpu/exercise.h"
#include "kernels/option/exposure/book.h"

#include "engine/log.h"
#include "engine/run/startup.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
  CHUNK = OPTION_CHUNK,
  LANES = 8,
  SLOTS = 32,
  PATHS_EACH = 20,  /* paths a coefficient, at least */
  RARE_ENOUGH = 256 /* paths of a group */
};

static size_t sums_of(const exposure_basis *b) { return (size_t)(b->count * (b->count + 3) / 2); }

/* A regression whose group has few paths in a chunk. */
typedef struct rare_group {
  int date, contract;
  exposure_status group;
  int count;             /* of the paths so far */
  exposure_state *state; /* these paths at its front, the rest EXPOSURE_PAID; owned */
} rare_group;

/* Appends the paths of a group. */
static void append(const exposure_state *from, rare_group *to) {
  exposure_state *s = to->state;
  s->raws = from->raws;
  for (int i = 0; i < CHUNK && to->count < CHUNK; i++) {
    if (from->status[i] != to->group) continue;
    s->status[to->count] = to->group;
    s->u[to->count] = from->u[i];
    for (int r = 0; r < from->raws; r++) s->raw[r][to->count] = from->raw[r][i];
    to->count++;
  }
}

/* Warns of a group whose value is one number, for want of paths, where it may hold a tenth of those above the quantile.
 */
static void warn_of_few(const exposure_book *b, const rare_group *rare, double paths) {
  const double tail = fmin(b->p.exposure.quantile, 1 - b->p.exposure.quantile);
  if (!(rare->count > 0.1 * tail * paths)) return;
  sim_log(
      SIM_LOG_WARN,
      "exposure: at t = %.6g %d of %.0f paths of the regression are in a state of payoffs[%d], which has one value on "
      "all of them: the PFE may be off by more than its error; expected more exposure.fit_paths",
      b->market->grid.time[b->step[rare->date]], rare->count, paths, b->contract[rare->contract].number + 1);
}

/* Makes the functions of groups from as many chunks of the fit as it takes to know how their paths lie. */
static sim_status make_rare(exposure_book *b, rare_group *rare, int count) {
  exposure_room *room = &b->room[0];
  const int chunks = (int)(b->p.exposure.fit_paths / CHUNK);
  bool left = true;
  for (int k = 0; k < count; k++) {
    rare[k].state = calloc(1, sizeof *rare[k].state);
    if (rare[k].state == NULL) return sim_no_memory("the exposure");
    for (int i = 0; i < CHUNK; i++) rare[k].state->status[i] = EXPOSURE_PAID;
  }
  for (int c = 0; c < chunks && left; c++) {
    option_exposure_simulate(b, OPTION_EXPOSURE_FIRST + (uint64_t)c * CHUNK, room);
    left = false;
    for (int k = 0; k < count; k++) {
      if (rare[k].count >= RARE_ENOUGH) continue;
      option_exposure_state_at(b, room, rare[k].date, rare[k].contract);
      append(room->state, &rare[k]);
      left |= rare[k].count < RARE_ENOUGH;
    }
  }
  for (int k = 0; k < count; k++) {
    exposure_basis *basis = &b->basis[exposure_place(b, rare[k].date, rare[k].contract, (int)rare[k].group)];
    option_exposure_basis_make(rare[k].state, rare[k].group, b->contract[rare[k].contract].hedged, basis);
    if (basis->few) warn_of_few(b, &rare[k], (double)chunks * CHUNK);
  }
  return SIM_OK;
}

/* Makes a batch of groups, and empties it. */
static sim_status flush(exposure_book *b, rare_group *rare, int *count) {
  const sim_status status = *count > 0 ? make_rare(b, rare, *count) : SIM_OK;
  for (int k = 0; k < *count; k++) free(rare[k].state);
  *count = 0;
  return status;
}

/* Makes the functions of a regression from the first chunk, or adds it to `rare`. */
static void make_basis(exposure_book *b, int date, int contract, exposure_status group, rare_group *rare, int *count) {
  const exposure_contract *c = &b->contract[contract];
  exposure_basis *basis = &b->basis[exposure_place(b, date, contract, (int)group)];
  if (b->step[date] == 0) {
    option_exposure_basis_constant(c->hedged, basis);
    return;
  }
  option_exposure_basis_make(b->room[0].state, group, c->hedged, basis);
  if (basis->few) rare[(*count)++] = (rare_group){date, contract, group, 0, NULL};
}

/* Makes the functions of all regressions. */
static sim_status make_bases(exposure_book *b) {
  rare_group rare[EXPOSURE_RARE];
  int count = 0;
  bool again = true; /* the room holds another chunk than the first */
  for (int d = 0; d < b->dates; d++)
    for (int k = 0; k < b->contracts; k++) {
      const bool in = b->contract[k].payoff->knock == OPTION_IN;
      if (b->step[d] >= b->contract[k].end) continue;
      if (again) option_exposure_simulate(b, OPTION_EXPOSURE_FIRST, &b->room[0]);
      option_exposure_state_at(b, &b->room[0], d, k);
      for (int g = 0; g < (in ? EXPOSURE_GROUPS : 1); g++) make_basis(b, d, k, (exposure_status)g, rare, &count);
      again = count + EXPOSURE_GROUPS > EXPOSURE_RARE;
      if (again) SIM_TRY(flush(b, rare, &count));
    }
  SIM_TRY(flush(b, rare, &count));
  return option_exposure_agree(b);
}

/* Moves the paths of a group to the front of their columns, and zeros to the next multiple of LANES; returns how many.
 */
static int gather_group(const exposure_state *s, exposure_status group, int columns, double *column, double *value) {
  int kept = 0, place[CHUNK];
  for (int i = 0; i < CHUNK; i++)
    if (s->status[i] == group) place[kept++] = i;
  const int end = (kept + LANES - 1) / LANES * LANES;
  for (int k = 0; k <= columns; k++) {
    double *of = k < columns ? column + (size_t)k * CHUNK : value;
    for (int i = 0; i < kept; i++) of[i] = of[place[i]];
    for (int i = kept; i < end; i++) of[i] = 0;
  }
  return kept;
}

/* Adds a chunk to the sums of one date and contract. */
static void add_chunk(const exposure_book *b, exposure_room *room, int date, int contract, const size_t *offset,
                      double *sums) {
  const double *paid = exposure_payments(b, room, contract);
  const double discount = exposure_discount(b, b->step[date], b->contract[contract].end);
  double value[CHUNK];
  option_exposure_state_at(b, room, date, contract);
  for (int g = 0; g < EXPOSURE_GROUPS; g++) {
    const size_t place = exposure_place(b, date, contract, g);
    const exposure_basis *basis = &b->basis[place];
    if (basis->count == 0) continue;
    option_exposure_basis_evaluate(basis, room->state, room->functions);
    for (int i = 0; i < CHUNK; i++) value[i] = paid[i] * discount;
    const int kept = gather_group(room->state, (exposure_status)g, basis->count, room->functions, value);
    double *to = sums + offset[place];
    for (int i = 0; i < basis->count; i++)
      for (int j = 0; j <= i; j++)
        *to++ += option_cpu_dot(room->functions + (size_t)i * CHUNK, room->functions + (size_t)j * CHUNK, kept);
    for (int i = 0; i < basis->count; i++) *to++ += option_cpu_dot(room->functions + (size_t)i * CHUNK, value, kept);
  }
}

static void solve(const exposure_book *b, const size_t *offset, const double *sums, double *beta) {
  const size_t regressions = exposure_place(b, b->dates, 0, 0);
  for (size_t k = 0; k < regressions; k++) {
    const exposure_basis *basis = &b->basis[k];
    if (basis->count == 0) continue;
    const double *sum = sums + offset[k];
    const int most = (int)fmin(basis->count, fmax(sum[0] / PATHS_EACH, sum[0] > 0));
    option_joint_solve(sum, basis->count, most, beta + k * OPTION_BASES_MAX);
  }
}

/* Fits once more without each part of the paths, slots part, part + parts, ...: sums[SLOTS][total]. */
static sim_status solve_without(exposure_book *b, int chunks, int each, const size_t *offset, const double *sums,
                                size_t total) {
  const size_t numbers = exposure_place(b, b->dates, 0, 0) * OPTION_BASES_MAX;
  const int used = (chunks + each - 1) / each;
  b->parts = used < EXPOSURE_PARTS ? 0 : EXPOSURE_PARTS;
  double *rest = calloc(total + 1, sizeof *rest);
  b->beta_without = calloc(EXPOSURE_PARTS * numbers, sizeof *b->beta_without);
  if (rest == NULL || b->beta_without == NULL) {
    free(rest);
    return sim_no_memory("the exposure");
  }
  for (int part = 0; part < b->parts; part++) {
    memset(rest, 0, total * sizeof *rest);
    for (int slot = 0; slot < SLOTS; slot++)
      for (size_t k = 0; k < total && slot % b->parts != part; k++) rest[k] += sums[(size_t)slot * total + k];
    solve(b, offset, rest, b->beta_without + (size_t)part * numbers);
  }
  free(rest);
  return SIM_OK;
}

sim_status option_exposure_fit(exposure_book *b) {
  const sim_comm *comm = b->setup->comm;
  const size_t regressions = exposure_place(b, b->dates, 0, 0), share = sim_comm_share(comm, SLOTS);
  const int chunks = (int)(b->p.exposure.fit_paths / CHUNK), each = (chunks + SLOTS - 1) / SLOTS;
  size_t end, total = 0;
  const size_t first = sim_comm_first(comm, SLOTS, &end);
  SIM_TRY(make_bases(b));
  size_t *offset = calloc(regressions, sizeof *offset);
  for (size_t k = 0; k < regressions && offset != NULL; k++) {
    offset[k] = total;
    total += sums_of(&b->basis[k]);
  }
  double *sums = calloc(share * (size_t)comm->size * total + 1, sizeof *sums);
  sim_status status = offset != NULL && sums != NULL ? SIM_OK : sim_no_memory("the exposure");
  sim_startup("exposure: regressions", 0, 0);
#pragma omp parallel for schedule(dynamic, 1) num_threads(b->threads)
  for (size_t slot = first; slot < (status == SIM_OK ? end : first); slot++) {
    exposure_room *room = &b->room[omp_get_thread_num()];
    for (int c = (int)slot * each; c < ((int)slot + 1) * each && c < chunks; c++) {
      option_exposure_simulate(b, OPTION_EXPOSURE_FIRST + (uint64_t)c * CHUNK, room);
      for (int d = 0; d < b->dates; d++)
        for (int k = 0; k < b->contracts; k++)
          if (b->step[d] < b->contract[k].end) add_chunk(b, room, d, k, offset, sums + slot * total);
    }
  }
  if (status == SIM_OK) status = option_exposure_agree(b);
  if (status == SIM_OK)
    status = comm->ops->gather(comm, sums + (size_t)comm->rank * share * total, share * total * sizeof *sums, sums);
  if (status == SIM_OK && b->p.exposure.values > 0 && comm->rank == 0)
    status = solve_without(b, chunks, each, offset, sums, total);
  for (size_t slot = 1; slot < SLOTS && status == SIM_OK; slot++)
    for (size_t k = 0; k < total; k++) sums[k] += sums[slot * total + k];
  if (status == SIM_OK) solve(b, offset, sums, b->beta);
  free(offset);
  free(sums);
  return status;
}

double option_exposure_fit_bytes(double dates, double contracts, int ranks) {
  const double functions = 48; /* of a contract on several assets; of one asset half as many */
  return (SLOTS + ranks) * dates * contracts * functions * (functions + 3) / 2 * sizeof(double);
}
