/* Finds half-integer powers in a graph with an input that is never negative: 1/(s sqrt(s)), 0.5/(s/sqrt(s)), ... are
 * all c s^(k/2). Written as a power they cost a reciprocal root and a few products, a tenth of the divisions and
 * roots. */
#include "engine/expr/powers.h"

#include <math.h>
#include <stdlib.h>

enum { EXPONENT_MAX = 24 /* halves */ };

/* Largest factor that may be moved out of a product: the remaining product can then neither overflow nor underflow in
 * single precision. */
static const double factor_max = 0x1p40;

static bool fits(double factor, int halves) {
  const double size = fabs(factor);
  return size <= factor_max && size >= 1 / factor_max && abs(halves) <= EXPONENT_MAX;
}

static bool nonnegative_constant(const sim_expr_node *node) {
  return node->op == SIM_EXPR_NUMBER && node->value >= 0 && isfinite(node->value);
}

/* Whether the node is finite and non-negative wherever `input` is. */
static bool nonnegative(const sim_expr *expr, const bool *known, int i, int input) {
  const sim_expr_node *node = &expr->nodes[i];
  switch ((sim_expr_op)node->op) {
  case SIM_EXPR_INPUT: return node->args[0] == input;
  case SIM_EXPR_NUMBER: return nonnegative_constant(node);
  case SIM_EXPR_ADD:
  case SIM_EXPR_MUL: return known[node->args[0]] && known[node->args[1]];
  case SIM_EXPR_SQRT: return known[node->args[0]];
  default: return false;
  }
}

/* Returns the node as a power of its operands' common base, if it is one. */
static sim_expr_power combined(const sim_expr *expr, const sim_expr_power *powers, int i) {
  const sim_expr_node *node = &expr->nodes[i];
  const sim_expr_power a = powers[node->args[0]], b = powers[node->args[1]], none = {.base = -1};
  const sim_expr_op op = (sim_expr_op)node->op;
  sim_expr_power out = a;
  if (op == SIM_EXPR_NUMBER && node->value != 0 && isfinite(node->value))
    return (sim_expr_power){.is = true, .base = -1, .factor = node->value};
  if (op == SIM_EXPR_NEG && a.is) {
    out.factor = -a.factor;
    return out;
  }
  if (op == SIM_EXPR_SQRT && a.is && a.base >= 0 && a.factor > 0 && a.halves % 2 == 0) {
    out.factor = sqrt(a.factor);
    out.halves = a.halves / 2;
    return fits(out.factor, out.halves) ? out : none;
  }
  if ((op == SIM_EXPR_ADD || op == SIM_EXPR_SUB) && a.is && b.is && a.base >= 0 && a.base == b.base &&
      a.halves == b.halves) {
    out.factor = op == SIM_EXPR_ADD ? a.factor + b.factor : a.factor - b.factor;
    return fits(out.factor, out.halves) ? out : none;
  }
  if ((op != SIM_EXPR_MUL && op != SIM_EXPR_DIV) || !a.is || !b.is) return none;
  if (a.base >= 0 && b.base >= 0 && a.base != b.base) return none;
  out.base = a.base >= 0 ? a.base : b.base;
  out.factor = op == SIM_EXPR_MUL ? a.factor * b.factor : a.factor / b.factor;
  out.halves = op == SIM_EXPR_MUL ? a.halves + b.halves : a.halves - b.halves;
  return out.base >= 0 && out.halves != 0 && fits(out.factor, out.halves) ? out : none;
}

/* Marks the nodes that an emitter must write, from the results backwards; for a power only its base. */
static void mark_needed(const sim_expr *expr, sim_expr_powers *p) {
  for (int k = 0; k < expr->output_count; k++) p->needed[expr->output_nodes[k]] = true;
  for (int i = expr->node_count - 1; i >= 0; i--) {
    const sim_expr_node *node = &expr->nodes[i];
    const sim_expr_power *power = &p->powers[i];
    if (!p->needed[i]) continue;
    if (power->is && power->base >= 0 && power->base != i) {
      p->needed[power->base] = true;
      p->used[power->base]++;
      p->odd[power->base] = p->odd[power->base] || power->halves % 2 != 0;
      continue;
    }
    for (int k = 0; k < sim_expr_rules[node->op].operands; k++) p->needed[node->args[k]] = true;
  }
}

/* Returns the node input + constant if nothing else uses the input; else -1. */
static int find_shift(const sim_expr *expr, const sim_expr_powers *p, int input) {
  int found = -1, other, place = -1;
  for (int i = 0; i < expr->node_count; i++)
    if (expr->nodes[i].op == SIM_EXPR_INPUT && expr->nodes[i].args[0] == input) place = i;
  for (int i = 0; i < expr->node_count && place >= 0; i++) {
    const sim_expr_node *node = &expr->nodes[i];
    if (!p->needed[i] || i == place || (p->powers[i].is && p->powers[i].base != i)) {
      if (p->needed[i] && i != place && p->powers[i].base == place) return -1;
      continue;
    }
    bool takes = false;
    for (int k = 0; k < sim_expr_rules[node->op].operands; k++) takes = takes || node->args[k] == place;
    if (!takes) continue;
    other = node->args[0] == place ? node->args[1] : node->args[0];
    if (node->op != SIM_EXPR_ADD || other == place || !nonnegative_constant(&expr->nodes[other]) || found >= 0)
      return -1;
    found = i;
  }
  for (int k = 0; k < expr->output_count; k++)
    if (expr->output_nodes[k] == place) return -1;
  return found;
}

sim_status sim_expr_powers_find(const sim_expr *expr, int input, sim_expr_powers *out) {
  const size_t count = (size_t)expr->node_count + 1;
  *out = (sim_expr_powers){.shifted = -1,
                           .powers = calloc(count, sizeof *out->powers),
                           .needed = calloc(count, sizeof *out->needed),
                           .odd = calloc(count, sizeof *out->odd),
                           .used = calloc(count, sizeof *out->used)};
  bool *known = calloc(count, sizeof *known);
  if (!known || !out->powers || !out->needed || !out->odd || !out->used) {
    free(known);
    sim_expr_powers_free(out);
    return sim_no_memory("the text of a function");
  }
  for (int i = 0; i < expr->node_count; i++) {
    const bool constant = expr->nodes[i].op == SIM_EXPR_NUMBER;
    known[i] = nonnegative(expr, known, i, input);
    out->powers[i] = input < 0 ? (sim_expr_power){.base = -1} : combined(expr, out->powers, i);
    if (!out->powers[i].is && known[i] && !constant)
      out->powers[i] = (sim_expr_power){.is = true, .base = i, .factor = 1, .halves = 2};
  }
  free(known);
  mark_needed(expr, out);
  if (input >= 0) out->shifted = find_shift(expr, out, input);
  return SIM_OK;
}

void sim_expr_powers_free(sim_expr_powers *powers) {
  free(powers->powers);
  free(powers->needed);
  free(powers->odd);
  free(powers->used);
  *powers = (sim_expr_powers){.shifted = -1};
}

bool sim_expr_is_power(const sim_expr *expr, int output, int input, double *factor) {
  sim_expr_powers found;
  if (sim_expr_powers_find(expr, input, &found) != SIM_OK) return false;
  const sim_expr_power power = found.powers[expr->output_nodes[output]];
  sim_expr_powers_free(&found);
  *factor = power.factor;
  return power.is && power.base >= 0;
}
