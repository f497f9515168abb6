/* Expansion of the universe: comoving coordinates x, scale factor a, Hubble rate H = (da/dt)/a. The momentum of unit
 * mass is p = a^2 dx/dt, so that dx/dt = p/a^2 and dp/dt = g/a with the comoving acceleration g = -grad phi (J. P. E.
 * Peebles, "The large-scale structure of the universe" (1980), sections 7 and 8; T. Quinn et al. (1997),
 * astro-ph/9710043). Matter, curvature and a cosmological constant; no radiation. */
#ifndef NBODY_COSMOS_EXPANSION_H
#define NBODY_COSMOS_EXPANSION_H

#include <stdbool.h>

/* `expansion` of a scenario. */
typedef struct nbody_expansion {
  bool given;
  double omega_m, omega_lambda; /* at a = 1; the curvature is 1 - omega_m - omega_lambda */
  double H0;                    /* Hubble rate at a = 1, in the scenario's units */
  double h;                     /* H0 in 100 km/s/Mpc, for the transfer function alone */
  double a_start;
} nbody_expansion;

/* Integral of f over [low, high], a smooth function: Gauss's rule of 8 points in each of `panels` equal panels. */
double nbody_integral(double (*f)(double x, const void *context), const void *context, double low, double high,
                      int panels);

/* Whether the universe expands, H > 0, at all scale factors in (0, a]. */
bool nbody_expansion_lasts(const nbody_expansion *e, double a);
/* Hubble rate H. */
double nbody_hubble(const nbody_expansion *e, double a);
/* Integrals over time from scale factor a to b: of dt/a, the factor of accelerations (kick), and of dt/a^2, the factor
 * of momenta (drift). Accurate to rounding, with the same bits on every machine: they call no function but sqrt. */
double nbody_kick_factor(const nbody_expansion *e, double a, double b);
double nbody_drift_factor(const nbody_expansion *e, double a, double b);
/* Growing mode of linear theory, D -> a for a -> 0 (D. J. Heath, MNRAS 179 (1977) 351), and its logarithmic
 * derivative dlnD/dlna. */
double nbody_growth(const nbody_expansion *e, double a);
double nbody_growth_rate(const nbody_expansion *e, double a);
/* Mean density of matter, comoving: omega_m 3 H0^2 / (8 pi G). */
double nbody_mean_density(const nbody_expansion *e, double G);

#endif
