/* Whether single precision tells places apart. */
#ifndef COMMON_RESOLUTION_H
#define COMMON_RESOLUTION_H

/* Distance of |x| from the next smaller number of single precision. */
double sim_single_spacing(double x);

/* Warns where numbers near `far` are farther apart in single precision than a thousandth of `length`, which is named
 * `of`; `remedy`: what helps beside precision = "double". */
void sim_resolution_warn(double far, double length, const char *of, const char *remedy);

#endif
