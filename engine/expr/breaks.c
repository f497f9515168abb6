/* Finds where a function of one input may jump or have a kink. Where operands are linear in the input, the points are
 * computed exactly; the others are given as a graph whose outputs change sign there. */
#include "engine/expr/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A node's value as slope * input + shift, if it is linear. */
typedef struct line {
  bool is;
  double slope, shift;
} line;

static line line_of(const sim_expr_node *node, const line *lines, int input) {
  const line none = {0};
  if (node->op == SIM_EXPR_INPUT) return node->args[0] == input ? (line){true, 1, 0} : none;
  if (node->op == SIM_EXPR_NUMBER) return (line){true, 0, node->value};
  const int operands = sim_expr_rules[node->op].operands;
  const line a = operands > 0 ? lines[node->args[0]] : none, b = operands > 1 ? lines[node->args[1]] : none;
  switch ((sim_expr_op)node->op) {
  case SIM_EXPR_NEG: return (line){a.is, -a.slope, -a.shift};
  case SIM_EXPR_ADD: return (line){a.is && b.is, a.slope + b.slope, a.shift + b.shift};
  case SIM_EXPR_SUB: return (line){a.is && b.is, a.slope - b.slope, a.shift - b.shift};
  case SIM_EXPR_MUL:
    if (a.is && b.is && b.slope == 0) return (line){true, a.slope * b.shift, a.shift * b.shift};
    return (line){a.is && b.is && a.slope == 0, a.shift * b.slope, a.shift * b.shift};
  case SIM_EXPR_DIV: return (line){a.is && b.is && b.slope == 0 && b.shift != 0, a.slope / b.shift, a.shift / b.shift};
  default: return none;
  }
}

/* Writes the input at which two lines intersect; returns the number of points, 0 or 1. */
static int meeting(line a, line b, double *out) {
  if (!a.is || !b.is || a.slope == b.slope) return 0;
  *out = (b.shift - a.shift) / (a.slope - b.slope);
  return isfinite(*out) ? 1 : 0;
}

/* Finds the points where the node's operands are equal: at most three, in `out`. *linear: there are no other points. */
static int meetings(const sim_expr *expr, const sim_expr_node *node, const line *lines, double *out, bool *linear) {
  static const line zero = {true, 0, 0};
  const line a = lines[node->args[0]];
  *linear = a.is;
  if (sim_expr_rules[node->op].operands == 1) return meeting(a, zero, out);
  int count = meeting(a, lines[node->args[1]], out);
  *linear &= lines[node->args[1]].is;
  for (int k = 0; k < 2; k++) { /* |line| and a number: two points */
    const sim_expr_node *size = &expr->nodes[node->args[k]];
    const line other = lines[node->args[1 - k]], minus = {other.is, -other.slope, -other.shift};
    if (size->op != SIM_EXPR_ABS || other.slope != 0) continue;
    count += meeting(lines[size->args[0]], other, out + count);
    count += meeting(lines[size->args[0]], minus, out + count);
    *linear |= other.is && lines[size->args[0]].is;
  }
  return count;
}

static bool compares(sim_expr_op op) {
  return op == SIM_EXPR_LT || op == SIM_EXPR_LE || op == SIM_EXPR_EQ || op == SIM_EXPR_NE || op == SIM_EXPR_MIN ||
         op == SIM_EXPR_MAX || op == SIM_EXPR_ABS || op == SIM_EXPR_SIGN;
}

static line *lines_of(const sim_expr *expr, int input) {
  line *lines = malloc(((size_t)expr->node_count + 1) * sizeof *lines);
  for (int i = 0; lines && i < expr->node_count; i++) lines[i] = line_of(&expr->nodes[i], lines, input);
  return lines;
}

sim_status sim_expr_breaks(const sim_expr *expr, int input, double **out, int *count) {
  line *lines = lines_of(expr, input);
  bool linear;
  *count = 0;
  *out = lines ? malloc((3 * (size_t)expr->node_count + 1) * sizeof **out) : NULL;
  if (!*out) {
    free(lines);
    return sim_no_memory("the jumps of a function");
  }
  for (int i = 0; i < expr->node_count; i++)
    if (compares((sim_expr_op)expr->nodes[i].op))
      *count += meetings(expr, &expr->nodes[i], lines, *out + *count, &linear);
  free(lines);
  return SIM_OK;
}

/* Builds an expression that changes its sign where the node may jump or have a kink. */
static sim_status switch_of(sim_expr_builder *builder, const sim_expr_node *node, const sim_expr_ref *values,
                            sim_expr_ref *out) {
  static const double pi = 3.14159265358979323846;
  const sim_expr_ref pair[2] = {values[node->args[0]], values[node->args[1]]};
  sim_expr_ref product[2];
  *out = pair[0];
  if (node->op == SIM_EXPR_ABS || node->op == SIM_EXPR_SIGN) return SIM_OK;
  if (compares((sim_expr_op)node->op)) return sim_expr_builder_call(builder, SIM_EXPR_SUB, pair, out);
  product[0] = pair[0]; /* floor and ceil jump at integers, a % b and fmod where a / b is an integer */
  if (sim_expr_rules[node->op].operands == 2) SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_DIV, pair, product));
  SIM_TRY(sim_expr_builder_number(builder, pi, &product[1]));
  SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_MUL, product, product));
  return sim_expr_builder_call(builder, SIM_EXPR_SIN, product, out);
}

/* Whether a node depends on this input and on no other. */
static bool of_input(const sim_expr *expr, int node, int input, unsigned char *uses) {
  enum { IT = 1, OTHER = 2 };
  const sim_expr_node *n = &expr->nodes[node];
  uses[node] = 0;
  if (n->op == SIM_EXPR_INPUT) uses[node] = n->args[0] == input ? IT : OTHER;
  for (int k = 0; k < sim_expr_rules[n->op].operands; k++) uses[node] |= uses[n->args[k]];
  return uses[node] == IT;
}

static bool may_switch(sim_expr_op op) {
  return compares(op) || op == SIM_EXPR_FLOOR || op == SIM_EXPR_CEIL || op == SIM_EXPR_MOD || op == SIM_EXPR_FMOD;
}

sim_status sim_expr_switches(const sim_expr *expr, int input, int skip, int most, sim_expr **out) {
  sim_expr_name names[SIM_EXPR_OUTPUTS_MAX];
  const char *pointers[SIM_EXPR_OUTPUTS_MAX];
  sim_expr_ref inputs[SIM_EXPR_INPUTS_MAX], results[SIM_EXPR_OUTPUTS_MAX];
  sim_expr_builder *builder = NULL;
  double unused[3];
  bool linear;
  int found = 0, count = 0;
  line *lines = lines_of(expr, input);
  sim_expr_ref *values = calloc((size_t)expr->node_count + 1, sizeof *values);
  unsigned char *uses = calloc((size_t)expr->node_count + 1, 1);
  *out = NULL;
  sim_status status =
      lines && values && uses ? sim_expr_builder_create(&builder) : sim_no_memory("the jumps of a function");
  for (int i = 0; i < expr->input_count && status == SIM_OK; i++)
    status = sim_expr_builder_input(builder, expr->inputs[i], &inputs[i]);
  if (status == SIM_OK) status = sim_expr_builder_insert_all(builder, expr, inputs, values);
  for (int i = 0; i < expr->node_count && count < most && status == SIM_OK; i++) {
    const sim_expr_op op = (sim_expr_op)expr->nodes[i].op;
    if (!of_input(expr, i, input, uses) || !may_switch(op)) continue;
    if (compares(op)) (void)meetings(expr, &expr->nodes[i], lines, unused, &linear);
    if ((compares(op) && linear) || found++ < skip) continue;
    status = switch_of(builder, &expr->nodes[i], values, &results[count]);
    snprintf(names[count], sizeof names[count], "switch%d", found);
    pointers[count] = names[count];
    count++;
  }
  if (status == SIM_OK && count > 0) status = sim_expr_builder_finish(builder, results, pointers, count, out);
  sim_expr_builder_free(&builder);
  free(lines);
  free(values);
  free(uses);
  return status;
}
