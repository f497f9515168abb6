/* Loops over the lanes of a block, one an operation, compiled once for each precision and instruction set. */
#ifndef SIM_EXPR_LANES_H
#define SIM_EXPR_LANES_H

#include "engine/expr/expr.h"

/* out[n] from up to three operands [n], or [1] where the kernel was looked up so. `out` overlaps no operand. */
typedef void sim_expr_kernel(size_t n, void *out, const void *const *operands);

/* [op][which operands are single values, one bit each]; never all of them. COPY and FILL stand at the places of INPUT
 * (0: copies, 1: repeats one value). NULL where there is none. */
typedef sim_expr_kernel *const sim_expr_kernels[SIM_EXPR_OP_COUNT][8];

extern sim_expr_kernels sim_expr_kernels_double_plain, sim_expr_kernels_single_plain;
extern sim_expr_kernels sim_expr_kernels_double_avx2, sim_expr_kernels_single_avx2;
extern sim_expr_kernels sim_expr_kernels_double_avx512, sim_expr_kernels_single_avx512;

#endif
