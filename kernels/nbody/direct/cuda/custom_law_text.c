/* Source of the kernels with a custom law: its functions, a struct of them for each template, and a wrapper for each
 * kernel. */
#include "kernels/nbody/direct/cuda/custom_law.h"

#include <math.h>

static const char qualifier[] = "static __device__ __forceinline__";
static const char power[] = "nbody_power";

/* Form in which the kernels compute the force. */
typedef struct pair_form {
  double factor; /* constant factor, where the force is a single power of r2 */
  bool relative; /* 2 rate / force is a power too, and cheaper than 2 rate */
} pair_form;

static sim_status divided(sim_expr_builder *builder, sim_expr_ref a, double by, sim_expr_ref *out) {
  sim_expr_ref number;
  SIM_TRY(sim_expr_builder_number(builder, by, &number));
  return sim_expr_builder_call(builder, SIM_EXPR_DIV, (const sim_expr_ref[]){a, number}, out);
}

/* Makes r2 -> force / factor, and with jerk also 2 rate / factor, or 2 rate / force. */
static sim_status make_force(sim_expr_builder *builder, const nbody_options *options, pair_form form, sim_expr **out) {
  sim_expr_ref r2, made[3], two;
  SIM_TRY(sim_expr_builder_input(builder, "r2", &r2));
  SIM_TRY(sim_expr_builder_insert(builder, options->laws.pair, &r2, made));
  if (options->jerk) {
    SIM_TRY(sim_expr_builder_number(builder, 2, &two));
    SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_MUL, (const sim_expr_ref[]){made[1], two}, &made[1]));
    if (form.relative)
      SIM_TRY(sim_expr_builder_call(builder, SIM_EXPR_DIV, (const sim_expr_ref[]){made[1], made[0]}, &made[1]));
    else
      SIM_TRY(divided(builder, made[1], form.factor, &made[1]));
  }
  SIM_TRY(divided(builder, made[0], form.factor, &made[0]));
  return sim_expr_builder_finish(builder, made, (const char *const[]){"force", "rate"}, options->jerk ? 2 : 1, out);
}

static sim_status force_graph(const nbody_options *options, pair_form form, sim_expr **out) {
  sim_expr_builder *builder;
  *out = NULL;
  SIM_TRY(sim_expr_builder_create(&builder));
  sim_status status = make_force(builder, options, form, out);
  sim_expr_builder_free(&builder);
  return status;
}

static sim_status find_form(const nbody_options *options, pair_form *out) {
  sim_expr *graph;
  double unused;
  *out = (pair_form){1, true};
  SIM_TRY(force_graph(options, *out, &graph));
  out->relative = options->jerk && sim_expr_is_power(graph, 0, 0, &unused) && sim_expr_is_power(graph, 1, 0, &unused);
  if (!sim_expr_is_power(graph, 0, 0, &out->factor)) out->factor = 1;
  sim_expr_free(&graph);
  return SIM_OK;
}

/* Writes the law's struct for the tiles. */
static sim_status add_force(const nbody_options *options, pair_form form, sim_bytes *text) {
  const bool single = options->single_pairs, jerk = options->jerk;
  sim_expr *graph;
  double shift;
  SIM_TRY(force_graph(options, form, &graph));
  sim_status status =
      sim_expr_emit(graph, &(sim_expr_emission){"pair_force", qualifier, single, power, 0, &shift}, text);
  sim_expr_free(&graph);
  SIM_TRY(status);
  sim_bytes_format(text,
                   "typedef %s pair_real;\n"
                   "struct pair_law {\n"
                   "  __device__ static pair_real start() { return (pair_real)%a; }\n",
                   single ? "float" : "double", shift);
  if (jerk)
    sim_bytes_format(text,
                     "  __device__ static void force_and_rate(pair_real s2, pair_real mass, pair_real dw, bool same,\n"
                     "                                        pair_real &u, pair_real &rate) {\n"
                     "    pair_real f, g;\n"
                     "    pair_force(s2, &f, &g);\n"
                     "    u = same ? (pair_real)0 : f * mass;\n"
                     "    rate = same ? (pair_real)0 : dw * %s;\n"
                     "  }\n"
                     "  __device__ static pair_real add_jerk(pair_real u, pair_real rate, pair_real d, pair_real w,\n"
                     "                                     pair_real sum) {\n"
                     "    return fused(u, %s);\n"
                     "  }\n",
                     form.relative ? "g" : "(g * mass)",
                     form.relative ? "fused(rate, d, w), sum" : "w, fused(rate, d, sum)");
  else
    sim_bytes_text(text, "  __device__ static pair_real force(pair_real s2, bool same) {\n"
                         "    pair_real f;\n"
                         "    pair_force(s2, &f);\n"
                         "    return same ? (pair_real)0 : f;\n"
                         "  }\n");
  sim_bytes_text(text, "};\n");
  return SIM_OK;
}

/* Finds whether the potential is known: an unknown potential is the constant NaN. */
static sim_status is_known(const sim_expr *potential, bool *out) {
  sim_expr_builder *builder;
  sim_expr_ref one, value;
  double number;
  *out = true;
  SIM_TRY(sim_expr_builder_create(&builder));
  sim_status status = sim_expr_builder_number(builder, 1, &one);
  if (status == SIM_OK && !sim_expr_depends(potential, 0, 0))
    status = sim_expr_builder_insert(builder, potential, &one, &value);
  if (status == SIM_OK && !sim_expr_depends(potential, 0, 0))
    *out = !(sim_expr_builder_constant(builder, value, &number) && isnan(number));
  sim_expr_builder_free(&builder);
  return status;
}

static sim_status add_potential(const nbody_options *options, const char *real, sim_bytes *text, bool *known) {
  sim_expr *graph;
  double shift = 0;
  SIM_TRY(nbody_laws_pick(options->laws.pair, options->jerk ? 2 : 1, 1, &graph));
  sim_status status = is_known(graph, known);
  if (status == SIM_OK && *known)
    status = sim_expr_emit(graph, &(sim_expr_emission){"pair_potential", qualifier, false, power, 0, &shift}, text);
  sim_expr_free(&graph);
  if (status != SIM_OK || !*known) return status;
  sim_bytes_format(text,
                   "struct pair_energy {\n"
                   "  __device__ static double start() { return %a; }\n"
                   "  __device__ static double potential(double s2) {\n"
                   "    double out;\n"
                   "    pair_potential(s2, &out);\n"
                   "    return out;\n"
                   "  }\n"
                   "};\n"
                   "extern \"C\" __global__ void __launch_bounds__(POTENTIAL_THREADS)\n"
                   "    nbody_custom_potential(const bodies<%s> b, int blocks, double *partial) {\n"
                   "  after_previous();\n"
                   "  potential_sum<%s>(b, pair_energy(), blocks, partial);\n"
                   "}\n",
                   shift, real, real);
  return SIM_OK;
}

/* Writes the time of a pair: ((|force| + 2 r2 |rate|) (m_i + m_j))^(-1/2). */
static sim_status add_start(const nbody_options *options, const char *real, sim_bytes *text) {
  sim_expr *graph;
  SIM_TRY(nbody_laws_pick(options->laws.pair, 0, 2, &graph));
  sim_status status = sim_expr_emit(graph, &(sim_expr_emission){"pair_rates", qualifier, false, power, 0, NULL}, text);
  sim_expr_free(&graph);
  SIM_TRY(status);
  sim_bytes_format(text,
                   "struct pair_time {\n"
                   "  __device__ static double square(double dx, double dy, double dz, double masses) {\n"
                   "    const double r2 = dx * dx + dy * dy + dz * dz;\n"
                   "    double f, g;\n"
                   "    pair_rates(r2, &f, &g);\n"
                   "    return 1 / ((fabs(f) + 2 * r2 * fabs(g)) * masses);\n"
                   "  }\n"
                   "};\n"
                   "extern \"C\" __global__ void __launch_bounds__(NBODY_PARTIAL_BODIES)\n"
                   "    nbody_custom_start(int n, const %s *m, const %s *x, const double *a, const double *j,\n"
                   "                    double *partial) {\n"
                   "  after_previous();\n"
                   "  least_time(n, m, x, a, j, pair_time(), partial);\n"
                   "}\n",
                   real, real);
  return SIM_OK;
}

sim_status nbody_custom_law_write(const nbody_options *options, bool single, int bodies, sim_bytes *text,
                                  nbody_custom_law_text *out) {
  const char *real = single ? "float" : "double";
  pair_form form;
  SIM_TRY(find_form(options, &form));
  out->factor = form.factor;
  sim_bytes_text(text, "#include \"kernels/nbody/direct/cuda/potential.cuh\"\n"
                       "#include \"kernels/nbody/direct/cuda/power.cuh\"\n"
                       "#include \"kernels/nbody/direct/cuda/time_scale.cuh\"\n"
                       "#include \"kernels/nbody/direct/cuda/tile.cuh\"\n");
  SIM_TRY(sim_expr_emit_prelude(text));
  SIM_TRY(add_force(options, form, text));
  sim_bytes_format(text,
                   "extern \"C\" __global__ void __launch_bounds__(TILE_THREADS)\n"
                   "    nbody_custom_tile(const bodies<%s> b, int per_split, double *acceleration, double *jerk) {\n"
                   "  tile_sum<%s, pair_real, %d, %d>(b, pair_law(), per_split, acceleration, jerk);\n"
                   "}\n",
                   real, real, bodies, options->jerk ? 6 : 3);
  SIM_TRY(add_potential(options, real, text, &out->potential));
  if (options->jerk) SIM_TRY(add_start(options, real, text));
  return text->failed ? sim_no_memory("the text of a function") : SIM_OK;
}

sim_source nbody_custom_law_source(const sim_bytes *text) {
  return (sim_source){
      .name = "nbody_custom_law", .text = text->data, .files = nbody_cuda_files, .contract = true, .approximate = true};
}
