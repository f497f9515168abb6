/* Formulas of the time steps, for the C compiler and for nvcc. All quantities are in the scenario's units and in fp64,
 * whatever the precision of the state.
 *
 * Hermite scheme: J. Makino and S. J. Aarseth, PASJ 44 (1992) 141. Time step: S. J. Aarseth in "Multiple Time
 * Scales", eds. Brackbill and Cohen (1985) 377. Fourth-order composition: H. Yoshida, Phys. Lett. A 150 (1990) 262. */
#ifndef NBODY_PHYSICS_H
#define NBODY_PHYSICS_H

#include <math.h>

#ifndef SIM_HD
#ifdef __CUDACC__
#define SIM_HD __host__ __device__
#else
#define SIM_HD
#endif
#endif

/* Yoshida's weights of three leapfrog steps: w1, w0, w1 with w1 = 1/(2 - 2^(1/3)), w0 = 1 - 2 w1. */
#define NBODY_YOSHIDA_W1 1.3512071919596578
#define NBODY_YOSHIDA_W0 (-1.7024143839193153)

SIM_HD static inline double nbody_kicked(double v, double a, double dt) { return v + a * dt; }
SIM_HD static inline double nbody_drifted(double x, double v, double dt) { return x + v * dt; }

/* Wraps a coordinate into [0, size) of a periodic box; size 0: open space. Rounded to another type the result may be
 * `size`, and is then wrapped once more. Exact but for one rounding; NaN for NaN and infinity. */
SIM_HD static inline double nbody_wrapped(double x, double size) {
  if (size == 0 || (x >= 0 && x < size)) return x;
  const double inside = x - size * floor(x / size);
  return inside < 0 || inside >= size ? 0 : inside;
}

/* Position and velocity after dt by the Taylor series up to the jerk. */
SIM_HD static inline double nbody_predicted_position(double x, double v, double a, double j, double dt) {
  return x + dt * (v + dt * (0.5 * a + dt * (1.0 / 6.0) * j));
}
SIM_HD static inline double nbody_predicted_velocity(double v, double a, double j, double dt) {
  return v + dt * (a + dt * 0.5 * j);
}

/* Second and third derivative of the acceleration at the start of a step, from acceleration and jerk at both ends. */
SIM_HD static inline double nbody_snap(double a0, double j0, double a1, double j1, double dt) {
  return (-6 * (a0 - a1) - dt * (4 * j0 + 2 * j1)) / (dt * dt);
}
SIM_HD static inline double nbody_crackle(double a0, double j0, double a1, double j1, double dt) {
  return (12 * (a0 - a1) + 6 * dt * (j0 + j1)) / (dt * dt * dt);
}

/* Trapezoidal rule with end corrections, for velocity and position; the position uses v1, the corrected velocity. */
SIM_HD static inline double nbody_corrected_velocity(double v0, double a0, double j0, double a1, double j1, double dt) {
  return v0 + 0.5 * dt * (a0 + a1) + dt * dt * (1.0 / 12.0) * (j0 - j1);
}
SIM_HD static inline double nbody_corrected_position(double x0, double v0, double v1, double a0, double a1, double dt) {
  return x0 + 0.5 * dt * (v0 + v1) + dt * dt * (1.0 / 12.0) * (a0 - a1);
}

/* Level of a body in individual steps: the least l with dt / 2^l <= eta sqrt(softening / |a|), a2 = |a|^2; levels + 1
 * where none up to `levels` is short enough, or a is not a number. The criterion is that of V. Springel, MNRAS 364
 * (2005) 1105, equation 34, with eta = sqrt(2 x its eta). */
SIM_HD static inline int nbody_level(double a2, double softening, double eta, double dt, int levels) {
  const double longest = eta * sqrt(softening / sqrt(a2));
  int level = 0;
  for (; level <= levels && !(dt <= longest); level++) dt *= 0.5;
  return level;
}

/* Square of Aarseth's step over eta: (|a| |s| + |j|^2) / (|j| |c| + |s|^2); infinite for a constant force. */
SIM_HD static inline double nbody_aarseth(double a2, double j2, double s2, double c2) {
  const double low = sqrt(j2 * c2) + s2;
  return low > 0 ? (sqrt(a2 * s2) + j2) / low : INFINITY;
}

/* Square of the free-fall time of two bodies, up to a factor near 1: s^3 / gm, gm = G (m1 + m2). */
SIM_HD static inline double nbody_fall_time2(double dx, double dy, double dz, double eps2, double gm) {
  const double s2 = dx * dx + dy * dy + dz * dz + eps2;
  return gm > 0 ? s2 * sqrt(s2) / gm : INFINITY;
}

#ifdef __CUDACC__
/* A coordinate after a drift, wrapped into the periodic box. */
template <typename real> __device__ inline real nbody_moved(real x, real v, double dt, double box) {
  const real to = (real)nbody_drifted(x, v, dt);
  return (real)nbody_wrapped((real)nbody_wrapped(to, box), box);
}
#endif

#endif
