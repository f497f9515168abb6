#include "kernels/option/cpu/spread.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static int in_order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void option_sort(double *value, int count) {
  for (int i = 0; i < count; i++)
    if (!isfinite(value[i])) value[i] = 0;
  qsort(value, (size_t)count, sizeof *value, in_order);
}

double option_median(const double *sorted, int count) { return (sorted[count / 2 - 1] + sorted[count / 2]) / 2; }

double option_deviation(const double *sorted, int count) {
  const double low = sorted[count / 4], high = sorted[count - 1 - count / 4], deviation = (high - low) / 1.349;
  return deviation > 1e-9 * fmax(fabs(low), fabs(high)) ? deviation : 0;
}

double option_common(double *value, int count, double tolerance) {
  const int common = count / 16;
  for (int i = 0; i < count; i++) value[i] = isfinite(value[i]) ? fabs(value[i]) : INFINITY;
  qsort(value, (size_t)count, sizeof *value, in_order);
  for (int i = 0; i + common <= count && isfinite(value[i + common - 1]); i++)
    if (value[i + common - 1] - value[i] < tolerance) return value[i] < tolerance ? 0 : value[i];
  return INFINITY;
}

/* ---- peaks ---- */

/* Values in a peak's window, whose density is that of the peak: known to an eighth. */
enum { WINDOW = 64, LEAST = 16 };
/* A normal law's mean density between its middle and this number of deviations is half of that in the middle. */
#define HALF 2.47
/* Length of a window below which it holds one number. */
#define ONE 1e-9

/* The distance from x[i] on one side within which the mean density is half of `density`, beyond `inner` values. */
static double half_width(const double *x, int count, int i, bool above, double density, int inner) {
  const int others = above ? count - 1 - i : i;
  for (int k = inner; k <= others; k++) {
    const double distance = above ? x[i + k] - x[i] : x[i] - x[i - k];
    if (k < density / 2 * distance) return distance;
  }
  return others / (density / 2);
}

/* The narrowest peak of sorted values. */
static option_peak find_peak(const double *x, int count, double reach, double near) {
  const int window = count / 2 < WINDOW ? count / 2 : WINDOW;
  option_peak out = {0, INFINITY};
  for (int i = 0; i + window <= count; i += window / 4) {
    const int middle = i + window / 2;
    const double length = x[i + window - 1] - x[i], density = window / length;
    const bool one = length < ONE;
    const double below = one ? 0 : half_width(x, count, middle, false, density, window / 2),
                 above = one ? 0 : half_width(x, count, middle, true, density, window / 2),
                 deviation = fmax(below, above) / HALF;
    if (deviation < out.deviation && fabs(x[middle]) < (one ? near : reach * deviation))
      out = (option_peak){x[middle], deviation};
  }
  return out;
}

option_peak option_narrowest_peak(double *value, int count, double reach, double near) {
  const option_peak none = {0, INFINITY};
  int finite = 0;
  for (int i = 0; i < count; i++)
    if (isfinite(value[i])) value[finite++] = value[i];
  if (finite < LEAST) return none;
  qsort(value, (size_t)finite, sizeof *value, in_order);
  const option_peak whole = {option_median(value, finite), option_deviation(value, finite)},
                    peak = find_peak(value, finite, reach, near);
  if (peak.deviation < OPTION_NARROW * whole.deviation || !(whole.deviation > 0)) return peak;
  return fabs(whole.middle) < reach * whole.deviation ? whole : none;
}
