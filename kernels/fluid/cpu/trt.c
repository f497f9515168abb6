/* Steps by two relaxation times (TRT), of populations: once for each instruction set and precision, as kernels.c, whose
 * links these are. Every operation rounds once.
 *
 * A cell keeps g_c = f_c/w_c - 1 of each direction after collision. Of what arrives by a direction and its opposite the
 * half sum relaxes by omega, which is the viscosity, and the half difference by omega_odd, so that
 * (1/omega - 1/2)(1/omega_odd - 1/2) is the magic number (Ginzburg, Verhaeghe and d'Humieres, Commun. Comput. Phys. 3
 * (2008) 427). The force is Guo's (Phys. Rev. E 65 (2002) 046308), its two parts with the two rates; where a porous
 * medium resists, it is g - drag u with u of the middle of the step (Guo and Zhao, Phys. Rev. E 66 (2002) 036304). */
#include "kernels/fluid/cpu/ends.h"
#include "kernels/fluid/cpu/force.h"
#include "kernels/fluid/cpu/vectors.h"

#include <math.h>

/* a/b, rounded, and what rounding took from it. */
typedef struct factor {
  real whole, rest;
} factor;

static factor factor_of(double a, double b) {
  factor out = {.whole = (real)(a / b)};
  out.rest = (real)(fma(-(double)out.whole, b, a) / b);
  return out;
}

typedef struct rates {
  real half_even, half_odd, keep_odd; /* halves of the rates; 1/2 - half_odd, without rounding */
  real push_even, push_odd;           /* shares of the force in targets (trt.inc) */
  real g[3], curve;                   /* curve: 3/(6 half_odd)^2 */
  real limit, limit_free;             /* the square of `fastest`, with a force and, in units of collide, without */
  factor part, odd_part;              /* 1/fluid_parts and 6 half_odd/fluid_parts */
} rates;

static rates rates_of(const fluid_lattice *l, const fluid_collision *k) {
  rates out = {.half_even = (real)(k->omega / 2),
               .keep_odd = (real)0.5 - (real)(k->omega_odd / 2),
               .push_even = (real)(2 / k->omega - 1),
               .push_odd = (real)(1 / k->omega_odd - 0.5)};
  out.half_odd = (real)0.5 - out.keep_odd;
  const double odd = (double)out.half_odd, curve = 1 / (12 * odd * odd), square = k->fastest * k->fastest;
  out.curve = (real)curve;
  out.limit = (real)square;
  out.limit_free = (real)(3 * curve * square);
  out.part = factor_of(1, fluid_parts(l));
  out.odd_part = factor_of(odd, fluid_parts(l) / 6);
  for (int a = 0; a < 3; a++) out.g[a] = (real)k->g[a];
  return out;
}

/* Directions are constants in loops that are unrolled, which GCC does of itself to 16 rounds. */
#if defined __GNUC__ && !defined __clang__
#define UNROLL _Pragma("GCC unroll 27")
#else
#define UNROLL
#endif

#include "kernels/fluid/cpu/vector_on.inc"
#include "kernels/fluid/cpu/trt.inc"
#include "kernels/fluid/cpu/scalar_on.inc"
#include "kernels/fluid/cpu/trt.inc"

FLUID_INLINE bool sweep_row(const fluid_lattice *l, int rank, int directions, const rates *k, const real *const *from,
                            const fluid_row *r, bool pushed, bool resists, bool stream) {
  const int64_t end = r->n / WHOLE * WHOLE;
  vint out = sweep_vector(l, rank, directions, k, from, r, pushed, resists, stream, WHOLE, end - WHOLE);
  int rest = 0;
  for (int64_t x = 0; x < end; x = x == 0 && end > WHOLE ? end - WHOLE : end)
    out |= end_vector(l, rank, directions, k, from, r, pushed, resists, stream, x);
  for (int64_t x = end; x < r->n; x++) rest |= end_scalar(l, rank, directions, k, from, r, pushed, resists, false, x);
  return any(out) || rest != 0;
}

FLUID_INLINE bool sweep(const fluid_lattice *l, int rank, int directions, const fluid_collision *collision,
                        const fluid_row *r) {
  const rates k = rates_of(l, collision);
  const real *from[FLUID_DIRECTIONS_MAX];
  for (int c = 0; c < directions; c++) {
    const int8_t *v = l->c[c];
    from[c] = (const real *)r->from[3 * (1 - v[2]) + 1 - v[1]] + c * r->stride - v[0];
  }
  const bool pushed = k.g[0] != 0 || k.g[1] != 0 || k.g[2] != 0;
  if (r->drag)
    return streams(r) ? sweep_row(l, rank, directions, &k, from, r, true, true, true)
                      : sweep_row(l, rank, directions, &k, from, r, true, true, false);
  if (pushed)
    return streams(r) ? sweep_row(l, rank, directions, &k, from, r, true, false, true)
                      : sweep_row(l, rank, directions, &k, from, r, true, false, false);
  return streams(r) ? sweep_row(l, rank, directions, &k, from, r, false, false, true)
                    : sweep_row(l, rank, directions, &k, from, r, false, false, false);
}

static bool row(const fluid_lattice *lattice, const fluid_collision *collision, const fluid_row *r) {
  return lattice->rank == 2          ? sweep(&fluid_d2q9, 2, 9, collision, r)
         : lattice->directions == 19 ? sweep(&fluid_d3q19, 3, 19, collision, r)
                                     : sweep(&fluid_d3q27, 3, 27, collision, r);
}

/* ---- cells with links ---- */

/* Velocity of the cell whose first population is *m. */
static void velocity(const fluid_lattice *l, const real *m, ptrdiff_t pitch, real u[3]) {
  real rho = 1;
  for (int a = 0; a < 3; a++) u[a] = 0;
  for (int e = 0; e < l->directions; e++) {
    const real f = (real)fluid_weight(l, e) * m[e * pitch];
    rho += f;
    for (int a = 0; a < l->rank; a++) u[a] += l->c[e][a] * f;
  }
  for (int a = 0; a < l->rank; a++) u[a] = u[a] / rho;
}

/* g_c of a link. */
static real arrive(const fluid_lattice *l, const fluid_rows *rows, const fluid_links *links, const fluid_cell *cell,
                   const fluid_link *link, const real *from, const real *here) {
  const ptrdiff_t pitch = rows->stride;
  const int c = link->arriving, d = fluid_opposite(c);
  const real weight = (real)link->weight, constant = (real)link->constant, sent = here[d * pitch];
  switch ((fluid_link_kind)link->kind) {
  case FLUID_NEAR:
    return weight * sent + (1 - weight) * neighbour(l, rows, cell, from, link->towards)[link->second * pitch] +
           constant + held(l, links, cell, link);
  case FLUID_FAR: return weight * sent + (1 - weight) * here[c * pitch] + constant + held(l, links, cell, link);
  case FLUID_MIRROR: return neighbour(l, rows, cell, from, link->towards)[link->second * pitch];
  case FLUID_OPEN: {
    real u[3], along = 0, square = 0;
    velocity(l, here, pitch, u);
    for (int a = 0; a < l->rank; a++) {
      along += l->c[c][a] * u[a];
      square += u[a] * u[a];
    }
    return constant - sent + (2 + constant) * ((real)4.5 * along * along - (real)1.5 * square);
  }
  case FLUID_STRAIGHT: {
    const real *beside = neighbour(l, rows, cell, from, link->towards);
    real u[2][3], along = 0, square = 0;
    velocity(l, here, pitch, u[0]);
    velocity(l, beside, pitch, u[1]);
    for (int a = 0; a < l->rank; a++) {
      const real normal = a == (int)link->weight ? (real)0.5 * (u[0][a] + u[1][a]) : 0;
      along += l->c[c][a] * normal;
      square += normal * normal;
    }
    return constant - beside[link->second * pitch] + (2 + constant) * ((real)4.5 * along * along - (real)1.5 * square);
  }
  default: return sent + constant;
  }
}

static bool cells(const fluid_lattice *l, const fluid_collision *collision, const fluid_rows *rows,
                  const fluid_links *links, int64_t first, int64_t end, const void *from, void *to) {
  const rates k = rates_of(l, collision);
  const ptrdiff_t pitch = rows->stride;
  bool wrong = false;
  for (int64_t i = first; i < end; i++) {
    const fluid_cell *cell = &links->cell[i];
    const fluid_link *link = links->link + cell->first, *last = link + cell->count;
    const real *here = (const real *)from + fluid_row_at(rows, cell->row) + cell->x;
    real in[FLUID_DIRECTIONS_MAX], *out = (real *)to + fluid_row_at(rows, cell->row) + cell->x;
    for (int c = 0; c < l->directions; c++)
      in[c] = link < last && link->arriving == c ? arrive(l, rows, links, cell, link++, from, here)
                                                 : neighbour(l, rows, cell, from, fluid_opposite(c))[c * pitch];
    const real resistance = collision->drag ? (real)collision->drag[cell->row * rows->n[0] + cell->x] : 0;
    const real *drag = collision->drag ? &resistance : NULL;
    wrong |= l->rank == 2          ? collide_scalar(&fluid_d2q9, 2, 9, &k, true, drag, in, out, pitch, false)
             : l->directions == 19 ? collide_scalar(&fluid_d3q19, 3, 19, &k, true, drag, in, out, pitch, false)
                                   : collide_scalar(&fluid_d3q27, 3, 27, &k, true, drag, in, out, pitch, false);
  }
  return wrong;
}

/* What a cell sends along a link, and what arrives by it. */
static void exchanged(const fluid_lattice *l, const fluid_rows *rows, const fluid_links *links, const fluid_cell *cell,
                      const fluid_link *link, const void *from, double *sent, double *got) {
  const real *here = (const real *)from + fluid_row_at(rows, cell->row) + cell->x;
  *sent = (double)here[fluid_opposite(link->arriving) * rows->stride];
  *got = (double)arrive(l, rows, links, cell, link, from, here);
}

static void force(const fluid_lattice *l, const fluid_collision *collision, const fluid_rows *rows,
                  const fluid_links *links, int64_t number, int which, const void *from, const double centre[3],
                  const double speed[3], double momentum[3], double torque[3]) {
  const fluid_cell *cell = &links->cell[number];
  const fluid_link *link = links->link + cell->first + which;
  double sent, got;
  exchanged(l, rows, links, cell, link, from, &sent, &got);
  fluid_link_force(l, collision, rows, cell, link, sent, got, centre, speed, momentum, torque);
}

static double lost(const fluid_lattice *l, const fluid_rows *rows, const fluid_links *links, int64_t number,
                   const void *from) {
  const fluid_cell *cell = &links->cell[number];
  double sum = 0, sent, got;
  for (int i = 0; i < cell->count; i++) {
    const fluid_link *link = links->link + cell->first + i;
    if (link->body < 0) continue;
    exchanged(l, rows, links, cell, link, from, &sent, &got);
    sum += fluid_weight(l, link->arriving) * (sent - got);
  }
  return sum;
}

extern const fluid_kernels FLUID_TRT_KERNELS;
const fluid_kernels FLUID_TRT_KERNELS = {row, cells, force, lost, NULL};
