/* The lattices D2Q9, D3Q19 and D3Q27: directions and weights (Qian, d'Humieres and Lallemand, Europhys. Lett. 17 (1992)
 * 479).
 *
 * Direction 0 is at rest; behind it each direction of an odd number is followed by its opposite. */
#ifndef FLUID_LATTICE_H
#define FLUID_LATTICE_H

#include "kernels/common/integers.h"

enum { FLUID_DIRECTIONS_MAX = 27, FLUID_MOMENTS_MAX = 10 };

#define FLUID_HEAT_WEIGHT 0.125 /* of a direction of the temperature (cpu/heat_rows.h) */

/* Relaxation times that a cell may have whose viscosity is a function: flows are unstable below, and walls wrong above.
 */
#define FLUID_TAU_LEAST (0.5 + 1.0 / 500)
#define FLUID_TAU_MOST 3.0

#ifndef __CUDACC_RTC__ /* NVRTC takes no functions of the host */
typedef struct fluid_lattice {
  const char *name;
  int rank, directions, moments; /* 2, 9, 6 or 3, 19 or 27, 10 */
  double weight[4];              /* by the number of axes along which a direction moves */
  int8_t c[FLUID_DIRECTIONS_MAX][3];
} fluid_lattice;

static const fluid_lattice fluid_d2q9 = {
    "D2Q9",
    2,
    9,
    6,
    {4.0 / 9, 1.0 / 9, 1.0 / 36},
    {{0, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {1, 1, 0}, {-1, -1, 0}, {1, -1, 0}, {-1, 1, 0}}};
static const fluid_lattice fluid_d3q19 = {"D3Q19",
                                          3,
                                          19,
                                          10,
                                          {1.0 / 3, 1.0 / 18, 1.0 / 36},
                                          {{0, 0, 0},
                                           {1, 0, 0},
                                           {-1, 0, 0},
                                           {0, 1, 0},
                                           {0, -1, 0},
                                           {0, 0, 1},
                                           {0, 0, -1},
                                           {1, 1, 0},
                                           {-1, -1, 0},
                                           {1, -1, 0},
                                           {-1, 1, 0},
                                           {1, 0, 1},
                                           {-1, 0, -1},
                                           {1, 0, -1},
                                           {-1, 0, 1},
                                           {0, 1, 1},
                                           {0, -1, -1},
                                           {0, 1, -1},
                                           {0, -1, 1}}};

static const fluid_lattice fluid_d3q27 = {
    "D3Q27",
    3,
    27,
    10,
    {8.0 / 27, 2.0 / 27, 1.0 / 54, 1.0 / 216},
    {{0, 0, 0},  {1, 0, 0},  {-1, 0, 0},   {0, 1, 0},   {0, -1, 0},  {0, 0, 1},  {0, 0, -1},  {1, 1, 0},   {-1, -1, 0},
     {1, -1, 0}, {-1, 1, 0}, {1, 0, 1},    {-1, 0, -1}, {1, 0, -1},  {-1, 0, 1}, {0, 1, 1},   {0, -1, -1}, {0, 1, -1},
     {0, -1, 1}, {1, 1, 1},  {-1, -1, -1}, {1, 1, -1},  {-1, -1, 1}, {1, -1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, 1, 1}}};

/* full: D3Q27 on a grid of three axes. */
static inline const fluid_lattice *fluid_lattice_of(int rank, bool full) {
  return rank == 2 ? &fluid_d2q9 : full ? &fluid_d3q27 : &fluid_d3q19;
}
static inline int fluid_opposite(int direction) { return direction ? ((direction - 1) ^ 1) + 1 : 0; }
static inline double fluid_weight(const fluid_lattice *l, int direction) {
  const int8_t *c = l->c[direction];
  return l->weight[c[0] * c[0] + c[1] * c[1] + c[2] * c[2]];
}

/* Weights in whole parts: of how many, and the share of a direction that moves along some axes. */
static inline int fluid_parts(const fluid_lattice *l) { return (int)(1 / fluid_weight(l, l->directions - 1) + 0.5); }
static inline int fluid_share_by(const fluid_lattice *l, int axes) {
  return (int)(l->weight[axes] * fluid_parts(l) + 0.5);
}
#endif

#endif
