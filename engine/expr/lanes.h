/* Loops over the entities (lanes) of a block, one loop per operation, compiled for each precision and instruction
 * set. */
#ifndef SIM_EXPR_LANES_H
#define SIM_EXPR_LANES_H

#include "engine/expr/expr.h"

/* Computes out[n] from up to three operands, each [n], or [1] for an operand with one value. `out` overlaps no
 * operand. */
typedef void sim_expr_kernel(size_t n, void *out, const void *const *operands);

/* Indices: operation; bit set of the operands that have one value, never all of them. The entry of INPUT holds the
 * loops that copy an operand (0) or repeat one value (1). NULL: no loop. */
typedef sim_expr_kernel *const sim_expr_kernels[SIM_EXPR_OP_COUNT][8];

extern sim_expr_kernels sim_expr_kernels_double_plain, sim_expr_kernels_single_plain;
extern sim_expr_kernels sim_expr_kernels_double_avx2, sim_expr_kernels_single_avx2;
extern sim_expr_kernels sim_expr_kernels_double_avx512, sim_expr_kernels_single_avx512;

#endif
