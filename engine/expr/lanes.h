/* Loops over the lanes of a block, one for each operation, compiled for each precision and instruction set. */
#ifndef SIM_EXPR_LANES_H
#define SIM_EXPR_LANES_H

#include "engine/expr/expr.h"

/* out[n] from up to three operands [n], or [1] for operands that are single values. `out` overlaps no operand. */
typedef void sim_expr_kernel(size_t n, void *out, const void *const *operands);

/* [op][bit set of operands that are single values], never all of them. COPY and FILL take the entry of INPUT (0:
 * copies, 1: repeats one value). NULL: no kernel. */
typedef sim_expr_kernel *const sim_expr_kernels[SIM_EXPR_OP_COUNT][8];

extern sim_expr_kernels sim_expr_kernels_double_plain, sim_expr_kernels_single_plain;
extern sim_expr_kernels sim_expr_kernels_double_avx2, sim_expr_kernels_single_avx2;
extern sim_expr_kernels sim_expr_kernels_double_avx512, sim_expr_kernels_single_avx512;

#endif
