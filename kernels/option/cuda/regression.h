/* Regression of exercise rules on the GPU: what its two kinds of rules share. Twin: cpu/exercise.h. */
#ifndef OPTION_CUDA_REGRESSION_H
#define OPTION_CUDA_REGRESSION_H

#include "kernels/option/cuda/plan.h"

typedef struct option_cuda_regression {
  const sim_comm *comm;
  const option_market *market;
  const option_starts *starts;
  option_estimate *bare; /* the plan's estimate: one market, that of the paths which are simulated now */
  option_cuda_plan plan;
  sim_module *module;
  void *record, *step, *total; /* kernels */
  option_keys keys;
  void *table, *host_table, *constants; /* on the device; on the host */
  int chunks, share;                    /* of all ranks; most of one rank */
  int first, own;                       /* chunks of this rank: the first of them, and their number */
  int prices;                           /* numbers of a path and date: a price, or what a joint rule reads */
  int sums_each;                        /* sums of a chunk, at most */
  double *price, *cash;                 /* on the device, of this rank's paths: [dates][prices][paths], [paths] */
  double *partial;                      /* on the device, of all chunks: [ranks * share][sums of a chunk] */
  double *sums;                         /* on the device: [sums_each] */
  double *host;                         /* on the host, as `partial`; only with several ranks */
} option_cuda_regression;

/* Simulates this rank's share of `chunks` chunks of paths from all starts and keeps the prices of an asset, or with
 * asset -1 of all, at the rule's dates; all cash is 0. sums_each is set by the caller. */
sim_status option_cuda_simulate(option_cuda_regression *regression, const option_rule *rule, int asset,
                                int chunks) SIM_MUST_CHECK;
/* Frees what option_cuda_simulate allocated. */
void option_cuda_release(option_cuda_regression *regression);
/* Where the sums of this rank's chunks begin, `each` a chunk. Device memory. */
double *option_cuda_partial(const option_cuda_regression *regression, int each);
/* Gathers the sums of all ranks' chunks, and adds them: sum[each], host memory. */
sim_status option_cuda_total(option_cuda_regression *regression, int each, double *sum) SIM_MUST_CHECK;
/* Paths of this rank. */
static inline size_t option_cuda_regression_paths(const option_cuda_regression *f) {
  return (size_t)f->own * OPTION_CHUNK;
}

/* joint.c: option_regression.joint. */
sim_status option_cuda_joint(void *self, const option_payoff *payoff, int number, int chunks, option_rule *rule,
                             option_joint_rule *out) SIM_MUST_CHECK;

#endif
