/* Compensated sums. */
#ifndef NBODY_SUMS_H
#define NBODY_SUMS_H

/* Adds `term` to *sum; *low keeps the rounding error of all additions (W. Kahan, Comm. ACM 8 (1965) 40). */
static inline void nbody_add(double *sum, double *low, double term) {
  const double t = term + *low, after = *sum + t;
  *low = t - (after - *sum);
  *sum = after;
}

#endif
