#include "kernels/nbody/short/cuda/law.h"

/* Appends result `which` of the law as a function `name`. */
static sim_status add_function(const nbody_options *options, int which, const char *name, bool single,
                               sim_bytes *text) {
  sim_expr *graph;
  SIM_TRY(nbody_laws_pick(options->laws.pair, which, 1, &graph));
  sim_status status = sim_expr_emit(
      graph, &(sim_expr_emission){name, "static __device__ __forceinline__", single, "nbody_power", 0, NULL}, text);
  sim_expr_free(&graph);
  return status;
}

sim_status nbody_short_law_write(const nbody_options *options, bool single, sim_bytes *text) {
  const char *const real = single ? "float" : "double", *const pair_real = options->single_pairs ? "float" : "double";
  sim_bytes_text(text, "#include \"kernels/nbody/short/cuda/pairs.cuh\"\n");
  SIM_TRY(sim_expr_emit_prelude(text));
  SIM_TRY(add_function(options, 0, "pair_force", options->single_pairs, text));
  SIM_TRY(add_function(options, 0, "pair_wide_force", false, text));
  SIM_TRY(add_function(options, 1, "pair_potential", false, text));
  sim_bytes_format(text,
                   "struct pair_law {\n"
                   "  __device__ static %s force(%s r2) { %s f; pair_force(r2, &f); return f; }\n"
                   "  __device__ static double wide_force(double r2) { double f; pair_wide_force(r2, &f); return f; }\n"
                   "  __device__ static double potential(double r2) { double u; pair_potential(r2, &u); return u; }\n"
                   "};\n"
                   "extern \"C\" __global__ void __launch_bounds__(SHORT_THREADS)\n"
                   "    nbody_short_force(const short_lists lists, const place<%s>::type *places, double box,\n"
                   "                      double cutoff2, double *acceleration) {\n"
                   "  short_force<pair_law, %s>(lists, places, box, cutoff2, acceleration);\n"
                   "}\n"
                   "extern \"C\" __global__ void __launch_bounds__(NBODY_PARTIAL_BODIES)\n"
                   "    nbody_short_sums(const short_lists lists, const %s *mass, const %s *position,\n"
                   "                     const double *searched, const double *travelled, double box,\n"
                   "                     double cutoff2, double *partial) {\n"
                   "  short_sums<pair_law, %s>(lists, mass, position, searched, travelled, box, cutoff2, partial);\n"
                   "}\n",
                   pair_real, pair_real, pair_real, pair_real, pair_real, real, real, real);
  return text->failed ? sim_no_memory("the text of a function") : SIM_OK;
}

sim_status nbody_short_law_create(const nbody_options *options, bool single, nbody_short_law *out) {
  sim_bytes text = {0};
  *out = (nbody_short_law){0};
  sim_status status = nbody_short_law_write(options, single, &text);
  const sim_source source = {
      .name = "nbody_short", .text = text.data, .files = nbody_cuda_files, .contract = true, .approximate = true};
  if (status == SIM_OK) status = sim_module_create(&source, &out->module);
  if (status == SIM_OK) status = sim_module_kernel(out->module, "nbody_short_force", &out->force);
  if (status == SIM_OK) status = sim_module_kernel(out->module, "nbody_short_sums", &out->sums);
  sim_bytes_free(&text);
  return status;
}

void nbody_short_law_destroy(nbody_short_law *law) {
  sim_module_free(&law->module);
  *law = (nbody_short_law){0};
}
