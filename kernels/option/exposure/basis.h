/* Functions of the regression of a contract's value at a date. */
#ifndef OPTION_EXPOSURE_BASIS_H
#define OPTION_EXPOSURE_BASIS_H

#include "kernels/option/exposure/contract.h"

enum { EXPOSURE_KNOTS_MAX = 8 };

/* In order: a natural cubic spline in u (linear outside its knots), the payment at u, Black's value, then raw variables
 * and products with them; these `values` functions give the value. The rest are the spline times the hedge, whose mean
 * is 0: they take the spread off the payments that the regression, and the exposure, see. */
typedef struct exposure_basis {
  int values, count; /* values == 0: not made */
  bool few;          /* the constant alone, of too few paths */
  int knots;
  double knot[EXPOSURE_KNOTS_MAX], centre, factor; /* of (u - centre) factor */
  int raws;
  bool simple;                                            /* too many raw variables for products with the spline */
  double low[EXPOSURE_RAWS_MAX], high[EXPOSURE_RAWS_MAX]; /* raw variables are held within these */
  double raw_centre[EXPOSURE_RAWS_MAX], raw_factor[EXPOSURE_RAWS_MAX];
} exposure_basis;

/* Makes the functions for the paths of a group in a state of one chunk; none where fewer than 64 are in it. */
void option_exposure_basis_make(const exposure_state *state, exposure_status group, bool hedged, exposure_basis *out);
/* A basis of the constant alone, and with `hedged` of the hedge: of time 0. */
void option_exposure_basis_constant(bool hedged, exposure_basis *out);
/* Evaluates all functions on all paths of a chunk: out[count][OPTION_CHUNK]. */
void option_exposure_basis_evaluate(const exposure_basis *basis, const exposure_state *state, double *out);

#endif
