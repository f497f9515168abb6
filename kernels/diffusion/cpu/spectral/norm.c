/* Root mean squares by Parseval's theorem. */
#include "kernels/diffusion/cpu/spectral/parts.h"

#include "engine/reduce.h"

#include <math.h>
#include <stdlib.h>

struct diffusion_norm {
  const diffusion_spectral *s;
  double *along[DIFFUSION_FIELDS], *partial; /* weights of the numbers of a row; partial sums [back] */
};

sim_status diffusion_norm_create(const diffusion_spectral *s, diffusion_norm **out) {
  const int64_t n = s->grid.n[X], lanes = 2 * s->group, stored = s->packing == FFT_HALF ? n / 2 + 1 : n;
  diffusion_norm *norm = *out = calloc(1, sizeof *norm);
  bool good = false;
  if (norm) {
    norm->s = s;
    norm->partial = calloc((size_t)s->back, sizeof(double));
    good = norm->partial != NULL;
    for (int f = 0; f < s->fields && good; f++)
      good = (norm->along[f] = calloc((size_t)(s->row_points * lanes), sizeof(double))) != NULL;
  }
  if (!good) {
    diffusion_norm_destroy(out);
    return sim_no_memory("the sums");
  }
  for (int64_t i = 0; i < s->row_points * lanes; i++) {
    const int64_t lane = i % lanes, entry = s->packing == FFT_TWO_REAL ? i : i / lanes * s->group + lane % s->group;
    for (int f = 0; f < s->fields; f++) {
      if (is_last(s, i / lanes))
        norm->along[f][i] = 1;
      else if (entry < stored)
        norm->along[f][i] = diffusion_weight(s, f, X, mode_along_x(s, f, entry));
    }
  }
  return SIM_OK;
}

void diffusion_norm_destroy(diffusion_norm **norm) {
  if (!*norm) return;
  for (int f = 0; f < DIFFUSION_FIELDS; f++) free((*norm)->along[f]);
  free((*norm)->partial);
  free(*norm);
  *norm = NULL;
}

/* Returns the sum over a row, from SIM_REDUCE_LANES partial sums that are added as a tree. */
static double row_sum(const diffusion_norm *norm, int field, const void *row, int64_t count) {
  const double *along = norm->along[field];
  double lanes[SIM_REDUCE_LANES] = {0};
  const float *singles = row;
  const double *doubles = row;
  for (int64_t first = 0; first < count; first += SIM_REDUCE_LANES) {
    const int64_t left = count - first, most = left < SIM_REDUCE_LANES ? left : SIM_REDUCE_LANES;
    for (int64_t i = 0; i < most; i++) {
      const double c = norm->s->single ? (double)singles[first + i] : doubles[first + i];
      lanes[i] += along[first + i] * c * c;
    }
  }
  return sim_reduce_tree(lanes, SIM_REDUCE_LANES);
}

sim_status diffusion_norm_of(const diffusion_norm *norm, int field, const void *coefficients, double *out) {
  const diffusion_spectral *s = norm->s;
  size_t ends[SIM_RANKS_MAX];
#pragma omp parallel for schedule(static) num_threads(team(s, s->slab.end - s->slab.first)) if (s->threads > 1)
  for (int64_t back = s->slab.first; back < s->slab.end; back++) {
    const int64_t plane = (back - s->slab.first) * s->plane_stride;
    double sum = 0;
    for (int64_t middle = 0; middle < s->middle; middle++) {
      const int64_t mode = mode_of(s, field, Y, s->grid.rank == 3 ? middle : back, true);
      const int64_t count = columns_in_row(s, middle) * 2 * s->group;
      const double weight = s->grid.rank > 1 ? diffusion_weight(s, field, Y, mode) : 1;
      sum += weight * row_sum(norm, field, point(coefficients, plane + middle * s->row_stride), count);
    }
    norm->partial[back] =
        sum * (s->grid.rank == 3 ? diffusion_weight(s, field, Z, mode_of(s, field, Z, back, true)) : 1);
  }
  for (int r = 0; r < s->comm->size; r++)
    ends[r] = (size_t)diffusion_slab_of(&s->grid, s->single, s->comm, r).end * sizeof(double);
  SIM_TRY(sim_comm_gather_parts(s->comm, norm->partial, ends));
  *out = sqrt(sim_reduce_tree(norm->partial, (size_t)s->back));
  return SIM_OK;
}

bool diffusion_finite(const diffusion_spectral *s, const void *field, bool columns) {
  const diffusion_slab *slab = &s->slab;
  const bool any = slab->middle_first < slab->middle_end && slab->group_first < slab->group_end;
  const int64_t count = !columns ? slab->end - slab->first : any ? slab->backs : 0;
  for (int64_t i = 0; i < count; i++) {
    const void *first = point(field, i * (columns ? slab->stride : s->plane_stride));
    if (!isfinite(s->single ? (double)*(const float *)first : *(const double *)first)) return false;
  }
  return true;
}
