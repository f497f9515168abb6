/* Derivatives of rates and fluxes by the fields, their derivatives in space, and time. */
#include "kernels/diffusion/diffusion.h"

#include <stdlib.h>
#include <string.h>

enum { COORDINATES = 4, T = 3, GRAPH_INPUTS = (int)DIFFUSION_FIELDS + (int)COORDINATES + 1 + (int)DIFFUSION_READ };
enum { RESULTS = DIFFUSION_FIELDS + DIFFUSION_FLUXES };

bool diffusion_implicit(const diffusion_parameters *p) { return p->integrate.scheme == DIFFUSION_RODAS3; }

/* Adds the derivatives by one input of the graph. */
static sim_status add_entries(sim_expr_builder *b, const sim_expr *graph, const sim_expr_ref *in, int input, int at,
                              diffusion_jacobian *out, sim_expr_ref *entries) {
  sim_expr_ref results[RESULTS];
  sim_expr *derivative;
  SIM_TRY(sim_expr_derivative(graph, at, &derivative));
  sim_status status = sim_expr_builder_insert(b, derivative, in, results);
  for (int i = 0; status == SIM_OK && i < sim_expr_output_count(derivative); i++) {
    if (sim_expr_always_zero(derivative, i)) continue;
    if (out->count == DIFFUSION_ENTRIES)
      status = sim_fail(SIM_ERR_SCENARIO,
                        "integrate.scheme: rodas3 takes at most %d derivatives of rates and fluxes that are not 0",
                        DIFFUSION_ENTRIES);
    if (status != SIM_OK) break;
    out->of[out->count].result = i;
    out->of[out->count].input = input;
    entries[out->count++] = results[i];
  }
  sim_expr_free(&derivative);
  return status;
}

/* Sorts entries by result, so that the terms of a sum follow each other. */
static void sort_entries(diffusion_jacobian *j, sim_expr_ref *entries) {
  for (int i = 1; i < j->count; i++)
    for (int k = i; k > 0 && j->of[k].result < j->of[k - 1].result; k--) {
      const int result = j->of[k].result, input = j->of[k].input;
      const sim_expr_ref entry = entries[k];
      j->of[k] = j->of[k - 1];
      j->of[k - 1].result = result;
      j->of[k - 1].input = input;
      entries[k] = entries[k - 1];
      entries[k - 1] = entry;
    }
}

static sim_status build(const diffusion_parameters *p, const sim_expr *graph, sim_expr_builder *b,
                        diffusion_jacobian *out, sim_expr **entries) {
  const int fields = (int)p->fields.count, inputs = sim_expr_input_count(graph);
  sim_expr_ref in[GRAPH_INPUTS], all[DIFFUSION_ENTRIES];
  const char *names[DIFFUSION_ENTRIES];
  for (int i = 0; i < inputs; i++) SIM_TRY(sim_expr_builder_input(b, sim_expr_input_name(graph, i), &in[i]));
  for (int i = 0; i < inputs - COORDINATES - 1; i++)
    SIM_TRY(add_entries(b, graph, in, i, i < fields ? i : i + COORDINATES + 1, out, all));
  sort_entries(out, all);
  for (int i = 0; i < out->count; i++) names[i] = "entry";
  return out->count > 0 ? sim_expr_builder_finish(b, all, names, out->count, entries) : SIM_OK;
}

sim_status diffusion_jacobian_graph(const diffusion_parameters *p, diffusion_jacobian *out, sim_expr **entries,
                                    sim_expr **by_time) {
  const int time = (int)p->fields.count + T;
  sim_expr_builder *b = NULL;
  sim_expr *graph;
  bool timed = false;
  *out = (diffusion_jacobian){0};
  *entries = *by_time = NULL;
  SIM_TRY(diffusion_rates_graph(p, DIFFUSION_RATE, &graph));
  for (int i = 0; i < sim_expr_output_count(graph); i++) timed = timed || sim_expr_depends(graph, i, time);
  sim_status status = sim_expr_builder_create(&b);
  if (status == SIM_OK) status = build(p, graph, b, out, entries);
  if (status == SIM_OK && timed) status = sim_expr_derivative(graph, time, by_time);
  if (status != SIM_OK) sim_expr_free(entries);
  sim_expr_builder_free(&b);
  sim_expr_free(&graph);
  return status;
}
