/* Where each cell lies between the levels of an operator that differs from place to place. */
#include "kernels/diffusion/cpu/implicit/levels.h"

#include <math.h>
#include <stdlib.h>

#define real float
#define NAME(word) word##_single
#include "kernels/diffusion/cpu/implicit/levels.inc"
#define real double
#define NAME(word) word##_double
#include "kernels/diffusion/cpu/implicit/levels.inc"

static size_t number_size(const diffusion_entries *e) { return e->single ? sizeof(float) : sizeof(double); }

double diffusion_places_bytes(const diffusion_parameters *p, const sim_comm *comm, int entries) {
  return entries > 0 ? (double)p->fields.count * diffusion_entries_bytes(p, comm, 1) : 0;
}

sim_status diffusion_places_create(const diffusion_entries *e, int threads, diffusion_places *out) {
  const size_t pieces = (size_t)e->pieces;
  *out = (diffusion_places){.entries = e, .threads = threads};
  if (e->of->jacobian.count == 0) return SIM_OK;
  out->place = calloc((size_t)e->fields * pieces + 1, (size_t)e->piece_numbers * number_size(e));
  out->least = calloc(pieces + 1, sizeof(double));
  out->greatest = calloc(pieces + 1, sizeof(double));
  return out->place && out->least && out->greatest ? SIM_OK : sim_no_memory("the implicit scheme");
}

void diffusion_places_destroy(diffusion_places *l) {
  free(l->place);
  free(l->least);
  free(l->greatest);
  *l = (diffusion_places){0};
}

static void *place_of(const diffusion_places *l, int field, int64_t piece) {
  const diffusion_entries *e = l->entries;
  return (char *)l->place + (size_t)((field * e->pieces + piece) * e->piece_numbers) * number_size(e);
}

sim_status diffusion_places_compute(diffusion_places *l, int field, double first, int terms, const double *factor,
                                    const int *of, double *least, double *greatest) {
  const diffusion_entries *e = l->entries;
#pragma omp parallel for schedule(static) num_threads(l->threads) if (l->threads > 1 && e->pieces > 8)
  for (int64_t piece = 0; piece < e->pieces; piece++) {
    const void *values[DIFFUSION_ENTRIES];
    void *place = place_of(l, field, piece);
    const int64_t rows = diffusion_entries_rows(e, piece);
    for (int t = 0; t < terms; t++) values[t] = diffusion_entries_values(e, piece, of[t]);
    if (e->single) {
      stiffness_single(place, e->piece_numbers, first, terms, factor, values);
      extremes_single(place, e->piece_numbers, e->lanes, rows, &l->least[piece], &l->greatest[piece]);
    } else {
      stiffness_double(place, e->piece_numbers, first, terms, factor, values);
      extremes_double(place, e->piece_numbers, e->lanes, rows, &l->least[piece], &l->greatest[piece]);
    }
  }
  double own[2] = {INFINITY, -INFINITY}, all[SIM_RANKS_MAX][2];
  for (int64_t piece = 0; piece < e->pieces; piece++) {
    own[0] = fmin(own[0], l->least[piece]);
    own[1] = fmax(own[1], l->greatest[piece]);
  }
  SIM_TRY(e->comm->ops->gather(e->comm, own, sizeof own, all));
  *least = all[0][0];
  *greatest = all[0][1];
  for (int r = 1; r < e->comm->size; r++) {
    *least = fmin(*least, all[r][0]);
    *greatest = fmax(*greatest, all[r][1]);
  }
  return SIM_OK;
}

void diffusion_places_set(diffusion_places *l, int field, double low, double ratio, int levels) {
  const diffusion_entries *e = l->entries;
#pragma omp parallel for schedule(static) num_threads(l->threads) if (l->threads > 1 && e->pieces > 8)
  for (int64_t piece = 0; piece < e->pieces; piece++) {
    if (e->single)
      place_single(place_of(l, field, piece), e->piece_numbers, low, ratio, levels);
    else
      place_double(place_of(l, field, piece), e->piece_numbers, low, ratio, levels);
  }
}

void diffusion_level_apply(void *opaque, const diffusion_piece *piece) {
  const diffusion_level *level = opaque;
  const diffusion_places *l = level->places;
  const int64_t number = diffusion_entries_piece(l->entries, piece);
  for (int f = 0; f < l->entries->fields; f++) {
    if (l->entries->single)
      weigh_single(piece->columns[f], place_of(l, f, number), piece->count, level->number);
    else
      weigh_double(piece->columns[f], place_of(l, f, number), piece->count, level->number);
  }
}
