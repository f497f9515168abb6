/* Writes the kernels that compute the inputs of the rates from the coefficients of the fields, and the kernels that
 * join the rates of fields: divergences of fluxes, and the projection (flows.cuh). */
#include "kernels/diffusion/cuda/general/passes.h"

#include "kernels/diffusion/waves.h"

#include <stdio.h>

bool diffusion_cuda_joins(const diffusion_gradients *g) { return g->fluxes > 0 || g->solenoidal; }

static int index_of(const diffusion_layout *layout, int axis) {
  return layout->axis[0] == axis ? 0 : layout->axis[1] == axis ? 1 : 2;
}

/* Writes the axes of source number `source`; -1: the axes of the grid. */
static void write_axes(const diffusion_work *w, int source, sim_bytes *text) {
  int kind[3];
  long long waves[3];
  double unit[3];
  for (int i = 0; i < 3; i++) {
    const int axis = w->layout.axis[i];
    const bool there = axis < w->grid.rank && !grid_is_member_axis(&w->grid, axis);
    kind[i] = !there       ? (int)GRID_PERIODIC
              : source < 0 ? (int)w->grid.boundary[axis]
                           : diffusion_cuda_kind(w, source, axis);
    waves[i] = !there || source < 0 ? -1 : diffusion_bases_waves(w, source, axis);
    unit[i] = there ? diffusion_axis_wave(kind[i] == (int)GRID_PERIODIC, w->grid.size[axis]) : 0;
  }
  if (source < 0)
    sim_bytes_text(text, "struct scenario_axes {\n");
  else
    sim_bytes_format(text, "struct axes_%d {\n", source);
  sim_bytes_format(
      text,
      "  __device__ static constexpr int kind(int i) { return i == 0 ? %d : i == 1 ? %d : %d; }\n"
      "  __device__ static constexpr double unit(int i) { return i == 0 ? %a : i == 1 ? %a : %a; }\n"
      "  __device__ static constexpr int index(int a) { return a == 0 ? %d : a == 1 ? %d : %d; }\n"
      "  __device__ static constexpr long long waves(int i) { return i == 0 ? %lld : i == 1 ? %lld : %lld; }\n"
      "  __device__ static constexpr bool aligned() { return %s; }\n"
      "};\n",
      kind[0], kind[1], kind[2], unit[0], unit[1], unit[2], index_of(&w->layout, 0), index_of(&w->layout, 1),
      index_of(&w->layout, 2), waves[0], waves[1], waves[2], w->aligned ? "true" : "false");
}

/* The name of the axes of a source. */
static const char *axes_of(const diffusion_work *w, int source, char out[32]) {
  snprintf(out, 32, w->aligned ? "axes_%d" : "scenario_axes", source);
  return out;
}

/* Writes the declaration of `name`: the coefficient `at` with the wavenumbers of a source. */
static void write_own(const diffusion_work *w, int source, const char *name, sim_bytes *text) {
  if (w->aligned) sim_bytes_format(text, "    const flow_at %s = flow_of<axes_%d>(at, p);\n", name, source);
}

/* Writes the coefficient of a field in a derived field, a function of the wavenumbers. */
static sim_status write_symbol(const diffusion_work *w, int derived, int field, sim_bytes *text) {
  sim_expr *coefficient;
  char name[48];
  snprintf(name, sizeof name, "coefficient_%d_%d", derived, field);
  SIM_TRY(sim_expr_derivative(w->p->derived.items[derived].expr, field, &coefficient));
  const sim_status status = sim_expr_emit(
      coefficient, &(sim_expr_emission){.name = name, .qualifier = "static __device__ __forceinline__"}, text);
  const int outputs = sim_expr_output_count(coefficient), inputs = sim_expr_input_count(coefficient);
  sim_expr_free(&coefficient);
  sim_bytes_format(text,
                   "struct symbol_%d_%d {\n"
                   "  __device__ static __forceinline__ void of(double kx, double ky, double kz, double k2, double "
                   "member,\n"
                   "                                            double *out) {\n"
                   "    %s(",
                   derived, field, name);
  for (int i = 0; i < inputs; i++) {
    static const char *const waves[] = {"kx", "ky", "kz", "k2", "member"};
    /* the coefficient depends on no field */
    sim_bytes_format(text, "%s, ", i < w->fields ? "0.0" : waves[i - w->fields]);
  }
  sim_bytes_format(text, "out%s);\n  }\n};\n", outputs > 1 ? ", out + 1" : "");
  return status;
}

static bool is_read(const diffusion_work *w, int derived) {
  for (int g = 0; g < w->gradients.count; g++)
    if (w->gradients.of[g].field == w->fields + derived) return true;
  return false;
}

bool diffusion_general_has_symbol(const diffusion_work *w, int derived, int field) {
  return is_read(w, derived) && diffusion_symbol_parts(w->p->derived.items[derived].expr, field) != DIFFUSION_ABSENT;
}

bool diffusion_cuda_reads_values(const diffusion_parameters *p, int field) {
  return diffusion_form_of(p->integrate.scheme) != DIFFUSION_RATE || diffusion_takes(p->rates, field) ||
         (p->flux && diffusion_takes(p->flux, field));
}

/* Writes the value of a derived field from the values u of the fields. `finite` becomes false where a coefficient is
 * not finite. */
static sim_status write_derived(const diffusion_work *w, int derived, sim_bytes *text) {
  for (int f = 0; f < w->fields; f++)
    if (diffusion_general_has_symbol(w, derived, f)) SIM_TRY(write_symbol(w, derived, f, text));
  sim_bytes_format(text,
                   "__device__ static __forceinline__ pair derived_%d(const pair *u, const flow_at &at, bool &finite) "
                   "{\n  pair sum = {0, 0};\n",
                   derived);
  char axes[32];
  for (int f = 0; f < w->fields; f++)
    if (diffusion_general_has_symbol(w, derived, f))
      sim_bytes_format(text, "  finite = flow_add<%s, symbol_%d_%d>(at, u[%d], sum) && finite;\n",
                       axes_of(w, w->fields + derived, axes), derived, f, f);
  sim_bytes_text(text, "  return sum;\n}\n");
  return SIM_OK;
}

/* Writes the declaration of `name`: the source with this number, from the values u of the fields. */
static void write_source(const diffusion_work *w, int source, const char *name, const char *u, const char *at,
                         sim_bytes *text) {
  if (source < w->fields)
    sim_bytes_format(text, "    const pair %s = %s[%d];\n", name, u, source);
  else
    sim_bytes_format(text, "    const pair %s = derived_%d(%s, %s, finite);\n", name, source - w->fields, u, at);
}

static bool needs(const diffusion_work *w, int source, int field) {
  return source < w->fields ? source == field : diffusion_general_has_symbol(w, source - w->fields, field);
}

static bool is_between(const diffusion_work *w, int kind) {
  return kind <= DIFFUSION_Z && w->grid.boundary[kind] != GRID_PERIODIC;
}

/* Writes a derivative between walls. Its values are at another wavenumber, unless that is the other part of the same
 * number. */
static void write_between(const diffusion_work *w, int g, int source, int i, sim_bytes *text) {
  if (i == 0) {
    sim_bytes_format(text, "    to[%d * stride + at.number] = flow_between<scenario_axes, 0>(s, at);\n", g);
    return;
  }
  sim_bytes_format(text, "    {\n    const flow_at from = flow_turned<scenario_axes>(at, p, %d);\n    pair v[%d];\n", i,
                   w->fields);
  for (int f = 0; f < w->fields; f++)
    if (needs(w, source, f)) sim_bytes_format(text, "    v[%d] = fields[%d * stride + from.number];\n", f, f);
  write_source(w, source, "t", "v", "from", text);
  sim_bytes_format(text, "    to[%d * stride + at.number] = flow_between<scenario_axes, %d>(t, from);\n    }\n", g, i);
}

static const int axes_of_mixed[][2] = {[DIFFUSION_XY] = {0, 1}, [DIFFUSION_XZ] = {0, 2}, [DIFFUSION_YZ] = {1, 2}};

/* Writes a derivative of fields with series of their own. */
static void write_along(const diffusion_work *w, int g, sim_bytes *text) {
  const int kind = w->gradients.of[g].kind, source = w->gradients.of[g].field;
  sim_bytes_format(text, "    to[%d * stride + at.number] = ", g);
  if (kind <= DIFFUSION_Z)
    sim_bytes_format(text, "flow_along<axes_%d, %d>(s, own);\n", source, index_of(&w->layout, kind));
  else if (kind <= DIFFUSION_ZZ)
    sim_bytes_format(text, "flow_second<%d>(s, own);\n", index_of(&w->layout, kind - DIFFUSION_XX));
  else if (kind <= DIFFUSION_YZ)
    sim_bytes_format(text, "flow_along<axes_%d, %d>(flow_along<axes_%d, %d>(s, own), own);\n", source,
                     index_of(&w->layout, axes_of_mixed[kind][1]), source,
                     index_of(&w->layout, axes_of_mixed[kind][0]));
  else
    sim_bytes_text(text, kind == DIFFUSION_LAPLACIAN ? "flow_laplacian(s, own);\n" : "s;\n");
}

/* Writes a derivative of the source `s` along periodic axes. */
static void write_periodic(const diffusion_work *w, int kind, sim_bytes *text) {
  const diffusion_layout *layout = &w->layout;
  if (kind <= DIFFUSION_Z)
    sim_bytes_format(text, "flow_first<%d>(s, at);\n", index_of(layout, kind));
  else if (kind <= DIFFUSION_ZZ)
    sim_bytes_format(text, "flow_second<%d>(s, at);\n", index_of(layout, kind - DIFFUSION_XX));
  else if (kind <= DIFFUSION_YZ)
    sim_bytes_format(text, "flow_mixed<%d, %d>(s, at);\n", index_of(layout, axes_of_mixed[kind][0]),
                     index_of(layout, axes_of_mixed[kind][1]));
  else
    sim_bytes_text(text, kind == DIFFUSION_LAPLACIAN ? "flow_laplacian(s, at);\n" : "s;\n");
}

static void write_gradient(const diffusion_work *w, int g, sim_bytes *text) {
  const diffusion_layout *layout = &w->layout;
  const int kind = w->gradients.of[g].kind;
  if (w->aligned) {
    write_along(w, g, text);
    return;
  }
  if (is_between(w, kind)) {
    write_between(w, g, w->gradients.of[g].field, index_of(layout, kind), text);
    return;
  }
  sim_bytes_format(text, "    to[%d * stride + at.number] = ", g);
  write_periodic(w, kind, text);
}

static void write_derive(const diffusion_work *w, sim_bytes *text) {
  bool needed[DIFFUSION_FIELDS] = {false};
  sim_bytes_format(
      text,
      "extern \"C\" __global__ void __launch_bounds__(DIFFUSION_THREADS)\n"
      "    diffusion_derive(const pair *__restrict__ fields, pair *__restrict__ to, const diffusion_layout "
      "p) {\n"
      "  const long long stride = p.field / 2;\n"
      "  flow_each<scenario_axes>(p, [&](const flow_at &at) {\n"
      "    bool finite = true;\n"
      "    pair u[%d];\n",
      w->fields);
  for (int g = 0; g < w->gradients.count; g++)
    for (int f = 0; f < w->fields; f++) needed[f] = needed[f] || needs(w, w->gradients.of[g].field, f);
  for (int f = 0; f < w->fields; f++)
    if (needed[f]) sim_bytes_format(text, "    u[%d] = fields[%d * stride + at.number];\n", f, f);
  for (int g = 0; g < w->gradients.count; g++) { /* sorted by source */
    const int source = w->gradients.of[g].field;
    const bool begins = g == 0 || w->gradients.of[g - 1].field != source;
    if (begins) {
      sim_bytes_text(text, "    {\n");
      write_own(w, source, "own", text);
      write_source(w, source, "s", "u", w->aligned ? "own" : "at", text);
    }
    write_gradient(w, g, text);
    if (g + 1 == w->gradients.count || w->gradients.of[g + 1].field != source) sim_bytes_text(text, "    }\n");
  }
  sim_bytes_text(text, "  });\n}\n");
}

/* Writes the check for coefficients that are not finite. It finds the least number of such a wavenumber. */
static void write_check(const diffusion_work *w, sim_bytes *text) {
  sim_bytes_format(text,
                   "extern \"C\" __global__ void __launch_bounds__(DIFFUSION_THREADS)\n"
                   "    diffusion_check(unsigned long long *bad, const diffusion_layout p) {\n"
                   "  flow_each<scenario_axes>(p, [&](const flow_at &at) {\n"
                   "    bool finite = true;\n"
                   "    pair u[%d] = {};\n",
                   w->fields);
  for (int d = 0; d < (int)w->p->derived.count; d++)
    if (is_read(w, d) && w->aligned)
      sim_bytes_format(text, "    (void)derived_%d(u, flow_of<axes_%d>(at, p), finite);\n", d, w->fields + d);
    else if (is_read(w, d))
      sim_bytes_format(text, "    (void)derived_%d(u, at, finite);\n", d);
  sim_bytes_text(text, "    if (!finite) atomicMin(bad, (unsigned long long)at.number);\n  });\n}\n");
}

/* Writes the subtraction of the divergence of a field's fluxes from u[field]. */
static void write_divergence(const diffusion_work *w, int field, int axes, sim_bytes *text) {
  for (int a = 0; a < axes; a++) {
    const int i = index_of(&w->layout, a), flux = field * axes + a;
    if (w->aligned)
      sim_bytes_format(text, "      flow_outflow<axes_%d, %d>(u[%d], fluxes[%d * stride + at.number], own_%d);\n",
                       field, i, field, flux, field);
    else
      sim_bytes_format(text, "      flow_divergence<%d>(u[%d], fluxes[%d * stride + at.number], at);\n", i, field,
                       flux);
  }
}

/* Writes the projection of the vector, u[vector[axis]], to v[axis]. */
static void write_vector(const diffusion_work *w, int axes, sim_bytes *text) {
  const int *vector = w->gradients.vector;
  const bool walled = w->aligned && w->layout.series[0] != (int)GRID_PERIODIC;
  sim_bytes_format(text, "    pair v[%d];\n    %s k[%d];\n", axes, walled ? "pair" : "real", axes);
  for (int a = 0; a < axes; a++) {
    const int i = index_of(&w->layout, a), f = vector[a];
    if (walled)
      sim_bytes_format(text,
                       "    v[%d] = flow_dropped<axes_%d, %d>(u[%d], own_%d);\n"
                       "    k[%d] = flow_factors<axes_%d, %d>(own_%d);\n",
                       a, f, i, f, f, a, f, i, f);
    else if (w->aligned)
      sim_bytes_format(text, "    v[%d] = u[%d];\n    flow_component<axes_%d, %d>(v[%d], k[%d], own_%d);\n", a, f, f, i,
                       a, a, f);
    else
      sim_bytes_format(text, "    v[%d] = u[%d];\n    k[%d] = (real)flow_odd<%d>(at);\n", a, f, a, i);
  }
  sim_bytes_format(text, "    flow_project%s<%d>(v, k);\n", walled ? "_walled" : "", axes);
}

/* Writes the projection and its store. */
static void write_projection(const diffusion_work *w, int axes, sim_bytes *text) {
  const int *vector = w->gradients.vector;
  const bool walled = w->aligned && w->layout.series[0] != (int)GRID_PERIODIC;
  write_vector(w, axes, text);
  for (int a = 0; a < axes; a++) {
    if (w->aligned && !walled)
      sim_bytes_format(text, "    v[%d] = flow_projected<axes_%d, %d>(v[%d]);\n", a, vector[a], index_of(&w->layout, a),
                       a);
    sim_bytes_format(text, "    fields[%d * stride + at.number] = v[%d];\n", vector[a], a);
  }
}

static void write_join(const diffusion_work *w, sim_bytes *text) {
  const diffusion_gradients *gradients = &w->gradients;
  const int axes = w->grid.rank - (w->grid.member_axis > 0);
  unsigned vector = 0;
  for (int a = 0; a < axes && gradients->solenoidal; a++) vector |= 1u << gradients->vector[a];
  sim_bytes_format(text,
                   "extern \"C\" __global__ void __launch_bounds__(DIFFUSION_THREADS)\n"
                   "    diffusion_join(pair *__restrict__ fields, const pair *__restrict__ fluxes, const "
                   "diffusion_layout p) {\n"
                   "  const long long stride = p.field / 2;\n"
                   "  flow_each<scenario_axes>(p, [&](const flow_at &at) {\n"
                   "    pair u[%d];\n",
                   w->fields);
  for (int f = 0; f < w->fields; f++) {
    char own[16];
    snprintf(own, sizeof own, "own_%d", f);
    if (vector >> f & 1 || gradients->fluxes > 0) write_own(w, f, own, text);
    if (vector >> f & 1) sim_bytes_format(text, "    u[%d] = fields[%d * stride + at.number];\n", f, f);
  }
  if (gradients->fluxes > 0) {
    sim_bytes_text(text, "    if (fluxes) {\n");
    for (int f = 0; f < w->fields; f++) {
      if (!(vector >> f & 1)) sim_bytes_format(text, "      u[%d] = fields[%d * stride + at.number];\n", f, f);
      write_divergence(w, f, axes, text);
      if (!(vector >> f & 1)) sim_bytes_format(text, "      fields[%d * stride + at.number] = u[%d];\n", f, f);
    }
    sim_bytes_text(text, "    }\n");
  }
  if (gradients->solenoidal) write_projection(w, axes, text);
  sim_bytes_text(text, "  });\n}\n");
}

sim_status diffusion_cuda_write_inputs(const diffusion_work *w, const int *values, int count, sim_bytes *text) {
  const bool joins = w->gradients.solenoidal;
  write_axes(w, -1, text);
  for (int d = 0; d < (int)w->p->derived.count; d++)
    if (is_read(w, d)) SIM_TRY(write_derived(w, d, text));
  sim_bytes_format(
      text,
      "struct scenario_flow {\n"
      "  enum { FIELDS = %d, READS = %d, JOINS = %d };\n"
      "  template <int R> __device__ static __forceinline__ pair read(const pair *u, const flow_at &at) {\n"
      "    bool finite = true;\n",
      w->fields, count + w->gradients.count, (int)joins);
  for (int i = 0; i < count; i++) sim_bytes_format(text, "    if constexpr (R == %d) return u[%d];\n", i, values[i]);
  for (int g = 0; g < w->gradients.count; g++) {
    sim_bytes_format(text, "    if constexpr (R == %d) {\n", count + g);
    write_source(w, w->gradients.of[g].field, "s", "u", "at", text);
    sim_bytes_text(text, "    return ");
    write_periodic(w, w->gradients.of[g].kind, text);
    sim_bytes_text(text, "    }\n");
  }
  sim_bytes_text(text, "  }\n  __device__ static __forceinline__ void join(pair *fields, const flow_at &at) {\n");
  if (joins) {
    const int axes = w->grid.rank;
    sim_bytes_text(text, "    const pair *u = fields;\n");
    write_vector(w, axes, text);
    for (int a = 0; a < axes; a++) sim_bytes_format(text, "    fields[%d] = v[%d];\n", w->gradients.vector[a], a);
  }
  sim_bytes_text(text, "  }\n};\n");
  return SIM_OK;
}

sim_status diffusion_cuda_write_flows(const diffusion_work *w, diffusion_programs *programs) {
  const bool apart = !w->way->in_registers; /* these kernels are the way's own */
  if (w->gradients.count == 0 && !diffusion_cuda_joins(&w->gradients)) return SIM_OK;
  if (!apart && !diffusion_cuda_derives(w)) return SIM_OK;
  sim_bytes *text = diffusion_programs_add(programs, false);
  sim_bytes_text(text, "#include \"kernels/diffusion/cuda/general/flows.cuh\"\n");
  SIM_TRY(sim_expr_emit_prelude(text));
  write_axes(w, -1, text);
  for (int source = 0; w->aligned && source < w->fields + (int)w->p->derived.count; source++)
    write_axes(w, source, text);
  for (int d = 0; d < (int)w->p->derived.count; d++)
    if (is_read(w, d)) SIM_TRY(write_derived(w, d, text));
  if (apart && w->gradients.count > 0) write_derive(w, text);
  if (diffusion_cuda_derives(w)) write_check(w, text);
  if (apart && diffusion_cuda_joins(&w->gradients)) write_join(w, text);
  return SIM_OK;
}

bool diffusion_cuda_derives(const diffusion_work *w) {
  for (int d = 0; d < (int)w->p->derived.count; d++)
    if (is_read(w, d)) return true;
  return false;
}
