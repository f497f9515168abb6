/* The wavenumbers that dealiasing keeps. The passes leave out all others: their points of mixed fields are neither
 * transformed nor read, and coefficients there keep the zeros that they had. */
#include "kernels/diffusion/cpu/spectral/parts.h"

#include "kernels/diffusion/modes.cuh"

#include <stdlib.h>

/* Whether dealiasing keeps the mode at a position of an axis. */
static bool is_kept(const diffusion_spectral *s, int axis, int64_t position, double fraction) {
  return diffusion_mode_kept(mode_of(s, 0, axis, position, true), s->grid.n[axis], 1, fraction) != 0;
}

bool diffusion_keeps(const diffusion_spectral *s, const int64_t mode[3]) {
  bool kept = true;
  for (int axis = Y; axis < s->grid.rank && s->fraction > 0; axis++)
    kept = kept && diffusion_mode_kept(mode[axis], s->grid.n[axis], 1, s->fraction);
  return kept;
}

/* Restricts the transforms along y or z, and lists the positions first <= p < end that are kept, counted from `first`.
 */
static sim_status keep_along(diffusion_spectral *s, int axis, double fraction, int64_t first, int64_t end,
                             int32_t *list, int64_t *count) {
  const int64_t n = s->grid.n[axis];
  bool *keeps = malloc((size_t)n * sizeof *keeps);
  if (!keeps) return sim_no_memory("the transforms");
  *count = 0;
  for (int64_t p = 0; p < n; p++) {
    keeps[p] = is_kept(s, axis, p, fraction);
    if (keeps[p] && p >= first && p < end) list[(*count)++] = (int32_t)(p - first);
  }
  const sim_status status = fft_plan_keep(s->plan[axis], keeps);
  free(keeps);
  return status;
}

/* Restricts the transforms along x to whole points of wavenumbers. */
static sim_status keep_rows(diffusion_spectral *s, double fraction) {
  int64_t kept = 1;
  while (kept <= s->grid.n[X] / 2 && diffusion_mode_kept(kept, s->grid.n[X], 1, fraction)) kept++;
  s->fraction = fraction;
  s->kept_points = (kept + s->group - 1) / s->group;
  return fft_plan_keep_half(s->plan[X], s->kept_points * s->group);
}

sim_status diffusion_spectral_keep(diffusion_spectral *s, double fraction) {
  const int last = s->grid.rank - 1;
  if (!(fraction > 0 && fraction < 1) || last == X || s->aligned || s->grid.member_axis > 0) return SIM_OK;
  for (int axis = 0; axis <= last; axis++)
    if (!grid_is_periodic(&s->grid, axis) || !fft_can_filter(s->plan[axis])) return SIM_OK;
  if (last == Z) {
    s->kept_row = malloc((size_t)s->grid.n[Y] * sizeof(int32_t));
    if (!s->kept_row) return sim_no_memory("the transforms");
    SIM_TRY(keep_along(s, Y, fraction, 0, s->grid.n[Y], s->kept_row, &s->kept_rows));
    SIM_TRY(keep_along(s, Y, fraction, s->slab.middle_first, s->slab.middle_end, s->kept_middle, &s->kept_middles));
  }
  SIM_TRY(keep_along(s, last, fraction, 0, s->slab.backs, s->kept_back, &s->kept_backs));
  return keep_rows(s, fraction);
}
