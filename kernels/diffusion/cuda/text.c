/* Kernels with the scenario's rates and with the sums of a scheme's stages, as text. */
#include "kernels/diffusion/cuda/work.h"

#include <stdio.h>

/* ---- rates ---- */

static sim_status add_rates(const diffusion_work *w, sim_bytes *text) {
  const int slopes = diffusion_gradients_of(w->p).count;
  int noise = 0; /* a bit for each field that fluctuates */
  sim_expr *graph;
  for (int f = 0; f < w->fields; f++) noise |= diffusion_species_of(w->p, f)->fluctuation > 0 ? 1 << f : 0;
  SIM_TRY(diffusion_rates_graph(w->p, diffusion_form_of(w->p->integrate.scheme), &graph));
  sim_status status = sim_expr_emit(
      graph,
      &(sim_expr_emission){.name = "rates_at", .qualifier = "static __device__ __forceinline__", .single = w->single},
      text);
  sim_expr_free(&graph);
  SIM_TRY(status);
  sim_bytes_format(text,
                   "struct scenario_rates {\n"
                   "  enum { FIELDS = %d, SLOPES = %d, NOISE = %d };\n"
                   "  __device__ static __forceinline__ void of(real *u, real x, real y, real z, real t, real h,\n"
                   "                                            const real *d = nullptr) {\n"
                   "    real o[FIELDS];\n"
                   "    rates_at(",
                   w->fields, slopes, noise);
  for (int f = 0; f < w->fields; f++) sim_bytes_format(text, "u[%d], ", f);
  sim_bytes_text(text, "x, y, z, t, h");
  for (int g = 0; g < slopes; g++) sim_bytes_format(text, ", d[%d]", g);
  for (int f = 0; f < w->fields; f++) sim_bytes_format(text, ", o + %d", f);
  sim_bytes_text(text, ");\n"
                       "    for (int f = 0; f < FIELDS; f++) u[f] = o[f];\n"
                       "  }\n"
                       "};\n"
                       "extern \"C\" __global__ void __launch_bounds__(DIFFUSION_THREADS)\n"
                       "    diffusion_rates(real *fields, const real *derivatives, const diffusion_place place,\n"
                       "                    const diffusion_noise noise, double t, double h, int times) {\n"
                       "  rates_of<scenario_rates>(fields, derivatives, place, noise, t, h, times);\n"
                       "}\n");
  return SIM_OK;
}

/* ---- sums: a coefficient of 0 stands for the transforms' scale ---- */

static const char *const factors[] = {
    [DIFFUSION_ALIKE] = "by_alike", [DIFFUSION_EACH] = "by_each", [DIFFUSION_COMPLEX] = "by_complex"};

static void add_set(const diffusion_set *set, diffusion_factor factor, unsigned *loaded, unsigned *written,
                    sim_bytes *text) {
  for (int t = 0; t < set->terms; t++) {
    const int source = set->term[t].source;
    if (!(*loaded >> source & 1)) sim_bytes_format(text, "  pair a%d = at_of<pair>(s.array[%d])[i];\n", source, source);
    *loaded |= 1u << source;
  }
  sim_bytes_text(text, "  sum = pair{0, 0};\n");
  for (int t = 0; t < set->terms; t++) {
    const diffusion_term *term = &set->term[t];
    if (term->coefficient == 0)
      sim_bytes_text(text, "  added(sum, (real)s.scale, ");
    else
      sim_bytes_format(text, "  added(sum, (real)%a, ", term->coefficient);
    if (term->table >= 0)
      sim_bytes_format(text, "%s(a%d, at_of<real>(s.table[%d]), k));\n", factors[factor], term->source, term->table);
    else
      sim_bytes_format(text, "a%d);\n", term->source);
  }
  sim_bytes_format(text, "  %sa%d = sum;\n", *loaded >> set->target & 1 ? "" : "pair ", set->target);
  *loaded |= 1u << set->target;
  *written |= 1u << set->target;
}

void diffusion_cuda_write_sums(const diffusion_stage *stage, diffusion_factor factor, unsigned held, unsigned dropped,
                               sim_bytes *text) {
  unsigned loaded = held, written = 0;
  sim_bytes_text(text, "  pair sum;\n");
  for (int set = 0; set < stage->sets; set++) add_set(&stage->set[set], factor, &loaded, &written, text);
  for (int a = 0; a < DIFFUSION_ARRAYS; a++)
    if ((written & ~dropped) >> a & 1) sim_bytes_format(text, "  at_of<pair>(s.array[%d])[i] = a%d;\n", a, a);
}

static void add_visit(const diffusion_stage *stage, int number, diffusion_factor factor, sim_bytes *text) {
  sim_bytes_format(text,
                   "struct visit_%d {\n"
                   "  __device__ static __forceinline__ void at(const diffusion_sums &s, long long i, long long k) {\n",
                   number);
  diffusion_cuda_write_sums(stage, factor, 0, 0, text);
  sim_bytes_format(text,
                   "  }\n};\n"
                   "extern \"C\" __global__ void __launch_bounds__(DIFFUSION_THREADS)\n"
                   "    diffusion_visit_%d(diffusion_sums s) {\n"
                   "  visit<visit_%d>(s);\n"
                   "}\n",
                   number, number);
}

/* The visits of a run, beside the stages: the state from what was loaded, array [0] from the state, and the jump. */
static void add_visits(const diffusion_work *w, sim_bytes *text) {
  const int state = w->method.arrays > 0 ? 1 : 0;
  const diffusion_factor factor = w->spectrum.factor;
  diffusion_stage first = {1, 1, 1, {{state, 1, {{0, -1, 0}}}}};
  if (state) first.set[first.sets++] = (diffusion_set){0, 1, {{1, -1, state}}};
  const diffusion_stage again = {0, 1, 1, {{0, 1, {{1, -1, state}}}}}, jump = {0, 1, 1, {{0, 1, {{1, 0, state}}}}};
  for (int s = 0; s < w->method.stages; s++) add_visit(&w->method.stage[s], s, factor, text);
  add_visit(&first, DIFFUSION_VISIT_LOAD, factor, text);
  if (state) add_visit(&again, DIFFUSION_VISIT_RESUME, factor, text);
  if (w->method.stages == 0) add_visit(&jump, DIFFUSION_VISIT_JUMP, factor, text);
}

sim_status diffusion_cuda_write(const diffusion_work *w, sim_bytes *text) {
  sim_bytes_format(text, "typedef %s real;\ntypedef %s2 pair;\n#include \"kernels/diffusion/cuda/pointwise.cuh\"\n",
                   w->single ? "float" : "double", w->single ? "float" : "double");
  SIM_TRY(sim_expr_emit_prelude(text));
  if (w->p->rates) SIM_TRY(add_rates(w, text));
  if (w->fused)
    diffusion_fused_write(w->p, text);
  else if (w->axes)
    diffusion_axes_write(w->p, text);
  else if (w->flat)
    diffusion_flat_write(w->p, text);
  else
    add_visits(w, text);
  return text->failed ? sim_fail(SIM_ERR_NO_MEMORY, "no memory for the text of kernels") : SIM_OK;
}

sim_source diffusion_cuda_source(const sim_bytes *text) {
  return (sim_source){.name = "diffusion", .text = text->data, .files = diffusion_cuda_files, .contract = true};
}
