/* Measured power spectrum of the bodies in a periodic cube: P(k) = V <|delta_k|^2> over shells of wave numbers.
 *
 * Masses are assigned to a grid by clouds in cells (R. W. Hockney and J. W. Eastwood, "Computer simulation using
 * particles" (1981)), twice, the second time displaced by half a cell, which removes the strongest aliases (E.
 * Sefusatti et al., MNRAS 460 (2016) 3624); the assignment is divided out. Shot noise is not subtracted. */
#ifndef NBODY_COSMOS_SPECTRUM_H
#define NBODY_COSMOS_SPECTRUM_H

#include "kernels/nbody/cosmos/cube.h"
#include "kernels/nbody/cosmos/power.h"

/* Shells low <= |k| L / (2 pi) < high of half-integers, one wide at first, then a quarter of low; below half the grid's
 * wave number. */
enum { NBODY_SHELLS_MAX = 31, NBODY_SPECTRUM_GRID_MIN = 4, NBODY_SPECTRUM_GRID_MAX = 2048 };
typedef struct nbody_shell {
  double low, high;
  int64_t number; /* integer next to the middle of the shell: its name in the table */
} nbody_shell;
/* The shells of a grid of m^3 points; returns their number. */
int nbody_shells(int64_t m, nbody_shell shells[NBODY_SHELLS_MAX]);

typedef struct nbody_spectrum nbody_spectrum;

/* Creates the grid of m^3 points for a cube of side `size`; destroyed by nbody_spectrum_destroy. `power`: linear theory
 * at a = 1; NULL: none. SIM_ERR_NO_MEMORY. */
sim_status nbody_spectrum_create(int64_t m, double size, const nbody_power *power, sim_isa isa, int threads,
                                 nbody_spectrum **out) SIM_MUST_CHECK;
void nbody_spectrum_destroy(nbody_spectrum **spectrum);
double nbody_spectrum_bytes(int64_t m, int threads);
/* values[0]: shot noise V sum m^2 / (sum m)^2; then the mean power of each shell. Bodies on the host: mass[n],
 * position[3][n] of type `dtype`. The same bits for any number of threads. */
void nbody_spectrum_measure(nbody_spectrum *spectrum, sim_dtype dtype, int64_t n, const void *mass,
                            const void *position, double *values);
/* Linear theory at a = 1, mean over the modes of each shell; NULL where there is none. */
const double *nbody_spectrum_linear(const nbody_spectrum *spectrum);
int nbody_spectrum_shells(const nbody_spectrum *spectrum);

#endif
