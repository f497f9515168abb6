/* What a function compares. */
#ifndef SIM_EXPR_COMPARISONS_H
#define SIM_EXPR_COMPARISONS_H

#include "engine/expr/expr.h"

/* Finds what an output compares. Creates a graph of the same inputs with a result (x - y)/m, from -1 to 1, for the
 * output and 0 (an output max(x, number) or min: x and the number), then for the operands of each comparison, min, max,
 * abs (with 0) and sign that the output depends on; m: the sum of the sizes of x and of y, which do not vanish with
 * them: those of (a - b) c, 0 < c, and log(a) are (|a| + |b|) c and 1 + |log a|. Where it changes its sign the output
 * may jump or have a kink. Skips the first `skip` and creates at most `most`; *out is NULL if none remains.
 * SIM_ERR_SCENARIO where the graph becomes too large. */
sim_status sim_expr_comparisons(const sim_expr *expr, int output, int skip, int most, sim_expr **out) SIM_MUST_CHECK;

#endif
