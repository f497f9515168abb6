/* One step of the temperature of a row, built for each instruction set and precision of the flow (heat_rows.c).
 *
 * A cell has populations h_c on the neighbours along the axes and itself, w = 1/8 and w_0 = 1 - 2 rank/8, with the
 * squared speed of sound 1/4 (D2Q5, D3Q7). Of them temperature T = sum h_c and flux Q = sum c h_c after collision are
 * kept, in double precision; the other moments relax at once: h_c = w (T + 4 c.Q), h_0 = w_0 T. A collision makes
 *   Q -> (1 - omega) Q + omega u T + (1 - omega/2) (u T - (u T of the step before)),
 * whose last term takes away the error d(u T)/dt of the flux (Chopard, Falcone and Latt, Eur. Phys. J. Spec. Top. 171
 * (2009) 245). The diffusivity is (1/omega - 1/2)/4. A row has its numbers behind each other, [1 + rank][pitch], with
 * a copy beyond each of its ends. */
#ifndef FLUID_HEAT_ROWS_H
#define FLUID_HEAT_ROWS_H

#include "kernels/fluid/lattice.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct fluid_heat_row {
  const double *old[5]; /* the row before the step, and those at y - 1, y + 1, z - 1, z + 1 */
  double *new;
  const void *before;       /* the flow before the step */
  void *flow;               /* after it: buoyancy is added */
  int64_t n, pitch, stride; /* stride: from a number of a cell of the flow to its next one */
} fluid_heat_row;

typedef struct fluid_heat_law {
  const fluid_lattice *lattice; /* of the populations of which the flow is; NULL: of moments */
  double omega;
  double g[3];              /* force that the flow has anyway, in cells per step^2 */
  double push[3];           /* the buoyancy is -push (T - reference) */
  double reference, share;  /* share of a step's buoyancy that is added: 1, and 1/2 at the start */
  double least, most;       /* bounds of the temperature */
  double flow_tau, conduct; /* relaxation time of the flow without eddies; 4/(3 Prandtl number of eddies) */
  int eddies;               /* number of a row of the flow that has the rate of relaxation of each cell; 0: none */
  bool pushes;
} fluid_heat_law;

typedef struct fluid_heat_kernels {
  /* Sums what arrives at the cells: T and, before collision, Q. Cells with links are made again by the caller. */
  void (*arrive)(int rank, const fluid_heat_row *row);
  /* Collides these, and adds the buoyancy to the flow. Returns whether a temperature is out of bounds. */
  bool (*collide)(int rank, const fluid_heat_law *law, const fluid_heat_row *row);
  /* Adds the buoyancy alone. */
  void (*push)(int rank, const fluid_heat_law *law, const fluid_heat_row *row);
} fluid_heat_kernels;

extern const fluid_heat_kernels fluid_heat_kernels_single_plain, fluid_heat_kernels_double_plain;
extern const fluid_heat_kernels fluid_heat_kernels_single_avx2, fluid_heat_kernels_double_avx2;
extern const fluid_heat_kernels fluid_heat_kernels_single_avx512, fluid_heat_kernels_double_avx512;

#endif
