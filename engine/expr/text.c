/* Writes graphs as text. A short value that is read once is written in place; others get a line of their own. */
#include "engine/expr/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  LONGEST = 72,
  TIGHT = 9
}; /* LONGEST: largest size in bytes of a value written in place; TIGHT: precedence above every operator */

typedef struct piece {
  char *text; /* owned; NULL: the value has a line of its own */
  int rank;   /* precedence of its outermost operator in Lua */
  int name;   /* number in the name t1, t2, ... */
} piece;

static int rank_of(sim_expr_op op) {
  switch (op) {
  case SIM_EXPR_OR: return 1;
  case SIM_EXPR_AND: return 2;
  case SIM_EXPR_LT:
  case SIM_EXPR_LE:
  case SIM_EXPR_EQ:
  case SIM_EXPR_NE: return 3;
  case SIM_EXPR_ADD:
  case SIM_EXPR_SUB: return 4;
  case SIM_EXPR_MUL:
  case SIM_EXPR_DIV:
  case SIM_EXPR_MOD: return 5;
  case SIM_EXPR_NEG:
  case SIM_EXPR_NOT: return 6;
  case SIM_EXPR_POW: return 7;
  default: return TIGHT;
  }
}

static void add_operand(sim_bytes *line, const piece *operand, int least) {
  if (!operand->text) {
    sim_bytes_format(line, "t%d", operand->name);
    return;
  }
  bool bare = operand->rank >= least;
  sim_bytes_format(line, bare ? "%s" : "(%s)", operand->text);
}

static void add_number(sim_bytes *line, double value) {
  char text[40];
  if (isnan(value) || isinf(value)) {
    sim_bytes_text(line, isnan(value) ? "nan" : value > 0 ? "math.huge" : "-math.huge");
    return;
  }
  for (int digits = 1; digits <= 17; digits++) { /* the shortest text that reads back as the same number */
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  if (fabs(value) < 1e15 && value == floor(value))
    snprintf(text, sizeof text, "%.15g", value); /* writes 100 instead of 1e+02 */
  sim_bytes_text(line, text);
}

static void add_node(sim_bytes *line, const sim_expr *expr, const sim_expr_node *node, const piece *pieces) {
  const sim_expr_rule *rule = &sim_expr_rules[node->op];
  int rank = rank_of((sim_expr_op)node->op);
  const piece *a = &pieces[node->args[0]], *b = &pieces[node->args[1]];
  if (node->op == SIM_EXPR_INPUT) {
    sim_bytes_text(line, expr->inputs[node->args[0]]);
  } else if (node->op == SIM_EXPR_NUMBER) {
    add_number(line, node->value);
  } else if (node->op == SIM_EXPR_TRUTH) {
    sim_bytes_text(line, node->value != 0 ? "true" : "false");
  } else if (rank == TIGHT) {
    sim_bytes_format(line, "%s(", rule->name);
    for (int k = 0; k < rule->operands; k++) {
      if (k) sim_bytes_text(line, ", ");
      add_operand(line, &pieces[node->args[k]], 0);
    }
    sim_bytes_text(line, ")");
  } else if (rule->operands == 1) {
    sim_bytes_text(line, node->op == SIM_EXPR_NEG ? "-" : "not ");
    add_operand(line, a, rank + 1);
  } else {
    bool is_power = node->op == SIM_EXPR_POW;
    add_operand(line, a, is_power || rank == 3 ? rank + 1 : rank);
    sim_bytes_format(line, " %s ", is_power ? "^" : node->op == SIM_EXPR_MOD ? "%" : rule->name);
    add_operand(line, b, is_power ? TIGHT : rank + 1);
  }
}

static sim_status write_lines(const sim_expr *expr, const int *uses, piece *pieces, sim_bytes *out) {
  int names = 0;
  for (int i = 0; i < expr->node_count; i++) {
    const sim_expr_node *node = &expr->nodes[i];
    sim_bytes line = {0};
    add_node(&line, expr, node, pieces);
    if (line.failed) {
      sim_bytes_free(&line);
      return sim_no_memory("the text of a function");
    }
    bool negative = node->op == SIM_EXPR_NUMBER && signbit(node->value);
    pieces[i].rank = negative ? rank_of(SIM_EXPR_NEG) : rank_of((sim_expr_op)node->op);
    bool leaf = sim_expr_rules[node->op].operands == 0;
    if (leaf || (uses[i] <= 1 && line.size <= LONGEST)) {
      pieces[i].text = line.data;
      continue;
    }
    pieces[i].name = ++names;
    sim_bytes_format(out, "t%d = %s\n", names, line.data);
    sim_bytes_free(&line);
  }
  for (int i = 0; i < expr->output_count; i++) {
    sim_bytes_format(out, "%s = ", expr->outputs[i]);
    add_operand(out, &pieces[expr->output_nodes[i]], 0);
    sim_bytes_text(out, "\n");
  }
  return out->failed ? sim_no_memory("the text of a function") : SIM_OK;
}

sim_status sim_expr_text(const sim_expr *expr, sim_bytes *out) {
  size_t nodes = (size_t)expr->node_count + 1;
  int *uses = calloc(nodes, sizeof *uses);
  piece *pieces = calloc(nodes, sizeof *pieces);
  sim_status status = SIM_OK;
  if (!uses || !pieces) {
    status = sim_no_memory("the text of a function");
  } else {
    for (int i = 0; i < expr->node_count; i++)
      for (int k = 0; k < sim_expr_rules[expr->nodes[i].op].operands; k++) uses[expr->nodes[i].args[k]]++;
    for (int i = 0; i < expr->output_count; i++) uses[expr->output_nodes[i]]++;
    status = write_lines(expr, uses, pieces, out);
    for (int i = 0; i < expr->node_count; i++) free(pieces[i].text);
  }
  free(uses);
  free(pieces);
  return status;
}
