/* Plan of a run's kernels on a GPU: the states that a path keeps, and the offset of each number in tables and
 * constants. */
#ifndef OPTION_CUDA_PLAN_H
#define OPTION_CUDA_PLAN_H

#include "engine/device/compile.h"
#include "engine/device/cuda.h"
#include "kernels/option/cuda/launch.h"
#include "kernels/option/cuda/sums.h"
#include "kernels/option/cpu/path.h"
#include "kernels/option/ops.h"
#include "kernels/option/policies.h"

typedef struct option_cuda_view {
  int market, sign, feature, line, slot;
} option_cuda_view;

/* Number that a path keeps of the steps of a schedule, for one line and sign. */
typedef struct option_cuda_kept {
  option_kind kind;
  int line, sign, schedule; /* schedule: from 0 */
} option_cuda_kept;

/* Numbers of payoffs that are constants of the kernel, at most; the text has further ones. */
enum { OPTION_CUDA_LITERALS_MAX = 128 };
/* Paths simulated from the same random numbers, at most: more have not been tried there. */
enum { OPTION_CUDA_VARIANTS = 128 };

typedef struct option_cuda_plan {
  const option_parameters *parameters;
  const option_estimate *estimate;
  bool single;
  bool moved;  /* some asset is no geometric Brownian motion, or pays cash dividends: each line is its own track */
  bool dated;  /* exercise dates are not every `every`-th step */
  bool cash;   /* some asset pays cash dividends */
  bool tilted; /* normals are lowered by option_market.tilt */
  bool folded; /* volatilities are constant and positive: the first one of each asset is multiplied into its normals */
  bool far;    /* a price may leave the exponent range: prices are clamped */
  bool correlated; /* the Cholesky factor has entries off its diagonal */
  bool large;      /* too large to unroll loops */
  bool matched;    /* moment matching over each part; a part has OPTION_CHUNK samples */
  bool vanilla;    /* the only quantity is max(sign f - number, -shift) with its shift, an instruction less */
  int assets, steps, signs, tracks, lines, views, fixings, survivals, exercises, kept;
  int kinds; /* different lengths of steps; 1 unless `moved` */
  int rates; /* random rates with constants of their own; 0: the rate is not random */
  int rate_of[OPTION_MARKETS_MAX], rate_market[OPTION_MARKETS_MAX]; /* a market's rate, and its first market */
  option_cuda_view *deflator;                                       /* [deflators], views that are deflators */
  int deflators;
  bool record;  /* the kernel records prices of assets with early exercise, for the regression; there are no payoffs */
  int *line_of; /* [markets][assets] */
  int *track_begin, *line_begin;   /* [assets + 1], [tracks + 1] */
  int *track_market, *track_asset; /* [tracks], market and asset of the track's volatility */
  int *line_market, *line_track;
  unsigned need[OPTION_ASSETS_MAX]; /* bits 1 << option_kind, and OPTION_CUDA_JOINT */
  option_cuda_view *view;           /* [views] */
  option_cuda_view *survival;       /* [survivals], views that are barrier probabilities */
  int *view_of;                     /* [markets][signs][features]: index into view, or -1 */
  option_cuda_view *early;          /* [exercises], views that are early exercises */
  option_cuda_kept *keep;           /* [kept], of features with a schedule */
  int *fixing_step;                 /* [fixings], increasing, from 1 */
  double *cholesky;                 /* [assets][assets] */
  int row_weight, row_level, row_vol, row_mark, row_slope, row_vol_slope, rows;
  int row_kind, row_time, row_cash, row_date, row_schedule; /* of tracks, tracks, tracks, exercises, schedules */
  int row_rise, row_rate_kind;                              /* of rates */
  int row_tilt;                                             /* of tracks */
  int at_factor, at_ratio, at_vol, at_view, at_survival, at_dynamics, at_above, at_vol_slope, at_early, at_quantity,
      at_literal, constants;
  /* Numbers of the payoffs, such as strikes: constants of the kernel and not of its text, so that a book with other
   * ones takes the compiled code. Known once the text is written. */
  double literal[OPTION_CUDA_LITERALS_MAX];
  int literals;
  int tangent_begin[OPTION_ASSETS_MAX + 1]; /* [assets + 1]; tangents are sorted by asset */
  int tangent[OPTION_TANGENTS_MAX];         /* number in the estimate's graph */
  int place[OPTION_TANGENTS_MAX];           /* inverse of `tangent` */
  int jumps;                                /* largest option_dynamics.jumps of the assets */
  /* [tracks]: offset of a local volatility's grid, SABR's cubics or a rough volatility's weights in the table, behind
   * the rows */
  size_t *grid_at;
  size_t *kinds_at; /* [tracks]: with several kinds, offset of [kinds][numbers of the dynamics and jumps] */
  size_t rates_at[OPTION_MARKETS_MAX]; /* [rates]: offset of [kinds of steps][R_NUMBERS] of rates.cuh */
  size_t *early_at;                    /* [exercises]: offset of the exercise rule in the table, behind the grids */
  size_t table;                        /* numbers in the table */
  int inner, outer, part;
  double *scale; /* [quantities]: sample = scale v (+ slope control_mean with a control) */
} option_cuda_plan;

/* NEED_JOINT of features.cuh: maximum and minimum of the asset are drawn jointly; NEED_KEPT: some feature has a
 * schedule. */
enum { OPTION_CUDA_JOINT = 1 << OPTION_KINDS, OPTION_CUDA_KEPT = 1 << (OPTION_KINDS + 1) };

/* Must equal M_NUMBERS of motion.cuh and E_NUMBERS of features.cuh. SABR has other numbers in the first twelve. */
enum { OPTION_CUDA_DYNAMICS_NUMBERS = 15, OPTION_CUDA_EARLY_NUMBERS = 5 };

/* Numbers of a random rate in one kind of step: as paths/rates.cuh reads them. */
static inline size_t option_cuda_rate_numbers(const option_cuda_plan *plan) { return 5 + 2 * (size_t)plan->assets; }
static inline const option_market *option_cuda_market(const option_cuda_plan *plan, int track) {
  return &plan->estimate->market[plan->track_market[track]];
}
/* Dynamics of a track in steps of one kind; a market has fewer kinds than the plan, or none. */
static inline const option_dynamics *option_cuda_dynamics(const option_cuda_plan *plan, int track, int kind) {
  static const option_dynamics geometric = {.motion = OPTION_GEOMETRIC_BROWNIAN};
  const option_market *m = option_cuda_market(plan, track);
  if (m->dynamics == NULL) return &geometric;
  return &m->dynamics[(kind < m->grid.kinds ? kind : 0) * m->assets + plan->track_asset[track]];
}
/* Numbers at option_dynamics.node of a rough volatility. */
static inline size_t option_cuda_rough_numbers(const option_dynamics *m, int steps) {
  const size_t n = (size_t)steps;
  return m->motion == OPTION_ROUGH_BERGOMI ? 3 * n + n * (n - 1) / 2 : 0;
}
/* Numbers of a track's dynamics in one kind of step. */
static inline size_t option_cuda_kind_numbers(const option_cuda_plan *plan) {
  return OPTION_CUDA_DYNAMICS_NUMBERS + (size_t)plan->jumps;
}
sim_status option_cuda_plan_create(const option_parameters *p, const option_estimate *estimate,
                                   option_cuda_plan *out) SIM_MUST_CHECK;
/* Plan of the regression's kernel: the first market alone, in fp64, with `record`. */
sim_status option_cuda_plan_record(const option_parameters *p, const option_estimate *estimate,
                                   option_cuda_plan *out) SIM_MUST_CHECK;
void option_cuda_plan_free(option_cuda_plan *plan);

/* plan_values.c: fills, in the paths' precision, table[groups of steps][rows][4] with volatility grids and exercise
 * rules behind it, and the constants except those of the quantities. Host memory. policies: NULL without early
 * exercise. */
void option_cuda_plan_fill(const option_cuda_plan *plan, const option_policies *policies, void *table, void *constants);

/* device.c: launches a kernel of the run's source or of sums.h; `amount`: units of work, for profiles. */
void option_cuda_launch(const sim_kernel *kernel, double amount, void *function, int blocks, int threads, void **args);
/* device.c: keys of the run's random generator. out->mrg is device memory or NULL; the caller frees it. */
sim_status option_cuda_keys(const option_parameters *p, option_keys *out) SIM_MUST_CHECK;

/* text.c: writes the source of the run's kernels, whose constants it completes; the caller frees `text`.
 * SIM_ERR_NO_MEMORY. */
sim_status option_cuda_write(option_cuda_plan *plan, sim_bytes *text) SIM_MUST_CHECK;
sim_status option_cuda_write_exercise(const option_cuda_plan *record, sim_bytes *text) SIM_MUST_CHECK;
sim_source option_cuda_source(const option_cuda_plan *plan, const sim_bytes *text);
extern const sim_source_file option_cuda_files[];
/* payoff_text.c: the most views that the quantities of a group see together; a kernel has SIM_EXPR_INPUTS_MAX. */
int option_cuda_views_together(const option_cuda_plan *plan);
/* The functions of the payoffs; takes their numbers as literals of the plan. */
sim_status option_cuda_add_payoffs(option_cuda_plan *plan, sim_bytes *text) SIM_MUST_CHECK;
/* joint_text.c: early exercise by joint rules. Types and functions of each payoff, before the scheme; the function
 * of the scheme that calls them; the kernels of their regression. */
sim_status option_cuda_add_joint(const option_cuda_plan *plan, sim_bytes *text) SIM_MUST_CHECK;
void option_cuda_add_settle(const option_cuda_plan *plan, sim_bytes *text);
void option_cuda_add_joint_kernels(const option_cuda_plan *record, sim_bytes *text);

/* exercise.c: regression of the exercise rules of starts->market on the devices of all ranks; option_policy_bytes is
 * their device memory. */
sim_status option_cuda_policy(const option_starts *starts, const sim_comm *comm, option_policy *out) SIM_MUST_CHECK;

#endif
