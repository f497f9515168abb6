/* Work on coefficients of one column: derivatives, derived fields, and the projection to fields without divergence. */
#include "kernels/diffusion/cpu/spectral/parts.h"

#include <string.h>

/* Compiled for each instruction set and precision: coefficients of a point, and at most twice as many numbers. */
#if DERIVE_SINGLE
typedef float real;
enum { G = 16 };
#else
typedef double real;
enum { G = 8 };
#endif
enum { LANES = 2 * G };

/* Numbers of a point that have wavenumbers of their own. */
static int lanes_of(const diffusion_spectral *s) { return (int)(s->packing == FFT_TWO_REAL ? 2 * s->group : s->group); }

/* Wavenumber of a mode; `odd`: for odd powers of it, 0 where k is its own mirror image. */
static double wave(const diffusion_spectral *s, int axis, int64_t mode, bool odd) {
  const bool own = s->grid.boundary[axis] == GRID_PERIODIC && 2 * (mode < 0 ? -mode : mode) == s->grid.n[axis];
  return odd && own ? 0 : wavenumber(&s->grid, axis, mode);
}

/* Wavenumbers along x, or along y of three axes, of the lanes of a column. */
static void lane_waves(const diffusion_spectral *s, const diffusion_at *at, int axis, bool odd, double *k) {
  const int64_t lanes = lanes_of(s), n = s->grid.n[axis];
  const bool last = is_last(s, at->group), apart = axis == Y && last;
  for (int64_t lane = 0; lane < lanes; lane++) {
    const int64_t entry = at->group * lanes + lane, along_x = s->grid.boundary[X] == GRID_FIXED ? n - entry : entry;
    const int64_t along_y = apart && at->middle + lane < s->middle ? at->middle + lane : at->middle;
    k[lane] = wave(s, axis, axis == Y ? mode_of(s, Y, along_y, true) : last ? n / 2 : along_x, odd);
  }
}

/* The axis of the columns; -1: none. */
static int back_axis(const diffusion_spectral *s) { return s->grid.rank > 1 ? s->grid.rank - 1 : -1; }

static double back_wave(const diffusion_spectral *s, int64_t p, bool odd) {
  const int axis = s->grid.rank > 2 ? Z : Y;
  return wave(s, axis, mode_of(s, axis, p, true), odd);
}

/* A derivative is a factor, times i for first ones along periodic axes: the product of `lane` and `back`, or minus
 * their sum. */
typedef struct derivative {
  bool first, sum, moves; /* moves: the factor differs along the column */
  const int32_t *from;    /* along walls: the point of the source for each one of the target, or -1; NULL: the same */
  int powers;             /* of the wavenumber along the column */
  bool odd;
  double lane[LANES];
} derivative;

static derivative derivative_of(const diffusion_spectral *s, diffusion_kind kind, const diffusion_at *at) {
  static const int axes[DIFFUSION_LAPLACIAN][2] = {{X, -1}, {Y, -1}, {Z, -1}, {X, X}, {Y, Y},
                                                   {Z, Z},  {X, Y},  {X, Z},  {Y, Z}};
  const int lanes = lanes_of(s), back = back_axis(s);
  derivative d = {.first = kind <= DIFFUSION_Z, .sum = kind == DIFFUSION_LAPLACIAN};
  double k[LANES];
  for (int l = 0; l < lanes; l++) d.lane[l] = d.first ? 1 : d.sum ? 0 : -1;
  if (d.sum) {
    for (int axis = 0; axis < (back < 0 ? 1 : back); axis++) {
      lane_waves(s, at, axis, false, k);
      for (int l = 0; l < lanes; l++) d.lane[l] += k[l] * k[l];
    }
    d.moves = back >= 0;
    d.powers = 2;
    return d;
  }
  d.odd = d.first || axes[kind][0] != axes[kind][1];
  if (d.first && s->grid.boundary[kind] != GRID_PERIODIC) {
    /* (cos kx)' = -k sin kx, (sin kx)' = k cos kx; both series have the factor 2 for wavenumbers between */
    d.first = false;
    for (int l = 0; l < lanes; l++) d.lane[l] = s->grid.boundary[kind] == GRID_FIXED ? 1 : -1;
    if ((int)kind == back) d.from = s->from[kind];
  }
  for (int i = 0; i < 2; i++) {
    const int axis = axes[kind][i];
    if (axis < 0) continue;
    if (axis == back) {
      d.moves = true;
      d.powers++;
      continue;
    }
    lane_waves(s, at, axis, d.odd, k);
    for (int l = 0; l < lanes; l++) d.lane[l] *= k[l];
  }
  return d;
}

/* The factors of point p of the column. */
static void factors_at(const diffusion_spectral *s, const derivative *d, int64_t p, double *out) {
  const int lanes = lanes_of(s);
  double back = 1;
  if (d->moves) {
    const double k = back_wave(s, p, d->odd);
    back = d->powers == 2 ? k * k : k;
  }
  for (int l = 0; l < lanes; l++)
    out[l] = d->sum ? -(d->lane[l] + (d->moves ? back : 0)) : d->moves ? d->lane[l] * back : d->lane[l];
}

static void derive_column(const diffusion_spectral *s, const derivative *d, const real *source, real *target) {
  const bool two = s->packing == FFT_TWO_REAL;
  double k[LANES];
  real f[2 * G];
  const real *const begin = source;
  for (int64_t p = 0; p < s->slab.backs; p++, source += 2 * G, target += 2 * G) {
    const int64_t at = d->from ? d->from[p] : p;
    if (at < 0) {
      memset(target, 0, 2 * G * sizeof *target);
      continue;
    }
    if (d->from) source = begin + at * 2 * G;
    if (p == 0 || d->moves) {
      factors_at(s, d, at, k);
      for (int l = 0; l < G; l++) f[l] = (real)k[l], f[G + l] = (real)k[two ? G + l : l];
    }
    if (d->first)
      for (int l = 0; l < G; l++) {
        target[l] = -f[l] * source[G + l];
        target[G + l] = f[l] * source[l];
      }
    else
      for (int l = 0; l < 2 * G; l++) target[l] = f[l] * source[l];
  }
}

static void subtract_column(const diffusion_spectral *s, const derivative *d, const real *from, int64_t stride,
                            real *target) {
  double k[LANES];
  real f[G];
  for (int64_t p = 0; p < s->slab.backs; p++, from += stride * 2 * G, target += 2 * G) {
    if (p == 0 || d->moves) {
      factors_at(s, d, p, k);
      for (int l = 0; l < G; l++) f[l] = (real)k[l];
    }
    for (int l = 0; l < G; l++) {
      target[l] += f[l] * from[G + l];
      target[G + l] -= f[l] * from[l];
    }
  }
}

/* target += coefficients times source; entry: numbers of a table entry */
static void add_column(int64_t n, const real *table, const int32_t *slot, int entry, diffusion_parts parts,
                       const real *source, real *target) {
  for (int64_t p = 0; p < n; p++, source += 2 * G, target += 2 * G) {
    const real *c = table + (ptrdiff_t)slot[p] * entry;
    if (parts == DIFFUSION_REAL)
      for (int l = 0; l < G; l++) {
        target[l] += c[l] * source[l];
        target[G + l] += c[entry - G + l] * source[G + l];
      }
    else if (parts == DIFFUSION_IMAGINARY)
      for (int l = 0; l < G; l++) {
        target[l] -= c[l] * source[G + l];
        target[G + l] += c[l] * source[l];
      }
    else
      for (int l = 0; l < G; l++) {
        target[l] += c[l] * source[l] - c[G + l] * source[G + l];
        target[G + l] += c[l] * source[G + l] + c[G + l] * source[l];
      }
  }
}

/* v -= k (k . v)/k^2; where k = 0 nothing. lane[axis]: wavenumbers of axes before the last one */
static void project_column(const diffusion_spectral *s, int axes, double lane[3][LANES], real *const *v) {
  for (int64_t p = 0; p < s->slab.backs; p++) {
    real k[3][G], over[G];
    const double back = s->grid.rank > axes ? 0 : back_wave(s, p, true);
    for (int a = 0; a < axes; a++)
      for (int l = 0; l < G; l++) k[a][l] = (real)(a < s->grid.rank - 1 ? lane[a][l] : back);
    for (int l = 0; l < G; l++) over[l] = 0;
    for (int a = 0; a < axes; a++)
      for (int l = 0; l < G; l++) over[l] += k[a][l] * k[a][l];
    for (int l = 0; l < G; l++) over[l] = over[l] > 0 ? 1 / over[l] : 0;
    for (int part = 0; part < 2; part++) {
      real along[G];
      for (int l = 0; l < G; l++) along[l] = 0;
      for (int a = 0; a < axes; a++)
        for (int l = 0; l < G; l++) along[l] += k[a][l] * v[a][(2 * p + part) * G + l];
      for (int l = 0; l < G; l++) along[l] *= over[l];
      for (int a = 0; a < axes; a++)
        for (int l = 0; l < G; l++) v[a][(2 * p + part) * G + l] -= k[a][l] * along[l];
    }
  }
}

static void derive(const diffusion_spectral *s, diffusion_kind kind, const diffusion_at *at, const void *source,
                   void *target) {
  const derivative d = derivative_of(s, kind, at);
  derive_column(s, &d, source, target);
}

static void subtract(const diffusion_spectral *s, int axis, const diffusion_at *at, const void *from,
                     int64_t from_stride, void *target) {
  const derivative d = derivative_of(s, (diffusion_kind)axis, at);
  subtract_column(s, &d, from, from_stride, target);
}

static void derived(const diffusion_spectral *s, const diffusion_symbols *symbols, int derived, const diffusion_at *at,
                    void *const *columns, void *target) {
  const bool walled = s->packing == FFT_TWO_REAL;
  const int64_t slots = walled ? s->slots[s->grid.rank > 1 ? s->grid.rank - 1 : Y] : s->slab.backs;
  const int64_t row = table_row(s, at->middle, at->group, !walled);
  const int64_t groups = s->slab.group_end - s->slab.group_first;
  const int32_t *slot = !walled || s->grid.rank == 1 ? s->position : s->slot[s->grid.rank - 2] + s->back_first;
  memset(target, 0, (size_t)s->slab.backs * 128);
  for (int f = 0; f < s->fields; f++) {
    const diffusion_parts parts = symbols->parts[derived][f];
    if (parts == DIFFUSION_ABSENT) continue;
    const int entry = (int)s->group * (walled || parts == DIFFUSION_BOTH ? 2 : 1);
    const size_t first = (size_t)((row * groups + at->group - s->slab.group_first) * slots) * (size_t)entry;
    add_column(s->slab.backs, (const real *)symbols->table[derived][f] + first, slot, entry, parts, columns[f], target);
  }
}

static void project(const diffusion_spectral *s, const diffusion_at *at, void *const *columns) {
  const int axes = s->grid.rank - (s->grid.member_axis > 0);
  double lane[3][LANES];
  void *v[3] = {NULL, NULL, NULL};
  for (int a = 0; a < s->grid.rank - 1; a++) lane_waves(s, at, a, true, lane[a]);
  for (int a = 0; a < axes; a++) v[a] = columns[s->gradients.vector[a]];
  project_column(s, axes, lane, (real *const[]){v[0], v[1], v[2]});
}

const diffusion_deriving DIFFUSION_DERIVE = {derive, derived, project, subtract};
