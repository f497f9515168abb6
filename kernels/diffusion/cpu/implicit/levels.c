/* Levels of an operator that differs from place to place. */
#include "kernels/diffusion/cpu/implicit/levels.h"

#include <math.h>
#include <stdlib.h>

#define real float
#define NAME(word) word##_single
#include "kernels/diffusion/cpu/implicit/levels.inc"
#define real double
#define NAME(word) word##_double
#include "kernels/diffusion/cpu/implicit/levels.inc"

/* Stiffness is -g h J of the stiffest wave. Below BENIGN it needs no level, and levels follow each other by RATIO. */
static const double benign = 0.5, ratio = 6;

static size_t number_size(const diffusion_entries *e) { return e->single ? sizeof(float) : sizeof(double); }

double diffusion_levels_bytes(const diffusion_parameters *p, int entries) {
  return entries > 0 ? (double)p->fields.count * diffusion_entries_bytes(p, 1) : 0;
}

sim_status diffusion_levels_create(const diffusion_entries *e, int threads, diffusion_levels *out) {
  const size_t count = (size_t)e->jacobian.count, pieces = (size_t)e->pieces;
  *out = (diffusion_levels){.entries = e, .count = 1, .threads = threads};
  if (count == 0) return SIM_OK;
  out->symbols = calloc(count, sizeof(double));
  out->place = calloc((size_t)e->fields * pieces, (size_t)e->piece_numbers * number_size(e));
  out->least = calloc(pieces, sizeof(double));
  out->greatest = calloc(pieces, sizeof(double));
  return out->symbols && out->place && out->least && out->greatest ? SIM_OK : sim_no_memory("the implicit scheme");
}

void diffusion_levels_destroy(diffusion_levels *l) {
  free(l->symbols);
  free(l->place);
  free(l->least);
  free(l->greatest);
  *l = (diffusion_levels){0};
}

static void *place_of(const diffusion_levels *l, int field, int64_t piece) {
  const diffusion_entries *e = l->entries;
  return (char *)l->place + (size_t)((field * e->pieces + piece) * e->piece_numbers) * number_size(e);
}

/* Computes the stiffness in the cells of a field: `step` times minus J at the stiffest wavenumber. Returns that of
 * J_mean. */
static double compute_stiffness(diffusion_levels *l, int field, double step, double *least, double *greatest) {
  const diffusion_entries *e = l->entries;
  double factor[DIFFUSION_ENTRIES], mean = -step * l->linear[field];
  int of[DIFFUSION_ENTRIES], terms = 0;
  for (int i = 0; i < e->jacobian.count; i++) {
    if (diffusion_entry_field(e, i) != field || l->symbols[i] == 0) continue;
    factor[terms] = -step * l->symbols[i];
    mean += factor[terms] * e->means[i];
    of[terms++] = i;
  }
#pragma omp parallel for schedule(static) num_threads(l->threads) if (l->threads > 1 && e->pieces > 8)
  for (int64_t piece = 0; piece < e->pieces; piece++) {
    const void *values[DIFFUSION_ENTRIES];
    void *place = place_of(l, field, piece);
    const int64_t rows = diffusion_entries_rows(e, piece);
    for (int t = 0; t < terms; t++) values[t] = diffusion_entries_values(e, piece, of[t]);
    if (e->single) {
      stiffness_single(place, e->piece_numbers, -step * l->linear[field], terms, factor, values);
      extremes_single(place, e->piece_numbers, e->lanes, rows, &l->least[piece], &l->greatest[piece]);
    } else {
      stiffness_double(place, e->piece_numbers, -step * l->linear[field], terms, factor, values);
      extremes_double(place, e->piece_numbers, e->lanes, rows, &l->least[piece], &l->greatest[piece]);
    }
  }
  *least = l->least[0];
  *greatest = l->greatest[0];
  for (int64_t piece = 1; piece < e->pieces; piece++) {
    *least = fmin(*least, l->least[piece]);
    *greatest = fmax(*greatest, l->greatest[piece]);
  }
  return mean;
}

static void place_field(diffusion_levels *l, int field, double low, int levels) {
  const diffusion_entries *e = l->entries;
#pragma omp parallel for schedule(static) num_threads(l->threads) if (l->threads > 1 && e->pieces > 8)
  for (int64_t piece = 0; piece < e->pieces; piece++) {
    if (e->single)
      place_single(place_of(l, field, piece), e->piece_numbers, low, ratio, levels);
    else
      place_double(place_of(l, field, piece), e->piece_numbers, low, ratio, levels);
  }
}

void diffusion_levels_place(diffusion_levels *l, double step) {
  l->count = 1;
  for (int f = 0; f < DIFFUSION_FIELDS; f++)
    for (int q = 0; q < DIFFUSION_LEVELS; q++) l->factor[q][f] = 1;
  for (int f = 0; f < l->entries->fields && l->symbols; f++) {
    double least, greatest;
    const double mean = compute_stiffness(l, f, step, &least, &greatest), low = fmax(least, benign);
    int levels = 1;
    if (!(mean > benign / 2) || !(greatest > 2 * low) || !isfinite(greatest)) {
      place_field(l, f, INFINITY, 1); /* the level of J_mean */
      continue;
    }
    double at = low;
    for (; at < greatest && levels < DIFFUSION_LEVELS; levels++) at *= ratio;
    at = low;
    for (int q = 0; q < levels; q++, at *= ratio) l->factor[q][f] = at / mean;
    place_field(l, f, low, levels);
    l->count = levels > l->count ? levels : l->count;
  }
}

void diffusion_level_apply(void *opaque, const diffusion_piece *piece) {
  const diffusion_level *level = opaque;
  const diffusion_levels *l = level->levels;
  const int64_t number = diffusion_entries_piece(l->entries, piece);
  for (int f = 0; f < l->entries->fields; f++) {
    if (l->entries->single)
      weigh_single(piece->columns[f], place_of(l, f, number), piece->count, level->number);
    else
      weigh_double(piece->columns[f], place_of(l, f, number), piece->count, level->number);
  }
}
