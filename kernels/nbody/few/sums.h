/* Compensated sums. */
#ifndef NBODY_SUMS_H
#define NBODY_SUMS_H

/* *sum += term; *low keeps the rounding error of all such sums (W. Kahan, Comm. ACM 8 (1965) 40). */
static inline void nbody_add(double *sum, double *low, double term) {
  const double t = term + *low, after = *sum + t;
  *low = t - (after - *sum);
  *sum = after;
}

#endif
