/* Resolution of positions in single precision. */
#ifndef COMMON_RESOLUTION_H
#define COMMON_RESOLUTION_H

/* Distance of |x|, rounded to single precision, from the next smaller single-precision number. */
double sim_single_spacing(double x);

/* Warns where the spacing of single-precision numbers near `far` exceeds a thousandth of `length`, in the same unit.
 * `of`: name of the length; `remedy`: advice beside precision = "double". */
void sim_resolution_warn(double far, double length, const char *of, const char *remedy);

#endif
