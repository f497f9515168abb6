/* The sampler on the CPU. */
#ifndef OPTION_SAMPLER_H
#define OPTION_SAMPLER_H

#include "kernels/option/random/mrg.h"
#include "kernels/option/cpu/sums.h"
#include "kernels/option/ops.h"
#include "kernels/option/payoff/exercise.h"

/* One thread's memory. */
typedef struct option_workspace {
  char *all;
  void **features, **outputs; /* [variants][features], [variants][outputs] of OPTION_CHUNK numbers */
  void *kernel, *program;
  double *sample, *control; /* [OPTION_CHUNK] */
} option_workspace;

struct option_sampler {
  bool single;
  sim_isa isa;
  int threads;
  char name[32];
  option_estimate estimate;
  sim_expr_program *local[OPTION_ASSETS_MAX]; /* local volatilities */
  size_t local_scratch;                       /* with that of bridges */
  option_policy policy;
  option_rule *rules; /* [markets][payoffs], where there is a policy */
  double *growth;     /* [markets][payoffs][steps] */
  option_quasi quasi;
  option_mrg *mrg; /* NULL: Philox's bits */
  option_tangent tangent[OPTION_TANGENTS_MAX];
  char *slopes;             /* their numbers, in the kernel's precision */
  int groups, block, chunk; /* samples of a block and of a chunk */
  bool matched;             /* each chunk's mean is one sample */
  sim_expr_program *program;
  option_path_kernel *kernel;
  option_sum_kernel *sum;
  option_paths paths;
  option_variant variant[OPTION_VARIANTS_MAX];
  void *numbers;                /* drifts, volatilities and the correlation's factor, in the kernel's precision */
  option_workspace *workspaces; /* [threads] */
  double *sums;                 /* [chunks][quantities][2], of a batch */
};

/* Computes features and payoffs of a chunk of paths into the workspace; false: as of option_path_kernel. */
bool option_simulate(const option_sampler *sampler, const option_workspace *room, uint64_t first, int count);
/* Two samplers of the prices alone, in fp64, whose paths have the same random numbers: one with the run's steps, which
 * are halved in the other: see option_paths.skip. The second holds rules of the first. */
sim_status option_sampler_pair(const option_parameters *p, const sim_setup *setup,
                               option_sampler *out[2]) SIM_MUST_CHECK;
/* The path of a sample: see option_block_samples. */
uint64_t option_path_of(const option_sampler *sampler, int64_t sample);

#endif
