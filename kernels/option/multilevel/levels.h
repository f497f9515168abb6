/* Samples of the levels of a multilevel run: see allocate.h. On the CPU. */
#ifndef OPTION_MULTILEVEL_LEVELS_H
#define OPTION_MULTILEVEL_LEVELS_H

#include "kernels/option/multilevel/allocate.h"
#include "kernels/option/ops.h"

#include "engine/memory/bytes.h"

typedef struct option_levels option_levels;

/* Makes the levels that a run begins with. SIM_ERR_NO_MEMORY, SIM_ERR_SCENARIO. */
sim_status option_levels_create(const option_parameters *p, const sim_setup *setup, bool certain,
                                option_levels **out) SIM_MUST_CHECK;
void option_levels_destroy(option_levels **levels);
double option_levels_bytes(const option_parameters *p, const sim_setup *setup);
/* Levels that the scenario's steps can have, at most OPTION_LEVELS_MAX. */
int option_levels_most(const option_parameters *p);
/* Samples that a run takes at least. */
double option_levels_first_samples(void);

/* The state of a run, owned by `levels`: the sums of all levels, the numbers behind option_level_sums, in one array of
 * option_levels_numbers(p) numbers. option_levels_restored: after they were overwritten from a checkpoint. */
double *option_levels_state(option_levels *levels);
int64_t option_levels_numbers(const option_parameters *p);
sim_status option_levels_restored(option_levels *levels) SIM_MUST_CHECK;
const option_level_sums *option_levels_sums(const option_levels *levels);
/* Samples of all levels. */
double option_levels_samples(const option_levels *levels);
/* The next samples of a run (samples = 0: it has ended); and draws them: the same bits for any number of threads and
 * ranks. SIM_ERR_DIVERGED where a payoff or a local volatility is not finite. */
option_level_step option_levels_next(const option_levels *levels);
sim_status option_levels_sample(option_levels *levels, option_level_step step) SIM_MUST_CHECK;
/* Sum of the means of all levels, its error with the bias of the finest steps, and that bias. NaN: unknown. */
double option_levels_mean(const option_levels *levels, int quantity);
double option_levels_error(const option_levels *levels, int quantity);
/* The levels, the bias of the finest steps and the work: lines of the report. */
void option_levels_report(const option_levels *levels, const option_parameters *p, sim_bytes *out);

#endif
