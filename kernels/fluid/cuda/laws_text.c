/* Source of the kernels with functions of a scenario: forces and viscosities. */
#include "kernels/fluid/cpu/push.h"
#include "kernels/fluid/cuda/work.h"

#include <stdio.h>

static const char qualifier[] = "static __device__ __forceinline__";

static sim_status emit(const sim_expr *expr, const char *name, sim_bytes *text) {
  return sim_expr_emit(expr, &(sim_expr_emission){.name = name, .qualifier = qualifier}, text);
}

static sim_status written(const sim_bytes *text) {
  return text->failed ? sim_no_memory("the text of a function") : SIM_OK;
}

/* A call of an emitted function of in[8]; its results go to TO, TO + 1, ... */
static void add_call(const char *name, const char *to, int rank, sim_bytes *text) {
  sim_bytes_format(text, "    %s(", name);
  for (int i = 0; i < 8; i++) sim_bytes_format(text, "in[%d], ", i);
  for (int a = 0; a < rank; a++) sim_bytes_format(text, "%s%s + %d", a ? ", " : "", to, a);
  sim_bytes_text(text, ");\n");
}

static sim_status add_force(const fluid_parameters *p, int rank, sim_bytes *text) {
  sim_expr *slope[3];
  bool linear, depends = false;
  char name[24], to[16];
  SIM_TRY(emit(p->force, "force_at", text));
  sim_status status = fluid_push_slopes(p->force, rank, slope, &linear);
  for (int b = 0; b < rank; b++) {
    snprintf(name, sizeof name, "slope_%d", b);
    if (status == SIM_OK && slope[b]) status = emit(slope[b], name, text);
    depends = depends || slope[b];
  }
  sim_bytes_format(text,
                   "struct scenario_force {\n"
                   "  enum { DEPENDS = %d, LINEAR = %d };\n"
                   "  __device__ static __forceinline__ void of(const double *in, double *f) {\n",
                   depends, linear);
  add_call("force_at", "f", rank, text);
  sim_bytes_format(text,
                   "  }\n"
                   "  __device__ static __forceinline__ void slopes(const double *in, double (*s)[%d]) {\n",
                   rank);
  for (int b = 0; b < rank; b++) {
    snprintf(name, sizeof name, "slope_%d", b);
    snprintf(to, sizeof to, "s[%d]", b);
    if (slope[b])
      add_call(name, to, rank, text);
    else
      for (int a = 0; a < rank; a++) sim_bytes_format(text, "    s[%d][%d] = 0;\n", b, a);
    sim_expr_free(&slope[b]);
  }
  sim_bytes_text(text, "  }\n};\n");
  return status;
}

sim_status fluid_cuda_write_push(const fluid_parameters *p, sim_bytes *text) {
  const int rank = fluid_lattice_for(p)->rank;
  const char *real = fluid_single(p) ? "float" : "double", *heat = p->heat.given ? "true" : "false";
  sim_bytes_text(text, "#include \"kernels/fluid/cuda/push.cuh\"\n");
  SIM_TRY(sim_expr_emit_prelude(text));
  SIM_TRY(add_force(p, rank, text));
  for (int start = 0; start < 2; start++)
    sim_bytes_format(text,
                     "extern \"C\" __global__ void __launch_bounds__(FLUID_PUSH_THREADS)\n"
                     "    fluid_push%s(const fluid_push_step<%s> s) {\n"
                     "  push_cells<%d, %s, %s, scenario_force>(s);\n"
                     "}\n",
                     start ? "_start" : "", real, rank, heat, start ? "true" : "false");
  return written(text);
}

static sim_status add_viscosity(const fluid_parameters *p, int rank, const char *heat, sim_bytes *text) {
  SIM_TRY(sim_expr_emit_prelude(text));
  SIM_TRY(emit(p->law, "viscosity_at", text));
  sim_bytes_format(text,
                   "struct scenario_viscosity {\n"
                   "  __device__ static __forceinline__ double viscosity(double shear, double T) {\n"
                   "    double out;\n"
                   "    viscosity_at(shear, T, &out);\n"
                   "    return out;\n"
                   "  }\n"
                   "};\n"
                   "typedef fluid_cell_laws<scenario_viscosity, %d, %s, real> laws;\n"
                   "extern \"C\" __global__ void __launch_bounds__(256)\n"
                   "    fluid_law_begin(const fluid_view<real> v, const fluid_factors<real> k, real *state,\n"
                   "                    double scale) {\n"
                   "  begin_all<%d>(v, k, state, fluid_law_tau<scenario_viscosity>{scale});\n"
                   "}\n",
                   rank, heat, rank);
  return SIM_OK;
}

sim_status fluid_cuda_write_viscosity(const fluid_parameters *p, sim_bytes *text) {
  const char *heat = p->heat.given ? "true" : "false", *eddies = p->turbulence.given ? "true" : "false";
  const fluid_lattice *l = fluid_lattice_for(p);
  char cells[96];
  snprintf(cells, sizeof cells, "link_cells<%d>(s, links)", l->directions);
  if (p->force)
    snprintf(cells, sizeof cells, "fluid_pushed_cells<%d, real>{link_cells<%d>(s, links), r.push}", l->directions,
             l->directions);
  sim_bytes_format(text, "#include \"kernels/fluid/cuda/rheology.cuh\"\ntypedef %s real;\n",
                   fluid_single(p) ? "float" : "double");
  if (fluid_has_law(p))
    SIM_TRY(add_viscosity(p, l->rank, heat, text));
  else
    sim_bytes_text(text, "typedef fluid_eddy_laws<real> laws;\n");
  sim_bytes_format(text,
                   "extern \"C\" __global__ void __launch_bounds__(FLUID_GROUP * FLUID_PLAIN_ROWS)\n"
                   "    fluid_law_cells(const fluid_step<real> s, const fluid_rheology_step<real> r) {\n"
                   "  step_plain<%d, true, %s, %s>(s, laws{r});\n"
                   "}\n"
                   "extern \"C\" __global__ void __launch_bounds__(128)\n"
                   "    fluid_law_links(const fluid_step<real> s, const fluid_edges<real> links,\n"
                   "                    const fluid_rheology_step<real> r) {\n"
                   "  step_linked<%d, %s, true>(s, links, %s, laws{r});\n"
                   "}\n",
                   l->directions, eddies, heat, l->directions, eddies, cells);
  return written(text);
}

sim_source fluid_cuda_law_source(const char *name, const sim_bytes *text) {
  return (sim_source){.name = name, .text = text->data, .files = fluid_cuda_files};
}
