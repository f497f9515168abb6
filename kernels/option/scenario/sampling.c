/* Rules between the keys of `sampling`, and the number of paths that follows from them. */
#include "kernels/option/models/heston.h"
#include "kernels/option/models/rough.h"
#include "kernels/option/multilevel/levels.h"
#include "kernels/option/payoff/names.h"
#include "kernels/option/random/quasi.h"
#include "kernels/option/scenario/parameters.h"

#include <math.h>

/* Rounds the number of paths to whole vectors of points in each scramble, from OPTION_BLOCK samples on to whole
 * blocks. */
static void check_sobol(option_parameters *p, sim_faults *faults) {
  option_sampling *s = &p->sampling;
  const double pair = s->antithetic ? 2 : 1, scrambles = option_scrambles(p);
  if (scrambles != 16 && scrambles != 32 && scrambles != 64)
    sim_faults_add(faults, 0, "sampling.scrambles", "expected 16, 32 or 64, got %.9g", s->scrambles);
  if (option_quasi_dimensions(p) > OPTION_SOBOL_DIMENSIONS)
    sim_faults_add(faults, 0, "sampling.sequence",
                   "steps times assets (twice those of Heston and SABR) are above %d: expected "
                   "\"philox\"",
                   OPTION_SOBOL_DIMENSIONS);
  double each = 16, samples = s->paths / pair;
  while (each * scrambles < samples && each * scrambles < OPTION_BLOCK) each *= 2;
  s->paths = pair * (samples <= OPTION_BLOCK ? each * scrambles : OPTION_BLOCK * ceil(samples / OPTION_BLOCK));
}

/* Rounds the number of paths to whole chunks, enough of them for a standard error from their means. */
static void check_matching(option_parameters *p, sim_faults *faults) {
  enum { LEAST = 32 };
  option_sampling *s = &p->sampling;
  const double chunk = OPTION_CHUNK * (s->antithetic ? 2.0 : 1.0);
  if (s->sequence == OPTION_SOBOL)
    sim_faults_add(faults, 0, "sampling.moment_matching",
                   "expected sequence = \"philox\": Sobol's points need no matching");
  s->paths = chunk * fmax(ceil(s->paths / chunk), LEAST);
}

/* Whether a payoff sees what happens between the steps; random extremes there have nothing in common with those of
 * steps half as long. */
static bool sees_between(const option_parameters *p) {
  option_feature feature;
  for (int i = 0; p->payoff != NULL && i < sim_expr_input_count(p->payoff); i++)
    if (option_feature_parse(sim_expr_input_name(p->payoff, i), p, &feature) &&
        (feature.kind == OPTION_HIGH || feature.kind == OPTION_LOW))
      return true;
  bool any = false;
  for (size_t i = 0; i < p->payoffs.count; i++)
    any |= ((const option_payoff *)p->payoffs.items[i].data)->monitoring == OPTION_CONTINUOUS;
  return any;
}

/* Whether a payoff, or the scenario's function, may jump. */
static bool may_jump(const option_parameters *p) {
  bool any = p->payoff != NULL && sim_expr_may_jump(p->payoff);
  for (size_t i = 0; i < p->payoffs.count; i++) {
    const sim_schema *kind = p->payoffs.items[i].schema;
    any |= kind == &option_digital_schema || kind == &option_barrier_schema || kind == &option_double_barrier_schema ||
           option_pays_at_dates(&p->payoffs.items[i]);
  }
  return any;
}

sim_status option_check_randomised(const option_parameters *p, sim_faults *faults) {
  const double least = 0.75; /* below, variances of differences fall hardly faster than 1/steps (measured) */
  const char *key = "sampling.randomised";
  if (!p->sampling.randomised) return SIM_OK;
  if (!p->sampling.multilevel) sim_faults_add(faults, 0, key, "expected multilevel = true");
  for (int a = 0; a < (int)p->assets.count; a++) {
    const option_heston *h = &option_asset_at(p, a)->heston;
    double feller = INFINITY;
    if (h->given) SIM_TRY(option_heston_feller(h, p->maturity, &feller));
    if (feller < least)
      sim_faults_add(faults, 0, key,
                     "assets[%d].heston: 2 kappa theta/sigma^2 = %.3g: expected at least %.2f, since fine levels have "
                     "too little in common below; or randomised = false",
                     a + 1, feller, least);
  }
  if (option_is_single(p))
    sim_faults_add(
        faults, 0, key,
        "expected precision = \"double\": what fp32 rounds does not shrink with the steps, and the rare finest "
        "ones multiply it");
  if (may_jump(p))
    sim_faults_add(faults, 0, key, "expected no payoff that jumps, whose fine levels have too little in common");
  if (option_levels_most(p) < OPTION_LEVELS_LEAST + 2)
    sim_faults_add(faults, 0, key, "expected at most %d steps, the fewest that the payoffs observe",
                   OPTION_STEPS_MAX >> (OPTION_LEVELS_LEAST + 1));
  return SIM_OK;
}

void option_check_multilevel(const option_parameters *p, sim_faults *faults) {
  const option_sampling *s = &p->sampling;
  const char *key = "sampling.multilevel";
  bool early = false, greeks = false;
  if (!s->multilevel) return;
  for (size_t i = 0; i < p->payoffs.count; i++) early |= p->payoffs.items[i].schema == &option_american_schema;
  for (int g = 0; g < OPTION_GREEKS; g++) greeks |= p->greeks.want[g];
  if (!option_is_stepped(p))
    sim_faults_add(faults, 0, key, "the steps of all assets are exact: expected false, a run without bias");
  if (option_any_rough(p))
    sim_faults_add(faults, 0, key,
                   "expected no rough_bergomi: paths of two numbers of steps have too little in common");
  if (isnan(s->standard_error))
    sim_faults_add(faults, 0, key, "expected standard_error, the error at which the run ends");
  if (s->sequence == OPTION_SOBOL) sim_faults_add(faults, 0, key, "expected sequence = \"philox\"");
  if (s->generator != OPTION_PHILOX4X32) sim_faults_add(faults, 0, key, "expected generator = \"philox\"");
  if (s->moment_matching) sim_faults_add(faults, 0, key, "expected moment_matching = false");
  if (s->control != OPTION_NO_CONTROL) sim_faults_add(faults, 0, key, "expected control = \"none\"");
  if (early) sim_faults_add(faults, 0, key, "expected no early exercise, whose rule belongs to one number of steps");
  if (p->exposure.given) sim_faults_add(faults, 0, key, "expected no exposure");
  if (p->ladder.given) sim_faults_add(faults, 0, key, "expected no ladder");
  if (p->paths.given) sim_faults_add(faults, 0, key, "expected no paths in a file: they have different steps");
  if (greeks && may_jump(p))
    sim_faults_add(faults, 0, key, "expected no greeks of payoffs that jump, whose differences tell no variance");
  for (int g = OPTION_GAMMA; g < OPTION_BUCKETS; g = g == OPTION_GAMMA ? OPTION_SECOND : g + 1)
    if (p->greeks.want[g])
      sim_faults_add(faults, 0, key, "expected no greeks.%s: its second differences tell no variance",
                     option_greek_names[g]);
  for (int g = OPTION_BUCKETS; g < OPTION_GREEKS; g++)
    if (p->greeks.want[g]) sim_faults_add(faults, 0, key, "expected no greeks.%s", option_greek_names[g]);
  if (sees_between(p))
    sim_faults_add(faults, 0, key, "expected monitoring = \"steps\", and max and min in place of high and low");
  const double first = (option_levels_first_samples() + (s->randomised ? OPTION_CHUNK : 0)) * (s->antithetic ? 2 : 1);
  if (s->paths < first) sim_faults_add(faults, 0, "sampling.paths", "expected at least %.0f with multilevel", first);
}

void option_check_sampling(option_parameters *p, sim_faults *faults) {
  option_sampling *s = &p->sampling;
  const bool limited = !isnan(s->standard_error) || s->time > 0;
  const bool automatic = isnan(s->paths);
  if (automatic) s->paths = limited ? 0x1p40 : 0x1p20;
  p->asked_paths = s->paths;
  s->paths = s->antithetic ? 2 * ceil(s->paths / 2) : ceil(s->paths);
  if (s->sequence == OPTION_SOBOL) {
    check_sobol(p, faults);
  } else {
    if (s->scrambles >= 16)
      sim_faults_add(faults, 0, "sampling.scrambles", "is for Sobol's points alone: expected sequence = \"sobol\"");
    if (s->construction != OPTION_ANY_CONSTRUCTION)
      sim_faults_add(faults, 0, "sampling.construction", "is for Sobol's points alone: expected sequence = \"sobol\"");
  }
  if (s->moment_matching) check_matching(p, faults);
  if (s->generator == OPTION_MRG32K3A && s->paths > 0x1p48)
    sim_faults_add(faults, 0, "sampling.paths", "expected at most 2^48 with generator = \"mrg32k3a\", got %.9g",
                   s->paths);
  if (automatic) p->asked_paths = s->paths;
  option_check_multilevel(p, faults);
}
