#include "kernels/collision/general/cuda/laws.h"

static const char qualifier[] = "static __device__ __forceinline__";

static sim_status emit(const sim_expr *expr, const char *name, sim_bytes *text) {
  return sim_expr_emit(expr, &(sim_expr_emission){.name = name, .qualifier = qualifier}, text);
}

static sim_status written(const sim_bytes *text) {
  return text->failed ? sim_no_memory("the text of a function") : SIM_OK;
}

/* ---- an external field ---- */

/* Appends minus the gradient and the potential. The gradient has four outputs, by x, y, z and t. */
static sim_status add_potential(const collision_options *options, sim_bytes *text) {
  SIM_TRY(emit(options->gradient, "external_gradient", text));
  SIM_TRY(emit(options->external, "external_potential", text));
  sim_bytes_text(text, "struct external_law {\n"
                       "  __device__ static void acceleration(const double *x, double t, double *a) {\n"
                       "    double by_t;\n"
                       "    external_gradient(x[0], x[1], x[2], t, a, a + 1, a + 2, &by_t);\n"
                       "    for (int c = 0; c < 3; c++) a[c] = -a[c];\n"
                       "  }\n"
                       "  __device__ static double potential(const double *x, double t) {\n"
                       "    double out;\n"
                       "    external_potential(x[0], x[1], x[2], t, &out);\n"
                       "    return out;\n"
                       "  }\n"
                       "};\n"
                       "extern \"C\" __global__ void __launch_bounds__(GENERAL_THREADS)\n"
                       "    collision_law_energy(general_arrays<real> a, unsigned k, double t, double *partial) {\n"
                       "  sum_external_energy<external_law>(a, k, t, partial);\n"
                       "}\n");
  return SIM_OK;
}

static sim_status add_acceleration(const collision_options *options, sim_bytes *text) {
  SIM_TRY(emit(options->external, "external_acceleration", text));
  sim_bytes_text(text, "struct external_law {\n"
                       "  __device__ static void acceleration(const double *x, double t, double *a) {\n"
                       "    external_acceleration(x[0], x[1], x[2], t, a, a + 1, a + 2);\n"
                       "  }\n"
                       "};\n");
  return SIM_OK;
}

sim_status collision_cuda_write_external(const collision_options *options, bool single, sim_bytes *text) {
  sim_bytes_format(text, "#include \"kernels/collision/general/cuda/extras.cuh\"\ntypedef %s real;\n",
                   single ? "float" : "double");
  SIM_TRY(sim_expr_emit_prelude(text));
  SIM_TRY(options->gradient != NULL ? add_potential(options, text) : add_acceleration(options, text));
  sim_bytes_text(text, "extern \"C\" __global__ void __launch_bounds__(GENERAL_THREADS)\n"
                       "    collision_law_acceleration(general_arrays<real> a, unsigned k, double t) {\n"
                       "  store_external_acceleration<external_law>(a, k, t);\n"
                       "}\n");
  return written(text);
}

static sim_status make_field(const collision_options *options, bool single, collision_cuda_laws *out) {
  sim_bytes text = {0};
  sim_status status = collision_cuda_write_external(options, single, &text);
  const sim_source source = collision_cuda_external_source(&text);
  if (status == SIM_OK) status = sim_module_create(&source, &out->field);
  if (status == SIM_OK) status = sim_module_kernel(out->field, "collision_law_acceleration", &out->acceleration);
  if (status == SIM_OK && options->gradient != NULL)
    status = sim_module_kernel(out->field, "collision_law_energy", &out->energy);
  sim_bytes_free(&text);
  return status;
}

/* ---- a contact law ---- */

sim_status collision_cuda_write_law(const collision_options *options, bool single, sim_bytes *text) {
  const char *more = options->clumps ? "GENERAL_CLUMPS" : "GENERAL_EXTRAS";
  for (int k = 0; k < options->walls; k++)
    if (options->wall[k].shape == GEOMETRY_MESH) more = options->clumps ? "GENERAL_CLUMP_MESHES" : "GENERAL_MESHES";
  SIM_TRY(sim_expr_emit_prelude(text));
  sim_bytes_text(text, "#include \"kernels/collision/general/cuda/step.cuh\"\n"
                       "#include \"kernels/collision/general/cuda/sums.cuh\"\n");
  if (options->custom != NULL) {
    SIM_TRY(emit(options->custom, "custom_force", text));
    sim_bytes_text(text, "struct custom_law {\n"
                         "  enum { form = COLLISION_CUSTOM, named = 0, by_speed = 0 };\n"
                         "  __device__ static double force(double overlap, double rate, double radius, double mass) {\n"
                         "    double out;\n"
                         "    custom_force(overlap, rate, radius, mass, &out);\n"
                         "    return out;\n"
                         "  }\n"
                         "};\n");
  } else {
    SIM_TRY(emit(options->restitution, "restitution_law", text));
    sim_bytes_text(text, "struct custom_law {\n"
                         "  enum { form = COLLISION_LINEAR, named = 0, by_speed = 1 };\n"
                         "  __device__ static double restitution(double speed) {\n"
                         "    double out;\n"
                         "    restitution_law(speed, &out);\n"
                         "    return out;\n"
                         "  }\n"
                         "};\n");
  }
  sim_bytes_format(
      text,
      "typedef %s real;\n"
      "extern \"C\" __global__ void __launch_bounds__(CONTACT_THREADS, %d)\n"
      "    collision_law_contacts(const __grid_constant__ general_arrays<real> a,\n"
      "                           const __grid_constant__ general_poses poses, real dt, real next, unsigned k,\n"
      "                           general_shear<real> shift) {\n"
      "  compute_contacts<%d, custom_law, %s>(a, poses, dt, next, k, shift);\n"
      "}\n"
      "extern \"C\" __global__ void __launch_bounds__(GENERAL_THREADS)\n"
      "    collision_law_sums(general_arrays<real> a, const __grid_constant__ general_poses poses,\n"
      "                       general_shear<real> shift, int forces, general_terms terms, double *partial,\n"
      "                       unsigned long long *deepest, unsigned k) {\n"
      "  after_previous();\n"
      "  sum_grains<%d, custom_law, %s>(a, poses, shift, forces, terms, partial, deepest, k);\n"
      "}\n",
      single ? "float" : "double", single ? 4 : 2, options->springs, more, options->springs, more);
  return written(text);
}

static sim_status make_law(const collision_options *options, bool single, collision_cuda_laws *out) {
  sim_bytes text = {0};
  sim_status status = collision_cuda_write_law(options, single, &text);
  const sim_source source = collision_cuda_law_source(&text);
  if (status == SIM_OK) status = sim_module_create(&source, &out->law);
  if (status == SIM_OK) status = sim_module_kernel(out->law, "collision_law_contacts", &out->contacts);
  if (status == SIM_OK) status = sim_module_kernel(out->law, "collision_law_sums", &out->sums);
  sim_bytes_free(&text);
  return status;
}

/* ---- both ---- */

sim_source collision_cuda_external_source(const sim_bytes *text) {
  return (sim_source){.name = "collision_field", .text = text->data, .files = collision_cuda_files};
}
sim_source collision_cuda_law_source(const sim_bytes *text) {
  return (sim_source){.name = "collision_law", .text = text->data, .files = collision_cuda_files};
}

sim_status collision_cuda_laws_create(const collision_options *options, bool single, collision_cuda_laws *out) {
  *out = (collision_cuda_laws){0};
  if (options->external != NULL) SIM_TRY(make_field(options, single, out));
  return options->custom != NULL || options->restitution != NULL ? make_law(options, single, out) : SIM_OK;
}

void collision_cuda_laws_destroy(collision_cuda_laws *laws) {
  sim_module_free(&laws->field);
  sim_module_free(&laws->law);
  *laws = (collision_cuda_laws){0};
}
