/* Motion of two bodies: a step along a Kepler orbit, and its elements. Relative coordinates, fp64; mu = G (m1 + m2). */
#ifndef NBODY_KEPLER_H
#define NBODY_KEPLER_H

#include <stdbool.h>

/* Orbital elements; angles in radians. */
typedef struct nbody_elements {
  double a, e;            /* semi-major axis, negative for a hyperbola; eccentricity */
  double inc, node, peri; /* inclination, longitude of the ascending node, argument of the pericentre */
  double M;               /* mean anomaly: time since the pericentre times sqrt(mu / |a|^3) */
} nbody_elements;

/* Changes dx[3], dv[3] of x[3] and v[3] in the time dt, along an ellipse, a parabola or a hyperbola, by universal
 * variables (J. Stumpff, Himmelsmechanik I (1959); J. Wisdom and D. M. Hernandez, MNRAS 453 (2015) 3015). False where
 * the equation has no finite solution: a fall onto the centre, or numbers that are not finite. */
bool nbody_kepler_step(double mu, double dt, const double x[3], const double v[3], double dx[3], double dv[3]);

/* Computes position and velocity at given elements to rounding, for any e but 1. False where Kepler's equation has no
 * finite solution. */
bool nbody_elements_place(const nbody_elements *elements, double mu, double x[3], double v[3]);
/* Computes osculating elements; 0 <= inc <= pi; node, peri and the M of an ellipse are from 0 to 2 pi. Where the orbit
 * has no inclination, node is 0 and the x axis replaces the node; where e <= 1e-12, peri is 0 and M counts from the
 * node. NaN where the orbit is a line or a parabola. */
void nbody_elements_of(double mu, const double x[3], const double v[3], nbody_elements *out);

#endif
