/* Writes graphs as text for a C or CUDA compiler. */
#include "engine/expr/powers.h"

#include <math.h>

sim_status sim_expr_emit_prelude(sim_bytes *out) {
  sim_bytes_text(out, "#ifdef __CUDACC__\n"
                      "#define SIM_EXPR_INLINE static __device__ __forceinline__\n"
                      "#define SIM_EXPR_INFINITY __longlong_as_double(0x7ff0000000000000LL)\n"
                      "#define SIM_EXPR_NAN __longlong_as_double(0x7ff8000000000000LL)\n"
                      "#else\n"
                      "#define SIM_EXPR_INLINE static inline\n"
                      "#define SIM_EXPR_INFINITY ((double)INFINITY)\n"
                      "#define SIM_EXPR_NAN ((double)NAN)\n"
                      "#endif\n");
  for (int single = 0; single < 2; single++) {
    const char *real = single ? "float" : "double", *f = single ? "f" : "";
    sim_bytes_format(out,
                     "SIM_EXPR_INLINE %s sim_expr_mod%s(%s a, %s b) {\n"
                     "  %s r = fmod%s(a, b);\n"
                     "  return r != 0 && (r < 0) != (b < 0) ? r + b : r;\n"
                     "}\n"
                     "SIM_EXPR_INLINE %s sim_expr_sign%s(%s a) { return a > 0 ? 1 : a < 0 ? -1 : a; }\n",
                     real, f, real, real, real, f, real, f, real);
  }
  return out->failed ? sim_no_memory("the text of a function") : SIM_OK;
}

static void add_number(sim_bytes *out, double value, bool single) {
  if (single) value = (double)(float)value; /* round like the evaluator */
  const char *cast = single ? "(float)" : "";
  if (isnan(value))
    sim_bytes_format(out, "%sSIM_EXPR_NAN", cast);
  else if (isinf(value))
    sim_bytes_format(out, "%s%sSIM_EXPR_INFINITY", value < 0 ? "-" : "", cast);
  else if (value == floor(value) && fabs(value) < 1e6 && !signbit(value))
    sim_bytes_format(out, "%.1f%s", value, single ? "f" : "");
  else
    sim_bytes_format(out, "%a%s", value, single ? "f" : "");
}

static void add_call(sim_bytes *out, const char *name, const sim_expr_node *node, const char *suffix) {
  sim_bytes_format(out, "%s%s(t%d", name, suffix, node->args[0]);
  if (sim_expr_rules[node->op].operands > 1) sim_bytes_format(out, ", t%d", node->args[1]);
  sim_bytes_text(out, ")");
}

/* Writes max or min such that a NaN operand has the same effect as in the evaluator. */
static void add_extreme(sim_bytes *out, const sim_expr *expr, const sim_expr_node *node) {
  const bool least = node->op == SIM_EXPR_MIN;
  const int a = node->args[0], b = node->args[1];
  const sim_expr_node *first = &expr->nodes[a], *second = &expr->nodes[b];
  /* ptxas (CUDA 13.0) assumes that |x| >= 0 holds even for NaN: for minima with numbers up to 0 use the other form. */
  if (first->op == SIM_EXPR_NUMBER && !isnan(first->value) && !(least && first->value <= 0)) {
    sim_bytes_format(out, "!(t%d %s t%d) ? t%d : t%d", b, least ? ">=" : "<=", a, b, a);
    return;
  }
  sim_bytes_format(out, "t%d %s t%d", b, least ? "<" : ">", a);
  if (second->op != SIM_EXPR_NUMBER || isnan(second->value)) sim_bytes_format(out, " || t%d != t%d", b, b);
  sim_bytes_format(out, " ? t%d : t%d", b, a);
}

static void add_node(sim_bytes *out, const sim_expr *expr, const sim_expr_node *node, bool single) {
  const char *suffix = single ? "f" : "", *name = sim_expr_rules[node->op].name;
  const int a = node->args[0], b = node->args[1];
  switch ((sim_expr_op)node->op) {
  case SIM_EXPR_INPUT: sim_bytes_format(out, "i%d", a); return;
  case SIM_EXPR_NUMBER: add_number(out, node->value, single); return;
  case SIM_EXPR_TRUTH: sim_bytes_text(out, node->value != 0 ? "1" : "0"); return;
  case SIM_EXPR_ADD:
  case SIM_EXPR_SUB:
  case SIM_EXPR_MUL:
  case SIM_EXPR_DIV:
  case SIM_EXPR_LT:
  case SIM_EXPR_LE:
  case SIM_EXPR_EQ: sim_bytes_format(out, "t%d %s t%d", a, name, b); return;
  case SIM_EXPR_NE: sim_bytes_format(out, "t%d != t%d", a, b); return;
  case SIM_EXPR_AND: sim_bytes_format(out, "t%d & t%d", a, b); return;
  case SIM_EXPR_OR: sim_bytes_format(out, "t%d | t%d", a, b); return;
  case SIM_EXPR_NOT: sim_bytes_format(out, "!t%d", a); return;
  case SIM_EXPR_NEG: sim_bytes_format(out, "-t%d", a); return;
  case SIM_EXPR_MIN:
  case SIM_EXPR_MAX: add_extreme(out, expr, node); return;
  case SIM_EXPR_WHERE: sim_bytes_format(out, "t%d ? t%d : t%d", a, b, node->args[2]); return;
  case SIM_EXPR_MOD: add_call(out, "sim_expr_mod", node, suffix); return;
  case SIM_EXPR_SIGN: add_call(out, "sim_expr_sign", node, suffix); return;
  case SIM_EXPR_ABS: add_call(out, "fabs", node, suffix); return;
  default: /* the function has the same name in C */ add_call(out, name, node, suffix); return;
  }
}

/* Writes factor * powers<halves, form>(base). */
static void add_power(sim_bytes *out, const sim_expr_powers *p, int i, const sim_expr_emission *emission) {
  const sim_expr_power *power = &p->powers[i];
  const int form = !p->odd[power->base] ? 2 : p->used[power->base] > 1 ? 1 : 0;
  const double size = fabs(power->factor);
  if (power->factor < 0) sim_bytes_text(out, "-");
  if (size != 1) {
    add_number(out, size, emission->single);
    sim_bytes_text(out, " * ");
  }
  sim_bytes_format(out, "%s<%d, %d>(t%d)", emission->powers, power->halves, form, power->base);
}

static bool is_power(const sim_expr_powers *p, int i) {
  return p->powers[i].is && p->powers[i].base >= 0 && p->powers[i].base != i;
}

static bool is_extreme(const sim_expr *expr, int i) {
  const sim_expr_node *node = &expr->nodes[i];
  return (node->op == SIM_EXPR_MIN || node->op == SIM_EXPR_MAX) && expr->nodes[node->args[1]].op == SIM_EXPR_NUMBER;
}

static void add_statements(const sim_expr *expr, const sim_expr_emission *emission, const sim_expr_powers *p,
                           sim_bytes *out) {
  const char *real = emission->single ? "float" : "double";
  for (int i = 0; i < expr->node_count; i++) {
    const sim_expr_node *node = &expr->nodes[i];
    if (!p->needed[i]) continue;
    sim_bytes_format(out, "  const %s t%d = ", sim_expr_rules[node->op].gives == SIM_EXPR_C ? "int" : real, i);
    if (is_power(p, i))
      add_power(out, p, i, emission);
    else if (emission->extremes && is_extreme(expr, i))
      sim_bytes_format(out, "%s%s(t%d, t%d)", emission->extremes, node->op == SIM_EXPR_MIN ? "min" : "max",
                       node->args[0], node->args[1]);
    else if (emission->shift && i == p->shifted)
      sim_bytes_format(out, "i%d", emission->input);
    else
      add_node(out, expr, node, emission->single);
    sim_bytes_text(out, ";\n");
  }
}

/* Returns the constant that the caller must add to the input. */
static double shift_of(const sim_expr *expr, const sim_expr_powers *p) {
  if (p->shifted < 0) return 0;
  const sim_expr_node *sum = &expr->nodes[p->shifted], *first = &expr->nodes[sum->args[0]];
  return first->op == SIM_EXPR_NUMBER ? first->value : expr->nodes[sum->args[1]].value;
}

sim_status sim_expr_emit(const sim_expr *expr, const sim_expr_emission *emission, sim_bytes *out) {
  const char *real = emission->single ? "float" : "double";
  sim_expr_powers powers;
  SIM_TRY(sim_expr_powers_find(expr, emission->powers ? emission->input : -1, &powers));
  if (emission->shift) *emission->shift = shift_of(expr, &powers);
  sim_bytes_format(out, "%s void %s(", emission->qualifier, emission->name);
  for (int i = 0; i < expr->input_count; i++) sim_bytes_format(out, "%s%s i%d", i ? ", " : "", real, i);
  for (int i = 0; i < expr->output_count; i++)
    sim_bytes_format(out, "%s%s *o%d", i || expr->input_count ? ", " : "", real, i);
  sim_bytes_text(out, ") {\n");
  add_statements(expr, emission, &powers, out);
  for (int i = 0; i < expr->output_count; i++) sim_bytes_format(out, "  *o%d = t%d;\n", i, expr->output_nodes[i]);
  for (int i = 0; i < expr->input_count; i++) { /* inputs that no statement reads */
    bool used = false;
    for (int k = 0; k < expr->node_count; k++)
      used = used || (powers.needed[k] && expr->nodes[k].op == SIM_EXPR_INPUT && expr->nodes[k].args[0] == i);
    if (!used) sim_bytes_format(out, "  (void)i%d;\n", i);
  }
  sim_bytes_text(out, "}\n");
  sim_expr_powers_free(&powers);
  return out->failed ? sim_no_memory("the text of a function") : SIM_OK;
}
