/* Operations of a backend: samples of all quantities, block by block. */
#ifndef OPTION_OPS_H
#define OPTION_OPS_H

#include "kernels/option/estimate.h"

typedef struct option_sampler option_sampler; /* each backend has its own */

typedef struct option_ops {
  /* sim_model.supports; NULL: all scenarios */
  bool (*supports)(const option_parameters *p, char *lacks, size_t capacity);
  int (*batch)(const option_parameters *p); /* blocks of a step at most, a multiple of OPTION_GROUP */
  double (*bytes)(const option_parameters *p, const sim_setup *setup);
  sim_status (*create)(const option_parameters *p, const sim_setup *setup, option_sampler **out);
  void (*destroy)(option_sampler **sampler);
  /* Draws the samples first .. first + count - 1; first is a multiple of the block. Host memory, block by block:
   * mean[blocks][quantities], and squares likewise: sums of squared deviations of the means of option_unit samples.
   * tails[blocks][quantities][2]: sums over groups of samples of the squared deviations in each group, and of the
   * squares of these sums. Groups are the `lanes` of a chunk, or whole blocks. The same bits for every count, number of
   * threads and ranks, and device size. */
  sim_status (*sample)(option_sampler *sampler, int64_t first, int64_t count, double *mean, double *squares,
                       double *tails);
  int lanes;                                          /* groups of a chunk (cpu/sums.h); 0: a group is a block */
  const char *(*name)(const option_sampler *sampler); /* "one path a lane (avx512)" */
} option_ops;
extern const option_ops option_ops_cpu, option_ops_cuda;
/* The operations of a kind of device. */
const option_ops *option_ops_of(sim_backend_kind kind);

/* The setup of what the host computes beside a run on any device: the bias of time steps, upper bounds, exposures. */
static inline sim_setup option_host_setup(const sim_setup *setup) {
  sim_setup host = *setup;
  host.backend = &sim_backend_cpu;
  if (setup->backend != host.backend) host.isa = sim_isa_best();
  if (host.threads < 1) host.threads = 1;
  return host;
}

/* Finds on the CPU why a quantity is not finite over the samples first .. first + count - 1 of one logical block.
 * Always returns SIM_ERR_DIVERGED, with the reason. */
sim_status option_diagnose(const option_parameters *p, int64_t first, int64_t count, const option_quantity *quantity);

#endif
