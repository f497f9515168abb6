/* What the markets of an estimate share: features that are not simulated again, and the outputs that are
 * evaluated in each. */
#ifndef OPTION_CPU_REUSE_H
#define OPTION_CPU_REUSE_H

#include "kernels/option/cpu/sampler.h"

/* Orders the markets of the sampler's estimate so that the first `simulated` have paths of their own, and sets `share`
 * and `kept`. SIM_ERR_NO_MEMORY. */
sim_status option_reuse_create(option_sampler *sampler, const option_parameters *p) SIM_MUST_CHECK;
void option_reuse_free(option_sampler *sampler);
/* Number of arrays of features, over all markets and signs. */
size_t option_reuse_features(const option_sampler *sampler);
/* Places them in `room`, `row` bytes each: features[markets * signs * features]; shared ones have the same address. */
void option_reuse_place(const option_sampler *sampler, char *room, size_t row, void **features);
/* Fills the features that are multiples of those of another market. */
void option_reuse_scale(const option_sampler *sampler, int count, void *const *features);
/* Whether any quantity reads an output in a market; the others are not evaluated. */
bool option_is_read(const option_sampler *sampler, int market, int output);
/* Number of the kernel's variants, the first ones, whose features have derivatives that are read. */
int option_reuse_sloped(const option_sampler *sampler);
/* Compiles the programs of all markets. SIM_ERR_NO_MEMORY. */
sim_status option_reuse_programs(option_sampler *sampler) SIM_MUST_CHECK;
/* Evaluates the outputs of a variant, market * signs + sign. */
void option_reuse_evaluate(const option_sampler *sampler, int variant, int count, void *const *features,
                           void *const *outputs, void *scratch);

#endif
