#include "kernels/diffusion/cpu/coupled.h"

#include "kernels/diffusion/cpu/matrix.h"
#include "kernels/diffusion/cpu/spectral/parts.h"
#include "kernels/diffusion/modes.cuh"

#include <stdlib.h>
#include <string.h>

struct diffusion_coupled {
  const diffusion_parameters *p;
  const diffusion_spectral *s;
  int fields, tables;
  bool complex;
  /* distinct table entries of the columns along x, the middle axis and the column axis */
  int64_t entries, middles, backs;
  size_t one;  /* numbers of a matrix */
  size_t slot; /* numbers of a slot: [tables][middles][backs][groups of entries][fields][fields][re, im][group] */
  void *numbers;
};

/* Lanes of a group of entries. */
static int64_t lanes_of(const diffusion_spectral *s) { return s->packing == FFT_TWO_REAL ? 2 * s->group : s->group; }

double diffusion_coupled_bytes(const diffusion_parameters *p, const diffusion_slab *slab, int slots) {
  const grid_shape grid = diffusion_grid_of(p);
  const bool complex = diffusion_unfolded(p), single = diffusion_single(p);
  const double fields = (double)p->fields.count, each = single ? sizeof(float) : sizeof(double);
  /* counted as for one field, whose entries are real or complex */
  const double numbers = diffusion_table_numbers(&grid, single, complex, slab);
  return numbers * fields * fields * each * diffusion_table_count(p) * slots;
}

sim_status diffusion_coupled_create(const diffusion_parameters *p, const diffusion_spectral *s, int slots,
                                    diffusion_coupled **out) {
  diffusion_coupled *c = *out = calloc(1, sizeof *c);
  if (!c) return sim_no_memory("the coupled fields");
  c->p = p;
  c->s = s;
  c->fields = (int)p->fields.count;
  c->tables = diffusion_table_count(p);
  c->complex = diffusion_unfolded(p);
  c->entries = (s->slab.group_end - s->slab.group_first) * lanes_of(s);
  c->middles = c->complex ? s->slab.middle_end - s->slab.middle_first : s->slots[Y];
  c->backs = c->complex ? s->slab.backs : s->slots[Z];
  if (s->grid.rank < 3) {
    c->middles = 1;
    c->backs = s->grid.rank < 2 ? 1 : c->complex ? s->slab.backs : s->slots[Y];
  }
  c->one = (size_t)(c->fields * c->fields) * (c->complex ? 2 : 1);
  c->slot = (size_t)(c->middles * c->backs * c->entries) * c->one * (size_t)c->tables;
  c->numbers = calloc(c->slot * (size_t)slots + 1, s->single ? sizeof(float) : sizeof(double));
  if (c->numbers) return SIM_OK;
  diffusion_coupled_destroy(out);
  return sim_no_memory("matrices of the scheme");
}

void diffusion_coupled_destroy(diffusion_coupled **coupled) {
  if (!*coupled) return;
  free((*coupled)->numbers);
  free(*coupled);
  *coupled = NULL;
}

/* Returns the offset, in numbers, of the matrix of a table. The next element of the matrix is one group further. */
static size_t matrix_begin(const diffusion_coupled *c, int slot, int table, int64_t middle, int64_t back,
                           int64_t entry) {
  const size_t group = (size_t)c->s->group, lane = (size_t)entry % group;
  const size_t at = (size_t)(((table * c->middles + middle) * c->backs + back) * c->entries + entry) - lane;
  return (size_t)slot * c->slot + at * c->one + lane;
}

/* ---- computing the matrices ---- */

/* Adds factor phi to `to`; for conserved fields factor phi times the Laplacian of N. */
static void combined(int n, const double *under, double factor, const diffusion_matrix *phi, diffusion_matrix *to) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const double by = under ? factor * under[j] : factor;
      to->re[i][j] += by * phi->re[i][j];
      to->im[i][j] += by * phi->im[i][j];
    }
}

static void matrices_at(const diffusion_coupled *c, const diffusion_filling *of, const double k[3],
                        const int64_t mode[3], diffusion_matrix out[DIFFUSION_TABLES]) {
  const int n = c->fields;
  const double h = of[0].dt;
  diffusion_matrix a = {{{0}}, {{0}}}, phi[DIFFUSION_PHIS];
  double under[DIFFUSION_FIELDS], rates[DIFFUSION_NOISE_MATRIX], variances[DIFFUSION_FIELDS];
  for (int t = 0; t < c->tables; t++) out[t] = a;
  if (!diffusion_filling_keeps(&of[0], mode)) return;
  for (int i = 0; i < n; i++) {
    const diffusion_field *s = of[i].species;
    double own[2], weighted = 0;
    diffusion_filling_linear(&of[i], k, mode, own);
    for (int axis = 0; axis < 3; axis++) weighted += s->axes[axis] * k[axis] * k[axis];
    for (int j = 0; j < n && s->cross.rows > 0; j++) a.re[i][j] = -h / 2 * s->cross.data[j] * weighted;
    a.re[i][i] = h / 2 * own[0];
    a.im[i][i] = h / 2 * own[1];
    under[i] = s->conserved ? -(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]) : 1;
  }
  if (diffusion_fluctuates(c->p)) {
    double weights[DIFFUSION_NOISE_MATRIX];
    for (int i = 0; i < n; i++) {
      const double noise = of[i].noise * under[i] * diffusion_filling_norm(&of[i], k, mode);
      variances[i] = h * noise * noise;
    }
    for (int i = 0; i < n * n; i++) rates[2 * i] = 2 * a.re[i / n][i % n], rates[2 * i + 1] = 2 * a.im[i / n][i % n];
    diffusion_noise_matrix(n, rates, variances, weights);
    for (int i = 0; i < n * n; i++) {
      out[c->tables - 1].re[i / n][i % n] = weights[2 * i];
      out[c->tables - 1].im[i / n][i % n] = weights[2 * i + 1];
    }
  }
  diffusion_matrix_phis(n, &a, phi);
  if (of[0].scheme == DIFFUSION_ETDRK4) {
    combined(n, NULL, 1, &phi[0], &out[1]);
    combined(n, under, h / 2, &phi[1], &out[2]);
  }
  diffusion_matrix_double(n, phi);
  const bool split = of[0].scheme == DIFFUSION_LIE || of[0].scheme == DIFFUSION_STRANG;
  combined(n, NULL, split ? of[0].scale : 1, &phi[0], &out[0]);
  if (of[0].scheme == DIFFUSION_ETD1 || of[0].scheme == DIFFUSION_ETDRK2) combined(n, under, h, &phi[1], &out[1]);
  if (of[0].scheme == DIFFUSION_ETDRK2) combined(n, under, h, &phi[2], &out[2]);
  if (of[0].scheme != DIFFUSION_ETDRK4) return;
  static const double sums[3][3] = {{1, -3, 4}, {0, 1, -2}, {0, -1, 4}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      if (sums[i][j] != 0) combined(n, under, h * sums[i][j], &phi[1 + j], &out[3 + i]);
}

static void fill_row(const diffusion_coupled *c, const diffusion_filling *of, int slot, int64_t middle, int64_t back) {
  const diffusion_spectral *s = c->s;
  const int64_t n = s->grid.n[X], stored = s->packing == FFT_HALF ? n / 2 + 1 : n;
  const int last = s->grid.rank - 1;
  const int64_t before = s->slab.group_first * lanes_of(s);
  for (int64_t e = before; e < before + c->entries; e++) {
    diffusion_matrix out[DIFFUSION_TABLES];
    const bool paired = is_last(s, e / s->group); /* then the row is a group of positions along y */
    const int64_t position = last_positions(s, middle) + e % s->group;
    if (paired ? position >= s->middle : e >= stored) continue;
    int64_t mode[3] = {mode_along_x(s, 0, e), 0, 0};
    double k[3] = {0};
    if (s->grid.rank == 3) mode[Y] = table_mode(s, 0, Y, middle, c->complex);
    if (paired) {
      mode[X] = n / 2;
      mode[Y] = mode_of(s, 0, Y, position, true);
      if (!c->complex && mode[Y] < 0) mode[Y] = -mode[Y];
    }
    if (s->grid.rank > 1) mode[last] = table_mode(s, 0, last, back, c->complex);
    for (int axis = 0; axis < s->grid.rank; axis++) k[axis] = wave_along(s, 0, axis, mode[axis]);
    matrices_at(c, of, k, mode, out);
    for (int t = 0; t < c->tables; t++) {
      size_t at = matrix_begin(c, slot, t, middle, back, e - before);
      for (int i = 0; i < c->fields; i++)
        for (int j = 0; j < c->fields; j++) {
          grid_set_number(c->numbers, s->single, (int64_t)at, out[t].re[i][j]);
          at += (size_t)s->group;
          if (!c->complex) continue;
          grid_set_number(c->numbers, s->single, (int64_t)at, out[t].im[i][j]);
          at += (size_t)s->group;
        }
    }
  }
}

sim_status diffusion_coupled_fill(diffusion_coupled *c, int slot, double dt) {
  diffusion_filling of[DIFFUSION_FIELDS];
  sim_status status = SIM_OK;
  int ready = 0;
  for (; status == SIM_OK && ready < c->fields; ready++)
    status = diffusion_filling_begin(c->p, ready, dt, diffusion_scale(&c->s->grid), &of[ready]);
  if (status == SIM_OK) {
#pragma omp parallel for schedule(static) num_threads(c->s->threads) if (c->s->threads > 1)
    for (int64_t row = 0; row < c->middles * c->backs; row++) fill_row(c, of, slot, row / c->backs, row % c->backs);
  }
  for (int f = 0; f < ready; f++) diffusion_filling_end(&of[f]);
  return status;
}

/* ---- sums ---- */

enum { LANES = 16 };
typedef double part[LANES]; /* real or imaginary parts of a group of coefficients */

static inline void load(const void *numbers, bool single, size_t at, int lanes, part out) {
  if (single)
    for (int l = 0; l < lanes; l++) out[l] = (double)((const float *)numbers)[at + (size_t)l];
  else
    for (int l = 0; l < lanes; l++) out[l] = ((const double *)numbers)[at + (size_t)l];
}
static inline void store(void *numbers, bool single, size_t at, int lanes, const part in) {
  if (single)
    for (int l = 0; l < lanes; l++) ((float *)numbers)[at + (size_t)l] = (float)in[l];
  else
    for (int l = 0; l < lanes; l++) ((double *)numbers)[at + (size_t)l] = in[l];
}

/* Computes the sums for one group of coefficients of all fields: real parts from numbers[0], imaginary parts from
 * numbers[1] if parts = 2. The matrices begin at at[table]. `single`, `lanes` and `complex` are compile-time constants
 * at each call. */
static inline __attribute__((always_inline)) void sum_group(const diffusion_coupled *c, const diffusion_stage *stage,
                                                            void *(*arrays)[DIFFUSION_ARRAYS], const size_t *numbers,
                                                            int parts, const size_t *at, const bool single,
                                                            const int lanes, const bool complex) {
  const int n = c->fields;
  for (int i = 0; i < stage->sets; i++) {
    const diffusion_set *set = &stage->set[i];
    part sum[DIFFUSION_FIELDS][2];
    memset(sum, 0, (size_t)n * sizeof sum[0]);
    for (int t = 0; t < set->terms; t++) {
      const diffusion_term *term = &set->term[t];
      part in[DIFFUSION_FIELDS][2];
      for (int f = 0; f < n; f++)
        for (int k = 0; k < parts; k++) {
          load(arrays[f][term->source], single, numbers[k], lanes, in[f][k]);
          for (int l = 0; l < lanes; l++) in[f][k][l] *= term->coefficient;
          if (term->table < 0)
            for (int l = 0; l < lanes; l++) sum[f][k][l] += in[f][k][l];
        }
      if (term->table < 0) continue;
      size_t m = at[term->table];
      for (int f = 0; f < n; f++)
        for (int g = 0; g < n; g++) {
          part a, b;
          load(c->numbers, single, m, lanes, a);
          m += (size_t)lanes;
          if (!complex) {
            for (int k = 0; k < parts; k++)
              for (int l = 0; l < lanes; l++) sum[f][k][l] += a[l] * in[g][k][l];
            continue;
          }
          load(c->numbers, single, m, lanes, b);
          m += (size_t)lanes;
          for (int l = 0; l < lanes; l++) {
            sum[f][0][l] += a[l] * in[g][0][l] - b[l] * in[g][1][l];
            sum[f][1][l] += a[l] * in[g][1][l] + b[l] * in[g][0][l];
          }
        }
    }
    for (int f = 0; f < n; f++)
      for (int k = 0; k < parts; k++) store(arrays[f][set->target], single, numbers[k], lanes, sum[f][k]);
  }
}

static void sum_up(const diffusion_coupled *c, const diffusion_stage *stage, void *(*arrays)[DIFFUSION_ARRAYS],
                   const size_t *numbers, int parts, const size_t *at) {
  if (c->s->single && c->complex)
    sum_group(c, stage, arrays, numbers, 2, at, true, 16, true);
  else if (c->s->single)
    sum_group(c, stage, arrays, numbers, parts, at, true, 16, false);
  else if (c->complex)
    sum_group(c, stage, arrays, numbers, 2, at, false, 8, true);
  else
    sum_group(c, stage, arrays, numbers, parts, at, false, 8, false);
}

void diffusion_coupled_apply(const diffusion_coupled *c, int slot, const diffusion_stage *stage,
                             void *(*arrays)[DIFFUSION_ARRAYS]) {
  const diffusion_spectral *s = c->s;
  const diffusion_slab *slab = &s->slab;
  const int64_t G = s->group, middles = slab->middle_end - slab->middle_first, all = slab->backs * middles;
  const bool two = s->packing == FFT_TWO_REAL;
#pragma omp parallel for schedule(static) num_threads(team(s, all)) if (s->threads > 1)
  for (int64_t row = 0; row < all; row++) {
    const int64_t back = row / middles, middle = slab->middle_first + row % middles;
    const int64_t b = c->complex || s->grid.rank == 1 ? back : s->slot[s->grid.rank - 2][s->back_first + back];
    const int64_t begin = back * slab->stride + middle * s->row_stride + slab->group_first - slab->origin;
    const size_t first = (size_t)begin * (size_t)(2 * G);
    const int64_t entries = c->entries - (s->row_points - columns_in_row(s, middle)) * G;
    for (int64_t e = 0; e < entries; e += G) {
      const int64_t m = table_row(s, middle, slab->group_first + e / G, c->complex);
      size_t at[DIFFUSION_TABLES];
      for (int t = 0; t < c->tables; t++) at[t] = matrix_begin(c, slot, t, m, b, e);
      const size_t re = first + (size_t)(two ? e : 2 * e);
      sum_up(c, stage, arrays, (const size_t[]){re, re + (size_t)G}, two ? 1 : 2, at);
    }
  }
}
