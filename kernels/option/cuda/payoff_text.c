/* Text of the payoffs of a run: groups of quantities as functions of path features, the struct `payoffs` of
 * paths/samples.cuh. */
#include "engine/expr/graph.h"
#include "kernels/option/cuda/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char qualifier[] = "static __device__ __forceinline__";

/* Expressions of the payoffs of each market and sign in terms of views. All groups share a builder, whose inputs are
 * all views; where these are too many, each group has its own, with the views that its quantities see. */
typedef struct composer {
  option_cuda_plan *plan;
  sim_expr_builder *builder;
  int inputs, input[SIM_EXPR_INPUTS_MAX]; /* the builder's inputs: views */
  bool *seen;                             /* [views] by the group */
  sim_expr_ref *view;                     /* [views], of those that are inputs */
  sim_expr_ref output[OPTION_CUDA_VARIANTS][SIM_EXPR_OUTPUTS_MAX];
  bool made[OPTION_CUDA_VARIANTS];
  sim_bytes calls; /* of the groups: cases of a switch */
} composer;

/* Inserts the payoffs of one market and sign; features that have no view there are 0. */
static sim_status insert_variant(composer *c, int variant) {
  const option_graph *g = &c->plan->estimate->graph;
  sim_expr_ref in[SIM_EXPR_INPUTS_MAX], zero;
  if (c->made[variant]) return SIM_OK;
  SIM_TRY(sim_expr_builder_number(c->builder, 0, &zero));
  for (int f = 0; f < g->features; f++) {
    const int view = c->plan->view_of[variant * g->features + f];
    in[f] = view < 0 || !c->seen[view] ? zero : c->view[view];
  }
  c->made[variant] = true;
  return sim_expr_builder_insert(c->builder, g->expr, in, c->output[variant]);
}

static sim_status binary(composer *c, sim_expr_op op, sim_expr_ref a, sim_expr_ref b, sim_expr_ref *out) {
  return sim_expr_builder_call(c->builder, op, (const sim_expr_ref[]){a, b}, out);
}

/* Sum over an antithetic pair. */
static sim_status both_signs(composer *c, int market, int output, sim_expr_ref *out) {
  for (int s = 0; s < c->plan->signs; s++) {
    const int variant = market * c->plan->signs + s;
    SIM_TRY(insert_variant(c, variant));
    if (s == 0)
      *out = c->output[variant][output];
    else
      SIM_TRY(binary(c, SIM_EXPR_ADD, *out, c->output[variant][output], out));
  }
  return SIM_OK;
}

/* Sum of the terms in units of the first factor. Ratios of factors are nearly integers, and integers come first: in
 * fp32 the difference of two payoffs is exact, and the small remainder adds little rounding. */
static sim_status whole_sum(composer *c, const option_combination *of, sim_expr_ref *out) {
  sim_expr_ref value, number, rest = 0;
  bool any = false;
  for (int t = 0; t < of->terms; t++) {
    const double ratio = of->term[t].factor / of->term[0].factor, whole = round(ratio);
    SIM_TRY(both_signs(c, of->term[t].market, of->term[t].output, &value));
    if (ratio != whole) {
      sim_expr_ref part;
      SIM_TRY(sim_expr_builder_number(c->builder, ratio - whole, &number));
      SIM_TRY(binary(c, SIM_EXPR_MUL, value, number, &part));
      if (any) SIM_TRY(binary(c, SIM_EXPR_ADD, rest, part, &part));
      rest = part;
      any = true;
    }
    SIM_TRY(sim_expr_builder_number(c->builder, fabs(whole), &number));
    SIM_TRY(binary(c, SIM_EXPR_MUL, value, number, &value));
    if (t == 0)
      *out = value;
    else
      SIM_TRY(binary(c, whole < 0 ? SIM_EXPR_SUB : SIM_EXPR_ADD, *out, value, out));
  }
  return any ? binary(c, SIM_EXPR_ADD, *out, rest, out) : SIM_OK;
}

/* One case a group: the function's arguments are the builder's views, the literals from `literal` on, the quantities,
 * and the controls. */
static void add_call(composer *c, int group, int literal) {
  const option_cuda_plan *plan = c->plan;
  const option_estimate *e = plan->estimate;
  sim_bytes *text = &c->calls;
  const int first = group * OPTION_CUDA_GROUP;
  sim_bytes_format(text, "    case %d: group_%d(", group, group);
  for (int i = 0; i < c->inputs; i++) sim_bytes_format(text, "f[%d], ", c->input[i]);
  for (int i = literal; i < plan->literals; i++)
    sim_bytes_format(text, "quantity[%d], ", plan->at_literal - plan->at_quantity + i);
  for (int k = 0; k < OPTION_CUDA_GROUP && first + k < e->quantities; k++)
    sim_bytes_format(text, "%so + %d", k ? ", " : "", k);
  for (int k = 0; k < OPTION_CUDA_GROUP && first + k < e->quantities; k++)
    if (e->combination[first + k].control >= 0) sim_bytes_format(text, ", x + %d", k);
  sim_bytes_text(text, "); break;\n");
}

/* Whether a number belongs into the text: the compiler makes use of it. */
static bool is_plain(double value) {
  return !isfinite(value) || value == 0 || fabs(value) == 1 || value == 0.5 || value == 2;
}

/* Makes the numbers of a finished graph its last inputs, and constants of the kernel, as far as there is room for them.
 * The second operand of an extreme, which is known not to be NaN, stays in the text. */
static void take_literals(option_cuda_plan *plan, sim_expr *graph) {
  bool stays[SIM_EXPR_NODES_MAX] = {false};
  for (int i = 0; i < graph->node_count; i++) {
    const sim_expr_node *node = &graph->nodes[i];
    if (node->op == SIM_EXPR_MIN || node->op == SIM_EXPR_MAX) stays[node->args[0]] = stays[node->args[1]] = true;
  }
  for (int i = 0; i < graph->node_count && plan->literals < OPTION_CUDA_LITERALS_MAX; i++) {
    sim_expr_node *node = &graph->nodes[i];
    if (node->op != SIM_EXPR_NUMBER || stays[i] || is_plain(node->value)) continue;
    plan->literal[plan->literals++] = node->value;
    *node = (sim_expr_node){.op = SIM_EXPR_INPUT, .args = {graph->input_count++}};
  }
}

/* Marks the views that an output of a market sees: seen[views]. */
static void see(const option_cuda_plan *plan, int market, int output, bool *seen) {
  const option_graph *g = &plan->estimate->graph;
  for (int f = 0; f < g->features; f++) {
    if (!sim_expr_depends(g->expr, output, f)) continue;
    for (int s = 0; s < plan->signs; s++) seen[plan->view_of[(market * plan->signs + s) * g->features + f]] = true;
  }
}

/* Marks the views that the quantities of a group see, and returns their number. */
static int see_group(const option_cuda_plan *plan, int group, bool *seen) {
  const option_estimate *e = plan->estimate;
  int count = 0;
  for (int q = group * OPTION_CUDA_GROUP; q < e->quantities && q < (group + 1) * OPTION_CUDA_GROUP; q++) {
    const option_combination *of = &e->combination[q];
    for (int t = 0; t < of->terms; t++) see(plan, of->term[t].market, of->term[t].output, seen);
    if (of->control >= 0) see(plan, 0, of->control, seen);
  }
  for (int v = 0; v < plan->views; v++) count += seen[v];
  return count;
}

int option_cuda_views_together(const option_cuda_plan *plan) {
  bool *seen = malloc((size_t)plan->views + 1);
  int most = 0;
  for (int group = 0; group * OPTION_CUDA_GROUP < plan->estimate->quantities && seen != NULL; group++) {
    memset(seen, 0, (size_t)plan->views);
    const int count = see_group(plan, group, seen);
    most = count > most ? count : most;
  }
  free(seen);
  return most;
}

/* Begins the builder of a group, or of all. */
static sim_status begin_group(composer *c, int group) {
  const option_cuda_plan *plan = c->plan;
  const bool shared = plan->views <= SIM_EXPR_INPUTS_MAX;
  char name[16];
  if (shared && group > 0) return SIM_OK;
  sim_expr_builder_free(&c->builder);
  SIM_TRY(sim_expr_builder_create(&c->builder));
  memset(c->made, 0, sizeof c->made);
  for (int v = 0; v < plan->views; v++) c->seen[v] = shared;
  (void)see_group(plan, group, c->seen);
  c->inputs = 0;
  for (int v = 0; v < plan->views; v++) {
    if (!c->seen[v]) continue;
    if (c->inputs == SIM_EXPR_INPUTS_MAX)
      return sim_fail(SIM_ERR_SCENARIO, "%d results together see more than %d numbers of a path: use --device cpu",
                      OPTION_CUDA_GROUP, SIM_EXPR_INPUTS_MAX);
    snprintf(name, sizeof name, "v%d", v);
    SIM_TRY(sim_expr_builder_input(c->builder, name, &c->view[v]));
    c->input[c->inputs++] = v;
  }
  return SIM_OK;
}

static sim_status add_group(composer *c, int group, sim_bytes *text) {
  const option_estimate *e = c->plan->estimate;
  const int first = group * OPTION_CUDA_GROUP;
  const int count = e->quantities - first < OPTION_CUDA_GROUP ? e->quantities - first : OPTION_CUDA_GROUP;
  sim_expr_ref out[2 * OPTION_CUDA_GROUP];
  const char *names[2 * OPTION_CUDA_GROUP];
  char room[2 * OPTION_CUDA_GROUP][8], name[32];
  int outputs = count;
  SIM_TRY(begin_group(c, group));
  for (int k = 0; k < count; k++) {
    const option_combination *of = &e->combination[first + k];
    SIM_TRY(whole_sum(c, of, &out[k]));
    if (of->control >= 0) SIM_TRY(both_signs(c, 0, of->control, &out[outputs++]));
  }
  for (int i = 0; i < outputs; i++) {
    snprintf(room[i], sizeof room[0], "o%d", i);
    names[i] = room[i];
  }
  sim_expr *graph;
  snprintf(name, sizeof name, "group_%d", group);
  SIM_TRY(sim_expr_builder_finish(c->builder, out, names, outputs, &graph));
  const int literals = c->plan->literals;
  take_literals(c->plan, graph);
  const sim_status status = sim_expr_emit(
      graph,
      &(sim_expr_emission){.name = name, .qualifier = qualifier, .single = c->plan->single, .extremes = "number_"},
      text);
  sim_expr_free(&graph);
  add_call(c, group, literals);
  return status;
}

static sim_status compose(composer *c, sim_bytes *text) {
  const option_cuda_plan *plan = c->plan;
  c->seen = calloc((size_t)plan->views + 1, sizeof *c->seen);
  c->view = calloc((size_t)plan->views + 1, sizeof *c->view);
  if (c->seen == NULL || c->view == NULL) return sim_no_memory("the payoffs");
  for (int group = 0; group * OPTION_CUDA_GROUP < plan->estimate->quantities && !plan->vanilla; group++)
    SIM_TRY(add_group(c, group, text));
  return SIM_OK;
}

/* The only quantity, minus its shift. */
static void add_vanilla(const option_cuda_plan *plan, sim_bytes *text) {
  const option_plain *plain = &plan->estimate->graph.plain[0];
  sim_bytes_format(text, "    case 0: *o = number_max(%sf[%d] + quantity[1], -quantity[0]); break;\n",
                   plain->sign < 0 ? "-" : "", plan->view_of[plain->feature]);
}

sim_status option_cuda_add_payoffs(option_cuda_plan *plan, sim_bytes *text) {
  const option_estimate *e = plan->estimate;
  composer *c = calloc(1, sizeof *c);
  if (c == NULL) return sim_no_memory("the payoffs");
  c->plan = plan;
  plan->literals = 0;
  const sim_status status = compose(c, text);
  sim_expr_builder_free(&c->builder);
  free(c->seen);
  free(c->view);
  plan->constants = plan->at_literal + plan->literals;
  sim_bytes calls = c->calls;
  free(c);
  if (status != SIM_OK) sim_bytes_free(&calls);
  SIM_TRY(status);
  bool controls = false;
  for (int q = 0; q < e->quantities; q++) controls |= e->combination[q].control >= 0;
  const int groups = (e->quantities + OPTION_CUDA_GROUP - 1) / OPTION_CUDA_GROUP;
  sim_bytes_format(
      text,
      "struct payoffs {\n"
      "  enum : int { QUANTITIES = %d, GROUPS = %d, COUNT = %d, CONTROLS = %d, SHIFTED = %d };\n"
      "  typedef scheme::real real;\n"
      "  static __device__ __forceinline__ void of(int group, const real *f, const real *quantity, real *o,\n"
      "                                            real *x) {\n"
      "#pragma unroll\n"
      "    for (int k = 0; k < COUNT; k++) o[k] = x[k] = 0;\n"
      "    switch (group) {\n",
      e->quantities, groups, e->quantities < OPTION_CUDA_GROUP ? e->quantities : OPTION_CUDA_GROUP, controls,
      plan->vanilla);
  if (plan->vanilla)
    add_vanilla(plan, text);
  else
    sim_bytes_add(text, calls.data, calls.size);
  text->failed |= calls.failed;
  sim_bytes_free(&calls);
  sim_bytes_text(text, "    }\n  }\n};\n");
  return SIM_OK;
}
