/* Builds graphs: equal nodes are merged, constants are folded, and no rewriting changes a bit of a result. */
#include "engine/expr/graph.h"
#include "engine/expr/lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 64 }; /* nodes that a new graph has room for; a power of two */

/* Most functions are short, so that nodes and hash table grow with them. */
struct sim_expr_builder {
  int input_count, node_count;
  int room;              /* nodes that there is room for; a power of two */
  sim_expr_name *inputs; /* [SIM_EXPR_INPUTS_MAX] */
  sim_expr_node *nodes;  /* [room] */
  int32_t *slots;        /* [4 room], node + 1; 0: free */
};

static uint64_t value_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static bool same(const sim_expr_node *a, const sim_expr_node *b) {
  return a->op == b->op && a->args[0] == b->args[0] && a->args[1] == b->args[1] && a->args[2] == b->args[2] &&
         value_bits(a->value) == value_bits(b->value);
}

/* Returns the slot of an equal node, or else a free slot. */
static size_t slot_of(const sim_expr_builder *builder, const sim_expr_node *node) {
  uint64_t hash = value_bits(node->value) ^ node->op;
  for (int k = 0; k < 3; k++) hash = (hash ^ (hash >> 29)) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)node->args[k];
  hash = (hash ^ (hash >> 31)) * UINT64_C(0xbf58476d1ce4e5b9);
  const size_t mask = 4 * (size_t)builder->room - 1;
  size_t slot = (hash >> 32) & mask;
  while (builder->slots[slot] && !same(&builder->nodes[builder->slots[slot] - 1], node)) slot = (slot + 1) & mask;
  return slot;
}

/* Makes room for twice as many nodes. */
static sim_status grow(sim_expr_builder *builder) {
  const size_t room = 2 * (size_t)builder->room;
  sim_expr_node *nodes = realloc(builder->nodes, room * sizeof *nodes);
  if (nodes != NULL) builder->nodes = nodes;
  int32_t *slots = nodes != NULL ? calloc(4 * room, sizeof *slots) : NULL;
  if (slots == NULL) return sim_no_memory("a function");
  free(builder->slots);
  builder->slots = slots;
  builder->room = (int)room;
  for (int i = 0; i < builder->node_count; i++) slots[slot_of(builder, &nodes[i])] = i + 1;
  return SIM_OK;
}

sim_status sim_expr_builder_create(sim_expr_builder **out) {
  sim_expr_builder *b = *out = calloc(1, sizeof *b);
  if (b == NULL) return sim_no_memory("a function");
  b->room = ROOM_FIRST;
  b->inputs = malloc(SIM_EXPR_INPUTS_MAX * sizeof *b->inputs);
  b->nodes = malloc(ROOM_FIRST * sizeof *b->nodes);
  b->slots = calloc(4 * ROOM_FIRST, sizeof *b->slots);
  if (b->inputs != NULL && b->nodes != NULL && b->slots != NULL) return SIM_OK;
  sim_expr_builder_free(out);
  return sim_no_memory("a function");
}

void sim_expr_builder_free(sim_expr_builder **builder) {
  if (*builder == NULL) return;
  free((*builder)->inputs);
  free((*builder)->nodes);
  free((*builder)->slots);
  free(*builder);
  *builder = NULL;
}

static bool commutes(sim_expr_op op) {
  return op == SIM_EXPR_ADD || op == SIM_EXPR_MUL || op == SIM_EXPR_EQ || op == SIM_EXPR_NE || op == SIM_EXPR_AND ||
         op == SIM_EXPR_OR;
}

static sim_status add(sim_expr_builder *builder, sim_expr_node node, sim_expr_ref *out) {
  size_t slot = slot_of(builder, &node);
  if (!builder->slots[slot] && commutes(node.op)) {
    sim_expr_node swapped = node;
    swapped.args[0] = node.args[1];
    swapped.args[1] = node.args[0];
    size_t other = slot_of(builder, &swapped);
    if (builder->slots[other]) slot = other;
  }
  if (!builder->slots[slot]) {
    if (builder->node_count == SIM_EXPR_NODES_MAX)
      return sim_fail(SIM_ERR_SCENARIO, "the function has more than %d operations", SIM_EXPR_NODES_MAX);
    if (builder->node_count == builder->room) {
      SIM_TRY(grow(builder));
      slot = slot_of(builder, &node);
    }
    builder->nodes[builder->node_count] = node;
    builder->slots[slot] = ++builder->node_count;
  }
  *out = builder->slots[slot] - 1;
  return SIM_OK;
}

sim_status sim_expr_builder_input(sim_expr_builder *builder, const char *name, sim_expr_ref *out) {
  if (!sim_expr_name_valid(name))
    return sim_fail(SIM_ERR_SCENARIO,
                    "'%s' cannot name an input: expected letters, digits and _, at most %d, no digit first", name,
                    (int)SIM_EXPR_NAME_MAX);
  for (int i = 0; i < builder->input_count; i++)
    if (strcmp(builder->inputs[i], name) == 0) return sim_fail(SIM_ERR_SCENARIO, "two inputs are named '%s'", name);
  if (builder->input_count == SIM_EXPR_INPUTS_MAX)
    return sim_fail(SIM_ERR_SCENARIO, "the function has more than %d inputs", (int)SIM_EXPR_INPUTS_MAX);
  SIM_TRY(add(builder, (sim_expr_node){.op = SIM_EXPR_INPUT, .args = {builder->input_count}}, out));
  memcpy(builder->inputs[builder->input_count++], name, strlen(name) + 1);
  return SIM_OK;
}

sim_status sim_expr_builder_number(sim_expr_builder *builder, double value, sim_expr_ref *out) {
  if (isnan(value)) value = (double)NAN; /* all NaN get the same bits */
  return add(builder, (sim_expr_node){.op = SIM_EXPR_NUMBER, .value = value}, out);
}

sim_status sim_expr_builder_truth(sim_expr_builder *builder, bool value, sim_expr_ref *out) {
  return add(builder, (sim_expr_node){.op = SIM_EXPR_TRUTH, .value = value}, out);
}

sim_expr_type sim_expr_builder_type(const sim_expr_builder *builder, sim_expr_ref ref) {
  return sim_expr_rules[builder->nodes[ref].op].gives;
}

bool sim_expr_builder_constant(const sim_expr_builder *builder, sim_expr_ref ref, double *value) {
  const sim_expr_node *node = &builder->nodes[ref];
  if (node->op != SIM_EXPR_NUMBER && node->op != SIM_EXPR_TRUTH) return false;
  if (value) *value = node->value;
  return true;
}

static sim_status call2(sim_expr_builder *builder, sim_expr_op op, sim_expr_ref a, sim_expr_ref b, sim_expr_ref *out) {
  return sim_expr_builder_call(builder, op, (const sim_expr_ref[]){a, b}, out);
}
static sim_status call1(sim_expr_builder *builder, sim_expr_op op, sim_expr_ref a, sim_expr_ref *out) {
  return sim_expr_builder_call(builder, op, &a, out);
}

/* x^n for n >= 1/2 and integer 2n: multiplies repeated squares by the bits of n from the lowest up, sqrt(x) last. */
static sim_status positive_power(sim_expr_builder *builder, sim_expr_ref x, double n, sim_expr_ref *out) {
  sim_expr_ref square = x, product = -1;
  for (int left = (int)n; left; left >>= 1) {
    if (left & 1) {
      if (product < 0)
        product = square;
      else
        SIM_TRY(call2(builder, SIM_EXPR_MUL, product, square, &product));
    }
    if (left > 1) SIM_TRY(call2(builder, SIM_EXPR_MUL, square, square, &square));
  }
  if (n != floor(n)) {
    sim_expr_ref root;
    SIM_TRY(call1(builder, SIM_EXPR_SQRT, x, &root));
    if (product < 0)
      product = root;
    else
      SIM_TRY(call2(builder, SIM_EXPR_MUL, product, root, &product));
  }
  *out = product;
  return SIM_OK;
}

/* Sets *done to whether products define x^n; if they do, writes the value to *out. */
static sim_status power(sim_expr_builder *builder, sim_expr_ref x, double n, bool *done, sim_expr_ref *out) {
  *done = fabs(n) <= 64 && (n == floor(n) || (fabs(n) <= 32 && 2 * n == floor(2 * n)));
  if (!*done) return SIM_OK;
  if (n == 0) return sim_expr_builder_number(builder, 1, out);
  SIM_TRY(positive_power(builder, x, fabs(n), out));
  if (n > 0) return SIM_OK;
  sim_expr_ref one;
  SIM_TRY(sim_expr_builder_number(builder, 1, &one));
  return call2(builder, SIM_EXPR_DIV, one, *out, out);
}

/* Whether x / c equals x * (1/c) to the bit, in both precisions. */
static bool exact_reciprocal(double c) {
  int exponent;
  return isfinite(c) && fabs(frexp(c, &exponent)) == 0.5 && abs(exponent - 1) <= 126;
}

/* Makes the rewritings listed in expr.h. *done: *out is the rewritten value. */
static sim_status rewrite(sim_expr_builder *builder, sim_expr_op op, const sim_expr_ref *args, bool *done,
                          sim_expr_ref *out) {
  const sim_expr_ref a = args[0], b = sim_expr_rules[op].operands > 1 ? args[1] : 0;
  const sim_expr_node *first = &builder->nodes[a], *second = &builder->nodes[b];
  double x = 0, y = 0;
  bool left = sim_expr_builder_constant(builder, a, &x);
  bool right = sim_expr_rules[op].operands > 1 && sim_expr_builder_constant(builder, b, &y);
  *done = true;
  switch (op) {
  case SIM_EXPR_ADD:
    if (right && y == 0 && signbit(y)) return *out = a, SIM_OK;
    if (left && x == 0 && signbit(x)) return *out = b, SIM_OK;
    if (second->op == SIM_EXPR_NEG) return call2(builder, SIM_EXPR_SUB, a, second->args[0], out);
    break;
  case SIM_EXPR_SUB:
    if (right && y == 0 && !signbit(y)) return *out = a, SIM_OK;
    if (second->op == SIM_EXPR_NEG) return call2(builder, SIM_EXPR_ADD, a, second->args[0], out);
    break;
  case SIM_EXPR_MUL:
    if (right && y == 1) return *out = a, SIM_OK;
    if (left && x == 1) return *out = b, SIM_OK;
    if (right && y == -1) return call1(builder, SIM_EXPR_NEG, a, out);
    if (left && x == -1) return call1(builder, SIM_EXPR_NEG, b, out);
    break;
  case SIM_EXPR_DIV:
    if (right && y == 1) return *out = a, SIM_OK;
    if (right && y == -1) return call1(builder, SIM_EXPR_NEG, a, out);
    if (right && exact_reciprocal(y)) {
      sim_expr_ref factor;
      SIM_TRY(sim_expr_builder_number(builder, 1 / y, &factor));
      return call2(builder, SIM_EXPR_MUL, a, factor, out);
    }
    break;
  case SIM_EXPR_NEG:
    if (first->op == SIM_EXPR_NEG) return *out = first->args[0], SIM_OK;
    break;
  case SIM_EXPR_POW:
    if (right) {
      SIM_TRY(power(builder, a, y, done, out));
      if (*done) return SIM_OK;
    }
    break;
  case SIM_EXPR_MIN:
  case SIM_EXPR_MAX:
    if (a == b) return *out = a, SIM_OK;
    break;
  case SIM_EXPR_AND:
    if (left) return *out = x != 0 ? b : a, SIM_OK;
    if (right) return *out = y != 0 ? a : b, SIM_OK;
    if (a == b) return *out = a, SIM_OK;
    break;
  case SIM_EXPR_OR:
    if (left) return *out = x != 0 ? a : b, SIM_OK;
    if (right) return *out = y != 0 ? b : a, SIM_OK;
    if (a == b) return *out = a, SIM_OK;
    break;
  case SIM_EXPR_NOT:
    if (first->op == SIM_EXPR_NOT) return *out = first->args[0], SIM_OK;
    break;
  case SIM_EXPR_WHERE:
    if (left) return *out = x != 0 ? b : args[2], SIM_OK;
    if (b == args[2]) return *out = b, SIM_OK;
    break;
  default: break;
  }
  *done = false;
  return SIM_OK;
}

sim_status sim_expr_builder_call(sim_expr_builder *builder, sim_expr_op op, const sim_expr_ref *args,
                                 sim_expr_ref *out) {
  const sim_expr_rule *rule = &sim_expr_rules[op];
  sim_expr_node node = {.op = (uint8_t)op};
  bool constant = true;
  double values[3] = {0};
  for (int k = 0; k < rule->operands; k++) {
    if (sim_expr_builder_type(builder, args[k]) != sim_expr_operand_type(op, k))
      return sim_fail(SIM_ERR_SCENARIO, "operand %d of '%s' is a %s: expected a %s", k + 1, rule->name,
                      sim_expr_operand_type(op, k) == SIM_EXPR_C ? "number" : "condition",
                      sim_expr_operand_type(op, k) == SIM_EXPR_C ? "condition (of sim.lt, sim.and, ...)" : "number");
    node.args[k] = args[k];
    constant = sim_expr_builder_constant(builder, args[k], &values[k]) && constant;
  }
  constant = constant && rule->operands;
  bool done = false;
  /* products define a power of a constant, too */
  if (!constant || op == SIM_EXPR_POW) SIM_TRY(rewrite(builder, op, args, &done, out));
  if (done) return SIM_OK;
  if (constant) {
    double result;
    const void *const operands[] = {&values[0], &values[1], &values[2]};
    sim_expr_kernels_double_plain[op][0](1, &result, operands);
    return rule->gives == SIM_EXPR_C ? sim_expr_builder_truth(builder, result != 0, out)
                                     : sim_expr_builder_number(builder, result, out);
  }
  return add(builder, node, out);
}

bool sim_expr_builder_where(const sim_expr_builder *builder, sim_expr_ref ref, sim_expr_ref *condition,
                            sim_expr_ref *first, sim_expr_ref *second) {
  const sim_expr_node *node = &builder->nodes[ref];
  *condition = node->args[0];
  *first = node->args[1];
  *second = node->args[2];
  return node->op == SIM_EXPR_WHERE;
}

sim_status sim_expr_builder_insert_all(sim_expr_builder *builder, const sim_expr *expr, const sim_expr_ref *inputs,
                                       sim_expr_ref *refs) {
  for (int i = 0; i < expr->node_count; i++) {
    const sim_expr_node *node = &expr->nodes[i];
    sim_expr_ref args[3];
    for (int k = 0; k < sim_expr_rules[node->op].operands; k++) args[k] = refs[node->args[k]];
    if (node->op == SIM_EXPR_INPUT)
      refs[i] = inputs[node->args[0]];
    else if (node->op == SIM_EXPR_NUMBER)
      SIM_TRY(sim_expr_builder_number(builder, node->value, &refs[i]));
    else if (node->op == SIM_EXPR_TRUTH)
      SIM_TRY(sim_expr_builder_truth(builder, node->value != 0, &refs[i]));
    else
      SIM_TRY(sim_expr_builder_call(builder, (sim_expr_op)node->op, args, &refs[i]));
  }
  return SIM_OK;
}

sim_status sim_expr_builder_insert(sim_expr_builder *builder, const sim_expr *expr, const sim_expr_ref *inputs,
                                   sim_expr_ref *outputs) {
  sim_expr_ref *refs = malloc(((size_t)expr->node_count + 1) * sizeof *refs);
  if (!refs) return sim_no_memory("a function");
  sim_status status = sim_expr_builder_insert_all(builder, expr, inputs, refs);
  for (int i = 0; i < expr->output_count && status == SIM_OK; i++) outputs[i] = refs[expr->output_nodes[i]];
  free(refs);
  return status;
}

sim_status sim_expr_builder_finish(sim_expr_builder *builder, const sim_expr_ref *outputs, const char *const *names,
                                   int count, sim_expr **out) {
  *out = NULL;
  if (count > SIM_EXPR_OUTPUTS_MAX)
    return sim_fail(SIM_ERR_SCENARIO, "the function has more than %d results", (int)SIM_EXPR_OUTPUTS_MAX);
  for (int i = 0; i < count; i++)
    if (!sim_expr_name_valid(names[i])) return sim_fail(SIM_ERR_SCENARIO, "'%s' cannot name a result", names[i]);
  int32_t *places = calloc((size_t)builder->node_count + 1, sizeof *places); /* 1 if needed, later new index + 1 */
  if (!places) return sim_no_memory("a function");
  for (int i = 0; i < count; i++) places[outputs[i]] = 1;
  for (int i = builder->node_count - 1; i >= 0; i--)
    if (places[i])
      for (int k = 0; k < sim_expr_rules[builder->nodes[i].op].operands; k++) places[builder->nodes[i].args[k]] = 1;
  int nodes = 0;
  for (int i = 0; i < builder->node_count; i++)
    if (places[i]) places[i] = ++nodes;
  sim_expr *expr;
  sim_status status = sim_expr_allocate(builder->input_count, count, nodes, &expr);
  if (status == SIM_OK) {
    for (int i = 0; i < builder->node_count; i++) {
      if (!places[i]) continue;
      sim_expr_node *node = &expr->nodes[places[i] - 1];
      *node = builder->nodes[i];
      for (int k = 0; k < sim_expr_rules[node->op].operands; k++) node->args[k] = places[node->args[k]] - 1;
    }
    for (int i = 0; i < count; i++) {
      expr->output_nodes[i] = places[outputs[i]] - 1;
      memcpy(expr->outputs[i], names[i], strlen(names[i]) + 1);
    }
    memcpy(expr->inputs, builder->inputs, (size_t)builder->input_count * sizeof *expr->inputs);
    *out = expr;
  }
  free(places);
  return status;
}
