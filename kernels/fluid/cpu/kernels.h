/* One step of cells, built for each instruction set and precision (kernels.c).
 *
 * The state of a cell are moments of the populations f_c after collision, in units of the lattice (cell, step, density
 * of the fluid at rest). With rho1 = sum f_c - 1, j = sum c f_c and S_ab = sum c_a c_b f_c - rho/3 delta_ab:
 *
 *   moment   3-D   2-D   value
 *   A        0     0     rho1 - 3/2 tr S
 *   J_a      1-3   1-2   3 j_a
 *   S_aa     4-6   3-4   9/2 S_aa
 *   S_ab     7-9   5     9 S_ab: xy, xz, yz
 *
 * A regularised population is f_c = w_c (1 + g_c), g_c = A + sum_a (c_a J_a + c_a^2 S_aa) + sum_a<b c_a c_b S_ab: sums
 * alone (Latt and Chopard, Math. Comput. Simul. 72 (2006) 165). D3Q27 has third moments too (row27.inc). Sums over what
 * arrives at a cell are taken of d_c = g_c
 * - A - c.J with A and J of this cell in the step before: sum w_c = 1, sum w_c c c = 1/3 and the odd ones are 0, so
 * that these sums have only small terms, and A and J change by small ones. In single precision the change of J is often
 * less than half a unit in its last place; what rounding takes from it is stored behind the moments, one number an
 * axis, and added in the next step (Kahan, Commun. ACM 8 (1965) 40). A row of cells along x has its numbers behind each
 * other, [numbers][pitch]; the number before the first cell and the one behind the last cell belong to the row too. */
#ifndef FLUID_KERNELS_H
#define FLUID_KERNELS_H

#include "kernels/fluid/lattice.h"
#include "kernels/fluid/link_kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows of the state begin at a multiple of this many numbers, after as many numbers. */
enum { FLUID_PAD = 16 };

/* Moments after collision: S -> (1 - omega) S + omega rho u u + (1 - omega/2) rho (g u + u g), j -> j + rho g, u =
 * j/rho
 * + g/2 (Guo, Zheng and Shi, Phys. Rev. E 65 (2002) 046308); g in cells per step^2. The trace of S relaxes at once, as
 * with omega = 1, which damps sound (d'Humieres et al., Phil. Trans. R. Soc. A 360 (2002) 437).
 *
 * With an eddy viscosity (C cell)^2 |strain| (Smagorinsky, Mon. Weather Rev. 91 (1963) 99) each cell has its own
 * relaxation time: the strain is that of Q, the deviator of S - rho u u + rho (g u + u g)/2 before collision, at this
 * very relaxation time, so that tau = (tau_0 + sqrt(tau_0^2 + 18 sqrt 2 C^2 |Q|/rho))/2, |Q|^2 = sum Q_ab^2 (Hou,
 * Sterling, Chen and Doolen, Fields Inst. Commun. 6 (1996) 151). */
typedef enum fluid_local {
  FLUID_LOCAL_NONE,   /* one viscosity, or that of eddies */
  FLUID_LOCAL_STRESS, /* stores |Q|/rho of each cell at `tell`, in place of a step (Q as above) */
  FLUID_LOCAL_RATE    /* makes a step with the rate of relaxation of each cell that stands at `tell` */
} fluid_local;
typedef struct fluid_collision {
  double omega, g[3];
  double omega_odd;   /* of populations (trt.c): the second rate */
  const double *drag; /* [cells]: resistance by a step; NULL: none */
  double smagorinsky; /* C; 0: none */
  double fastest;     /* speed in cells per step above which a step tells */
  int tell;           /* place of the rate of relaxation of each cell among the numbers of a row; 0: not stored */
  int local;          /* fluid_local: how a viscosity that is a function finds the rate of each cell */
} fluid_collision;

/* from[3 (dz + 1) + dy + 1]: moments of the row at y + dy, z + dz; 2-D: dz = 0 alone. */
typedef struct fluid_row {
  const void *from[9];
  void *to;
  int64_t n, stride, numbers; /* stride: from a number of a cell to its next one */
  int64_t ahead;              /* numbers between what is read and what is to be fetched meanwhile */
  const double *drag;         /* [n]: resistance by a step, of populations (trt.c); NULL: none */
  bool periodic;              /* x: the kernel makes the copies beyond the row's ends */
  bool large;                 /* the states exceed the caches: rows are written past them where that is of use */
} fluid_row;

typedef struct fluid_link {
  int8_t kind, arriving, second, towards, mirror; /* mirror: bits of the axes at whose slip sides the link is mirrored
                                                     before it meets a body */
  bool entry;                                     /* FAR with weight 2q: see link_kind.h */
  int16_t body;                                   /* -1: a side of the box */
  double weight, constant;
} fluid_link;

/* The part of a link that is fluid. */
static inline double fluid_link_part(const fluid_link *link) {
  return link->kind == FLUID_FAR && !link->entry ? 0.5 / link->weight : link->weight / 2;
}

/* A cell with links, which lie in the order of their arriving directions. */
typedef struct fluid_cell {
  int64_t row; /* z ny + y */
  int32_t x, first, count;
} fluid_cell;

/* A state: rows of cells along x, in groups, [groups][numbers][stride], where rows of a group follow each other by
 * `width`. numbers: the populations; or the moments, in single what rounding left, and where eddies carry heat, or the
 * viscosity is a function, the rate of relaxation; last a force that is a function, [rank]. Of moments each row is a
 * group, with a copy beyond each of its ends. Of populations a plane is one (2-D: a row), without copies: each
 * population of a plane is one stretch of memory, which is read and written as fast as memory gives and takes it.
 * pitch: of rows of moments and of temperatures; force: place of the one along x among the numbers, 0: none. */
typedef struct fluid_rows {
  int64_t n[3], pitch, numbers, force, group, width, stride;
  bool copies;
} fluid_rows;

/* The first cell of a row (z ny + y) in a state, which its first number is of. */
static inline int64_t fluid_row_at(const fluid_rows *rows, int64_t row) {
  return row / rows->group * rows->numbers * rows->stride + row % rows->group * rows->width;
}

typedef struct fluid_links {
  const fluid_cell *cell;
  const fluid_link *link;
  const double (*push)[3]; /* [cells]: force by mass that is a function, and buoyancy, of the state; NULL: neither */
} fluid_links;

/* A cell that grains cover in part: `share` of it follows their velocity, in cells per step. A step sets its density
 * and its momentum, with the force of the step, before the grains act on it; they give it share (mass velocity -
 * momentum).
 */
#define FLUID_SOLID_KEEPS 0.5
typedef struct fluid_blend {
  fluid_cell cell; /* count 0: it has no links */
  double share, velocity[3];
  double mass, momentum[3];
} fluid_blend;

typedef struct fluid_kernels {
  /* Makes a step of a row. Returns whether a density has left (1/2, 3/2) or a speed is above `fastest`; of cells with
   * links, which `cells` makes again, it may say so wrongly. */
  bool (*row)(const fluid_lattice *lattice, const fluid_collision *collision, const fluid_row *row);
  /* The same of cells [first, end) with links: from and to are states, from their first row's first cell on. */
  bool (*cells)(const fluid_lattice *lattice, const fluid_collision *collision, const fluid_rows *rows,
                const fluid_links *links, int64_t first, int64_t end, const void *from, void *to);
  /* What the fluid gives to a body by link `link` of a cell in a step: momentum[3], and torque[3] about `centre` (in
   * cells), in units of the lattice and without the pressure at rest (Ladd, J. Fluid Mech. 271 (1994) 285). Populations
   * turn at the half of links: collision.g is the force on the fluid between there and the surface, which is added.
   * speed[3]: of a surface that moves, in whose frame momentum is exchanged (Wen, Zhang, Tu,
   * Wang and Fang, J. Comput. Phys. 266 (2014) 161); NULL: none does. */
  void (*force)(const fluid_lattice *lattice, const fluid_collision *collision, const fluid_rows *rows,
                const fluid_links *links, int64_t cell, int link, const void *from, const double centre[3],
                const double speed[3], double momentum[3], double torque[3]);
  /* Mass, in units of the lattice, that the links of a cell to bodies take from the fluid in a step. */
  double (*lost)(const fluid_lattice *lattice, const fluid_rows *rows, const fluid_links *links, int64_t cell,
                 const void *from);
  /* Makes the step of `count` cells with grains again, and returns as `cells`: partially saturated cells (Noble and
   * Torczynski, Int. J. Mod. Phys. C 9 (1998) 1189) in moments: j -> (1 - share) (j + rho g) + share rho u_s, S -> (1 -
   * share) S of the fluid + share (rho u_s u_s + FLUID_SOLID_KEEPS times the deviator of S less its equilibrium). NULL:
   * of populations by two relaxation times. */
  bool (*blend)(const fluid_lattice *lattice, const fluid_collision *collision, const fluid_rows *rows,
                const fluid_links *links, fluid_blend *item, int64_t count, const void *from, void *to);
} fluid_kernels;

extern const fluid_kernels fluid_kernels_single_plain, fluid_kernels_double_plain;
extern const fluid_kernels fluid_kernels_single_avx2, fluid_kernels_double_avx2;
extern const fluid_kernels fluid_kernels_single_avx512, fluid_kernels_double_avx512;
/* The same of populations by two relaxation times: a row has [directions][pitch] numbers (trt.c). */
extern const fluid_kernels fluid_trt_kernels_single_plain, fluid_trt_kernels_double_plain;
extern const fluid_kernels fluid_trt_kernels_single_avx2, fluid_trt_kernels_double_avx2;
extern const fluid_kernels fluid_trt_kernels_single_avx512, fluid_trt_kernels_double_avx512;

#endif
