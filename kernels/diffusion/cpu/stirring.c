/* The coefficients of random forcing in the shell: independent normal numbers with the same mean square for each degree
 * of freedom. The wavenumber keys them, so that k and -k are conjugate whichever rank has them. The part of a
 * solenoidal vector along k is then removed. With a helicity h the vector f becomes a f + b i k x f/|k|, which
 * multiplies its two helical parts by a + b and a - b (Waleffe, Phys. Fluids A 4, 1992). (a +- b)^2 = 1 +- h keeps the
 * mean square. */
#include "kernels/diffusion/cpu/stirring.h"

#include "kernels/diffusion/cpu/forcing.h"
#include "kernels/diffusion/modes.cuh"
#include "kernels/diffusion/waves.h"

#include "engine/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct number {
  int64_t at;
  uint64_t mode;    /* number of the mode, the same for k and -k */
  double deviation; /* < 0: the imaginary part is that of -k */
  bool imaginary;
} number;

/* A coefficient of the first component: re at `at`, im at `at + group`. k: direction of its wavenumber. */
typedef struct twist {
  int64_t at;
  double k[3];
} twist;

struct diffusion_stirring {
  const diffusion_parameters *p;
  const diffusion_spectral *spectral;
  int64_t count[DIFFUSION_FIELDS], columns, twists;
  number *of[DIFFUSION_FIELDS];
  diffusion_at *column; /* [columns]: the columns of the solenoidal vector's numbers */
  twist *twisted;       /* [twists]: none without helicity */
  bool has_vector;      /* whether a solenoidal vector is forced */
  int vector[3], axes;  /* its fields, and their number */
};

typedef struct finding {
  diffusion_stirring *stirring;
  grid_shape grid; /* of the field */
  double deviation;
  int field;
  bool first, component, counts; /* first: component 0 of the vector; counts: only counts, stores nothing */
} finding;

static diffusion_mode_key key_of(const grid_shape *grid, const int64_t mode[3]) {
  long long n[3] = {0}, of[3] = {0};
  unsigned periodic = 0;
  for (int a = 0; a < grid->rank; a++) {
    const bool turns = grid->boundary[a] == GRID_PERIODIC;
    periodic |= (unsigned)turns << a;
    n[a] = grid->n[a] + !turns; /* a sine series has mode n */
    of[a] = mode[a];
  }
  return diffusion_key_of(grid->rank, n, periodic, of);
}

/* Adds one number of the shell. The real or imaginary part of one of two conjugate coefficients has half the variance.
 * Other weights belong to cosines and sines, whose numbers are smaller by the root of the weight. */
static void add_number(finding *f, const diffusion_number *from) {
  diffusion_stirring *s = f->stirring;
  const diffusion_mode_key key = key_of(&f->grid, from->mode);
  const bool half = f->grid.boundary[0] == GRID_PERIODIC && from->mode[0] != 0 && 2 * from->mode[0] != f->grid.n[0];
  if (key.own && from->imaginary) return;
  if (!f->counts)
    s->of[f->field][s->count[f->field]] =
        (number){.at = from->at,
                 .mode = key.number,
                 .deviation = (key.mirrored && from->imaginary ? -1 : 1) * f->deviation *
                              sqrt((key.own ? 1 : 0.5) / (from->weight / (half ? 2 : 1))),
                 .imaginary = from->imaginary};
  s->count[f->field]++;
}

static void add_twist(finding *f, const diffusion_number *from) {
  diffusion_stirring *s = f->stirring;
  double k[3] = {0}, square = 0;
  if (from->imaginary) return;
  for (int a = 0; a < 3; a++) {
    k[a] = diffusion_first_wave(f->grid.size[a]) * (double)from->mode[a];
    square += k[a] * k[a];
  }
  if (!f->counts) {
    s->twisted[s->twists].at = from->at;
    for (int a = 0; a < 3; a++) s->twisted[s->twists].k[a] = k[a] / sqrt(square);
  }
  s->twists++;
}

static void add(void *context, const diffusion_number *from) {
  finding *f = context;
  diffusion_stirring *s = f->stirring;
  const diffusion_forcing *forcing = &s->p->forcing;
  if (!diffusion_in_shell(forcing->k[0], forcing->k[1], from->k2)) return;
  add_number(f, from);
  if (f->first && forcing->helicity != 0) add_twist(f, from);
  if (!f->component) return;
  if (!f->counts) s->column[s->columns] = from->column;
  s->columns++;
}

static bool is_component(const diffusion_stirring *s, int field) {
  bool is = false;
  for (int a = 0; a < s->axes; a++) is = is || s->vector[a] == field;
  return is;
}

/* Finds the numbers and columns of the shell. Between walls each component has modes that the others lack: the columns
 * are those of all components. */
static void find(diffusion_stirring *s, double deviation, bool counts) {
  const unsigned forced = diffusion_forced(s->p);
  s->columns = s->twists = 0;
  for (int f = 0; f < (int)s->p->fields.count; f++) {
    finding all = {.stirring = s,
                   .grid = diffusion_shape_of(s->p, f),
                   .deviation = deviation,
                   .field = f,
                   .first = s->has_vector && f == s->vector[0],
                   .component = s->has_vector && is_component(s, f),
                   .counts = counts};
    s->count[f] = 0;
    if (forced >> f & 1) diffusion_each_number(s->spectral, f, add, &all);
  }
}

static int by_column(const void *a, const void *b) {
  const diffusion_at *x = a, *y = b;
  if (x->middle != y->middle) return x->middle < y->middle ? -1 : 1;
  return (x->group > y->group) - (x->group < y->group);
}

/* Keeps each column once. */
static void sort_columns(diffusion_stirring *s) {
  int64_t kept = 0;
  if (s->columns == 0) return;
  qsort(s->column, (size_t)s->columns, sizeof *s->column, by_column);
  for (int64_t i = 1; i < s->columns; i++)
    if (by_column(&s->column[kept], &s->column[i]) != 0) s->column[++kept] = s->column[i];
  s->columns = kept + 1;
}

sim_status diffusion_stirring_create(const diffusion_parameters *p, const diffusion_spectral *spectral,
                                     diffusion_stirring **out) {
  *out = NULL;
  if (!diffusion_stirred(p)) return SIM_OK;
  diffusion_stirring *s = *out = calloc(1, sizeof *s);
  if (!s) return sim_no_memory("the random forcing");
  s->p = p;
  s->spectral = spectral;
  s->axes = diffusion_vector_of(p, s->vector);
  s->has_vector = s->axes > 0 && (diffusion_forced(p) >> s->vector[0] & 1) != 0;
  find(s, 0, true);
  bool good = true;
  for (int f = 0; f < (int)p->fields.count; f++)
    good = (s->of[f] = calloc((size_t)s->count[f] + 1, sizeof(number))) && good;
  good = (s->column = calloc((size_t)s->columns + 1, sizeof *s->column)) && good;
  good = (s->twisted = calloc((size_t)s->twists + 1, sizeof *s->twisted)) && good;
  if (!good) {
    diffusion_stirring_destroy(out);
    return sim_no_memory("the random forcing");
  }
  find(s, sqrt(2 * p->forcing.power / diffusion_shell_freedom(p)), false);
  sort_columns(s);
  return SIM_OK;
}

void diffusion_stirring_destroy(diffusion_stirring **stirring) {
  diffusion_stirring *s = *stirring;
  if (!s) return;
  for (int f = 0; f < DIFFUSION_FIELDS; f++) free(s->of[f]);
  free(s->column);
  free(s->twisted);
  free(s);
  *stirring = NULL;
}

double diffusion_stirring_bytes(const diffusion_parameters *p) {
  int vector[3];
  double bytes = 0;
  const unsigned forced = diffusion_forced(p);
  const int axes = diffusion_vector_of(p, vector);
  for (int f = 0; f < (int)p->fields.count; f++) {
    const double numbers = forced >> f & 1 ? diffusion_shell_numbers(p, f) : 0;
    bytes += sizeof(number) * (numbers + 1);
    for (int a = 0; a < axes; a++)
      if (vector[a] == f) bytes += sizeof(diffusion_at) * numbers;
    if (axes > 0 && f == vector[0] && p->forcing.helicity != 0) bytes += sizeof(twist) / 2.0 * numbers;
  }
  return bytes + sizeof(diffusion_at) + sizeof(twist);
}

/* group: distance from re to im. */
static void twist_vector(const twist *at, double h, bool single, int64_t group, void *const *v) {
  double f[3][2];
  for (int i = 0; i < 3; i++)
    for (int part = 0; part < 2; part++) f[i][part] = grid_number(v[i], single, at->at + part * group);
  diffusion_twist(at->k, h, f);
  for (int i = 0; i < 3; i++)
    for (int part = 0; part < 2; part++) grid_set_number(v[i], single, at->at + part * group, f[i][part]);
}

void diffusion_stirring_fill(const diffusion_stirring *s, int64_t step, void *const *coefficients) {
  const diffusion_parameters *p = s->p;
  const bool single = diffusion_single(p);
  for (int f = 0; f < (int)p->fields.count; f++)
    for (int64_t i = 0; i < s->count[f]; i++) {
      const number *of = &s->of[f][i];
      double normal[2];
      sim_rng_normal(p->common.seed, of->mode, (uint64_t)step + 1, (uint32_t)(DIFFUSION_DRAW_FORCING + f), normal);
      grid_set_number(coefficients[f], single, of->at, of->deviation * normal[of->imaginary]);
    }
  if (!s->has_vector) return;
  diffusion_project_columns(s->spectral, coefficients, s->columns, s->column);
  void *const v[3] = {coefficients[s->vector[0]], coefficients[s->vector[1]],
                      s->twists > 0 ? coefficients[s->vector[2]] : NULL};
  for (int64_t i = 0; i < s->twists; i++)
    twist_vector(&s->twisted[i], p->forcing.helicity, single, fft_group(single), v);
}
