/* Spread of a sample: of what payoffs compare, by cpu/bends.c. */
#ifndef OPTION_SPREAD_H
#define OPTION_SPREAD_H

/* Sorts `count` values in place. Values that are not finite (0/0, where both operands are 0) become 0. */
void option_sort(double *value, int count);
/* Of sorted values, an even number of at least two. */
double option_median(const double *sorted, int count);
/* The deviation of a normal law with the same quartiles; the same of -x. 0: rounding alone. */
double option_deviation(const double *sorted, int count);

/* The least magnitude that a 16th of the values have in common, within `tolerance`; 0 where it is below that. INFINITY:
 * none. Orders the values by magnitude. */
double option_common(double *value, int count, double tolerance);

/* A peak counts where its deviation is below this share of what quartiles tell: peaks that 1024 values of a normal law
 * seem to have are above it. */
#define OPTION_NARROW 0.5

/* Part of a sample: a peak of its density, or all of it. */
typedef struct option_peak {
  double middle;
  double deviation; /* of a normal law that falls as slowly on its slower side; 0: one number */
} option_peak;

/* The narrowest peak among values that are finite, which comes within `reach` of its deviations of 0; one number that
 * many values have, within `near`. Of a mixture it is the narrow part, as far as that has some 6 % of all values and a
 * larger density than the rest. Its deviation is known to a fifth. Without a peak the whole sample, likewise, with the
 * deviation by its quartiles. Sorts the values. `deviation` INFINITY: none, or fewer than 16 finite values. */
option_peak option_narrowest_peak(double *value, int count, double reach, double near);

#endif
