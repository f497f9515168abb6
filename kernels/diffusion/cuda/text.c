/* Writes the source of a run's kernels: the scenario's rates, the kernels of the way, and those that compute tables. */
#include "kernels/diffusion/cuda/implicit/implicit.h"
#include "kernels/diffusion/cuda/work.h"

/* Bit g: derivative g is along axis i of the real fields, between walls. There it has the other kind of series, and so
 * the other signs in the order of layout.cuh. */
static unsigned long long turned_along(const diffusion_work *w, int i) {
  unsigned long long bits = 0;
  for (int g = 0; g < w->gradients.count && !w->aligned; g++)
    if (w->gradients.of[g].kind == w->planes.axis[i] && w->planes.kind[i] != (int)GRID_PERIODIC) bits |= 1ull << g;
  return bits;
}

static sim_status add_rates(const diffusion_work *w, sim_bytes *text) {
  const diffusion_gradients *g = &w->gradients;
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
                   "  enum { FIELDS = %d, SLOPES = %d, FLUXES = %d };\n"
                   "  __device__ static constexpr unsigned long long turned(int i) {\n"
                   "    return i == 0 ? %lluull : i == 1 ? %lluull : %lluull;\n"
                   "  }\n"
                   "  __device__ static __forceinline__ void of(real *u, real x, real y, real z, real t, real h,\n"
                   "                                            real *d = nullptr) {\n"
                   "    real o[FIELDS + FLUXES];\n"
                   "    rates_at(",
                   w->fields, g->count, g->fluxes, turned_along(w, 0), turned_along(w, 1), turned_along(w, 2));
  for (int f = 0; f < w->fields; f++) sim_bytes_format(text, "u[%d], ", f);
  sim_bytes_text(text, "x, y, z, t, h");
  for (int i = 0; i < g->count; i++) sim_bytes_format(text, ", d[%d]", i);
  for (int f = 0; f < w->fields + g->fluxes; f++) sim_bytes_format(text, ", o + %d", f);
  sim_bytes_text(text, ");\n"
                       "    for (int f = 0; f < FIELDS; f++) u[f] = o[f];\n"
                       "    for (int f = 0; f < FLUXES; f++) d[f] = o[FIELDS + f];\n"
                       "  }\n"
                       "};\n");
  return SIM_OK;
}

static const char pointwise_rates[] =
    "extern \"C\" __global__ void __launch_bounds__(DIFFUSION_THREADS)\n"
    "    diffusion_rates(real *fields, real *derivatives, const diffusion_layout layout,\n"
    "                    double t, double h, int times) {\n"
    "  rates_of<scenario_rates>(fields, derivatives, layout, t, h, times);\n"
    "}\n";

bool diffusion_cuda_has_rates(const diffusion_work *w) {
  return w->p->rates && (!w->way->in_registers || w->p->integrate.scheme == DIFFUSION_STRANG);
}

sim_status diffusion_cuda_write(const diffusion_work *w, diffusion_programs *programs) {
  sim_bytes *plain = &programs->plain, *rates = &programs->rates;
  *programs = (diffusion_programs){0};
  sim_bytes_format(plain,
                   "typedef %s real;\ntypedef %s2 pair;\n#include \"kernels/diffusion/cuda/general/pointwise.cuh\"\n",
                   w->single ? "float" : "double", w->single ? "float" : "double");
  if (w->way->in_registers) diffusion_dft_write(plain);
  sim_bytes_text(rates, plain->data ? plain->data : "");
  SIM_TRY(sim_expr_emit_prelude(rates));
  if (w->p->rates) SIM_TRY(add_rates(w, rates));
  w->way->write(w, programs);
  SIM_TRY(diffusion_cuda_write_flows(w, programs));
  if (diffusion_implicit(w->p)) SIM_TRY(diffusion_implicit_write(w, programs));
  if (w->way->fill) SIM_TRY(diffusion_cuda_write_fill(w, programs));
  if (diffusion_cuda_has_rates(w)) sim_bytes_text(diffusion_programs_add(programs, true), pointwise_rates);
  bool failed = plain->failed || rates->failed;
  for (int i = 0; i < programs->count; i++) failed = failed || programs->text[i].failed;
  return failed ? sim_no_memory("the text of kernels") : SIM_OK;
}
