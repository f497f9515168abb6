/* Tables of the schemes' coefficients, computed on the device. */
#include "kernels/diffusion/cuda/work.h"

#include "engine/device/cuda.h"

#include <stdio.h>

enum { THREADS = 128 }; /* FILL_THREADS */

#define HAS(member, count) (sizeof((diffusion_making *)0)->member / sizeof((diffusion_making *)0)->member[0] == (count))
_Static_assert(HAS(field, DIFFUSION_FIELDS) && HAS(table, DIFFUSION_TABLES) && HAS(field[0].cross, DIFFUSION_FIELDS),
               "factors.cuh has as many fields and tables");

static void own_of(const diffusion_work *w, int field, diffusion_own *out) {
  const diffusion_parameters *p = w->p;
  const diffusion_field *s = diffusion_field_of(p, field);
  const grid_shape own = diffusion_shape_of(p, field);
  for (int a = 0; a < 3; a++) {
    out->kind[a] = (int)own.boundary[a];
    out->waves[a] = diffusion_bases_waves(w, field, a);
    out->D[a] = s->D * s->axes[a];
    out->tensor[a] = s->tensor[a];
    out->drift[a] = s->drift[a];
    out->axes[a] = s->axes[a];
  }
  for (size_t j = 0; j < s->cross.rows && j < DIFFUSION_FIELDS; j++) out->cross[j] = s->cross.data[j];
  out->hyper = s->hyper;
  out->decay = s->decay;
  out->conserved = s->conserved;
  out->noise = diffusion_noise_of(p, field);
  for (int i = 0; i < 2; i++) out->shell[i] = diffusion_forced(p) >> field & 1 ? p->forcing.k[i] : 0;
}

/* Parameters for steps of dt, without the tables' addresses. */
static diffusion_making making_of(const diffusion_work *w, double dt) {
  const diffusion_parameters *p = w->p;
  const grid_shape grid = diffusion_grid_of(p);
  diffusion_making m = {.scale = w->scale,
                        .waves = w->layout.waves,
                        .dt = dt,
                        .rank = grid.rank,
                        .member_axis = grid.member_axis,
                        .first_member = w->layout.first,
                        .scheme = p->integrate.scheme,
                        .dealias = diffusion_dealias(&p->integrate),
                        .forced = diffusion_forced(p) != 0,
                        .stirred = diffusion_stirred(p),
                        .weights =
                            diffusion_fluctuates(p) || diffusion_forced(p) != 0 ? diffusion_table_count(p) - 1 : -1};
  for (int f = 0; f < (int)p->fields.count; f++) own_of(w, f, &m.field[f]);
  for (int a = 0; a < 3; a++) {
    m.n[a] = grid.n[a];
    m.size[a] = grid.size[a];
  }
  return m;
}

/* Writes the fields' functions of the wavenumber as `scenario_linear`. */
static sim_status add_linear(const diffusion_parameters *p, sim_bytes *text) {
  for (int f = 0; f < (int)p->fields.count; f++) {
    const sim_expr *linear = diffusion_field_of(p, f)->linear;
    char name[32];
    snprintf(name, sizeof name, "linear_%d", f);
    if (linear)
      SIM_TRY(sim_expr_emit(
          linear, &(sim_expr_emission){.name = name, .qualifier = "static __device__ __forceinline__"}, text));
  }
  sim_bytes_text(text, "struct scenario_linear {\n"
                       "  __device__ static __forceinline__ void of(int field, "
                       "double k2, double kx, double ky,\n"
                       "                                            double kz, "
                       "double member, double *out) {\n");
  for (int f = 0; f < (int)p->fields.count; f++) {
    static const char *const inputs[] = {"k2", "kx", "ky", "kz", "member"};
    const sim_expr *linear = diffusion_field_of(p, f)->linear;
    if (!linear) continue;
    sim_bytes_format(text, "    if (field == %d) linear_%d(", f, f);
    for (int i = 0; i < sim_expr_input_count(linear); i++) sim_bytes_format(text, "%s, ", inputs[i]);
    sim_bytes_format(text, "out%s);\n", sim_expr_output_count(linear) > 1 ? ", out + 1" : "");
  }
  sim_bytes_text(text, "  }\n};\n");
  return SIM_OK;
}

sim_status diffusion_cuda_write_fill(const diffusion_work *w, diffusion_programs *programs) {
  sim_bytes *text = diffusion_programs_add(programs, false);
  SIM_TRY(sim_expr_emit_prelude(text));
  sim_bytes_format(text, "#include \"kernels/diffusion/cuda/%s.cuh\"\n", w->crossed ? "matrices" : "fill");
  SIM_TRY(add_linear(w->p, text));
  sim_bytes_format(text, "extern \"C\" __global__ void __launch_bounds__(FILL_THREADS)\n"
                         "    diffusion_fill(const __grid_constant__ diffusion_making m) {\n");
  if (w->crossed)
    sim_bytes_format(text, "  fill_matrices<scenario_linear, %d>(m);\n}\n", w->fields);
  else
    sim_bytes_format(text, "  %s<scenario_linear>(m);\n}\n", w->way->fill);
  return SIM_OK;
}

void diffusion_cuda_make_tables(diffusion_work *w, double dt) {
  static const sim_kernel kernel = {"diffusion_fill", "tables", SIM_LIMIT_BYTES};
  const diffusion_spectrum *spectrum = &w->spectrum;
  diffusion_making m = making_of(w, dt);
  m.factor = (int)spectrum->factor;
  m.aligned = w->aligned;
  m.numbers = spectrum->tables;
  m.tables = w->method.tables;
  for (int i = 0; i < 3; i++) {
    m.entries[i] = spectrum->table[i];
    m.axis[i] = w->layout.axis[i];
  }
  m.wide = spectrum->wide;
  m.across = spectrum->across;
  m.kept = spectrum->kept;
  m.low = spectrum->low;
  for (int t = 0; t < m.tables; t++) m.table[t] = diffusion_cuda_table(w, t);
  const long long entries = spectrum->factor == DIFFUSION_ALIKE ? m.numbers : m.numbers / 2;
  if (entries == 0) return; /* a rank without members */
  void *arguments[] = {&m};
  const unsigned grid[] = {(unsigned)((entries + THREADS - 1) / THREADS), w->crossed ? 1 : (unsigned)w->fields, 1};
  diffusion_cuda_launch(
      &kernel, (double)m.tables * (double)m.numbers * diffusion_cuda_table_parts(w) * diffusion_cuda_number_size(w->p),
      w->fill, grid, THREADS, 0, arguments);
}
