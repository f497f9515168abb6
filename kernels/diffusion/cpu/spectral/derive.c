/* Operations on the coefficients of one column: derivatives, derived fields, and projection to fields without
 * divergence. */
#include "kernels/diffusion/cpu/spectral/parts.h"

#include "kernels/common/fft/fft_simd.h"

#include <string.h>

/* This file is compiled for each instruction set and precision. Products and sums round one by one, so that in fp64 the
 * bits are the same everywhere. NUMBERS: of a point, [LANES re][LANES im]. */
enum { NUMBERS = 2 * LANES };

FFT_INLINE vreal at_lane(const real *from, int lane) { return *(const vreal *)(from + lane); }
FFT_INLINE void put_lane(real *to, int lane, vreal value) { *(vreal *)(to + lane) = value; }

/* Returns a/b where b > 0, else 0. */
FFT_INLINE vreal over_positive(vreal a, vreal b) {
#if FFT_SINGLE
  typedef int32_t mask __attribute__((vector_size(VECTOR_BYTES)));
#else
  typedef int64_t mask __attribute__((vector_size(VECTOR_BYTES)));
#endif
  return (vreal)((mask)(a / b) & (mask)(b > v_set(0)));
}

/* Returns how many numbers of a point have a wavenumber of their own. */
static int lanes_of(const diffusion_spectral *s) { return (int)(s->packing == FFT_TWO_REAL ? 2 * s->group : s->group); }

/* Computes the wavenumbers of the lanes of a column along x, or along y of three axes. */
static void lane_waves(const diffusion_spectral *s, int source, const diffusion_at *at, int axis, bool odd, double *k) {
  const int64_t lanes = lanes_of(s), n = s->grid.n[axis];
  const bool last = is_last(s, at->group), apart = axis == Y && last;
  for (int64_t lane = 0; lane < lanes; lane++) {
    const int64_t along_x = mode_along_x(s, source, at->group * lanes + lane);
    const int64_t along_y = apart && at->middle + lane < s->middle ? at->middle + lane : at->middle;
    k[lane] = wave_of(s, source, axis, axis == Y ? mode_of(s, source, Y, along_y, true) : last ? n / 2 : along_x, odd);
  }
}

/* Returns the axis of the columns; -1: none. */
static int back_axis(const diffusion_spectral *s) { return s->grid.rank > 1 ? s->grid.rank - 1 : -1; }

static double back_wave(const diffusion_spectral *s, int source, int64_t p, bool odd) {
  const int axis = s->grid.rank > 2 ? Z : Y;
  return s->waves[odd] ? s->waves[odd][p] : wave_of(s, source, axis, mode_of(s, source, axis, p, true), odd);
}

/* A derivative is a factor, times i if it is along a periodic axis. The factor is the product of `lane` and `back`, or
 * minus their sum. */
typedef struct derivative {
  int source;
  bool first, sum, moves; /* moves: the factor differs along the column */
  /* between walls: the source's point for each point of the target, or -1; NULL: the same point */
  const int32_t *from;
  int powers; /* powers of the wavenumber along the column */
  bool odd;
  double lane[NUMBERS];
} derivative;

/* Builds the derivative of a field or derived field. (cos kx)' = -k sin kx, (sin kx)' = k cos kx. Both series have the
 * factor 2 for the wavenumbers between the first and the last. */
static derivative derivative_of(const diffusion_spectral *s, int source, diffusion_kind kind, const diffusion_at *at) {
  static const int axes[DIFFUSION_LAPLACIAN][2] = {{X, -1}, {Y, -1}, {Z, -1}, {X, X}, {Y, Y},
                                                   {Z, Z},  {X, Y},  {X, Z},  {Y, Z}};
  const int lanes = lanes_of(s), back = back_axis(s);
  derivative d = {.source = source, .sum = kind == DIFFUSION_LAPLACIAN};
  double k[NUMBERS], sign = 1;
  int turns = 0; /* number of factors i */
  for (int l = 0; l < lanes; l++) d.lane[l] = 0;
  if (d.sum) {
    for (int axis = 0; axis < (back < 0 ? 1 : back); axis++) {
      lane_waves(s, source, at, axis, false, k);
      for (int l = 0; l < lanes; l++) d.lane[l] += k[l] * k[l];
    }
    d.moves = back >= 0;
    d.powers = 2;
    return d;
  }
  d.odd = axes[kind][0] != axes[kind][1];
  for (int i = 0; i < 2 && axes[kind][i] >= 0; i++) {
    const grid_boundary b = s->shape[source].boundary[axes[kind][i]];
    if (b == GRID_PERIODIC || !d.odd)
      turns++;
    else if (!is_sine(b))
      sign = -sign;
    if (kind <= DIFFUSION_Z && (int)kind == back && b != GRID_PERIODIC && !s->aligned) d.from = s->from[kind];
  }
  d.first = turns == 1;
  for (int l = 0; l < lanes; l++) d.lane[l] = turns == 2 ? -sign : sign;
  for (int i = 0; i < 2; i++) {
    const int axis = axes[kind][i];
    if (axis < 0) continue;
    if (axis == back) {
      d.moves = true;
      d.powers++;
      continue;
    }
    lane_waves(s, source, at, axis, d.odd, k);
    for (int l = 0; l < lanes; l++) d.lane[l] *= k[l];
  }
  return d;
}

/* Computes the factors at point p of the column. */
static void factors_at(const diffusion_spectral *s, const derivative *d, int64_t p, double *out) {
  const int lanes = lanes_of(s);
  double back = 1;
  if (d->moves) {
    const double k = back_wave(s, d->source, p, d->odd);
    back = d->powers == 2 ? k * k : k;
  }
  for (int l = 0; l < lanes; l++)
    out[l] = d->sum ? -(d->lane[l] + (d->moves ? back : 0)) : d->moves ? d->lane[l] * back : d->lane[l];
}

/* Computes the factors at point p for each number of a point. */
static void point_factors(const diffusion_spectral *s, const derivative *d, int64_t p, real *out) {
  double k[NUMBERS];
  factors_at(s, d, p, k);
  for (int l = 0; l < NUMBERS; l++) out[l] = (real)k[s->packing == FFT_TWO_REAL ? l : l % LANES];
}

static void derive_column(const diffusion_spectral *s, const derivative *d, const real *sources, real *targets) {
  real f[NUMBERS] __attribute__((aligned(64)));
  for (int64_t i = 0; i < s->kept_backs; i++) {
    const int64_t p = s->kept_back[i], at = d->from ? d->from[p] : p;
    const real *source = sources + (at < 0 ? 0 : at) * NUMBERS;
    real *target = targets + p * NUMBERS;
    if (at < 0) {
      memset(target, 0, NUMBERS * sizeof *target);
      continue;
    }
    if (i == 0 || d->moves) point_factors(s, d, at, f);
    for (int l = 0; l < LANES; l += WIDTH) {
      const vreal re = at_lane(source, l), im = at_lane(source, LANES + l);
      put_lane(target, l, d->first ? -at_lane(f, l) * im : at_lane(f, l) * re);
      put_lane(target, LANES + l, d->first ? at_lane(f, l) * re : at_lane(f, LANES + l) * im);
    }
  }
}

/* at[count]: the positions; NULL: all. */
static void subtract_column(const diffusion_spectral *s, const derivative *d, int64_t count, const int32_t *at,
                            const real *flux, int64_t stride, real *column) {
  real f[NUMBERS] __attribute__((aligned(64)));
  for (int64_t i = 0; i < count; i++) {
    const int64_t p = at ? at[i] : i;
    const real *from = flux + p * stride * NUMBERS;
    real *target = column + p * NUMBERS;
    if (i == 0 || d->moves) point_factors(s, d, p, f);
    for (int l = 0; l < LANES; l += WIDTH) {
      const vreal re = at_lane(from, l), im = at_lane(from, LANES + l);
      const vreal to_re = at_lane(target, l), to_im = at_lane(target, LANES + l);
      put_lane(target, l, d->first ? to_re + at_lane(f, l) * im : to_re - at_lane(f, l) * re);
      put_lane(target, LANES + l, d->first ? to_im - at_lane(f, l) * re : to_im - at_lane(f, LANES + l) * im);
    }
  }
}

/* target += coefficients times source. entry: numbers of a table entry. slot: of a position; NULL: one for all. */
FFT_INLINE void add_points(const diffusion_spectral *s, const real *table, const int32_t *slot, int entry,
                           diffusion_parts parts, const real *sources, real *targets) {
  for (int64_t i = 0; i < s->kept_backs; i++) {
    const int64_t p = s->kept_back[i];
    const real *source = sources + p * NUMBERS, *c = table + (slot ? (ptrdiff_t)slot[p] * entry : 0);
    real *target = targets + p * NUMBERS;
    for (int l = 0; l < LANES; l += WIDTH) {
      const vreal re = at_lane(source, l), im = at_lane(source, LANES + l), first = at_lane(c, l);
      const vreal to_re = at_lane(target, l), to_im = at_lane(target, LANES + l);
      const vreal second = parts == DIFFUSION_IMAGINARY ? first : at_lane(c, entry - LANES + l);
      if (parts == DIFFUSION_REAL) {
        put_lane(target, l, to_re + first * re);
        put_lane(target, LANES + l, to_im + second * im);
      } else if (parts == DIFFUSION_IMAGINARY) {
        put_lane(target, l, to_re - first * im);
        put_lane(target, LANES + l, to_im + first * re);
      } else {
        put_lane(target, l, to_re + (first * re - second * im));
        put_lane(target, LANES + l, to_im + (first * im + second * re));
      }
    }
  }
}
static void add_column(const diffusion_spectral *s, const real *table, const int32_t *slot, int entry,
                       diffusion_parts parts, const real *sources, real *targets) {
  switch (parts) {
  case DIFFUSION_ABSENT: break;
  case DIFFUSION_REAL: add_points(s, table, slot, entry, DIFFUSION_REAL, sources, targets); break;
  case DIFFUSION_IMAGINARY: add_points(s, table, slot, entry, DIFFUSION_IMAGINARY, sources, targets); break;
  case DIFFUSION_BOTH: add_points(s, table, slot, entry, DIFFUSION_BOTH, sources, targets); break;
  }
}

/* Turns a column by i, or by -i for sign = -1. */
static void turn_column(int64_t n, int sign, real *v) {
  for (int64_t p = 0; p < n; p++, v += NUMBERS)
    for (int l = 0; l < LANES; l += WIDTH) {
      const vreal re = at_lane(v, l), im = at_lane(v, LANES + l);
      put_lane(v, l, sign > 0 ? -im : im);
      put_lane(v, LANES + l, sign > 0 ? re : -re);
    }
}

/* v -= k (k . v)/k^2 at a point; no change where k = 0. k[axis]: of the lanes. */
FFT_INLINE void project_lanes(int axes, const vreal *k, real *const *v, int64_t at) {
  vreal square = v_set(0), along = v_set(0);
  for (int a = 0; a < axes; a++) square = square + k[a] * k[a];
  const vreal over = over_positive(v_set(1), square);
  for (int a = 0; a < axes; a++) along = along + k[a] * at_lane(v[a] + at, 0);
  along = along * over;
  for (int a = 0; a < axes; a++) put_lane(v[a] + at, 0, at_lane(v[a] + at, 0) - k[a] * along);
}

/* Does the same as project_column where all axes have walls, so that all numbers of a point are separate coefficients.
 * signs: of the derivatives of the components. */
static void project_walled(const diffusion_spectral *s, const int *source, const int *signs, double lane[3][NUMBERS],
                           real *const *v) {
  const int axes = s->grid.rank - (s->grid.member_axis > 0);
  real waves[3][NUMBERS] __attribute__((aligned(64)));
  for (int a = 0; a < axes; a++)
    for (int l = 0; l < NUMBERS; l++) waves[a][l] = (real)(a < s->grid.rank - 1 ? lane[a][l] : 0);
  for (int64_t p = 0; p < s->slab.backs; p++) {
    const real back = (real)(s->grid.rank > axes ? 0 : back_wave(s, source[axes - 1], p, true));
    for (int l = 0; l < NUMBERS; l += WIDTH) {
      vreal k[3], square = v_set(0), along = v_set(0);
      for (int a = 0; a < axes; a++) {
        k[a] = a < s->grid.rank - 1 ? at_lane(waves[a], l) : v_set(back);
        square = square + k[a] * k[a];
        along = along + v_set((real)signs[a]) * k[a] * at_lane(v[a] + p * NUMBERS, l);
      }
      along = over_positive(along, square);
      for (int a = 0; a < axes; a++) {
        real *to = v[a] + p * NUMBERS;
        put_lane(to, l, at_lane(to, l) - v_set((real)signs[a]) * k[a] * along);
      }
    }
  }
}

/* lane[axis]: wavenumbers of the axes before the last one. last: source of the component along the last axis. */
FFT_INLINE void project_points(const diffusion_spectral *s, int axes, bool turns, int last, double lane[3][NUMBERS],
                               real *const *v) {
  real waves[3][LANES] __attribute__((aligned(64)));
  for (int a = 0; a < axes; a++)
    for (int l = 0; l < LANES; l++) waves[a][l] = (real)(a < s->grid.rank - 1 ? lane[a][l] : 0);
  for (int64_t i = 0; i < s->kept_backs; i++) {
    const int64_t p = s->kept_back[i];
    const vreal back = v_set(turns ? (real)back_wave(s, last, p, true) : 0);
    for (int l = 0; l < LANES; l += WIDTH) {
      vreal k[3];
      for (int a = 0; a < axes; a++) k[a] = turns && a == axes - 1 ? back : at_lane(waves[a], l);
      project_lanes(axes, k, v, p * NUMBERS + l);
      project_lanes(axes, k, v, p * NUMBERS + LANES + l);
    }
  }
}

static void project_column(const diffusion_spectral *s, int axes, int last, double lane[3][NUMBERS], real *const *v) {
  const bool turns = s->grid.rank == axes; /* the last component is along the column */
  if (axes == 3)
    project_points(s, 3, true, last, lane, v);
  else if (axes == 2 && turns)
    project_points(s, 2, true, last, lane, v);
  else
    project_points(s, axes, turns, last, lane, v);
}

static void derive(const diffusion_spectral *s, int field, diffusion_kind kind, const diffusion_at *at,
                   const void *source, void *target) {
  const derivative d = derivative_of(s, field, kind, at);
  derive_column(s, &d, source, target);
}

/* Subtracts the derivative of a flux. Between walls a flux has the series of a derivative of its field, and its
 * derivative has the field's series again: the signs of sines and cosines are opposite. */
static void subtract(const diffusion_spectral *s, int field, int axis, const diffusion_at *at, const void *from,
                     int64_t from_stride, void *target) {
  derivative d = derivative_of(s, field, (diffusion_kind)axis, at);
  for (int l = 0; l < NUMBERS && s->shape[field].boundary[axis] != GRID_PERIODIC; l++) d.lane[l] = -d.lane[l];
  /* along the column the flux is transformed, and elsewhere mixed */
  const bool back = axis == back_axis(s);
  subtract_column(s, &d, back ? s->kept_backs : s->slab.backs, back ? s->kept_back : NULL, from, from_stride, target);
}

static void derived(const diffusion_spectral *s, const diffusion_symbols *symbols, int derived, const diffusion_at *at,
                    void *const *columns, void *target) {
  const bool walled = s->packing == FFT_TWO_REAL;
  const int64_t slots = walled ? s->slots[s->grid.rank > 1 ? s->grid.rank - 1 : Y] : s->slab.backs;
  const int64_t row = table_row(s, at->middle, at->group, !walled);
  const int64_t groups = s->slab.group_end - s->slab.group_first;
  const int32_t *slot = !walled || s->grid.rank == 1 ? s->position : s->slot[s->grid.rank - 2] + s->back_first;
  for (int64_t i = 0; i < s->kept_backs; i++) memset((real *)target + s->kept_back[i] * NUMBERS, 0, 128);
  for (int f = 0; f < s->fields; f++) {
    const diffusion_parts parts = symbols->parts[derived][f];
    if (parts == DIFFUSION_ABSENT) continue;
    const int entry = (int)s->group * (walled || parts == DIFFUSION_BOTH ? 2 : 1);
    const diffusion_extent extent = symbols->extent[derived][f];
    const int64_t column = extent == DIFFUSION_ONE_COLUMN ? 0 : row * groups + at->group - s->slab.group_first;
    const size_t first = (size_t)(column * (extent == DIFFUSION_ONE_POINT ? 1 : slots)) * (size_t)entry;
    add_column(s, (const real *)symbols->table[derived][f] + first, extent == DIFFUSION_ONE_POINT ? NULL : slot, entry,
               parts, columns[f], target);
  }
}

/* Removes the mode of a component along its own axis that is a sine of n half waves. Its divergence is 0 in all cells,
 * so no pressure balances it. */
static void drop_highest(const diffusion_spectral *s, int field, int axis, const diffusion_at *at, real *v) {
  const int64_t n = s->grid.n[axis];
  if (s->shape[field].boundary[axis] != GRID_FIXED) return;
  if (axis == back_axis(s)) {
    for (int64_t p = 0; p < s->slab.backs; p++)
      if (mode_of(s, field, axis, p, true) == n) memset(v + NUMBERS * p, 0, NUMBERS * sizeof *v);
    return;
  }
  for (int64_t l = 0; l < lanes_of(s); l++) {
    const int64_t entry = at->group * lanes_of(s) + l;
    if ((axis == X ? mode_along_x(s, field, entry) : mode_of(s, field, Y, at->middle, true)) != n) continue;
    for (int64_t p = 0; p < s->slab.backs; p++) {
      v[NUMBERS * p + l] = 0;
      if (s->packing != FFT_TWO_REAL) v[NUMBERS * p + LANES + l] = 0;
    }
  }
}

static void project(const diffusion_spectral *s, const diffusion_at *at, void *const *columns) {
  const int axes = s->grid.rank - (s->grid.member_axis > 0);
  double lane[3][NUMBERS];
  void *v[3] = {NULL, NULL, NULL};
  int signs[3] = {0, 0, 0}; /* signs of a component's derivative along its own axis, between walls */
  for (int a = 0; a < axes; a++) {
    const int field = s->gradients.vector[a];
    const grid_boundary b = s->shape[field].boundary[a];
    v[a] = columns[field];
    if (a < s->grid.rank - 1) lane_waves(s, field, at, a, true, lane[a]);
    if (b == GRID_PERIODIC) continue;
    signs[a] = is_sine(b) ? 1 : -1;
    drop_highest(s, field, a, at, v[a]);
  }
  if (s->packing == FFT_TWO_REAL) {
    project_walled(s, s->gradients.vector, signs, lane, (real *const[]){v[0], v[1], v[2]});
    return;
  }
  /* the derivative is i k along a periodic axis and signs[a] k between walls, which is i k of -i signs[a] v */
  for (int a = 0; a < axes; a++)
    if (signs[a]) turn_column(s->slab.backs, -signs[a], v[a]);
  project_column(s, axes, s->gradients.vector[axes - 1], lane, (real *const[]){v[0], v[1], v[2]});
  for (int a = 0; a < axes; a++)
    if (signs[a]) turn_column(s->slab.backs, signs[a], v[a]);
}

const diffusion_deriving DIFFUSION_DERIVE = {derive, derived, project, subtract};
