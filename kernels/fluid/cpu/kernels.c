/* Steps of rows and of cells at walls: once for each instruction set and precision. Every operation rounds once, so
 * that the bits are the same everywhere. */
#include "kernels/fluid/cpu/ends.h"
#include "kernels/fluid/cpu/force.h"
#include "kernels/fluid/cpu/vectors.h"

#include <math.h>

/* 1 - omega, omega, g and (2 - omega) g; the square of `fastest`; tau_0, its square and 18 sqrt 2 C^2, 0 without eddy
 * viscosity */
typedef struct factors {
  real keep, add, g[3], push[3], limit, tau, tau_square, eddy;
  int tell, local; /* as of fluid_collision */
} factors;

static factors factors_of(const fluid_collision *k) {
  factors out = {.keep = (real)(1 - k->omega),
                 .add = (real)k->omega,
                 .limit = (real)(k->fastest * k->fastest),
                 .tau = (real)(1 / k->omega),
                 .tau_square = (real)(1 / (k->omega * k->omega)),
                 .eddy = (real)(18 * sqrt(2) * k->smagorinsky * k->smagorinsky),
                 .tell = k->tell,
                 .local = k->local};
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

enum { BLOCK = 64 }; /* cells of a row of D3Q27 that are made at a time */

#define ROOT(a) root_vector(a)
#include "kernels/fluid/cpu/vector_on.inc"
#include "kernels/fluid/cpu/row.inc"
#include "kernels/fluid/cpu/row27.inc"
#undef ROOT
#define ROOT(a) root(a)
#include "kernels/fluid/cpu/scalar_on.inc"
#include "kernels/fluid/cpu/row.inc"
#include "kernels/fluid/cpu/row27.inc"

/* A row of D3Q27: of each block first what does not depend on where a population arrives. */
static void row27(const factors *k, const fluid_row *r, bool *wrong) {
  real rest[9][3][BLOCK + 2];
  for (int64_t first = 0; first < r->n; first += BLOCK) {
    const int64_t count = r->n - first < BLOCK ? r->n - first : BLOCK;
    for (int i = 0; i < 9; i++) {
      const real *m = (const real *)r->from[i] + first - 1;
      const int64_t done = rests_vector(m, r->stride, 1 - i % 3, 1 - i / 3, 0, count + 2, rest[i]);
      (void)rests_scalar(m, r->stride, 1 - i % 3, 1 - i / 3, done, count + 2, rest[i]);
    }
    const int64_t x = block_vector(k, r, rest, first, first, first + count, wrong);
    (void)block_scalar(k, r, rest, first, x, first + count, wrong);
  }
}

/* A row of D3Q19: its inner vectors are written past the caches where the states exceed them. */
static void row19(const fluid_lattice *lattice, const factors *k, const fluid_row *r, bool *wrong) {
  const bool stream = streams(r) && k->tell == 0;
  real *to = r->to;
  for (ptrdiff_t i = r->numbers; i < 2 * r->numbers; i++) { /* the copies beyond the end of the next row */
    __builtin_prefetch((const real *)r->from[8] + i * r->stride + r->n, 0, 2);
    if (!stream) __builtin_prefetch(to + i * r->stride + r->n, 1, 2);
  }
  if (stream) {
    const int64_t last = last_vector(r), rest = last + WHOLE;
    row_ends ends;
    for (int i = 0; i < 2; i++)
      (void)row3_vector(k, r, i * last, i * last + WHOLE, (real *)ends.side[i], WHOLE, false, wrong);
    (void)row3_vector(k, r, WHOLE, last, to + WHOLE, r->stride, true, wrong);
    (void)row3_scalar(k, r, rest, r->n, to + rest, r->stride, false, wrong);
    stream_ends(r, &ends, (int)r->numbers, lattice->moments);
    return;
  }
  const int64_t x = row3_vector(k, r, 0, r->n, to, r->stride, false, wrong);
  (void)row3_scalar(k, r, x, r->n, to + x, r->stride, false, wrong);
  copy_row_ends(r, lattice->moments);
}

static bool row(const fluid_lattice *lattice, const fluid_collision *collision, const fluid_row *r) {
  const factors k = factors_of(collision);
  bool wrong = false;
  if (lattice->rank == 2)
    (void)row2_scalar(&k, r, row2_vector(&k, r, 0, &wrong), &wrong);
  else if (lattice->directions == 27)
    row27(&k, r, &wrong);
  else
    row19(lattice, &k, r, &wrong);
  if (lattice->directions != 19) copy_row_ends(r, lattice->moments);
  return wrong;
}

/* ---- cells with links ---- */

/* What S and on D3Q27 the third moments add to g of a direction, of the cell whose first moment is *m. */
static real stress(const fluid_lattice *l, const real *m, ptrdiff_t pitch, int direction) {
  if (l->directions == 27) {
    const int8_t *c = l->c[direction];
    real rest[3];
    rest_scalar(m, pitch, c[1], c[2], rest);
    return c[0] == 0 ? rest[0] : c[0] > 0 ? rest[0] + rest[2] + rest[1] : rest[0] + rest[2] - rest[1];
  }
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

/* Velocity through the side of a STRAIGHT link, of the cell whose first moment is *m; 0 along other axes. */
static void across(const fluid_lattice *l, const fluid_link *link, const real *m, ptrdiff_t pitch, real u[3]) {
  real rho = 1 + m[0];
  for (int a = 0; a < l->rank; a++) rho += m[(1 + l->rank + a) * pitch] * (real)(1.0 / 3);
  for (int a = 0; a < 3; a++) u[a] = a == (int)link->weight ? m[(1 + a) * pitch] / (3 * rho) : 0;
}

/* d_c of a link. */
static real arrive(const fluid_lattice *l, const fluid_rows *rows, const fluid_links *links, const fluid_cell *cell,
                   const fluid_link *link, const real *from, const real *here) {
  const ptrdiff_t pitch = rows->stride;
  const int c = link->arriving, d = fluid_opposite(c);
  const real weight = (real)link->weight, constant = (real)link->constant;
  switch ((fluid_link_kind)link->kind) {
  case FLUID_NEAR:
    return weight * population(l, here, pitch, d, here, c) +
           (1 - weight) * population(l, neighbour(l, rows, cell, from, link->towards), pitch, link->second, here, c) +
           constant + held(l, links, cell, link);
  case FLUID_FAR:
    return weight * population(l, here, pitch, d, here, c) + (1 - weight) * stress(l, here, pitch, c) + constant +
           held(l, links, cell, link);
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
    return constant - 2 * here[0] - stress(l, here, pitch, d) +
           (2 + constant) * ((real)4.5 * along * along - (real)1.5 * square);
  }
  case FLUID_STRAIGHT: {
    const real *beside = neighbour(l, rows, cell, from, link->towards);
    real u[2][3], sent = beside[0] + stress(l, beside, pitch, link->second) + here[0], along = 0, square = 0;
    across(l, link, here, pitch, u[0]);
    across(l, link, beside, pitch, u[1]);
    for (int a = 0; a < l->rank; a++) {
      const real normal = (real)0.5 * (u[0][a] + u[1][a]);
      sent += l->c[link->second][a] * beside[(1 + a) * pitch] + l->c[c][a] * here[(1 + a) * pitch];
      along += l->c[c][a] * normal;
      square += normal * normal;
    }
    return constant - sent + (2 + constant) * ((real)4.5 * along * along - (real)1.5 * square);
  }
  default: return population(l, here, pitch, d, here, c) + constant;
  }
}

/* Sums over what arrives at a cell, as of collide: of d_c, c d_c and c c d_c. */
typedef struct arrived {
  real dense, more[3], p[6];
} arrived;

static arrived gather(const fluid_lattice *l, const fluid_rows *rows, const fluid_links *links, const fluid_cell *cell,
                      const real *from, const real *here) {
  const fluid_link *link = links->link + cell->first, *last = link + cell->count;
  arrived out = {0};
  for (int c = 0; c < l->directions; c++) {
    const bool linked = link < last && link->arriving == c;
    const real d = linked ? arrive(l, rows, links, cell, link++, from, here)
                          : population(l, neighbour(l, rows, cell, from, fluid_opposite(c)), rows->stride, c, here, c);
    const real f = (real)fluid_weight(l, c) * d;
    const int8_t *v = l->c[c];
    out.dense += f;
    for (int a = 0; a < l->rank; a++) {
      out.more[a] += v[a] * f;
      out.p[a] += v[a] * v[a] * f;
      for (int b = a + 1; b < l->rank; b++) out.p[3 + a + b - 1] += v[a] * v[b] * f;
    }
  }
  return out;
}

/* Moments after collision of a cell, from what has arrived; the square of its speed. */
static real collide(const fluid_lattice *l, const factors *k, const arrived *in, const real *here, real *out,
                    ptrdiff_t pitch) {
  return l->rank == 2 ? collide_scalar(2, k, in->dense, in->more, in->p, here, pitch, out, pitch, false)
                      : collide_scalar(3, k, in->dense, in->more, in->p, here, pitch, out, pitch, false);
}

/* Copies the numbers of a cell at an end of its row beyond the row's other end. */
static void copy_ends(const fluid_lattice *l, const fluid_rows *rows, const fluid_cell *cell, real *out) {
  for (int m = 0; m < l->moments; m++) {
    if (cell->x == 0) out[m * rows->stride + rows->n[0]] = out[m * rows->stride];
    if (cell->x == rows->n[0] - 1) out[m * rows->stride - rows->n[0]] = out[m * rows->stride];
  }
}

static bool cells(const fluid_lattice *l, const fluid_collision *collision, const fluid_rows *rows,
                  const fluid_links *links, int64_t first, int64_t end, const void *from, void *to) {
  const factors k = factors_of(collision);
  bool wrong = false;
  for (int64_t i = first; i < end; i++) {
    const fluid_cell *cell = &links->cell[i];
    const int64_t at = fluid_row_at(rows, cell->row) + cell->x;
    const real *here = (const real *)from + at;
    const arrived in = gather(l, rows, links, cell, from, here);
    const real rho1 = here[0] + in.dense, square = collide(l, &k, &in, here, (real *)to + at, rows->stride);
    wrong = wrong || !(rho1 < (real)0.5) || !(rho1 > (real)-0.5) || square > k.limit;
    copy_ends(l, rows, cell, (real *)to + at);
  }
  return wrong;
}

/* ---- cells with grains ---- */

enum { AXES = 3 }; /* grains are spheres */

/* The deviator of the stress that has arrived at a cell, less that of its equilibrium: of axes a <= b. */
static void deviator(const fluid_collision *k, const arrived *in, double mass, const double u[3], double out[3][3]) {
  double trace = 0;
  for (int a = 0; a < AXES; a++) {
    for (int b = a + 1; b < AXES; b++)
      out[a][b] = (double)in->p[3 + a + b - 1] - mass * (u[a] * u[b] - (u[a] * k->g[b] + k->g[a] * u[b]) / 2);
    out[a][a] = (double)in->p[a] - (double)in->dense / 3 - mass * u[a] * (u[a] - k->g[a]);
    trace += out[a][a];
  }
  for (int a = 0; a < AXES; a++) out[a][a] -= trace / AXES;
}

/* Gives the solid its share of a cell whose collision of the fluid alone stands in `out`; in double, as these cells are
 * few. Returns the square of the speed. */
static double saturate(const fluid_collision *k, const arrived *in, const real *here, real *out, ptrdiff_t pitch,
                       fluid_blend *item) {
  enum { FIRST = 1 + AXES, CROSS = 1 + 2 * AXES };
  const double share = item->share, *v = item->velocity;
  double u[3] = {0}, e[3][3], square = 0, trace = 0;
  item->mass = 1 + (double)here[0] + (double)in->dense;
  for (int a = 0; a < AXES; a++) {
    const double j = (double)here[(1 + a) * pitch] / 3 + (double)in->more[a];
    u[a] = j / item->mass + k->g[a] / 2;
    item->momentum[a] = j + item->mass * k->g[a];
#if FLUID_SINGLE
    const real *rest = here + (CROSS + AXES * (AXES - 1) / 2 + a) * pitch;
    item->momentum[a] += (double)*rest / 3;
#endif
    const double new = item->momentum[a] + share *(item->mass * v[a] - item->momentum[a]);
    out[(1 + a) * pitch] = (real)(3 * new);
#if FLUID_SINGLE
    out[(CROSS + AXES * (AXES - 1) / 2 + a) * pitch] = (real)(3 * new - (double)out[(1 + a) * pitch]);
#endif
    square += new *new / (item->mass * item->mass);
  }
  deviator(k, in, item->mass, u, e);
  for (int a = 0; a < AXES; a++) {
    real *s = out + (FIRST + a) * pitch;
    *s = (real)((1 - share) * (double)*s + share * 4.5 * (FLUID_SOLID_KEEPS * e[a][a] + item->mass * v[a] * v[a]));
    trace += (double)*s;
    for (int b = a + 1; b < AXES; b++) {
      real *t = out + (CROSS + a + b - 1) * pitch;
      *t = (real)((1 - share) * (double)*t + share * 9 * (FLUID_SOLID_KEEPS * e[a][b] + item->mass * v[a] * v[b]));
    }
  }
  *out = (real)((double)here[0] + (double)in->dense - trace / 3);
  return square;
}

static bool blend(const fluid_lattice *l, const fluid_collision *collision, const fluid_rows *rows,
                  const fluid_links *links, fluid_blend *item, int64_t count, const void *from, void *to) {
  const factors k = factors_of(collision);
  const double limit = collision->fastest * collision->fastest;
  bool wrong = false;
  for (int64_t i = 0; i < count; i++) {
    const fluid_cell *cell = &item[i].cell;
    const int64_t at = fluid_row_at(rows, cell->row) + cell->x;
    const real *here = (const real *)from + at;
    real *out = (real *)to + at;
    const arrived in = gather(l, rows, links, cell, from, here);
    (void)collide(l, &k, &in, here, out, rows->stride);
    const double square = saturate(collision, &in, here, out, rows->stride, &item[i]), rho1 = item[i].mass - 1;
    wrong = wrong || !(rho1 < 0.5) || !(rho1 > -0.5) || !(square <= limit);
    copy_ends(l, rows, cell, out);
  }
  return wrong;
}

static void force(const fluid_lattice *l, const fluid_collision *collision, const fluid_rows *rows,
                  const fluid_links *links, int64_t number, int which, const void *from, const double centre[3],
                  const double speed[3], double momentum[3], double torque[3]) {
  const fluid_cell *cell = &links->cell[number];
  const fluid_link *link = links->link + cell->first + which;
  const real *here = (const real *)from + fluid_row_at(rows, cell->row) + cell->x;
  const double along = odd(l, here, rows->stride, link->arriving);
  const int away = fluid_opposite(link->arriving);
  const double sent = (double)here[0] + (double)stress(l, here, rows->stride, away) - along;
  const double got = (double)here[0] + (double)arrive(l, rows, links, cell, link, from, here) + along;
  fluid_link_force(l, collision, rows, cell, link, sent, got, centre, speed, momentum, torque);
}

static double lost(const fluid_lattice *l, const fluid_rows *rows, const fluid_links *links, int64_t number,
                   const void *from) {
  const fluid_cell *cell = &links->cell[number];
  const real *here = (const real *)from + fluid_row_at(rows, cell->row) + cell->x;
  double sum = 0;
  for (int i = 0; i < cell->count; i++) {
    const fluid_link *link = links->link + cell->first + i;
    if (link->body < 0) continue;
    const double along = odd(l, here, rows->stride, link->arriving);
    const double sent = (double)stress(l, here, rows->stride, fluid_opposite(link->arriving)) - along;
    sum += fluid_weight(l, link->arriving) * (sent - along - (double)arrive(l, rows, links, cell, link, from, here));
  }
  return sum;
}

extern const fluid_kernels FLUID_KERNELS;
const fluid_kernels FLUID_KERNELS = {row, cells, force, lost, blend};
