#include "kernels/nbody/solver.h"

#include <stdio.h>

/* [kind of device][1: in a periodic box] */
static const nbody_solver *const direct[SIM_BACKEND_KINDS][2] = {
    [SIM_BACKEND_CPU] = {&nbody_direct_cpu, &nbody_direct_periodic_cpu},
#ifdef SIM_HAS_CUDA
    [SIM_BACKEND_CUDA] = {&nbody_direct_cuda, &nbody_direct_periodic_cuda},
#endif
};

/* Number of bodies from which tiles of pairs are faster than a plain loop (measured). */
enum { TILES_FROM = 64 };

static const nbody_solver *direct_for(const nbody_options *options, sim_backend_kind kind) {
  if (options->few && kind == SIM_BACKEND_CPU && options->n < TILES_FROM && options->laws.pair == NULL)
    return &nbody_few_cpu;
  return direct[kind][options->box > 0];
}

static const nbody_solver *const within_cutoff[SIM_BACKEND_KINDS] = {
    [SIM_BACKEND_CPU] = &nbody_short_cpu,
#ifdef SIM_HAS_CUDA
    [SIM_BACKEND_CUDA] = &nbody_short_cuda,
#endif
};

static const nbody_solver *const fmm[SIM_BACKEND_KINDS] = {
    [SIM_BACKEND_CPU] = &nbody_fmm_cpu,
#ifdef SIM_HAS_CUDA
    [SIM_BACKEND_CUDA] = &nbody_fmm_cuda,
#endif
};

static void take_direct(const nbody_options *options, sim_backend_kind kind, nbody_choice *out) {
  out->solver = direct_for(options, kind);
  out->method = NBODY_DIRECT;
  snprintf(out->name, sizeof out->name, "%s", out->solver->name);
}

static void take_fmm(const nbody_options *options, sim_backend_kind kind, nbody_choice *out) {
  out->solver = fmm[kind];
  out->method = NBODY_FMM;
  snprintf(out->name, sizeof out->name, "%s of order %d, angle %.3g", fmm[kind]->name, options->fmm.order,
           options->fmm.theta);
}

/* Reason why multipoles cannot be used. */
static const char *obstacle(const nbody_options *options, sim_backend_kind kind) {
  if (options->laws.pair != NULL || options->laws.no_pairs) return "multipoles are for gravity alone";
  if (options->jerk) return "multipoles give no jerk, which hermite4 needs";
  if (options->few) return "the scheme takes direct sums";
  return fmm[kind] == NULL ? "multipoles have no GPU code" : "multipoles do not take so many bodies";
}

/* Most bodies whose lists are counted. */
enum { most_counted = 1 << 18 };

/* Whether counting lists may move `ratio`, the estimated time of multipoles over that of direct sums, to the other side
 * of 1. The estimate is for a Plummer sphere: near lists of other bodies have a fifth of its length at least, and are
 * hardly longer; in a box the number of images is a guess. On a GPU, launches take most of the time of so few bodies,
 * half of it in the levels that a Plummer sphere has beyond a cube. */
static bool is_doubtful(sim_backend_kind kind, bool periodic, double ratio) {
  if (kind != SIM_BACKEND_CPU) return ratio > 1 / 1.5 && ratio < 2.5;
  return ratio > (periodic ? 1 / 8.0 : 1 / 2.5) && ratio < 8;
}

/* Chooses the faster method for one thread. The ratio is not reported, because the estimates are those of another
 * machine. */
static void take_faster(const nbody_options *options, sim_backend_kind kind, nbody_choice *out) {
  nbody_options one = *options;
  one.threads = 1;
  const nbody_fmm_estimate cost = nbody_fmm_estimate_for(&one, kind, (double)options->n);
  const double ratio = cost.seconds / cost.direct;
  const bool counted = options->near > 0, multipoles = ratio < 1;
  if (multipoles)
    take_fmm(options, kind, out);
  else
    take_direct(options, kind, out);
  snprintf(out->why, sizeof out->why, "; auto: faster than %s by %s", multipoles ? "direct sums" : "multipoles",
           counted ? "lists counted" : "estimate");
  if (!counted && options->n <= most_counted && is_doubtful(kind, options->box > 0, ratio))
    out->other = multipoles ? direct_for(options, kind) : fmm[kind];
}

sim_status nbody_solver_choose(const nbody_options *options, sim_backend_kind kind, nbody_choice *out) {
  *out = (nbody_choice){0};
  if (options->cutoff > 0) {
    if (options->comm->size > 1)
      return sim_fail(SIM_ERR_USAGE, "%d ranks: pairs within a cutoff run on one rank only; leave out --ranks",
                      options->comm->size);
    out->solver = within_cutoff[kind];
    out->method = NBODY_DIRECT;
    snprintf(out->name, sizeof out->name, "%s", out->solver->name);
    return out->solver->supports(options);
  }
  if (options->begun) snprintf(out->why, sizeof out->why, "; as the run has begun");
  if (options->method == NBODY_FMM) {
    if (fmm[kind] == NULL)
      return sim_fail(SIM_ERR_SCENARIO, "gravity.solver = \"fmm\" has no GPU code: take device cpu, or \"direct\"");
    take_fmm(options, kind, out);
    return out->solver->supports(options);
  }
  const bool multipoles = options->method == NBODY_AUTO && fmm[kind] != NULL && fmm[kind]->supports(options) == SIM_OK;
  if (options->method == NBODY_DIRECT || !multipoles) {
    take_direct(options, kind, out);
    if (options->method == NBODY_AUTO) snprintf(out->why, sizeof out->why, "; auto: %s", obstacle(options, kind));
    return out->solver->supports(options);
  }
  if (direct_for(options, kind)->supports(options) == SIM_OK)
    take_faster(options, kind, out);
  else
    take_fmm(options, kind, out);
  sim_error_clear();
  return SIM_OK;
}
