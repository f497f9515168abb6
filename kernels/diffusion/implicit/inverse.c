/* The approximate inverse P of 1/(g h) - J. */
#include "kernels/diffusion/implicit/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double gamma_ = 0.5;
/* Stiffness is -g h J of the stiffest wave. Below `benign` it needs no level, and levels follow each other by `ratio`.
 */
static const double benign = 0.5, ratio = 6;

static size_t field_bytes(const diffusion_linearized *l) {
  return (size_t)l->vectors.count * (l->vectors.single ? sizeof(float) : sizeof(double));
}

/* Adds to l->sum the part of each level of the vector that `split` had. */
static sim_status add_level(diffusion_linearized *l, int number) {
  SIM_TRY(l->on->level(l, number, l->part.data));
  l->on->vectors->resolve(&l->vectors, l->part.data, 1 / (gamma_ * l->h), l->levels.factor[number], l->symbol.data);
  l->on->vectors->sum(&l->vectors, l->sum.data, 2, (const double[]){1, 1},
                      (const void *const[]){l->sum.data, l->part.data});
  return SIM_OK;
}

sim_status diffusion_inverse_apply(diffusion_linearized *l, void *vector) {
  const double one[DIFFUSION_FIELDS] = {1, 1, 1, 1, 1, 1, 1, 1};
  if (l->by_level) {
    SIM_TRY(l->on->split(l, vector));
    l->on->vectors->fill(&l->vectors, l->sum.data, 0, 0);
    for (int q = 0; q < l->levels.count; q++) SIM_TRY(add_level(l, q));
  }
  l->on->vectors->resolve(&l->vectors, vector, 1 / (gamma_ * l->h), one, l->symbol.data);
  if (l->by_level) l->on->vectors->choose(&l->vectors, vector, l->sum.data, l->levelled.data);
  return SIM_OK;
}

/* Computes the symbol of J_mean without L for one field, in l->symbol: its result for a field whose coefficients are
 * all 1. */
static sim_status symbol_of(diffusion_linearized *l, int field) {
  const diffusion_vectors one = linear_one(l);
  const double same = 1;
  l->on->vectors->fill(&l->vectors, l->part.data, 0, 0);
  l->on->vectors->fill(&one, linear_part(l, l->part.data, field), 1, 0);
  SIM_TRY(l->on->inverse(l, l->part.data));
  SIM_TRY(l->on->forward(l, DIFFUSION_LINEAR_MEANS, NULL, NULL, l->state.data));
  const void *of = linear_part(l, l->state.data, field);
  l->on->vectors->sum(&one, linear_part(l, l->symbol.data, field), 1, &same, &of);
  return SIM_OK;
}

/* Of a vector without divergence, a component's symbol is that of its projection, which is 1 - k_a^2/k^2 times what is
 * sought; all components together have rank - 1 times that. */
static void join_components(diffusion_linearized *l) {
  int vector[3];
  const int components = diffusion_vector_of(l->p, vector);
  const diffusion_vectors one = linear_one(l);
  const double same = 1;
  for (int i = 1; i < components; i++) {
    void *sum = linear_part(l, l->symbol.data, vector[0]), *other = linear_part(l, l->symbol.data, vector[i]);
    const double factor = i == components - 1 ? 1.0 / (components - 1) : 1;
    l->on->vectors->sum(&one, sum, 2, (const double[]){factor, factor}, (const void *const[]){sum, other});
  }
  for (int i = 1; i < components; i++) {
    const void *sum = linear_part(l, l->symbol.data, vector[0]);
    l->on->vectors->sum(&one, linear_part(l, l->symbol.data, vector[i]), 1, &same, &sum);
  }
}

/* ---- levels: once in a run, the wavenumbers to which they apply and the stiffest one of each field ---- */

/* Host memory of one field: its symbol and the numbers of levels, [numbers] of the run's precision; and the size of all
 * symbols. */
typedef struct waves {
  const diffusion_linearized *l;
  void *symbol, *levelled;
  double *size;
  int64_t stiffest; /* the stiffest one, on rank `owner` */
  int owner;
} waves;

/* Leaves wavenumber 0 out of the levels, and finds the stiffest one. */
static void visit_wave(void *context, const diffusion_number *number) {
  waves *all = context;
  if (number->k2 == 0) grid_set_number(all->levelled, all->l->vectors.single, number->at, 0);
  if (!number->imaginary && all->size[number->at] > all->size[all->stiffest]) all->stiffest = number->at;
}

/* Returns |z| of a number of coefficients. */
static double magnitude(const diffusion_vectors *v, const void *field, int64_t i) {
  return v->lanes > 0 ? hypot(grid_number(field, v->single, i), grid_number(field, v->single, i + v->lanes))
                      : fabs(grid_number(field, v->single, i));
}

/* *most: the greatest value of all ranks. */
static sim_status greatest_of(const sim_comm *comm, double value, double *most) {
  double all[SIM_RANKS_MAX];
  SIM_TRY(comm->ops->gather(comm, &value, sizeof value, all));
  *most = all[0];
  for (int r = 1; r < comm->size; r++) *most = fmax(*most, all[r]);
  return SIM_OK;
}

/* Adds to size[numbers] the symbol of one entry over its maximum. */
static sim_status add_size(const diffusion_linearized *l, const void *field, double *size) {
  const diffusion_vectors *v = &l->vectors;
  double own = 0, most;
  const int64_t lanes = v->lanes > 0 ? 2 * v->lanes : 1;
  for (int64_t i = 0; i < v->count; i++)
    if (i % lanes < (v->lanes > 0 ? v->lanes : 1)) own = fmax(own, magnitude(v, field, i));
  SIM_TRY(greatest_of(l->comm, own, &most));
  for (int64_t i = 0; i < v->count && most > 0; i++)
    if (i % lanes < (v->lanes > 0 ? v->lanes : 1)) size[i] += magnitude(v, field, i) / most;
  return SIM_OK;
}

/* Finds the rank that has the stiffest wavenumber: of equal ones the one whose number comes first in the whole field.
 */
static sim_status find_owner(waves *all) {
  const diffusion_linearized *l = all->l;
  const bool any = l->vectors.count > 0;
  struct {
    double size;
    int64_t plane;
  } own = {any ? all->size[all->stiffest] : -1, l->plane > 0 ? all->stiffest / l->plane : 0}, ranks[SIM_RANKS_MAX];
  SIM_TRY(l->comm->ops->gather(l->comm, &own, sizeof own, ranks));
  all->owner = 0;
  for (int r = 1; r < l->comm->size; r++) {
    const double size = ranks[r].size, most = ranks[all->owner].size;
    if (size > most || (size == most && ranks[r].plane < ranks[all->owner].plane)) all->owner = r;
  }
  return SIM_OK;
}

/* Computes the symbol of one entry for its own field. */
static sim_status symbol_of_entry(diffusion_linearized *l, int entry) {
  for (int k = 0; k < l->jacobian.count; k++) l->means[k] = k == entry;
  return symbol_of(l, diffusion_entry_field(l, entry));
}

/* Sets the numbers of a field to which levels apply: all that rates can change, except wavenumber 0. Finds the stiffest
 * wavenumber. */
static sim_status find_waves(diffusion_linearized *l, int field, waves *all) {
  const diffusion_vectors *v = &l->vectors;
  const sim_backend *backend = l->on->backend;
  void *levelled = linear_part(l, l->levelled.data, field);
  memset(all->size, 0, (size_t)v->count * sizeof *all->size);
  all->stiffest = 0;
  for (int i = 0; i < l->jacobian.count; i++) {
    if (diffusion_entry_field(l, i) != field || !l->even[i]) continue;
    SIM_TRY(symbol_of_entry(l, i));
    SIM_TRY(backend->copy(all->symbol, linear_part(l, l->symbol.data, field), field_bytes(l)));
    SIM_TRY(add_size(l, all->symbol, all->size));
  }
  SIM_TRY(backend->copy(all->levelled, levelled, field_bytes(l)));
  for (int64_t i = 0; i < v->count; i++) {
    const int64_t re = v->lanes > 0 && i % (2 * v->lanes) >= v->lanes ? i - v->lanes : i;
    grid_set_number(all->levelled, v->single, i, grid_number(all->levelled, v->single, re) != 0 ? 1 : 0);
  }
  l->on->each_number(l, field, visit_wave, all);
  SIM_TRY(find_owner(all));
  return backend->copy(levelled, all->levelled, field_bytes(l));
}

/* Reads the real part of a field of l->symbol at the stiffest wavenumber. */
static sim_status read_symbol(const diffusion_linearized *l, int field, const waves *of, double *out) {
  const size_t size = l->vectors.single ? sizeof(float) : sizeof(double);
  const char *symbol = linear_part(l, l->symbol.data, field);
  double number = 0, all[SIM_RANKS_MAX]; /* number: the memory of a number of the run's precision */
  if (of->owner == l->comm->rank) SIM_TRY(l->on->backend->copy(&number, symbol + (size_t)of->stiffest * size, size));
  const double own = grid_number(&number, l->vectors.single, 0);
  SIM_TRY(l->comm->ops->gather(l->comm, &own, sizeof own, all));
  *out = all[of->owner];
  return SIM_OK;
}

/* Finds the symbols of a field's entries at its stiffest wavenumber. */
static sim_status start_field(diffusion_linearized *l, int field, waves *all) {
  SIM_TRY(find_waves(l, field, all));
  for (int i = 0; i < l->jacobian.count; i++) {
    if (diffusion_entry_field(l, i) != field || !l->even[i]) continue;
    SIM_TRY(symbol_of_entry(l, i));
    SIM_TRY(read_symbol(l, field, all, &l->levels.symbols[i]));
  }
  const diffusion_vectors *v = &l->vectors;
  l->on->vectors->fill(v, l->part.data, 1, 0);
  SIM_TRY(l->on->by_table(l, DIFFUSION_LINEAR_TABLE, false, l->part.data, l->symbol.data));
  return read_symbol(l, field, all, &l->levels.linear[field]);
}

/* Finds the wavenumbers of levels, and the entries' symbols at the stiffest one of each field. A vector without
 * divergence has no levels, which would give it one. */
static sim_status start_levels(diffusion_linearized *l) {
  int vector[3];
  double means[DIFFUSION_ENTRIES];
  waves all = {.l = l,
               .symbol = malloc(field_bytes(l) + 1),
               .levelled = malloc(field_bytes(l) + 1),
               .size = calloc((size_t)l->vectors.count + 1, sizeof(double))};
  sim_status status = all.symbol && all.levelled && all.size ? SIM_OK : sim_no_memory("the implicit scheme");
  memcpy(means, l->means, sizeof means);
  l->on->vectors->fill(&l->vectors, l->part.data, 1, 0);
  if (status == SIM_OK) status = l->on->by_table(l, DIFFUSION_FACTOR_TABLE, false, l->part.data, l->levelled.data);
  for (int f = 0; f < l->vectors.fields && status == SIM_OK; f++) status = start_field(l, f, &all);
  memcpy(l->means, means, sizeof means);
  for (int i = 0; i < l->jacobian.count && diffusion_vector_of(l->p, vector) > 0; i++) l->levels.symbols[i] = 0;
  free(all.symbol);
  free(all.levelled);
  free(all.size);
  return status;
}

/* Computes the stiffness in the cells of a field: `step` times minus J at the stiffest wavenumber. Returns that of
 * J_mean in *mean. */
static sim_status compute_stiffness(diffusion_linearized *l, int field, double step, double *mean, double *least,
                                    double *greatest) {
  double factor[DIFFUSION_ENTRIES];
  int of[DIFFUSION_ENTRIES], terms = 0;
  *mean = -step * l->levels.linear[field];
  for (int i = 0; i < l->jacobian.count; i++) {
    if (diffusion_entry_field(l, i) != field || l->levels.symbols[i] == 0) continue;
    factor[terms] = -step * l->levels.symbols[i];
    *mean += factor[terms] * l->means[i];
    of[terms++] = i;
  }
  return l->on->stiffness(l, field, -step * l->levels.linear[field], terms, factor, of, least, greatest);
}

/* Chooses the levels for the entries' present values. step: g h. */
static sim_status place_levels(diffusion_linearized *l, double step) {
  diffusion_levels *levels = &l->levels;
  levels->count = 1;
  for (int f = 0; f < DIFFUSION_FIELDS; f++)
    for (int q = 0; q < DIFFUSION_LEVELS; q++) levels->factor[q][f] = 1;
  for (int f = 0; f < l->vectors.fields && l->jacobian.count > 0; f++) {
    double mean, least, greatest;
    SIM_TRY(compute_stiffness(l, f, step, &mean, &least, &greatest));
    const double low = fmax(least, benign);
    int count = 1;
    if (!(mean > benign / 2) || !(greatest > 2 * low) || !isfinite(greatest)) {
      l->on->place(l, f, INFINITY, ratio, 1); /* the level of J_mean */
      continue;
    }
    double at = low;
    for (; at < greatest && count < DIFFUSION_LEVELS; count++) at *= ratio;
    at = low;
    for (int q = 0; q < count; q++, at *= ratio) levels->factor[q][f] = at / mean;
    l->on->place(l, f, low, ratio, count);
    levels->count = count > levels->count ? count : levels->count;
  }
  return SIM_OK;
}

sim_status diffusion_inverse_make(diffusion_linearized *l) {
  if (!l->started) {
    SIM_TRY(start_levels(l));
    l->started = true;
  }
  for (int f = 0; f < l->vectors.fields; f++) SIM_TRY(symbol_of(l, f));
  join_components(l);
  l->on->vectors->fill(&l->vectors, l->part.data, 1, 0);
  SIM_TRY(l->on->by_table(l, DIFFUSION_LINEAR_TABLE, true, l->part.data, l->symbol.data)); /* adds L */
  SIM_TRY(place_levels(l, gamma_ * l->h));
  l->by_level = false;
  return SIM_OK;
}
