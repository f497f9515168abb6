#include "engine/expr/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const sim_expr_rule sim_expr_rules[SIM_EXPR_OP_COUNT] = {
#define ROW(op, name, operands, takes, gives) {name, operands, SIM_EXPR_##takes, SIM_EXPR_##gives},
    SIM_EXPR_OPS(ROW)
#undef ROW
};

sim_expr_type sim_expr_operand_type(sim_expr_op op, int operand) {
  return op == SIM_EXPR_WHERE && operand == 0 ? SIM_EXPR_C : sim_expr_rules[op].takes;
}

sim_status sim_expr_allocate(int inputs, int outputs, int nodes, sim_expr **out) {
  *out = NULL;
  sim_expr *expr = calloc(1, sizeof *expr);
  if (expr) {
    expr->input_count = inputs;
    expr->output_count = outputs;
    expr->node_count = nodes;
    expr->inputs = calloc((size_t)inputs + 1, sizeof *expr->inputs);
    expr->outputs = calloc((size_t)outputs + 1, sizeof *expr->outputs);
    expr->nodes = calloc((size_t)nodes + 1, sizeof *expr->nodes);
    expr->output_nodes = calloc((size_t)outputs + 1, sizeof *expr->output_nodes);
  }
  if (!expr || !expr->inputs || !expr->outputs || !expr->nodes || !expr->output_nodes) {
    sim_expr_free(&expr);
    return sim_no_memory("a function of %d operations", nodes);
  }
  *out = expr;
  return SIM_OK;
}

void sim_expr_free(sim_expr **expr) {
  if (*expr) {
    free((*expr)->inputs);
    free((*expr)->outputs);
    free((*expr)->nodes);
    free((*expr)->output_nodes);
    free(*expr);
  }
  *expr = NULL;
}

bool sim_expr_name_valid(const char *name) {
  size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  return length && length <= SIM_EXPR_NAME_MAX && !name[length] && !(name[0] >= '0' && name[0] <= '9');
}

bool sim_expr_name_reserved(const char *name) {
  static const char *const words[] = {"and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
                                      "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
                                      "repeat",   "return", "then", "true", "until",  "while"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i], name) == 0) return true;
  return false;
}

int sim_expr_input_count(const sim_expr *expr) { return expr->input_count; }
int sim_expr_output_count(const sim_expr *expr) { return expr->output_count; }
int sim_expr_node_count(const sim_expr *expr) { return expr->node_count; }
const char *sim_expr_input_name(const sim_expr *expr, int input) { return expr->inputs[input]; }
const char *sim_expr_output_name(const sim_expr *expr, int output) { return expr->outputs[output]; }

int sim_expr_input_find(const sim_expr *expr, const char *name) {
  for (int i = 0; i < expr->input_count; i++)
    if (strcmp(expr->inputs[i], name) == 0) return i;
  return -1;
}

sim_expr_type sim_expr_output_type(const sim_expr *expr, int output) {
  return sim_expr_rules[expr->nodes[expr->output_nodes[output]].op].gives;
}

bool sim_expr_depends(const sim_expr *expr, int output, int input) {
  bool needed[SIM_EXPR_NODES_MAX] = {false};
  needed[expr->output_nodes[output]] = true;
  for (int i = expr->output_nodes[output]; i >= 0; i--) {
    if (!needed[i]) continue;
    const sim_expr_node *node = &expr->nodes[i];
    if (node->op == SIM_EXPR_INPUT && node->args[0] == input) return true;
    for (int k = 0; k < sim_expr_rules[node->op].operands; k++) needed[node->args[k]] = true;
  }
  return false;
}

double sim_expr_work(const sim_expr *expr) {
  double work = 0;
  for (int i = 0; i < expr->node_count; i++) {
    const sim_expr_op op = (sim_expr_op)expr->nodes[i].op;
    if (op == SIM_EXPR_INPUT || op == SIM_EXPR_NUMBER || op == SIM_EXPR_TRUTH) continue;
    if (op == SIM_EXPR_POW || op == SIM_EXPR_MOD || op == SIM_EXPR_FMOD)
      work += 30;
    else if (op == SIM_EXPR_DIV || op == SIM_EXPR_SQRT)
      work += 6;
    else if (op == SIM_EXPR_ATAN2 || op == SIM_EXPR_HYPOT || op >= SIM_EXPR_CBRT)
      work += 12;
    else
      work += 1;
  }
  return work;
}

/* Whether the node is NaN because its operands are. pow, hypot and where may return a number for a NaN. */
static bool nan_by_operands(const sim_expr_node *node, const bool *nan) {
  const sim_expr_op op = (sim_expr_op)node->op;
  if (op == SIM_EXPR_NUMBER) return isnan(node->value);
  if (op == SIM_EXPR_WHERE) return nan[node->args[1]] && nan[node->args[2]];
  if (op == SIM_EXPR_POW || op == SIM_EXPR_HYPOT || sim_expr_rules[op].gives == SIM_EXPR_C) return false;
  for (int k = 0; k < sim_expr_rules[op].operands; k++)
    if (nan[node->args[k]]) return true;
  return false;
}

static bool zero_by_operands(const sim_expr_node *node, const bool *zero) {
  const bool a = zero[node->args[0]], b = zero[node->args[1]];
  switch ((sim_expr_op)node->op) {
  case SIM_EXPR_NUMBER: return node->value == 0;
  case SIM_EXPR_MUL: return a || b;
  case SIM_EXPR_ADD:
  case SIM_EXPR_SUB: return a && b;
  case SIM_EXPR_WHERE: return b && zero[node->args[2]];
  case SIM_EXPR_DIV:
  case SIM_EXPR_NEG:
  case SIM_EXPR_ABS:
  case SIM_EXPR_SQRT: return a;
  default: return false;
  }
}

static bool always(const sim_expr *expr, int output, bool (*rule)(const sim_expr_node *, const bool *)) {
  bool known[SIM_EXPR_NODES_MAX] = {false};
  for (int i = 0; i <= expr->output_nodes[output]; i++) known[i] = rule(&expr->nodes[i], known);
  return known[expr->output_nodes[output]];
}

bool sim_expr_always_nan(const sim_expr *expr, int output) { return always(expr, output, nan_by_operands); }
bool sim_expr_always_zero(const sim_expr *expr, int output) { return always(expr, output, zero_by_operands); }

bool sim_expr_may_jump(const sim_expr *expr) {
  for (int i = 0; i < expr->node_count; i++) switch ((sim_expr_op)expr->nodes[i].op) {
    case SIM_EXPR_WHERE:
    case SIM_EXPR_FLOOR:
    case SIM_EXPR_CEIL:
    case SIM_EXPR_SIGN:
    case SIM_EXPR_MOD:
    case SIM_EXPR_FMOD: return true;
    default: break;
    }
  return false;
}
