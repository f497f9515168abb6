/* Power spectrum of linear theory at a = 1: P(k), the mean of |delta_k|^2 times the volume. */
#ifndef NBODY_COSMOS_POWER_H
#define NBODY_COSMOS_POWER_H

#include "kernels/nbody/cosmos/expansion.h"
#include "kernels/nbody/nbody.h"

typedef struct nbody_power {
  const sim_doubles *rows; /* {k, P}, borrowed; NULL: the formula */
  double index, omega_m, omega_b, h;
  double scale; /* factor of P that gives sigma8; 1: none */
} nbody_power;

/* The spectrum that a group of valid parameters asks for. */
nbody_power nbody_power_of(const nbody_zeldovich *z, const nbody_expansion *e);
/* P at wave number k > 0. Power laws continue and connect the rows. */
double nbody_power_at(const nbody_power *power, double k);
/* Root mean square of the density contrast in spheres of radius R. */
double nbody_sigma(const nbody_power *power, double R);
/* Share, 0 to 1, of nbody_sigma's square from waves within the rows; the rest is of the power laws beyond. */
double nbody_sigma_within(const nbody_power *power, double R);
/* Root mean square over the waves of a lattice of n^3 bodies in a cube of edge `size`, at a = 1: of the density
 * contrast, or of the length of the Zel'dovich displacements. Waves fill a shell evenly: right to some percent. */
double nbody_lattice_contrast(const nbody_power *power, double size, int64_t n);
double nbody_lattice_displacement(const nbody_power *power, double size, int64_t n);
/* Transfer function without baryon wiggles, with k in h/Mpc: D. J. Eisenstein and W. Hu, ApJ 496 (1998) 605, equations
 * 26 and 28 to 31, for a background radiation of 2.7255 K. */
double nbody_transfer(double omega_m, double omega_b, double h, double k);

#endif
