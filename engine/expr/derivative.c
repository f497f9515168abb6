/* Builds derivatives as graphs. Each rule multiplies a value t by df/da, so that one list of rules serves forward and
 * reverse mode. */
#include "engine/expr/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  NONE = -1,
  /* a derivative that is identically 0: no node is built for it */ MASKS_MAX = 64,
  HALVES_MAX = 64
};

/* The node equals factor * base^(halves/2). Its derivative as one power is finite where the product rule gives NaN:
 * (x^2)^1.5 at 0, which is stored as x^2 * sqrt(x^2). */
typedef struct half_power {
  double factor;
  int base, halves; /* halves 0: not a power */
  bool root;        /* a factor is a square root; without one, the product rule is used */
} half_power;

typedef struct work {
  sim_expr_builder *builder;
  const sim_expr *expr;
  half_power *powers;        /* [nodes] */
  sim_expr_ref *values;      /* [nodes] */
  sim_expr_ref *derivatives; /* [nodes]; forward mode: of the node by the input; reverse: of the result by the node */
  sim_expr_ref zero;
  sim_status status; /* the first error; after it nothing is built */
} work;

static sim_expr_ref call(work *w, sim_expr_op op, sim_expr_ref a, sim_expr_ref b, sim_expr_ref c) {
  sim_expr_ref out = 0;
  if (w->status == SIM_OK) w->status = sim_expr_builder_call(w->builder, op, (const sim_expr_ref[]){a, b, c}, &out);
  return w->status == SIM_OK ? out : 0;
}
static sim_expr_ref number(work *w, double value) {
  sim_expr_ref out = 0;
  if (w->status == SIM_OK) w->status = sim_expr_builder_number(w->builder, value, &out);
  return out;
}
static sim_expr_ref unary(work *w, sim_expr_op op, sim_expr_ref a) { return call(w, op, a, 0, 0); }
static sim_expr_ref add(work *w, sim_expr_ref a, sim_expr_ref b) { return call(w, SIM_EXPR_ADD, a, b, 0); }
static sim_expr_ref sub(work *w, sim_expr_ref a, sim_expr_ref b) { return call(w, SIM_EXPR_SUB, a, b, 0); }
static sim_expr_ref mul(work *w, sim_expr_ref a, sim_expr_ref b) { return call(w, SIM_EXPR_MUL, a, b, 0); }

/* The parts of a value where(condition, value, 0), or where(condition, 0, value) if `first` is false. */
typedef struct mask {
  sim_expr_ref condition, value;
  bool first;
} mask;

static bool masked(const work *w, sim_expr_ref t, mask *out) {
  sim_expr_ref parts[2];
  if (w->status != SIM_OK || !sim_expr_builder_where(w->builder, t, &out->condition, &parts[0], &parts[1]))
    return false;
  out->first = parts[1] == w->zero;
  out->value = out->first ? parts[0] : parts[1];
  return out->first || parts[0] == w->zero;
}

static sim_expr_ref put_on(work *w, const mask *m, sim_expr_ref value) {
  return m->first ? call(w, SIM_EXPR_WHERE, m->condition, value, w->zero)
                  : call(w, SIM_EXPR_WHERE, m->condition, w->zero, value);
}

/* t op b for MUL, DIV and NEG, which are linear in t. If t is where(c, x, 0), returns where(c, x op b, 0): otherwise an
 * infinite b would turn the 0 of the branch not chosen into NaN. */
static sim_expr_ref linear(work *w, sim_expr_op op, sim_expr_ref t, sim_expr_ref b) {
  mask masks[MASKS_MAX];
  int count = 0;
  while (count < MASKS_MAX && masked(w, t, &masks[count])) t = masks[count++].value;
  t = op == SIM_EXPR_NEG ? unary(w, op, t) : call(w, op, t, b, 0);
  while (count--) t = put_on(w, &masks[count], t);
  return t;
}

/* s + t. If both are masked by `where`, the sum is masked too: by their common conditions, then by the union of the
 * next two. */
static sim_expr_ref sum(work *w, sim_expr_ref s, sim_expr_ref t) {
  mask masks[MASKS_MAX], a, b;
  int count = 0;
  bool both;
  while ((both = masked(w, s, &a) && masked(w, t, &b)) && count < MASKS_MAX && a.condition == b.condition &&
         a.first == b.first) {
    masks[count++] = a;
    s = a.value;
    t = b.value;
  }
  sim_expr_ref out = add(w, s, t);
  if (both) {
    sim_expr_ref on_a = a.first ? a.condition : unary(w, SIM_EXPR_NOT, a.condition);
    sim_expr_ref on_b = b.first ? b.condition : unary(w, SIM_EXPR_NOT, b.condition);
    out = call(w, SIM_EXPR_WHERE, call(w, SIM_EXPR_OR, on_a, on_b, 0), out, w->zero);
  }
  while (count--) out = put_on(w, &masks[count], out);
  return out;
}
static sim_expr_ref times(work *w, sim_expr_ref t, sim_expr_ref b) { return linear(w, SIM_EXPR_MUL, t, b); }
static sim_expr_ref over(work *w, sim_expr_ref t, sim_expr_ref b) { return linear(w, SIM_EXPR_DIV, t, b); }
static sim_expr_ref minus(work *w, sim_expr_ref t) { return linear(w, SIM_EXPR_NEG, t, 0); }

/* Whether min or max of (a, b) returned b. */
static sim_expr_ref took_second(work *w, sim_expr_op op, sim_expr_ref a, sim_expr_ref b) {
  return op == SIM_EXPR_MIN ? call(w, SIM_EXPR_LT, b, a, 0) : call(w, SIM_EXPR_LT, a, b, 0);
}

/* a / b rounded towards 0 */
static sim_expr_ref truncated(work *w, sim_expr_ref a, sim_expr_ref b) {
  sim_expr_ref q = call(w, SIM_EXPR_DIV, a, b, 0);
  return call(w, SIM_EXPR_WHERE, call(w, SIM_EXPR_LT, q, w->zero, 0), unary(w, SIM_EXPR_CEIL, q),
              unary(w, SIM_EXPR_FLOOR, q));
}

static half_power product(half_power a, half_power b) {
  half_power out = {a.factor * b.factor, a.base, a.halves + b.halves, a.root || b.root};
  bool good = a.halves && a.base == b.base && out.halves <= HALVES_MAX && isfinite(out.factor) && out.factor != 0;
  return good ? out : (half_power){.halves = 0};
}

/* Returns node i as a power, if it is one; all nodes before it must be done. */
static half_power power_of(const work *w, int i) {
  const sim_expr_node *node = &w->expr->nodes[i];
  const int left = node->args[0], right = node->args[1];
  const half_power none = {.halves = 0};
  if (node->op == SIM_EXPR_SQRT) return (half_power){1, left, 1, true};
  if (node->op != SIM_EXPR_NEG && node->op != SIM_EXPR_MUL) return none;
  const half_power whole[] = {{1, left, 2, false}, {1, right, 2, false}};
  const half_power parts[] = {w->powers[left], w->powers[right]};
  if (node->op == SIM_EXPR_NEG) {
    half_power out = parts[0].halves ? parts[0] : whole[0];
    out.factor = -out.factor;
    return out;
  }
  for (int k = 0; k < 2; k++) { /* a constant factor */
    const sim_expr_node *factor = &w->expr->nodes[node->args[k]];
    const half_power scale = {factor->value, parts[!k].halves ? parts[!k].base : node->args[!k], 0, false};
    if (factor->op == SIM_EXPR_NUMBER) return product(parts[!k].halves ? parts[!k] : whole[!k], scale);
  }
  half_power out = product(parts[0], parts[1]);
  if (!out.halves) out = product(parts[0], whole[1]);
  if (!out.halves) out = product(whole[0], parts[1]);
  if (!out.halves) out = product(whole[0], whole[1]);
  return out;
}

/* Whether node i is differentiated as a power of its base; if so, *out is t times the derivative by the base. */
static bool by_base(work *w, int i, sim_expr_ref t, sim_expr_ref *out) {
  const half_power p = w->powers[i];
  if (!p.root || p.halves < 2) return false;
  if (t == NONE) return true;
  t = times(w, t, number(w, 0.5 * p.halves * p.factor));
  *out = times(w, t, call(w, SIM_EXPR_POW, w->values[p.base], number(w, 0.5 * (p.halves - 2)), 0));
  return true;
}

/* Returns t times the derivative of node i by its operand k, or NONE. */
static sim_expr_ref chain(work *w, int i, int k, sim_expr_ref t) {
  const sim_expr_node *node = &w->expr->nodes[i];
  const sim_expr_op op = (sim_expr_op)node->op;
  const sim_expr_ref v = w->values[i], a = w->values[node->args[0]], b = w->values[node->args[1]];
  const double two_over_root_pi = 0x1.20dd750429b6dp+0;
  sim_expr_ref c;
  switch (op) {
  case SIM_EXPR_ADD: return t;
  case SIM_EXPR_SUB: return k ? minus(w, t) : t;
  case SIM_EXPR_NEG: return minus(w, t);
  case SIM_EXPR_MUL: return times(w, t, k ? a : b);
  case SIM_EXPR_DIV: return k ? minus(w, over(w, times(w, t, v), b)) : over(w, t, b);
  case SIM_EXPR_MOD: return k ? minus(w, times(w, t, unary(w, SIM_EXPR_FLOOR, call(w, SIM_EXPR_DIV, a, b, 0)))) : t;
  case SIM_EXPR_FMOD: return k ? minus(w, times(w, t, truncated(w, a, b))) : t;
  case SIM_EXPR_POW:
    if (k == 0) return times(w, t, mul(w, b, call(w, SIM_EXPR_POW, a, sub(w, b, number(w, 1)), 0)));
    c = call(w, SIM_EXPR_EQ, a, w->zero, 0); /* 0^b does not depend on b */
    return times(w, call(w, SIM_EXPR_WHERE, c, w->zero, t), mul(w, v, unary(w, SIM_EXPR_LOG, a)));
  case SIM_EXPR_MIN:
  case SIM_EXPR_MAX:
    c = took_second(w, op, a, b);
    return k ? call(w, SIM_EXPR_WHERE, c, t, w->zero) : call(w, SIM_EXPR_WHERE, c, w->zero, t);
  case SIM_EXPR_WHERE:
    if (k == 0) return NONE;
    return k == 1 ? call(w, SIM_EXPR_WHERE, a, t, w->zero) : call(w, SIM_EXPR_WHERE, a, w->zero, t);
  case SIM_EXPR_ATAN2:
    c = add(w, mul(w, a, a), mul(w, b, b));
    return k ? minus(w, times(w, t, call(w, SIM_EXPR_DIV, a, c, 0))) : times(w, t, call(w, SIM_EXPR_DIV, b, c, 0));
  case SIM_EXPR_HYPOT: return times(w, t, call(w, SIM_EXPR_DIV, k ? b : a, v, 0));
  case SIM_EXPR_ABS:
    c = call(w, SIM_EXPR_LT, a, w->zero, 0);
    return times(w, t, call(w, SIM_EXPR_WHERE, c, number(w, -1), number(w, 1)));
  case SIM_EXPR_SQRT: return over(w, times(w, t, number(w, 0.5)), v);
  case SIM_EXPR_CBRT: return over(w, t, mul(w, number(w, 3), mul(w, v, v)));
  case SIM_EXPR_EXP: return times(w, t, v);
  case SIM_EXPR_EXPM1: return times(w, t, add(w, v, number(w, 1)));
  case SIM_EXPR_LOG: return over(w, t, a);
  case SIM_EXPR_LOG1P: return over(w, t, add(w, number(w, 1), a));
  case SIM_EXPR_LOG2: return over(w, times(w, t, number(w, 0x1.71547652b82fep+0)), a);  /* 1/log(2) */
  case SIM_EXPR_LOG10: return over(w, times(w, t, number(w, 0x1.bcb7b1526e50ep-2)), a); /* 1/log(10) */
  case SIM_EXPR_SIN: return times(w, t, unary(w, SIM_EXPR_COS, a));
  case SIM_EXPR_COS: return minus(w, times(w, t, unary(w, SIM_EXPR_SIN, a)));
  case SIM_EXPR_TAN: return times(w, t, add(w, number(w, 1), mul(w, v, v)));
  case SIM_EXPR_ASIN:
  case SIM_EXPR_ACOS:
    c = unary(w, SIM_EXPR_SQRT, mul(w, sub(w, number(w, 1), a), add(w, number(w, 1), a)));
    t = over(w, t, c);
    return op == SIM_EXPR_ASIN ? t : minus(w, t);
  case SIM_EXPR_ATAN: return over(w, t, add(w, number(w, 1), mul(w, a, a)));
  case SIM_EXPR_SINH: return times(w, t, unary(w, SIM_EXPR_COSH, a));
  case SIM_EXPR_COSH: return times(w, t, unary(w, SIM_EXPR_SINH, a));
  case SIM_EXPR_TANH: /* as 1/cosh^2: 1 - tanh^2 would cancel */
    c = unary(w, SIM_EXPR_COSH, a);
    return over(w, over(w, t, c), c);
  case SIM_EXPR_ERF:
  case SIM_EXPR_ERFC:
    c = unary(w, SIM_EXPR_EXP, unary(w, SIM_EXPR_NEG, mul(w, a, a)));
    t = times(w, t, mul(w, number(w, two_over_root_pi), c));
    return op == SIM_EXPR_ERF ? t : minus(w, t);
  default: /* floor, ceil, sign, conditions */ return NONE;
  }
}

/* For `where`, min and max: *out is the derivative of the selected operand. */
static bool chosen(work *w, int i, sim_expr_ref *out) {
  const sim_expr_node *node = &w->expr->nodes[i];
  const sim_expr_op op = (sim_expr_op)node->op;
  bool where = op == SIM_EXPR_WHERE;
  if (!where && op != SIM_EXPR_MIN && op != SIM_EXPR_MAX) return false;
  sim_expr_ref first = w->derivatives[node->args[where ? 1 : 0]], second = w->derivatives[node->args[where ? 2 : 1]];
  if (first == NONE && second == NONE) return true;
  first = first == NONE ? w->zero : first;
  second = second == NONE ? w->zero : second;
  const sim_expr_ref *values = w->values;
  *out = where
             ? call(w, SIM_EXPR_WHERE, values[node->args[0]], first, second)
             : call(w, SIM_EXPR_WHERE, took_second(w, op, values[node->args[0]], values[node->args[1]]), second, first);
  return true;
}

static void forward(work *w, int input) {
  sim_expr_ref one = number(w, 1);
  for (int i = 0; i < w->expr->node_count && w->status == SIM_OK; i++) {
    const sim_expr_node *node = &w->expr->nodes[i];
    sim_expr_ref total = NONE;
    if (node->op == SIM_EXPR_INPUT) {
      if (node->args[0] == input) total = one;
    } else if (!chosen(w, i, &total) && !by_base(w, i, w->derivatives[w->powers[i].base], &total)) {
      for (int k = 0; k < sim_expr_rules[node->op].operands; k++) {
        sim_expr_ref t = w->derivatives[node->args[k]];
        if (t != NONE) t = chain(w, i, k, t);
        if (t != NONE) total = total == NONE ? t : sum(w, total, t);
      }
    }
    w->derivatives[i] = total;
  }
}

static void accumulate(work *w, int node, sim_expr_ref t) {
  sim_expr_ref *total = &w->derivatives[node];
  if (t != NONE) *total = *total == NONE ? t : sum(w, *total, t);
}

static void reverse(work *w, int output, bool *active) {
  for (int i = 0; i < w->expr->node_count; i++) {
    const sim_expr_node *node = &w->expr->nodes[i];
    active[i] = node->op == SIM_EXPR_INPUT;
    for (int k = 0; k < sim_expr_rules[node->op].operands; k++) active[i] = active[i] || active[node->args[k]];
    w->derivatives[i] = NONE;
  }
  w->derivatives[w->expr->output_nodes[output]] = number(w, 1);
  for (int i = w->expr->output_nodes[output]; i >= 0 && w->status == SIM_OK; i--) {
    const sim_expr_node *node = &w->expr->nodes[i];
    if (w->derivatives[i] == NONE) continue;
    sim_expr_ref t;
    if (by_base(w, i, w->derivatives[i], &t)) {
      if (active[w->powers[i].base]) accumulate(w, w->powers[i].base, t);
      continue;
    }
    for (int k = 0; k < sim_expr_rules[node->op].operands; k++)
      if (active[node->args[k]]) accumulate(w, node->args[k], chain(w, i, k, w->derivatives[i]));
  }
}

static void work_free(work *w) {
  sim_expr_builder_free(&w->builder);
  free(w->values);
  free(w->derivatives);
  free(w->powers);
}

/* Releases the work and adds to an error what was built (`of`: "derivative by x"). Only the size of the graph can make
 * a valid function fail here. */
static sim_status work_end(work *w, const char *of, sim_status status) {
  if (status == SIM_ERR_SCENARIO)
    (void)sim_fail(status, "the %s has more than %d operations: the function itself has %d, expected a shorter one", of,
                   SIM_EXPR_NODES_MAX, w->expr->node_count);
  work_free(w);
  return status;
}

/* Starts a builder with the inputs and all nodes of the graph. */
static sim_status work_begin(work *w, const sim_expr *expr) {
  *w = (work){.expr = expr};
  size_t nodes = (size_t)expr->node_count + 1;
  w->values = calloc(nodes, sizeof *w->values);
  w->derivatives = calloc(nodes, sizeof *w->derivatives);
  w->powers = calloc(nodes, sizeof *w->powers);
  if (!w->values || !w->derivatives || !w->powers) return sim_no_memory("the derivative of a function");
  for (int i = 0; i < expr->node_count; i++) w->powers[i] = power_of(w, i);
  SIM_TRY(sim_expr_builder_create(&w->builder));
  sim_expr_ref inputs[SIM_EXPR_INPUTS_MAX];
  for (int i = 0; i < expr->input_count; i++) SIM_TRY(sim_expr_builder_input(w->builder, expr->inputs[i], &inputs[i]));
  SIM_TRY(sim_expr_builder_insert_all(w->builder, expr, inputs, w->values));
  return sim_expr_builder_number(w->builder, 0, &w->zero);
}

static sim_status finish(work *w, const sim_expr_ref *results, sim_expr_name *names, int count, sim_expr **out) {
  const char *pointers[SIM_EXPR_OUTPUTS_MAX];
  for (int i = 0; i < count; i++) pointers[i] = names[i];
  SIM_TRY(w->status);
  return sim_expr_builder_finish(w->builder, results, pointers, count, out);
}

static void name_it(sim_expr_name name, const sim_expr *expr, int output, int input) {
  snprintf(name, sizeof(sim_expr_name), "d%.30s_d%.30s", expr->outputs[output], expr->inputs[input]);
}

static sim_status number_wanted(const sim_expr *expr, int output) {
  if (sim_expr_output_type(expr, output) == SIM_EXPR_N) return SIM_OK;
  return sim_fail(SIM_ERR_SCENARIO, "%s is a condition: only a number has a derivative", expr->outputs[output]);
}

sim_status sim_expr_derivative(const sim_expr *expr, int input, sim_expr **out) {
  *out = NULL;
  sim_expr_name names[SIM_EXPR_OUTPUTS_MAX];
  sim_expr_ref results[SIM_EXPR_OUTPUTS_MAX];
  for (int i = 0; i < expr->output_count; i++) SIM_TRY(number_wanted(expr, i));
  work w;
  sim_status status = work_begin(&w, expr);
  if (status == SIM_OK) {
    forward(&w, input);
    for (int i = 0; i < expr->output_count; i++) {
      sim_expr_ref d = w.derivatives[expr->output_nodes[i]];
      results[i] = d == NONE ? w.zero : d;
      name_it(names[i], expr, i, input);
    }
    status = finish(&w, results, names, expr->output_count, out);
  }
  char of[SIM_EXPR_NAME_MAX + 32];
  snprintf(of, sizeof of, "derivative by %s", expr->inputs[input]);
  return work_end(&w, of, status);
}

sim_status sim_expr_gradient(const sim_expr *expr, int output, sim_expr **out) {
  *out = NULL;
  sim_expr_name names[SIM_EXPR_INPUTS_MAX];
  sim_expr_ref results[SIM_EXPR_INPUTS_MAX];
  bool active[SIM_EXPR_NODES_MAX];
  SIM_TRY(number_wanted(expr, output));
  work w;
  sim_status status = work_begin(&w, expr);
  if (status == SIM_OK) {
    reverse(&w, output, active);
    for (int i = 0; i < expr->input_count; i++) {
      results[i] = w.zero;
      name_it(names[i], expr, output, i);
    }
    for (int i = 0; i < expr->node_count; i++)
      if (expr->nodes[i].op == SIM_EXPR_INPUT && w.derivatives[i] != NONE)
        results[expr->nodes[i].args[0]] = w.derivatives[i];
    status = finish(&w, results, names, expr->input_count, out);
  }
  return work_end(&w, "gradient", status);
}
