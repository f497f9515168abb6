/* Regression of the exercise rule of a payoff on several assets, on paths that stay on the device. Each rank keeps the
 * paths of its share of the chunks; the chunks' sums of each date are gathered, and every rank solves the same
 * equations. Twin: cpu/joint_rule.c. */
#include "kernels/option/cuda/regression.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct joint {
  option_cuda_regression *f;
  const option_rule *rule;
  const option_joint_rule *of;
  size_t scales;
  void *scale, *sums; /* kernels */
} joint;

static sim_status find_scale(joint *j, const option_payoff *o, int number, double (*scale)[2]) {
  static const sim_kernel scaling = {"option_joint_scale", "exercise", SIM_LIMIT_BYTES};
  option_cuda_regression *f = j->f;
  const option_parameters *p = f->plan.parameters;
  const int inputs = option_joint_scaled(p, o, NULL);
  int each = 4 + 2 * inputs, dates = j->rule->dates;
  size_t paths = option_cuda_regression_paths(f);
  double *partial = option_cuda_partial(f, each), *sum = calloc((size_t)each, sizeof *sum);
  if (sum == NULL) return sim_no_memory("early exercise");
  if (f->own > 0)
    option_cuda_launch(&scaling, 8.0 * (double)paths * dates * f->prices, j->scale, f->own, OPTION_CUDA_THREADS,
                       (void *[]){&f->price, &paths, &dates, &partial});
  sim_status status = option_cuda_total(f, each, sum);
  if (status == SIM_OK) status = option_joint_check(f->comm, !(sum[each - 1] == 0), number);
  if (status == SIM_OK) option_joint_scale(sum, option_joint_scaled_assets(p, o), inputs, scale);
  free(sum);
  return status;
}

/* option_joint_sums of a joint. */
static sim_status sums_at(void *self, int date, const double *beta, double discount, double *sum) {
  static const sim_kernel summing = {"option_joint_sums", "exercise", SIM_LIMIT_FP64};
  const joint *j = self;
  option_cuda_regression *f = j->f;
  const size_t bases = (size_t)j->rule->bases;
  const int each = (int)(bases * (bases + 3) / 2);
  size_t paths = option_cuda_regression_paths(f);
  const double *now = f->price + (size_t)date * (size_t)f->prices * paths, *next = now + (size_t)f->prices * paths;
  double *partial = option_cuda_partial(f, each);
  option_joint_step step = {.discount = discount, .holds = beta != NULL};
  memcpy(step.scale, j->of->scale, j->scales * sizeof *step.scale);
  if (beta != NULL) memcpy(step.beta, beta, bases * sizeof *beta);
  if (f->own > 0)
    option_cuda_launch(&summing, 2.0 * (double)paths * each, j->sums, f->own, OPTION_CUDA_THREADS,
                       (void *[]){&step, &now, &next, &paths, &f->cash, &partial});
  return option_cuda_total(f, each, sum);
}

static sim_status find_kernel(const option_cuda_regression *f, const char *what, int number, void **out) {
  char name[40];
  snprintf(name, sizeof name, "option_joint_%s_%d", what, number);
  return sim_module_kernel(f->module, name, out);
}

static sim_status find_rule(joint *j, const option_payoff *o, int number, int chunks, option_rule *rule,
                            option_joint_rule *out) {
  option_cuda_regression *f = j->f;
  SIM_TRY(find_kernel(f, "scale", number, &j->scale));
  SIM_TRY(find_kernel(f, "sums", number, &j->sums));
  const size_t count = (size_t)rule->dates * (size_t)rule->bases;
  out->beta = calloc(count, sizeof(double) + sizeof(float));
  if (out->beta == NULL) return sim_no_memory("early exercise");
  float *single = (float *)(void *)(out->beta + count);
  rule->beta = out->beta;
  rule->beta_single = single;
  SIM_TRY(option_cuda_simulate(f, rule, -1, chunks));
  SIM_TRY(find_scale(j, o, number, out->scale));
  SIM_TRY(option_joint_go_back(rule, f->market->bond, sums_at, j, out->beta));
  for (size_t k = 0; k < count; k++) single[k] = (float)out->beta[k];
  return SIM_OK;
}

sim_status option_cuda_joint(void *self, const option_payoff *o, int number, int chunks, option_rule *rule,
                             option_joint_rule *out) {
  option_cuda_regression *f = self;
  const option_parameters *p = f->plan.parameters;
  const int bases = rule->bases = option_joint_bases(p, o);
  joint j = {.f = f, .rule = rule, .of = out, .scales = (size_t)option_joint_scales(p, o)};
  f->sums_each = (int)fmax(bases * (bases + 3) / 2, 4 + 2 * option_joint_scaled(p, o, NULL));
  const sim_status status = find_rule(&j, o, number, chunks, rule, out);
  option_cuda_release(f);
  return status;
}
