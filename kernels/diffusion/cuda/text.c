/* Kernels with the scenario's rates and with the sums of a scheme's stages, as text. */
#include "kernels/diffusion/cuda/work.h"

#include <stdio.h>

/* ---- rates ---- */

static sim_status add_rates(const diffusion_work *w, sim_bytes *text) {
  const int slopes = diffusion_gradients_of(w->p).count;
  sim_expr *graph;
  SIM_TRY(diffusion_rates_graph(w->p, diffusion_form_of(w->p->integrate.scheme), &graph));
  sim_status status = sim_expr_emit(
      graph,
      &(sim_expr_emission){.name = "rates_at", .qualifier = "static __device__ __forceinline__", .single = w->single},
      text);
  sim_expr_free(&graph);
  SIM_TRY(status);
  sim_bytes_format(text,
                   "struct scenario_rates {\n"
                   "  enum { FIELDS = %d, SLOPES = %d };\n"
                   "  __device__ static __forceinline__ void of(real *u, real x, real y, real z, real t, real h,\n"
                   "                                            const real *d = nullptr) {\n"
                   "    real o[FIELDS];\n"
                   "    rates_at(",
                   w->fields, slopes);
  for (int f = 0; f < w->fields; f++) sim_bytes_format(text, "u[%d], ", f);
  sim_bytes_text(text, "x, y, z, t, h");
  for (int g = 0; g < slopes; g++) sim_bytes_format(text, ", d[%d]", g);
  for (int f = 0; f < w->fields; f++) sim_bytes_format(text, ", o + %d", f);
  sim_bytes_text(text, ");\n"
                       "    for (int f = 0; f < FIELDS; f++) u[f] = o[f];\n"
                       "  }\n"
                       "};\n");
  return SIM_OK;
}

static const char pointwise_rates[] =
    "extern \"C\" __global__ void __launch_bounds__(DIFFUSION_THREADS)\n"
    "    diffusion_rates(real *fields, const real *derivatives, const diffusion_place place,\n"
    "                    double t, double h, int times) {\n"
    "  rates_of<scenario_rates>(fields, derivatives, place, t, h, times);\n"
    "}\n";

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

/* The same of all fields in one thread, for tables are matrices of them. */
static void add_coupled_set(const diffusion_set *set, diffusion_factor factor, int fields, unsigned *loaded,
                            unsigned *written, sim_bytes *text) {
  for (int t = 0; t < set->terms; t++) {
    const int source = set->term[t].source;
    for (int f = 0; f < fields && !(*loaded >> source & 1); f++)
      sim_bytes_format(text, "  pair a%d_%d = at_of<pair>(s.array[%d])[i + %d * s.field];\n", source, f, source, f);
    *loaded |= 1u << source;
  }
  for (int f = 0; f < fields; f++) {
    sim_bytes_format(text, "  sum[%d] = pair{0, 0};\n", f);
    for (int t = 0; t < set->terms; t++) {
      const diffusion_term *term = &set->term[t];
      char by[40] = "(real)s.scale";
      if (term->coefficient != 0) snprintf(by, sizeof by, "(real)%a", term->coefficient);
      if (term->table < 0)
        sim_bytes_format(text, "  added(sum[%d], %s, a%d_%d);\n", f, by, term->source, f);
      else
        for (int g = 0; g < fields; g++)
          sim_bytes_format(text, "  added(sum[%d], %s, %s(a%d_%d, at_of<real>(s.table[%d]) + %d * s.tables, k));\n", f,
                           by, factors[factor], term->source, g, term->table, f * fields + g);
    }
  }
  for (int f = 0; f < fields; f++)
    sim_bytes_format(text, "  %sa%d_%d = sum[%d];\n", *loaded >> set->target & 1 ? "" : "pair ", set->target, f, f);
  *loaded |= 1u << set->target;
  *written |= 1u << set->target;
}

static void add_coupled_sums(const diffusion_stage *stage, diffusion_factor factor, int fields, sim_bytes *text) {
  unsigned loaded = 0, written = 0;
  sim_bytes_format(text, "  pair sum[%d];\n", fields);
  for (int set = 0; set < stage->sets; set++)
    add_coupled_set(&stage->set[set], factor, fields, &loaded, &written, text);
  for (int a = 0; a < DIFFUSION_ARRAYS; a++)
    for (int f = 0; f < fields && written >> a & 1; f++)
      sim_bytes_format(text, "  at_of<pair>(s.array[%d])[i + %d * s.field] = a%d_%d;\n", a, f, a, f);
}

static void add_visit(const diffusion_work *w, const diffusion_stage *stage, int number, sim_bytes *text) {
  sim_bytes_format(text,
                   "struct visit_%d {\n"
                   "  __device__ static __forceinline__ void at(const diffusion_sums &s, long long i, long long k) {\n",
                   number);
  if (w->crossed)
    add_coupled_sums(stage, w->spectrum.factor, w->fields, text);
  else
    diffusion_cuda_write_sums(stage, w->spectrum.factor, 0, 0, text);
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
  diffusion_stage first = {1, 1, 1, {{state, 1, {{0, -1, 0}}}}};
  if (state) first.set[first.sets++] = (diffusion_set){0, 1, {{1, -1, state}}};
  const diffusion_stage again = {0, 1, 1, {{0, 1, {{1, -1, state}}}}}, jump = {0, 1, 1, {{0, 1, {{1, 0, state}}}}};
  for (int s = 0; s < w->method.stages; s++) add_visit(w, &w->method.stage[s], s, text);
  add_visit(w, &first, DIFFUSION_VISIT_LOAD, text);
  if (state) add_visit(w, &again, DIFFUSION_VISIT_RESUME, text);
  if (w->method.stages == 0) add_visit(w, &jump, DIFFUSION_VISIT_JUMP, text);
}

bool diffusion_cuda_has_tables(const diffusion_work *w) { return !w->fused && !w->axes; }

bool diffusion_cuda_has_rates(const diffusion_work *w) {
  const bool passes = w->fused || w->axes || w->flat;
  return w->p->rates && (!passes || w->p->integrate.scheme == DIFFUSION_STRANG);
}

sim_status diffusion_cuda_write(const diffusion_work *w, diffusion_programs *programs) {
  sim_bytes *plain = &programs->plain, *rates = &programs->rates;
  *programs = (diffusion_programs){0};
  sim_bytes_format(plain,
                   "typedef %s real;\ntypedef %s2 pair;\n#include \"kernels/diffusion/cuda/general/pointwise.cuh\"\n",
                   w->single ? "float" : "double", w->single ? "float" : "double");
  if (w->fused || w->axes || w->flat) diffusion_dft_write(plain);
  sim_bytes_text(rates, plain->data ? plain->data : "");
  SIM_TRY(sim_expr_emit_prelude(rates));
  if (w->p->rates) SIM_TRY(add_rates(w, rates));
  if (w->fused)
    diffusion_fused_write(w->p, programs);
  else if (w->axes)
    diffusion_axes_write(w->p, programs);
  else if (w->flat)
    diffusion_flat_write(w->p, programs);
  else
    add_visits(w, diffusion_programs_add(programs, false));
  if (diffusion_cuda_has_tables(w)) SIM_TRY(diffusion_cuda_write_fill(w, programs));
  if (diffusion_cuda_has_rates(w)) sim_bytes_text(diffusion_programs_add(programs, true), pointwise_rates);
  bool failed = plain->failed || rates->failed;
  for (int i = 0; i < programs->count; i++) failed = failed || programs->text[i].failed;
  return failed ? sim_no_memory("the text of kernels") : SIM_OK;
}

/* ---- programs ---- */

sim_bytes *diffusion_programs_add(diffusion_programs *programs, bool rates) {
  const sim_bytes *begin = rates ? &programs->rates : &programs->plain;
  sim_bytes *text = &programs->text[programs->count++];
  if (begin->data) sim_bytes_add(text, begin->data, begin->size);
  return text;
}

void diffusion_programs_free(diffusion_programs *programs) {
  sim_bytes_free(&programs->plain);
  sim_bytes_free(&programs->rates);
  for (int i = 0; i < programs->count; i++) sim_bytes_free(&programs->text[i]);
  programs->count = 0;
}

sim_source diffusion_programs_source(const diffusion_programs *programs, int index) {
  return (sim_source){
      .name = "diffusion", .text = programs->text[index].data, .files = diffusion_cuda_files, .contract = true};
}
