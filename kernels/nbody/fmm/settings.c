/* Settings of the fast multipole method for a given error, and its estimated cost compared with direct sums. */
#include "kernels/nbody/solver.h"

#include <math.h>

/* Errors of settings, from the cheapest settings to the most accurate. An error is the largest of three measured ones:
 * of a Plummer sphere, a uniform cube, and two disk galaxies with halos, with 10^5 bodies each. Bodies near a centre,
 * where forces nearly cancel, determine the error of 99.9 %. The weight is 1.5, because errors of expansions about the
 * target's centre have one sign for all sources in a direction and add up; errors of expansions about the sources'
 * centres have either sign. */
typedef struct table_row {
  double error, tail;
  nbody_fmm_settings settings;
} table_row;
enum { ROWS_MAX = 12 };
typedef struct table {
  int count;
  table_row row[ROWS_MAX];
} table;
static const table usual = {
    12,
    {{4e-3, 1.2e-1, {3, 0.9, 1.5, 64}},
     {8e-4, 4e-2, {4, 0.9, 1.5, 64}},
     {5.5e-4, 3e-2, {4, 0.8, 1.5, 64}},
     {2.7e-4, 1.3e-2, {5, 0.9, 1.5, 64}},
     {1.6e-4, 9e-3, {5, 0.8, 1.5, 64}},
     {8.4e-5, 5e-3, {5, 0.7, 1.5, 64}},
     {4.8e-5, 5e-3, {6, 0.8, 1.5, 64}},
     {2.4e-5, 1.8e-3, {6, 0.7, 1.5, 64}},
     {1.1e-5, 1.1e-3, {6, 0.6, 1.5, 64}},
     {5.5e-6, 6e-4, {6, 0.5, 1.5, 64}},
     {1.6e-6, 2.5e-4, {6, 0.4, 1.5, 64}},
     {4e-7, 1e-4, {6, 0.3, 1.5, 64}}},
};
/* For the CPU in fp32, where order 6 is without moments of rank 5: it is cheaper than order 5 with narrow angles. */
static const table short_m2l = {
    11,
    {{4e-3, 1.2e-1, {3, 0.9, 1.5, 64}},
     {8e-4, 4e-2, {4, 0.9, 1.5, 64}},
     {5.5e-4, 3e-2, {4, 0.8, 1.5, 64}},
     {2.7e-4, 1.3e-2, {5, 0.9, 1.5, 64}},
     {1.05e-4, 1.2e-2, {6, 0.9, 1.5, 80}},
     {5.2e-5, 9.5e-3, {6, 0.8, 1.5, 80}},
     {2.6e-5, 4e-3, {6, 0.7, 1.5, 80}},
     {1.25e-5, 2e-3, {6, 0.6, 1.5, 80}},
     {5.5e-6, 1.1e-3, {6, 0.5, 1.5, 80}},
     {1.6e-6, 3e-4, {6, 0.4, 1.5, 80}},
     {4e-7, 1e-4, {6, 0.3, 1.5, 80}}},
};

/* Returns errors of n bodies over those of 10^5: with fewer bodies a larger share of the field comes from cells that
 * are barely far enough. steep: for wide angles of order 6, measured for four or five draws of two galaxies of 10^4 to
 * 55000 bodies. */
static double error_by_count(double n, bool steep) {
  const double factor = n >= 1e6 ? 0.6 : n >= 1e5 ? 1 : pow(1e5 / n, 0.3);
  return steep && n < 1e5 ? fmax(factor, fmin(2, pow(1e5 / n, 0.55))) : factor;
}

/* Returns the exponent p of errors that grow as angle^p. */
static double power_of(double error, double of, double angle, double of_angle) {
  return log(error / of) / log(angle / of_angle);
}

/* Returns the largest angle that keeps the errors, rounded down to a hundredth. Between two rows of one order errors
 * grow as a power of the angle. */
static double widest_angle(const table *of, int row, double most, double tail) {
  const table_row *at = &of->row[row], *before = row > 0 ? at - 1 : at;
  const double angle = at->settings.theta, wider = before->settings.theta;
  if (row == 0 || before->settings.order != at->settings.order || !(most > at->error)) return angle;
  double ratio = pow(most / at->error, 1 / power_of(before->error, at->error, wider, angle));
  if (isfinite(tail)) ratio = fmin(ratio, pow(tail / at->tail, 1 / power_of(before->tail, at->tail, wider, angle)));
  return fmax(angle, fmin(wider, floor(100 * angle * ratio) / 100));
}

nbody_fmm_settings nbody_fmm_settings_for(double error, double error_tail, double n, bool cpu_single) {
  const table *of = cpu_single ? &short_m2l : &usual;
  double most, tail;
  int row = -1;
  do {
    row++;
    const double factor = error_by_count(n, cpu_single && of->row[row].settings.order == NBODY_FMM_ORDER_MAX);
    most = (error > 0 ? error : NBODY_ERROR) / factor;
    tail = error_tail > 0 ? error_tail / factor : INFINITY;
  } while (row < of->count - 1 && (of->row[row].error > most || of->row[row].tail > tail));
  nbody_fmm_settings out = of->row[row].settings;
  out.theta = widest_angle(of, row, most, tail);
  if (out.order >= 5 && n >= 1e6) out.leaf = 80; /* M2L costs more there than pairs; by 2 % of a step on an H200 */
  return out;
}

/* Times in seconds, measured for Plummer spheres. CPU: one thread, 10^3 to 10^5 bodies, on an AMD EPYC of the fourth
 * generation and an Intel Xeon (both with the direct sum's time on another EPYC, because only ratios count); CUDA: an
 * H200, 10^4 to 3 10^6 bodies. bench_nbody_methods compares the estimates with measured times. */
typedef struct rates {
  double far[NBODY_FMM_ORDER_MAX + 1]; /* of one M2L, by order */
  double near, pair;                   /* of a pair in a near list; of an interaction of direct sums */
  double body;                         /* of all other work, a body */
} rates;
static const rates on_amd[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {{{0, 0, 0, 70e-9, 150e-9, 310e-9, 690e-9}, 6.8e-9, 7.19e-9, 2.4e-6},
                       {{0, 0, 0, 16e-9, 35e-9, 75e-9, 120e-9}, 1.55e-9, 1.67e-9, 1.1e-6}},
    [SIM_ISA_AVX2] = {{{0, 0, 0, 5.3e-9, 11.4e-9, 24e-9, 54e-9}, 0.73e-9, 0.5e-9, 0.43e-6},
                      {{0, 0, 0, 1.9e-9, 4e-9, 8.8e-9, 23e-9}, 0.195e-9, 0.159e-9, 0.22e-6}},
    [SIM_ISA_AVX512] = {{{0, 0, 0, 3.2e-9, 6.9e-9, 16e-9, 38e-9}, 0.43e-9, 0.221e-9, 0.26e-6},
                        {{0, 0, 0, 1.1e-9, 2.3e-9, 4.9e-9, 9.5e-9}, 0.1e-9, 0.0735e-9, 0.12e-6}},
};
static const rates on_intel[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {{{0, 0, 0, 65e-9, 140e-9, 290e-9, 650e-9}, 8.3e-9, 7.19e-9, 2.4e-6},
                       {{0, 0, 0, 26e-9, 56e-9, 121e-9, 282e-9}, 1.7e-9, 1.67e-9, 1e-6}},
    [SIM_ISA_AVX2] = {{{0, 0, 0, 6.1e-9, 13.3e-9, 27e-9, 62e-9}, 1.2e-9, 0.5e-9, 0.2e-6},
                      {{0, 0, 0, 2.6e-9, 5.6e-9, 12e-9, 28e-9}, 0.19e-9, 0.159e-9, 0.18e-6}},
    [SIM_ISA_AVX512] = {{{0, 0, 0, 3.9e-9, 8.4e-9, 18e-9, 40e-9}, 1.14e-9, 0.221e-9, 0.15e-6},
                        {{0, 0, 0, 1.45e-9, 3.2e-9, 6.9e-9, 10e-9}, 0.12e-9, 0.0735e-9, 0.13e-6}},
};
static const rates on_cuda[2] = {{{0, 0, 0, 15e-12, 24e-12, 41e-12, 74e-12}, 3.7e-12, 1.1e-12, 0.13e-9},
                                 {{0, 0, 0, 12e-12, 19e-12, 33e-12, 59e-12}, 0.93e-12, 0.33e-12, 0.2e-9}};
/* Seconds of a force, and of each level of the tree, in which a GPU waits for launches; [single]. Fitted to 42 forces
 * on an H100, within 40 %: a Plummer sphere, a cube and a periodic box of 8000 to 96000 bodies in both precisions. */
static const struct { double start, level; } waits[2] = {{0.34e-3, 156e-6}, {0.21e-3, 56e-6}};
/* Levels that the tree of a Plummer sphere has beyond that of a cube: 5 with 10^3 to 10^5 bodies. */
enum { DEEPER = 5 };
/* Seconds for each body of work that CPU threads do not divide: cells, offsets of the sort. */
static const double alone = 10e-9;

/* Times in seconds in a periodic box: of a pair of direct sums; of the outer images, for a force and for a body. CPU:
 * measured with 256 to 32768 bodies; CUDA: an H100, 8000 to 96000. */
typedef struct periodic_rates {
  double pair[2], outer_start[2]; /* [single] */
  double outer_body;
} periodic_rates;
static const periodic_rates periodic_on_cpu[SIM_ISA_COUNT] = {
    [SIM_ISA_PLAIN] = {{300e-9, 117e-9}, {6e-3, 6e-3}, 5e-6},
    [SIM_ISA_AVX2] = {{33e-9, 14.5e-9}, {5e-3, 5e-3}, 0.8e-6},
    [SIM_ISA_AVX512] = {{19.3e-9, 9.7e-9}, {5e-3, 5e-3}, 0.3e-6},
};
static const periodic_rates periodic_on_cuda = {{0.163e-9, 0.08e-9}, {0.71e-3, 0.37e-3}, 0};
/* Seconds a body that a GPU needs more in fp64, for up to `enough_in_box` bodies: a warp takes the 27 images of all
 * cells, and with few cells the warps do not fill the device. Measured in boxes of 2800 and 4000 bodies on an H200. */
static const double few_in_box = 0.32e-6, enough_in_box = 4096;

/* Number of images of each body in the lists of a periodic box. */
enum { IMAGES = NBODY_FMM_SHIFTS };

static const periodic_rates *periodic_rates_of(const nbody_options *options, sim_backend_kind kind) {
  return kind == SIM_BACKEND_CPU ? &periodic_on_cpu[options->isa] : &periodic_on_cuda;
}

static const rates *rates_of(const nbody_options *options, sim_backend_kind kind) {
  const bool single = options->single_pairs;
  if (kind != SIM_BACKEND_CPU) return &on_cuda[single];
  return sim_cpu_is_intel() ? &on_intel[options->isa][single] : &on_amd[options->isa][single];
}

double nbody_fmm_pairs_of_m2l(const nbody_options *options, sim_backend_kind kind) {
  const rates *r = rates_of(options, kind);
  return r->far[options->fmm.order] / r->near;
}

nbody_fmm_estimate nbody_fmm_estimate_for(const nbody_options *options, sim_backend_kind kind, double n) {
  const nbody_fmm_settings *settings = &options->fmm;
  const bool cpu = kind == SIM_BACKEND_CPU, single = options->single_pairs, periodic = options->box > 0;
  const rates *r = rates_of(options, kind);
  const double open = 0.8 / settings->theta, size = settings->leaf / 64.0, threads = cpu ? options->threads : 1;
  nbody_fmm_estimate out;
  /* Fits to a Plummer sphere, in a periodic box to a uniform one; few bodies are all near each other, with all their
   * images. */
  const double all = periodic ? IMAGES * n : n;
  const double most = 1400 * size * pow(open, 3.6) * (periodic ? 1 : 1 + pow(9000 / n, 0.7));
  out.near = all / (1 + all / most) + options->crowd * options->crowd / n;
  out.far = 33 / size * open * open / (1 + 15000 * pow(open, 3) / n);
  if (options->near > 0) out.far = options->far, out.near = options->near;
  int depth = options->depth;
  if (options->near == 0)
    for (depth = periodic ? 0 : DEEPER; settings->leaf * pow(8, depth - (periodic ? 0 : DEEPER)) < n;) depth++;
  const double start = cpu ? 0 : waits[single].start + depth * waits[single].level;
  out.seconds =
      start + n * ((cpu ? alone : 0) + (r->body + out.far * r->far[settings->order] + out.near * r->near) / threads);
  out.undivided = start + n * r->body;
  const periodic_rates *images = periodic_rates_of(options, kind);
  if (periodic) out.seconds += images->outer_start[single] + n * images->outer_body / threads;
  if (periodic && !cpu && !single) out.seconds += fmin(n, enough_in_box) * few_in_box;
  out.direct = n * n * (periodic ? images->pair[single] : r->pair) / threads;
  return out;
}

sim_status nbody_fmm_serves(const nbody_options *options) {
  if (options->laws.pair != NULL)
    return sim_fail(SIM_ERR_SCENARIO, "gravity.solver = \"fmm\" is for gravity, not for a custom law: take \"direct\"");
  if (options->few) return sim_fail(SIM_ERR_SCENARIO, "gravity.solver = \"fmm\": the scheme takes \"direct\"");
  if (options->jerk)
    return sim_fail(SIM_ERR_SCENARIO, "gravity.solver = \"fmm\" gives no time derivative of forces, which hermite4 "
                                      "needs: take \"direct\", or scheme = \"leapfrog\" or \"yoshida4\"");
  return SIM_OK;
}
