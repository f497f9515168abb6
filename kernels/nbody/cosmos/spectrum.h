/* Measured power spectrum of the bodies in a periodic cube: P(k) = V <|delta_k|^2> over shells of wave numbers.
 *
 * Cloud-in-cell assignment spreads the masses over a grid (R. W. Hockney and J. W. Eastwood, "Computer simulation using
 * particles" (1981)) and over a second grid displaced by half a cell, which removes the strongest aliases (E. Sefusatti
 * et al., MNRAS 460 (2016) 3624); the transform of the assignment is divided out. Shot noise is not subtracted. */
#ifndef NBODY_COSMOS_SPECTRUM_H
#define NBODY_COSMOS_SPECTRUM_H

#include "kernels/nbody/cosmos/cube.h"
#include "kernels/nbody/cosmos/power.h"

/* Shell low <= |k| L / (2 pi) < high of the spectrum. The bounds are half-integers; a shell's width is 1 at first, then
 * a quarter of `low`. All shells are below half the grid's wave number. */
enum { NBODY_SHELLS_MAX = 31, NBODY_SPECTRUM_GRID_MIN = 4, NBODY_SPECTRUM_GRID_MAX = 2048 };
typedef struct nbody_shell {
  double low, high;
  int64_t number; /* integer next to the middle of the shell: its name in the table */
} nbody_shell;
/* The shells of a grid of m^3 points; returns their number. */
int nbody_shells(int64_t m, nbody_shell shells[NBODY_SHELLS_MAX]);

typedef struct nbody_spectrum nbody_spectrum;

/* Creates the grid of m^3 points for a cube of side `size`; destroyed by nbody_spectrum_destroy. `power`: linear theory
 * at a = 1, not kept; NULL: none. SIM_ERR_NO_MEMORY. */
sim_status nbody_spectrum_create(int64_t m, double size, const nbody_power *power, sim_isa isa, int threads,
                                 nbody_spectrum **out) SIM_MUST_CHECK;
void nbody_spectrum_destroy(nbody_spectrum **spectrum);
double nbody_spectrum_bytes(int64_t m, int threads);
/* Measures values[0]: shot noise V sum m^2 / (sum m)^2, then the mean power of each shell. Bodies are in host memory:
 * mass[n], position[3][n] of type `dtype`. The same bits for any number of threads. */
void nbody_spectrum_measure(nbody_spectrum *spectrum, sim_dtype dtype, int64_t n, const void *mass,
                            const void *position, double *values);
/* Mean of linear theory at a = 1 over the modes of each shell; NULL where `power` was NULL. */
const double *nbody_spectrum_linear(const nbody_spectrum *spectrum);
int nbody_spectrum_shells(const nbody_spectrum *spectrum);

#endif
