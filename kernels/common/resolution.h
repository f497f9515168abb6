/* Resolution of positions in single precision. */
#ifndef COMMON_RESOLUTION_H
#define COMMON_RESOLUTION_H

/* Distance of |x| from the next smaller number of single precision. */
double sim_single_spacing(double x);

/* Warns where the spacing of single-precision numbers near `far` exceeds a thousandth of `length`. `of`: name of the
 * length; `remedy`: what helps besides precision = "double". */
void sim_resolution_warn(double far, double length, const char *of, const char *remedy);

#endif
