/* Writes the source of the pointwise kernels of implicit steps. */
#include "kernels/diffusion/cuda/implicit/implicit.h"

/* Writes the inputs of a function of diffusion_rates_graph, but its results. */
static void write_inputs(const diffusion_work *w, sim_bytes *text) {
  for (int f = 0; f < w->fields; f++) sim_bytes_format(text, "u[%d], ", f);
  sim_bytes_text(text, "(real)x[0], (real)x[1], (real)x[2], (real)t, (real)h");
  for (int i = 0; i < w->gradients.count; i++) sim_bytes_format(text, ", d[%d]", i);
}

static sim_status emit(const diffusion_work *w, const sim_expr *expr, const char *name, sim_bytes *text) {
  return sim_expr_emit(
      expr, &(sim_expr_emission){.name = name, .qualifier = "static __device__ __forceinline__", .single = w->single},
      text);
}

/* Writes the kernel that computes the entries: values[entries] with the stride of fields. */
static sim_status write_entries(const diffusion_work *w, const sim_expr *entries, int count, sim_bytes *text) {
  SIM_TRY(emit(w, entries, "entries_at", text));
  sim_bytes_text(text,
                 "extern \"C\" __global__ void __launch_bounds__(DIFFUSION_THREADS)\n"
                 "    diffusion_entries(real *fields, real *derivatives, real *values, const diffusion_layout p,\n"
                 "                      double t, double h) {\n"
                 "  each_cell<scenario_rates, false>(\n"
                 "      fields, derivatives, p, [=](const real *u, const real *d, const double *x, "
                 "long long number) {\n");
  sim_bytes_format(text, "    real o[%d];\n    entries_at(", count);
  write_inputs(w, text);
  for (int i = 0; i < count; i++) sim_bytes_format(text, ", o + %d", i);
  sim_bytes_format(text,
                   ");\n#pragma unroll\n"
                   "    for (int i = 0; i < %d; i++) values[i * p.field + number] = o[i];\n"
                   "  });\n}\n",
                   count);
  return SIM_OK;
}

/* Writes the kernel that replaces fields by products of the entries with fields and derivatives. Entry i of a cell is
 * values[i * entry + number * cell]. */
static void write_products(const diffusion_work *w, const diffusion_jacobian *j, sim_bytes *text) {
  const int fluxes = w->gradients.fluxes;
  bool set[DIFFUSION_FIELDS + DIFFUSION_FLUXES] = {false};
  sim_bytes_text(text, "extern \"C\" __global__ void __launch_bounds__(DIFFUSION_THREADS)\n"
                       "    diffusion_products(real *fields, real *derivatives, const real *values, long long entry,\n"
                       "                       long long cell, const diffusion_layout p) {\n"
                       "  each_cell<scenario_rates, true>(\n"
                       "      fields, derivatives, p, [=](real *u, real *d, const double *, long long number) {\n"
                       "    const real *v = values + number * cell;\n");
  for (int i = 0; i < j->count; i++) {
    const int result = j->of[i].result, input = j->of[i].input;
    sim_bytes_format(text,
                     set[result] ? "    o%d += v[%d * entry] * %s[%d];\n" : "    real o%d = v[%d * entry] * %s[%d];\n",
                     result, i, input < w->fields ? "u" : "d", input < w->fields ? input : input - w->fields);
    set[result] = true;
  }
  for (int r = 0; r < w->fields + fluxes; r++) {
    sim_bytes_format(text, "    %s[%d] = ", r < w->fields ? "u" : "d", r < w->fields ? r : r - w->fields);
    if (set[r])
      sim_bytes_format(text, "o%d;\n", r);
    else
      sim_bytes_text(text, "0;\n");
  }
  sim_bytes_text(text, "  });\n}\n");
}

/* Writes the kernel that replaces fields by the derivatives of their rates and fluxes by t. */
static sim_status write_by_time(const diffusion_work *w, const sim_expr *by_time, sim_bytes *text) {
  SIM_TRY(emit(w, by_time, "by_time_at", text));
  sim_bytes_text(text, "extern \"C\" __global__ void __launch_bounds__(DIFFUSION_THREADS)\n"
                       "    diffusion_by_time(real *fields, real *derivatives, const diffusion_layout p, double t,\n"
                       "                      double h) {\n"
                       "  each_cell<scenario_rates, true>(\n"
                       "      fields, derivatives, p, [=](real *u, real *d, const double *x, long long) {\n");
  sim_bytes_format(text, "    real o[%d];\n    by_time_at(", w->fields + w->gradients.fluxes);
  write_inputs(w, text);
  for (int i = 0; i < w->fields + w->gradients.fluxes; i++) sim_bytes_format(text, ", o + %d", i);
  sim_bytes_text(text, ");\n");
  for (int f = 0; f < w->fields; f++) sim_bytes_format(text, "    u[%d] = o[%d];\n", f, f);
  for (int f = 0; f < w->gradients.fluxes; f++) sim_bytes_format(text, "    d[%d] = o[%d];\n", f, w->fields + f);
  sim_bytes_text(text, "  });\n}\n");
  return SIM_OK;
}

sim_status diffusion_implicit_write(const diffusion_work *w, diffusion_programs *programs) {
  const diffusion_implicit_memory *own = diffusion_implicit_of(w);
  const diffusion_jacobian *j = &w->own.general->linearized->jacobian;
  sim_bytes *text = diffusion_programs_add(programs, true);
  sim_bytes_text(text, "#include \"kernels/diffusion/cuda/implicit/cells.cuh\"\n");
  if (own->entries) SIM_TRY(write_entries(w, own->entries, j->count, text));
  if (own->by_time) SIM_TRY(write_by_time(w, own->by_time, text));
  write_products(w, j, text);
  return SIM_OK;
}
