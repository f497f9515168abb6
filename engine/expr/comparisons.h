/* What a function compares. */
#ifndef SIM_EXPR_COMPARISONS_H
#define SIM_EXPR_COMPARISONS_H

#include "engine/expr/expr.h"

/* Finds what an output compares, and so where it may jump or have a kink. Creates a graph of the same inputs. Each of
 * its results is (x - y)/m for one pair x, y that is compared; it changes its sign where x = y. The first pair is the
 * output and 0; of an output max(x, number) or min it is x and the number. The others are the operands of each
 * comparison, min and max that the output depends on, of each abs and sign its operand and 0, and of each floor, ceil
 * and % what is rounded and the nearest integer (1 + the size of each; the sign changes halfway between integers too).
 *
 * m makes the result a share: it is the size of x plus that of y, and is above 0 where x = y. The size of an input is
 * its absolute value, that of a sum or difference the sum of the sizes of its terms, that of a product their product.
 * So the size of (a - b) c is (|a| + |b|) |c|. A function that may itself be 0, such as log(a), has the size 1 +
 * |log(a)|.
 *
 * Skips the first `skip` pairs and takes at most `most`; *out is NULL if none remains. SIM_ERR_SCENARIO where the graph
 * becomes too large. */
sim_status sim_expr_comparisons(const sim_expr *expr, int output, int skip, int most, sim_expr **out) SIM_MUST_CHECK;

#endif
