/* The plan of a run's paths on a GPU: which states a path keeps, and where each number lies. */
#ifndef OPTION_CUDA_PLAN_H
#define OPTION_CUDA_PLAN_H

#include "engine/device/compile.h"
#include "engine/device/cuda.h"
#include "kernels/option/cuda/launch.h"
#include "kernels/option/cuda/sums.h"
#include "kernels/option/cpu/path.h"
#include "kernels/option/ops.h"
#include "kernels/option/payoff/exercise.h"

typedef struct option_cuda_view {
  int market, sign, feature, line, slot;
} option_cuda_view;

typedef struct option_cuda_plan {
  const option_parameters *parameters;
  const option_estimate *estimate;
  bool single;
  bool moved;      /* an asset is no geometric Brownian motion: each line is its own track */
  bool folded;     /* volatilities are constant and positive: the first of each asset goes to its normals */
  bool far;        /* a price may leave the range of exponents */
  bool correlated; /* factors are a triangle */
  bool large;      /* loops are not unrolled */
  bool matched;    /* moments of each part's normals are; it has OPTION_CHUNK samples */
  bool kinked;     /* the only quantity is max(sign f - number, -shift) with its shift, an instruction less */
  int assets, steps, signs, tracks, lines, views, fixings, stays, earlies;
  bool record;                     /* prices of assets that may be exercised are written down; there are no payoffs */
  int *line_of;                    /* [markets][assets] */
  int *track_begin, *line_begin;   /* [assets + 1], [tracks + 1] */
  int *track_market, *track_asset; /* of whose volatility it is */
  int *line_market, *line_track;
  unsigned need[OPTION_ASSETS_MAX]; /* bits of option_kind, and OPTION_CUDA_JOINT */
  option_cuda_view *view;           /* [views] */
  option_cuda_view *stay;           /* [stays], of the probabilities among them */
  int *view_of;                     /* [markets][signs][features]: view, or -1 */
  option_cuda_view *early;          /* [earlies], of the exercises among them */
  int *fixing_step;                 /* [fixings], rising, from 1 */
  double *cholesky;                 /* [assets][assets] */
  int row_weight, row_level, row_vol, row_mark, row_slope, row_swing, rows;
  int at_factor, at_ratio, at_vol, at_view, at_stay, at_dynamics, at_above, at_swing, at_early, at_tune, constants;
  int tangent_begin[OPTION_ASSETS_MAX + 1]; /* in the order of the assets: */
  int tangent[OPTION_TANGENTS_MAX];         /* number in the graph */
  int place[OPTION_TANGENTS_MAX];           /* of the graph's */
  int jumps;                                /* of all assets at most */
  size_t *grid_at;                          /* [tracks]: of a local volatility, behind the rows */
  size_t *early_at;                         /* [earlies]: of their rules, behind those */
  size_t table;                             /* numbers */
  int inner, outer, part;
  double *scale; /* [quantities]: a sample is scale v, and of what has a control + slope control_mean */
} option_cuda_plan;

/* NEED_JOINT of features.cuh: high and low of the asset are drawn together. */
enum { OPTION_CUDA_JOINT = 1 << OPTION_KINDS };

/* M_NUMBERS of motion.cuh, E_NUMBERS of features.cuh. */
enum { OPTION_CUDA_DYNAMICS_NUMBERS = 15, OPTION_CUDA_EARLY_NUMBERS = 5 };

static inline const option_dynamics *option_cuda_dynamics(const option_cuda_plan *plan, int track) {
  return &plan->estimate->market[plan->track_market[track]].dynamics[plan->track_asset[track]];
}
sim_status option_cuda_plan_create(const option_parameters *p, const option_estimate *estimate,
                                   option_cuda_plan *out) SIM_MUST_CHECK;
/* Of the paths of a fit: of the first market alone, in fp64, `record`. */
sim_status option_cuda_plan_record(const option_parameters *p, const option_estimate *estimate,
                                   option_cuda_plan *out) SIM_MUST_CHECK;
void option_cuda_plan_free(option_cuda_plan *plan);

/* plan_values.c: in the paths' precision: table[groups of steps][rows][4], behind it grids of volatilities and rules of
 * exercise; constants but for the quantities' own. */
void option_cuda_plan_fill(const option_cuda_plan *plan, const option_policy *policy, void *table, void *constants);

/* device.c: launches a kernel of the run's text or of sums.h; `amount` of the kernel's unit of work is counted. */
void option_cuda_launch(const sim_kernel *kernel, double amount, void *function, int blocks, int threads, void **args);
/* device.c: what a run's random bits are made of. Its `mrg` is to be freed: memory of the device, or NULL. */
sim_status option_cuda_keys(const option_parameters *p, option_keys *out) SIM_MUST_CHECK;

/* text.c */
sim_status option_cuda_write(const option_cuda_plan *plan, sim_bytes *text) SIM_MUST_CHECK;
sim_status option_cuda_write_exercise(const option_cuda_plan *record, sim_bytes *text) SIM_MUST_CHECK;
sim_source option_cuda_source(const option_cuda_plan *plan, const sim_bytes *text);
extern const sim_source_file option_cuda_files[];

/* exercise.c: rules of early exercise, regressed on the device. */
double option_cuda_policy_bytes(const option_parameters *p);
sim_status option_cuda_policy(const option_parameters *p, const option_estimate *estimate,
                              option_policy *out) SIM_MUST_CHECK;

#endif
