/* Finds whether a function is proportional to one of its inputs, from the degrees of its parts in that input. */
#include "engine/expr/graph.h"

/* Degrees in a positive input: a part of degree n is multiplied by factor^n where the input is multiplied by factor. A
 * condition of degree 0 stays as it is. NONE: unknown, or no power; ZERO: the number 0, which has every degree. */
enum { NONE = INT32_MIN, ZERO = INT32_MAX, MOST = 64 };

/* Degree of a sum, the larger one or a comparison, before the rules of the latter. */
static int32_t common(int32_t a, int32_t b) {
  if (a == ZERO) return b;
  return b == ZERO || a == b ? a : NONE;
}

static int32_t product(int32_t a, int32_t b, int sign) {
  if (a == NONE || b == NONE || (sign < 0 && b == ZERO)) return NONE;
  if (a == ZERO || b == ZERO) return ZERO;
  const int32_t sum = a + sign * b;
  return sum > MOST || sum < -MOST ? NONE : sum;
}

static int32_t degree_of(const sim_expr_node *node, const int32_t *degree, int input) {
  const int operands = sim_expr_rules[node->op].operands;
  const int32_t a = operands > 0 ? degree[node->args[0]] : 0, b = operands > 1 ? degree[node->args[1]] : 0;
  switch ((sim_expr_op)node->op) {
  case SIM_EXPR_INPUT: return node->args[0] == input;
  case SIM_EXPR_NUMBER: return node->value == 0 ? ZERO : 0;
  case SIM_EXPR_ADD:
  case SIM_EXPR_SUB:
  case SIM_EXPR_MIN:
  case SIM_EXPR_MAX:
  case SIM_EXPR_HYPOT: return common(a, b);
  case SIM_EXPR_LT:
  case SIM_EXPR_LE:
  case SIM_EXPR_EQ:
  case SIM_EXPR_NE: return common(a, b) == NONE ? NONE : 0;
  case SIM_EXPR_MUL: return product(a, b, 1);
  case SIM_EXPR_DIV: return product(a, b, -1);
  case SIM_EXPR_NEG:
  case SIM_EXPR_ABS: return a;
  case SIM_EXPR_WHERE: return a == 0 ? common(b, degree[node->args[2]]) : NONE;
  default: break;
  }
  for (int i = 0; i < operands; i++)
    if (degree[node->args[i]] != 0) return NONE;
  return 0;
}

bool sim_expr_is_proportional(const sim_expr *expr, int output, int input) {
  int32_t degree[SIM_EXPR_NODES_MAX];
  for (int i = 0; i < expr->node_count; i++) degree[i] = degree_of(&expr->nodes[i], degree, input);
  return degree[expr->output_nodes[output]] == 1;
}
