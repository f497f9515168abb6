/* The sampler on the CPU: `struct option_sampler` of this backend. */
#ifndef OPTION_SAMPLER_H
#define OPTION_SAMPLER_H

#include "kernels/option/random/mrg.h"
#include "kernels/option/cpu/sums.h"
#include "kernels/option/ops.h"
#include "kernels/option/policies.h"

/* Memory of one thread. */
typedef struct option_workspace {
  char *all;
  void **features, **outputs; /* [markets][signs][features], [markets][signs][outputs] of OPTION_CHUNK numbers */
  void *kernel, *program;
  double *sample, *control; /* [OPTION_CHUNK] */
} option_workspace;

/* Where the features of an asset in a market come from: those of market `base`, the market itself or an earlier one,
 * times a ratio. */
typedef struct option_origin {
  int base;
  double ratio;
} option_origin;

/* The outputs that are read in one market, and the program that computes them. */
typedef struct option_outputs {
  int outputs, output[SIM_EXPR_OUTPUTS_MAX];
  const sim_expr_program *program;
  sim_expr_program *owned; /* NULL: an earlier market has the same outputs */
} option_outputs;

struct option_sampler {
  const sim_comm *comm;
  bool single;
  sim_isa isa;
  int threads;
  char name[32];
  option_estimate estimate;
  sim_expr_program *local[OPTION_ASSETS_MAX]; /* local volatilities */
  size_t local_scratch;                       /* bytes of scratch, bridges included */
  option_policies policies;
  option_rule *rules; /* [markets][payoffs]; NULL without early exercise */
  double *growth;     /* [markets][payoffs][steps] */
  option_quasi quasi;
  option_mrg *mrg; /* NULL: Philox's bits */
  option_tangent tangent[OPTION_TANGENTS_MAX];
  char *slopes;             /* drift and volatility derivatives of the tangents, in the kernel's precision */
  int groups, block, chunk; /* groups: see option_groups; block, chunk: samples of each */
  bool matched;             /* moment matching: the mean of a chunk is one independent sample */
  option_outputs *view;     /* [markets], owned */
  size_t program_scratch;
  int simulated;                      /* markets with paths of their own, the first ones: see cpu/reuse.c */
  option_origin *share;               /* [markets][1 + assets], owned; the first: of features that belong to no asset */
  uint64_t kept[OPTION_VARIANTS_MAX]; /* of the kernel's variants: assets whose paths another market has */
  option_path_kernel *kernel;
  option_sum_kernel *sum;
  option_paths paths;
  option_variant variant[OPTION_VARIANTS_MAX];
  void *numbers;                /* drifts, volatilities and the Cholesky factor, in the kernel's precision */
  option_workspace *workspaces; /* [threads] */
  double *sums;                 /* [chunks][quantities][2], sums of a batch; room for the same share of every rank */
};

/* Computes features and payoffs of a chunk of paths into the workspace. Returns false where option_path_kernel does. */
bool option_simulate(const option_sampler *sampler, const option_workspace *room, uint64_t first, int count);
/* The same of a fine sampler of option_sampler_pair, on paths whose two steps in each of the coarse sampler take each
 * other's random numbers. */
bool option_simulate_swapped(const option_sampler *sampler, const option_workspace *room, uint64_t first, int count);
/* Adds `weight` times a quantity without its control to sample[count], from the payoffs in the workspace. */
void option_add_terms(const option_sampler *sampler, const option_workspace *room, int quantity, double weight,
                      int count, double *sample);
/* A sampler of the run's steps without pilot, control and exercise rules. */
sim_status option_sampler_single(const option_parameters *p, const sim_setup *setup,
                                 option_sampler **out) SIM_MUST_CHECK;
/* Two samplers on the same random numbers: out[0] with the run's steps in parts/2 pieces each, out[1] in `parts`
 * pieces; parts is a power of two (see option_paths.skip). out[1] borrows the exercise rules of out[0]: free it first.
 */
sim_status option_sampler_pair(const option_parameters *p, const sim_setup *setup, int parts,
                               option_sampler *out[2]) SIM_MUST_CHECK;
/* A sampler of the run's own paths, without rules of early exercise: for features of prices alone. It exchanges
 * nothing. */
sim_status option_sampler_paths(const option_parameters *p, const sim_setup *setup,
                                option_sampler **out) SIM_MUST_CHECK;
/* First path of a sample: see option_block_samples. */
uint64_t option_path_of(const option_sampler *sampler, int64_t sample);

#endif
