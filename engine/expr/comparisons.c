#include "engine/expr/comparisons.h"

#include "engine/expr/graph.h"

#include <stdio.h>
#include <stdlib.h>

static bool compares(sim_expr_op op) {
  return op == SIM_EXPR_LT || op == SIM_EXPR_LE || op == SIM_EXPR_EQ || op == SIM_EXPR_NE || op == SIM_EXPR_MIN ||
         op == SIM_EXPR_MAX || op == SIM_EXPR_ABS || op == SIM_EXPR_SIGN;
}

/* Operations that jump where their argument, or the quotient of both, is an integer. */
static bool rounds(sim_expr_op op) {
  return op == SIM_EXPR_FLOOR || op == SIM_EXPR_CEIL || op == SIM_EXPR_MOD || op == SIM_EXPR_FMOD;
}

/* A graph whose differences of operands are built: values and magnitudes of its nodes in the builder. */
typedef struct compared {
  const sim_expr *expr;
  sim_expr_builder *builder;
  sim_status status;
  sim_expr_ref *value, *magnitude; /* [nodes]; magnitude -1: not built yet */
} compared;

static sim_expr_ref call3_of(compared *c, sim_expr_op op, sim_expr_ref x, sim_expr_ref y, sim_expr_ref z) {
  sim_expr_ref out = 0;
  if (c->status == SIM_OK) c->status = sim_expr_builder_call(c->builder, op, (const sim_expr_ref[]){x, y, z}, &out);
  return out;
}

static sim_expr_ref call_of(compared *c, sim_expr_op op, sim_expr_ref x, sim_expr_ref y) {
  return call3_of(c, op, x, y, 0);
}

/* 1 + |x|: the size of a function that may be 0. */
static sim_expr_ref one_more(compared *c, sim_expr_ref x) {
  sim_expr_ref one = 0;
  if (c->status == SIM_OK) c->status = sim_expr_builder_number(c->builder, 1, &one);
  return call_of(c, SIM_EXPR_ADD, one, call_of(c, SIM_EXPR_ABS, x, 0));
}

static sim_expr_ref magnitude_of(compared *c, int node);

static sim_expr_ref size_of(compared *c, const sim_expr_node *n, sim_expr_ref value) {
  const sim_expr_op op = (sim_expr_op)n->op;
  switch (op) {
  case SIM_EXPR_ADD:
  case SIM_EXPR_SUB: return call_of(c, SIM_EXPR_ADD, magnitude_of(c, n->args[0]), magnitude_of(c, n->args[1]));
  case SIM_EXPR_MUL: return call_of(c, op, magnitude_of(c, n->args[0]), magnitude_of(c, n->args[1]));
  case SIM_EXPR_DIV:
    return call_of(c, op, magnitude_of(c, n->args[0]), call_of(c, SIM_EXPR_ABS, c->value[n->args[1]], 0));
  case SIM_EXPR_MIN:
  case SIM_EXPR_MAX: return call_of(c, SIM_EXPR_MAX, magnitude_of(c, n->args[0]), magnitude_of(c, n->args[1]));
  case SIM_EXPR_WHERE:
    return call3_of(c, op, c->value[n->args[0]], magnitude_of(c, n->args[1]), magnitude_of(c, n->args[2]));
  case SIM_EXPR_NEG:
  case SIM_EXPR_ABS: return magnitude_of(c, n->args[0]);
  case SIM_EXPR_INPUT:
  case SIM_EXPR_NUMBER:
  case SIM_EXPR_POW:
  case SIM_EXPR_HYPOT:
  case SIM_EXPR_SQRT:
  case SIM_EXPR_EXP:
  case SIM_EXPR_COSH: return call_of(c, SIM_EXPR_ABS, value, 0);
  default: return one_more(c, value);
  }
}

/* The size of a node, as in the header. */
static sim_expr_ref magnitude_of(compared *c, int node) {
  if (c->magnitude[node] < 0 && c->status == SIM_OK)
    c->magnitude[node] = size_of(c, &c->expr->nodes[node], c->value[node]);
  return c->magnitude[node];
}

/* The difference of the operands over the sum of their sizes; b -1: of a and 0. */
static sim_expr_ref ratio_of(compared *c, int a, int b) {
  sim_expr_ref difference = b < 0 ? c->value[a] : call_of(c, SIM_EXPR_SUB, c->value[a], c->value[b]),
               size = magnitude_of(c, a);
  if (b >= 0) size = call_of(c, SIM_EXPR_ADD, size, magnitude_of(c, b));
  return call_of(c, SIM_EXPR_DIV, difference, size);
}

/* The difference of what is rounded and the nearest integer, over the sum of their sizes. */
static sim_expr_ref ratio_to_integer(compared *c, const sim_expr_node *n) {
  const bool one = n->op == SIM_EXPR_FLOOR || n->op == SIM_EXPR_CEIL;
  const sim_expr_ref x =
      one ? c->value[n->args[0]] : call_of(c, SIM_EXPR_DIV, c->value[n->args[0]], c->value[n->args[1]]);
  sim_expr_ref half = 0;
  if (c->status == SIM_OK) c->status = sim_expr_builder_number(c->builder, 0.5, &half);
  const sim_expr_ref nearest = call_of(c, SIM_EXPR_FLOOR, call_of(c, SIM_EXPR_ADD, x, half), 0);
  return call_of(c, SIM_EXPR_DIV, call_of(c, SIM_EXPR_SUB, x, nearest),
                 call_of(c, SIM_EXPR_ADD, one_more(c, x), one_more(c, nearest)));
}

/* Marks the nodes that node depends on, and it. */
static void mark_needed(const sim_expr *expr, int node, unsigned char *needed) {
  needed[node] = 1;
  for (int i = node; i >= 0; i--)
    for (int k = 0; needed[i] && k < sim_expr_rules[expr->nodes[i].op].operands; k++)
      needed[expr->nodes[i].args[k]] = 1;
}

/* The output compared with 0, or with the number that is its least or largest value. */
static sim_expr_ref ratio_of_output(compared *c, int node) {
  const sim_expr_node *n = &c->expr->nodes[node];
  const bool bounded = n->op == SIM_EXPR_MAX || n->op == SIM_EXPR_MIN;
  if (bounded && c->expr->nodes[n->args[1]].op == SIM_EXPR_NUMBER) return ratio_of(c, n->args[0], n->args[1]);
  if (bounded && c->expr->nodes[n->args[0]].op == SIM_EXPR_NUMBER) return ratio_of(c, n->args[1], n->args[0]);
  return ratio_of(c, node, -1);
}

/* Adds the output at node `whole` and all comparisons of the marked nodes, behind the first `skip`. */
static int add_ratios(compared *c, int whole, const unsigned char *needed, int skip, int most, sim_expr_ref *out) {
  int found = 0, count = 0;
  if (found++ >= skip) out[count++] = ratio_of_output(c, whole);
  for (int i = 0; i <= whole && count < most && c->status == SIM_OK; i++) {
    const sim_expr_node *n = &c->expr->nodes[i];
    const bool one = n->op == SIM_EXPR_ABS || n->op == SIM_EXPR_SIGN;
    const bool whole_numbers = rounds((sim_expr_op)n->op);
    if (needed[i] && (compares((sim_expr_op)n->op) || whole_numbers) && found++ >= skip)
      out[count++] = whole_numbers ? ratio_to_integer(c, n) : ratio_of(c, n->args[0], one ? -1 : n->args[1]);
  }
  return count;
}

sim_status sim_expr_comparisons(const sim_expr *expr, int output, int skip, int most, sim_expr **out) {
  char names[SIM_EXPR_OUTPUTS_MAX][16];
  const char *pointers[SIM_EXPR_OUTPUTS_MAX];
  sim_expr_ref inputs[SIM_EXPR_INPUTS_MAX], results[SIM_EXPR_OUTPUTS_MAX];
  const size_t nodes = (size_t)expr->node_count + 1;
  compared c = {.expr = expr, .value = calloc(2 * nodes, sizeof *c.value)};
  unsigned char *needed = calloc(nodes, 1);
  int count = 0;
  *out = NULL;
  c.status = c.value != NULL && needed != NULL ? sim_expr_builder_create(&c.builder)
                                               : sim_no_memory("the comparisons of a function");
  for (int i = 0; i < expr->input_count && c.status == SIM_OK; i++)
    c.status = sim_expr_builder_input(c.builder, expr->inputs[i], &inputs[i]);
  if (c.status == SIM_OK) c.status = sim_expr_builder_insert_all(c.builder, expr, inputs, c.value);
  if (c.status == SIM_OK) {
    c.magnitude = c.value + nodes;
    for (size_t i = 0; i < nodes; i++) c.magnitude[i] = -1;
    mark_needed(expr, expr->output_nodes[output], needed);
    count = add_ratios(&c, expr->output_nodes[output], needed, skip, most, results);
  }
  for (int k = 0; k < count; k++) {
    snprintf(names[k], sizeof names[k], "ratio%d", k + 1);
    pointers[k] = names[k];
  }
  if (c.status == SIM_OK && count > 0) c.status = sim_expr_builder_finish(c.builder, results, pointers, count, out);
  sim_expr_builder_free(&c.builder);
  free(c.value);
  free(needed);
  return c.status;
}
