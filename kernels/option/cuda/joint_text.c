/* Writes early exercise by joint rules: the type J of paths/joint_rule.cuh for each payoff, and its kernels. */
#include "kernels/option/cuda/plan.h"

#include <stdio.h>

enum { INLINED = 4 /* exercises by joint rules whose code is repeated; more of them share it */ };

/* Next payoff with a joint rule from `i` on, or the number of payoffs. */
static size_t next_joint(const option_parameters *p, size_t i) {
  while (i < p->payoffs.count &&
         (p->payoffs.items[i].schema != &option_american_schema || !option_rule_is_joint(p, p->payoffs.items[i].data)))
    i++;
  return i;
}

/* joint_I: the payment and the functions of the regression. */
static void add_type(const option_cuda_plan *plan, int number, int bases, sim_bytes *text) {
  const option_parameters *p = plan->parameters;
  const option_payoff *o = p->payoffs.items[number].data;
  const option_rule rule = {.maxima = option_reads_maxima(o),
                            .volatilities = option_joint_volatilities(p, o),
                            .rate = option_joint_rate(p, o)};
  const int assets = (int)p->assets.count, scales = option_joint_scales(p, o),
            inputs = option_rule_inputs(&rule, assets), priced = rule.maxima ? 2 * assets : assets;
  sim_bytes_format(
      text,
      "struct joint_%d {\n"
      "  typedef %s real;\n"
      "  enum : int { ASSETS = %d, INPUTS = %d, STATES = %d, RECORDED = %d, BASES = %d, SCALES = %d, SCALED = %d };\n"
      "  static __device__ __forceinline__ void functions(const real *input, const real *scale, real *o) {\n"
      "    joint_functions_%d(",
      number, plan->single ? "float" : "double", assets, inputs, inputs - priced, inputs + p->hull_white.given, bases,
      scales, option_joint_scaled(p, o, NULL), number);
  for (int k = 0; k < inputs; k++) sim_bytes_format(text, "input[%d], ", k);
  for (int k = 0; k < 2 * scales; k++) sim_bytes_format(text, "scale[%d], ", k);
  for (int k = 0; k <= bases; k++) sim_bytes_format(text, "%so + %d", k ? ", " : "", k);
  sim_bytes_format(text,
                   ");\n"
                   "  }\n"
                   "  static __device__ %s real settle(const real *input, const real *rule, int date, bool last,\n"
                   "                                   real deflator, real paid) {\n"
                   "    return settle_jointly<joint_%d>(input, rule, date, last, deflator, paid);\n"
                   "  }\n"
                   "};\n",
                   plan->exercises > INLINED ? "__noinline__" : "__forceinline__", number);
}

sim_status option_cuda_add_joint(const option_cuda_plan *plan, sim_bytes *text) {
  const option_parameters *p = plan->parameters;
  for (size_t i = next_joint(p, 0); i < p->payoffs.count; i = next_joint(p, i + 1)) {
    sim_expr *expr = NULL;
    char name[48];
    int bases = 0;
    snprintf(name, sizeof name, "joint_functions_%zu", i);
    sim_status status = option_joint_graph(p, p->payoffs.items[i].data, OPTION_JOINT_OPEN, NULL, &expr, &bases);
    if (status == SIM_OK)
      status = sim_expr_emit(
          expr,
          &(sim_expr_emission){.name = name, .qualifier = "static __device__ __forceinline__", .single = plan->single},
          text);
    sim_expr_free(&expr);
    SIM_TRY(status);
    add_type(plan, (int)i, bases, text);
  }
  return SIM_OK;
}

void option_cuda_add_settle(const option_cuda_plan *plan, sim_bytes *text) {
  const option_parameters *p = plan->parameters;
  sim_bytes_text(text, "  static __device__ __forceinline__ void settle(int k, const real *input, const real *rule,\n"
                       "                                                int date, real deflator, real &paid) {\n"
                       "    const bool last = date == early_dates(k) - 1;\n"
                       "    switch (early_joint(k)) {\n");
  for (size_t i = next_joint(p, 0); i < p->payoffs.count; i = next_joint(p, i + 1))
    sim_bytes_format(text, "    case %zu: paid = joint_%zu::settle(input, rule, date, last, deflator, paid); break;\n",
                     i, i);
  sim_bytes_text(text, "    }\n  }\n");
}

void option_cuda_add_joint_kernels(const option_cuda_plan *record, sim_bytes *text) {
  const option_parameters *p = record->parameters;
  for (size_t i = next_joint(p, 0); i < p->payoffs.count; i = next_joint(p, i + 1))
    sim_bytes_format(text,
                     "extern \"C\" __global__ void __launch_bounds__(OPTION_CUDA_THREADS)\n"
                     "    option_joint_scale_%zu(const double *price, size_t stride, int dates, double *partial) {\n"
                     "  joint_scale<joint_%zu>(price, stride, dates, partial);\n"
                     "}\n"
                     "extern \"C\" __global__ void __launch_bounds__(OPTION_CUDA_THREADS)\n"
                     "    option_joint_sums_%zu(const __grid_constant__ option_joint_step step, const double *now,\n"
                     "                          const double *next, size_t stride, double *cash, double *partial) {\n"
                     "  joint_sums<joint_%zu>(step, now, next, stride, cash, partial);\n"
                     "}\n",
                     i, i, i, i);
}
