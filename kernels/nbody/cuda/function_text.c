/* Source of the kernels with functions of a scenario: the functions, a struct of them for each template, and a wrapper
 * for each kernel. */
#include "kernels/nbody/cuda/functions.h"

#include <stdio.h>

static const char qualifier[] = "static __device__ __forceinline__";

static sim_status add_part(const sim_expr *expr, int first, int count, const char *name, sim_bytes *text) {
  sim_expr *part;
  SIM_TRY(nbody_laws_pick(expr, first, count, &part));
  sim_status status = sim_expr_emit(part, &(sim_expr_emission){.name = name, .qualifier = qualifier}, text);
  sim_expr_free(&part);
  return status;
}

static sim_status add_external(const nbody_options *options, const char *real, sim_bytes *text) {
  const bool jerk = options->jerk;
  const char *speed = jerk ? "v[0], v[1], v[2], " : "";
  SIM_TRY(add_part(options->laws.external, 0, jerk ? 6 : 3, "external_acceleration_of", text));
  SIM_TRY(add_part(options->laws.external, jerk ? 6 : 3, 1, "external_potential_of", text));
  sim_bytes_format(text,
                   "struct external_law {\n"
                   "  enum { JERK = %d };\n"
                   "  __device__ static void of(const double *x, const double *v, double t, double *a, double *j) {\n"
                   "    external_acceleration_of(x[0], x[1], x[2], %st, a, a + 1, a + 2%s);\n"
                   "  }\n"
                   "  __device__ static double potential(const double *x, const double *v, double t) {\n"
                   "    double out;\n"
                   "    external_potential_of(x[0], x[1], x[2], %st, &out);\n"
                   "    return out;\n"
                   "  }\n"
                   "};\n",
                   jerk, speed, jerk ? ", j, j + 1, j + 2" : "", speed);
  sim_bytes_format(text, "typedef %s real;\n", real);
  sim_bytes_text(
      text,
      "#define KERNEL(threads) extern \"C\" __global__ void __launch_bounds__(threads)\n"
      "KERNEL(EXTERNAL_THREADS) nbody_external_finish(nbody_raw_force raw, double *a, double *j, const real *x,\n"
      "                                          const real *v, int n, double t) {\n"
      "  external_finish<external_law>(raw, a, j, x, v, n, t);\n"
      "}\n"
      "KERNEL(EXTERNAL_THREADS) nbody_external_kick(nbody_raw_force raw, real *x, real *v, double *a, int n,\n"
      "                                        double dt, double drift, double box, double t) {\n"
      "  external_kick<external_law, false>(raw, x, v, a, n, dt, drift, box, t);\n"
      "}\n"
      "KERNEL(EXTERNAL_THREADS) nbody_external_kick_drift(nbody_raw_force raw, real *x, real *v, double *a, int n,\n"
      "                                              double dt, double drift, double box, double t) {\n"
      "  external_kick<external_law, true>(raw, x, v, a, n, dt, drift, box, t);\n"
      "}\n"
      "KERNEL(NBODY_PARTIAL_BODIES) nbody_external_energy(const real *m, const real *x, const real *v, int n,\n"
      "                                             double t, double *partial) {\n"
      "  external_potential<external_law>(m, x, v, n, t, partial);\n"
      "}\n");
  if (jerk)
    sim_bytes_text(
        text,
        "KERNEL(EXTERNAL_THREADS) nbody_external_correct(nbody_raw_force raw, real *x, real *v, const double *a,\n"
        "                                           const double *j, const real *x0, const real *v0,\n"
        "                                           const double *a0, const double *j0, int n, double dt,\n"
        "                                           double t) {\n"
        "  external_correct<external_law>(raw, x, v, a, j, x0, v0, a0, j0, n, dt, t);\n"
        "}\n");
  return SIM_OK;
}

static sim_status add_observe(const sim_function_map *map, const char *real, sim_bytes *text) {
  static const char *const reductions[] = {"REDUCE_SUM", "REDUCE_SUM", "REDUCE_LEAST",
                                           "REDUCE_GREATEST"}; /* in the order of sim_reduction */
  char name[32];
  for (size_t k = 0; k < map->count; k++) {
    snprintf(name, sizeof name, "observed_%zu", k);
    SIM_TRY(sim_expr_emit(map->items[k].expr, &(sim_expr_emission){.name = name, .qualifier = qualifier}, text));
  }
  sim_bytes_format(text, "struct observed {\n  enum { COUNT = %zu };\n  __device__ static int reduction(int k) {\n",
                   map->count);
  sim_bytes_text(text, "    const int reductions[] = {");
  for (size_t k = 0; k < map->count; k++)
    sim_bytes_format(text, "%s%s", k ? ", " : "", reductions[map->items[k].reduce]);
  sim_bytes_text(text,
                 "};\n    return reductions[k];\n  }\n"
                 "  __device__ static void of(double m, double x, double y, double z, double vx, double vy,\n"
                 "                            double vz, double ax, double ay, double az, double t, double *o) {\n");
  for (size_t k = 0; k < map->count; k++)
    sim_bytes_format(text, "    observed_%zu(m, x, y, z, vx, vy, vz, ax, ay, az, t, o + %zu);\n", k, k);
  sim_bytes_format(text,
                   "  }\n};\n"
                   "extern \"C\" __global__ void __launch_bounds__(NBODY_PARTIAL_BODIES)\n"
                   "    nbody_observe(int n, const %s *m, const %s *x, const %s *v, const double *a, double t,\n"
                   "                      double *partial) {\n"
                   "  map_bodies<observed>(n, m, x, v, a, t, partial);\n"
                   "}\n"
                   "extern \"C\" __global__ void __launch_bounds__(NBODY_PARTIAL_BODIES)\n"
                   "    nbody_gather(const double *partial, int count, double *result) {\n"
                   "  map_partials<observed>(partial, count, result);\n"
                   "}\n",
                   real, real, real);
  return SIM_OK;
}

sim_status nbody_cuda_functions_write(const nbody_options *options, bool single, sim_bytes *text) {
  const char *real = single ? "float" : "double";
  sim_bytes_text(text, "#include \"kernels/nbody/cuda/external.cuh\"\n"
                       "#include \"kernels/nbody/cuda/observables.cuh\"\n");
  SIM_TRY(sim_expr_emit_prelude(text));
  if (options->laws.external) SIM_TRY(add_external(options, real, text));
  if (options->observe && options->observe->count > 0) SIM_TRY(add_observe(options->observe, real, text));
  return text->failed ? sim_no_memory("the text of a function") : SIM_OK;
}

sim_source nbody_cuda_functions_source(const sim_bytes *text) {
  return (sim_source){.name = "nbody_functions", .text = text->data, .files = nbody_cuda_files};
}
