/* Steps of rows and of cells at walls: once for each instruction set and precision. Every operation rounds once, so
 * that the bits are the same everywhere. */
#include "kernels/fluid/cpu/force.h"
#include "kernels/fluid/cpu/vectors.h"

#include <math.h>

/* 1 - omega, omega, g and (2 - omega) g; the square of `fastest`; tau_0, its square and 18 sqrt 2 C^2, 0 without eddy
 * viscosity */
typedef struct factors {
  real keep, add, g[3], push[3], limit, tau, tau_square, eddy;
  int tell; /* as of fluid_collision */
} factors;

static factors factors_of(const fluid_collision *k) {
  factors out = {.keep = (real)(1 - k->omega),
                 .add = (real)k->omega,
                 .limit = (real)(k->fastest * k->fastest),
                 .tau = (real)(1 / k->omega),
                 .tau_square = (real)(1 / (k->omega * k->omega)),
                 .eddy = (real)(18 * sqrt(2) * k->smagorinsky * k->smagorinsky),
                 .tell = k->tell};
  for (int a = 0; a < 3; a++) {
    out.g[a] = (real)k->g[a];
    out.push[a] = (real)((2 - k->omega) * k->g[a]);
  }
  return out;
}

/* ---- rows ---- */

static inline real root(real a) {
#if FLUID_SINGLE
  return sqrtf(a);
#else
  return sqrt(a);
#endif
}

FLUID_INLINE vreal root_vector(vreal a) {
  vreal out;
  for (size_t i = 0; i < sizeof a / sizeof a[0]; i++) out[i] = root(a[i]);
  return out;
}

#define ROOT(a) root_vector(a)
#include "kernels/fluid/cpu/vector_on.inc"
#include "kernels/fluid/cpu/row.inc"
#undef ROOT
#define ROOT(a) root(a)
#include "kernels/fluid/cpu/scalar_on.inc"
#include "kernels/fluid/cpu/row.inc"

static bool row(const fluid_lattice *lattice, const fluid_collision *collision, const fluid_row *r) {
  const factors k = factors_of(collision);
  bool wrong = false;
  if (lattice->rank == 2)
    (void)row2_scalar(&k, r, row2_vector(&k, r, 0, &wrong), &wrong);
  else
    (void)row3_scalar(&k, r, row3_vector(&k, r, 0, &wrong), &wrong);
  return wrong;
}

/* ---- cells with links ---- */

/* What S adds to g of a direction, of the cell whose first moment is *m. */
static real stress(const fluid_lattice *l, const real *m, ptrdiff_t pitch, int direction) {
  const int8_t *c = l->c[direction];
  real g = 0;
  int pair = 0, sign = 1, axes = 0;
  for (int a = 0; a < l->rank; a++) {
    if (c[a] == 0) continue;
    g += m[(1 + l->rank + a) * pitch];
    pair += a;
    sign *= c[a];
    axes++;
  }
  if (axes < 2) return g;
  const real s = m[(1 + 2 * l->rank + pair - 1) * pitch];
  return g + (sign > 0 ? s : -s);
}

/* c.J */
static double odd(const fluid_lattice *l, const real *m, ptrdiff_t pitch, int direction) {
  double out = 0;
  for (int a = 0; a < l->rank; a++) out += l->c[direction][a] * (double)m[(1 + a) * pitch];
  return out;
}

/* g of a direction, of the cell whose first moment is *m, less A + c.J of the cell *here at which it arrives along c.
 */
static real population(const fluid_lattice *l, const real *m, ptrdiff_t pitch, int direction, const real *here,
                       int arriving) {
  real out = m[0] - here[0] + stress(l, m, pitch, direction);
  for (int a = 0; a < l->rank; a++)
    out += l->c[direction][a] * m[(1 + a) * pitch] - l->c[arriving][a] * here[(1 + a) * pitch];
  return out;
}

/* d_c of a link. */
static real arrive(const fluid_lattice *l, const fluid_rows *rows, const fluid_cell *cell, const fluid_link *link,
                   const real *from, const real *here) {
  const ptrdiff_t pitch = rows->pitch;
  const int c = link->arriving, d = fluid_opposite(c);
  const real weight = (real)link->weight, constant = (real)link->constant;
  switch ((fluid_link_kind)link->kind) {
  case FLUID_NEAR:
    return weight * population(l, here, pitch, d, here, c) +
           (1 - weight) * population(l, neighbour(l, rows, cell, from, link->towards), pitch, link->second, here, c) +
           constant;
  case FLUID_FAR:
    return weight * population(l, here, pitch, d, here, c) + (1 - weight) * stress(l, here, pitch, c) + constant;
  case FLUID_MIRROR: return population(l, neighbour(l, rows, cell, from, link->towards), pitch, link->second, here, c);
  case FLUID_OPEN: {
    const int rank = l->rank;
    real rho = 1 + here[0], along = 0, square = 0;
    for (int a = 0; a < rank; a++) rho += here[(1 + rank + a) * pitch] * (real)(1.0 / 3);
    for (int a = 0; a < rank; a++) {
      const real u = here[(1 + a) * pitch] / (3 * rho);
      along += l->c[c][a] * u;
      square += u * u;
    }
    return constant - 2 * here[0] - stress(l, here, pitch, c) +
           (2 + constant) * ((real)4.5 * along * along - (real)1.5 * square);
  }
  default: return population(l, here, pitch, d, here, c) + constant;
  }
}

static bool cells(const fluid_lattice *l, const fluid_collision *collision, const fluid_rows *rows,
                  const fluid_links *links, int64_t first, int64_t end, const void *from, void *to) {
  const factors k = factors_of(collision);
  const ptrdiff_t pitch = rows->pitch;
  bool wrong = false;
  for (int64_t i = first; i < end; i++) {
    const fluid_cell *cell = &links->cell[i];
    const fluid_link *link = links->link + cell->first, *last = link + cell->count;
    const real *here = (const real *)from + cell->row * rows->numbers * pitch + cell->x;
    real dense = 0, more[3] = {0}, p[6] = {0};
    for (int c = 0; c < l->directions; c++) {
      const bool linked = link < last && link->arriving == c;
      const real d = linked ? arrive(l, rows, cell, link++, from, here)
                            : population(l, neighbour(l, rows, cell, from, fluid_opposite(c)), pitch, c, here, c);
      const real f = (real)fluid_weight(l, c) * d;
      const int8_t *v = l->c[c];
      dense += f;
      for (int a = 0; a < l->rank; a++) {
        more[a] += v[a] * f;
        p[a] += v[a] * v[a] * f;
        for (int b = a + 1; b < l->rank; b++) p[3 + a + b - 1] += v[a] * v[b] * f;
      }
    }
    const real rho1 = here[0] + dense;
    real square;
    real *out = (real *)to + cell->row * rows->numbers * pitch + cell->x;
    if (l->rank == 2)
      square = collide_scalar(2, &k, dense, more, p, here, out, pitch);
    else
      square = collide_scalar(3, &k, dense, more, p, here, out, pitch);
    wrong = wrong || !(rho1 < (real)0.5) || !(rho1 > (real)-0.5) || square > k.limit;
    for (int m = 0; m < l->moments; m++) { /* the copies beyond the ends of the row */
      if (cell->x == 0) out[m * pitch + rows->n[0]] = out[m * pitch];
      if (cell->x == rows->n[0] - 1) out[m * pitch - rows->n[0]] = out[m * pitch];
    }
  }
  return wrong;
}

static void force(const fluid_lattice *l, const fluid_collision *collision, const fluid_rows *rows,
                  const fluid_links *links, int64_t number, int which, const void *from, const double centre[3],
                  const double speed[3], double momentum[3], double torque[3]) {
  const fluid_cell *cell = &links->cell[number];
  const fluid_link *link = links->link + cell->first + which;
  const real *here = (const real *)from + cell->row * rows->numbers * rows->pitch + cell->x;
  const double along = odd(l, here, rows->pitch, link->arriving);
  const double sent = (double)here[0] + (double)stress(l, here, rows->pitch, link->arriving) - along;
  const double got = (double)here[0] + (double)arrive(l, rows, cell, link, from, here) + along;
  fluid_link_force(l, collision, rows, cell, link, sent, got, centre, speed, momentum, torque);
}

static double lost(const fluid_lattice *l, const fluid_rows *rows, const fluid_links *links, int64_t number,
                   const void *from) {
  const fluid_cell *cell = &links->cell[number];
  const real *here = (const real *)from + cell->row * rows->numbers * rows->pitch + cell->x;
  double sum = 0;
  for (int i = 0; i < cell->count; i++) {
    const fluid_link *link = links->link + cell->first + i;
    if (link->body < 0) continue;
    const double along = odd(l, here, rows->pitch, link->arriving);
    const double sent = (double)stress(l, here, rows->pitch, link->arriving) - along;
    sum += fluid_weight(l, link->arriving) * (sent - along - (double)arrive(l, rows, cell, link, from, here));
  }
  return sum;
}

extern const fluid_kernels FLUID_KERNELS;
const fluid_kernels FLUID_KERNELS = {row, cells, force, lost};
