/* Moments of Greeks by differences with longer steps: see result/jumps.c. */
#include "kernels/option/cpu/stretch.h"

#include "kernels/option/cpu/sampler.h"

#include <math.h>
#include <stdlib.h>

/* Whether the markets of all deltas fit beside those of the wanted Greeks. */
static bool has_room_for_delta(const option_parameters *p) {
  const int assets = (int)p->assets.count, signs = p->sampling.antithetic ? 2 : 1;
  int markets = 1 + 2 * assets;
  for (int g = OPTION_GAMMA; g < OPTION_SECOND; g++)
    if (p->greeks.want[g]) markets += 2 * (g <= OPTION_VEGA ? assets : 1);
  return markets * signs <= OPTION_MARKETS_MAX;
}

/* The scenario's function, alone where no dates of named payoffs make the steps; from pseudo-random numbers without
 * control. */
static option_parameters of_function(const option_parameters *p, double stretch) {
  option_parameters q = *p;
  q.sampling.sequence = OPTION_PHILOX;
  q.sampling.generator = OPTION_PHILOX4X32;
  q.sampling.moment_matching = false;
  q.sampling.control = OPTION_NO_CONTROL;
  if (!option_is_dated(p)) q.payoffs.count = 0;
  q.greeks.stretch = stretch;
  q.greeks.method = OPTION_BUMP;
  q.greeks.want[OPTION_DELTA] |= has_room_for_delta(p);
  return q;
}

static double sample_of(const option_sampler *s, const option_combination *c, int i) {
  const int signs = s->estimate.signs, outputs = s->estimate.graph.outputs;
  double sum = 0;
  for (int t = 0; t < c->terms; t++)
    for (int sign = 0; sign < signs; sign++) {
      const void *from = s->workspaces[0].outputs[(c->term[t].market * signs + sign) * outputs + c->term[t].output];
      const double value = s->single ? (double)((const float *)from)[i] : ((const double *)from)[i];
      sum += c->term[t].factor / signs * value;
    }
  return sum;
}

/* Sums of X^2, X^4, and of the powers 1 to 4 of d = X - shift. */
enum { SUMS = 6 };

/* Adds the sums of quantity k over the chunk in the workspace. */
static void add_sums(const option_sampler *s, int k, double *sums) {
  const option_combination *c = &s->estimate.combination[k];
  for (int i = 0; i < OPTION_CHUNK; i++) {
    const double x = sample_of(s, c, i), d = x - c->shift;
    const double powers[SUMS] = {x * x, x * x * x * x, d, d * d, d * d * d, d * d * d * d};
    for (int m = 0; m < SUMS; m++) sums[m] += powers[m] / OPTION_STRETCH_PATHS;
  }
}

static option_stretch moments_of(const option_combination *c, const double *sums) {
  const double m = sums[2], variance = sums[3] - m * m;
  const double fourth = sums[5] - 4 * m * sums[4] + 6 * m * m * sums[3] - 3 * m * m * m * m;
  option_stretch out = {.squares = sums[0], .fourth = sums[1], .kurtosis = OPTION_STRETCH_PATHS};
  if (variance > 1e-12 * sums[0]) out.kurtosis = fourth / (variance * variance);
  for (int t = 0; t < c->terms; t++) out.factor = fmax(out.factor, fabs(c->term[t].factor));
  return out;
}

int option_stretched_quantities(const option_parameters *p, option_quantity *out) {
  const option_parameters q = of_function(p, 1);
  return option_quantities(&q, out);
}

static sim_status make_sampler(const option_parameters *q, option_sampler **out) {
  const sim_setup setup = {
      .backend = &sim_backend_cpu, .comm = &sim_comm_alone, .isa = sim_isa_best(), .threads = 1, .folder = ""};
  return option_ops_cpu.create(q, &setup, out);
}

static int in_order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

sim_status option_medians(const option_parameters *p, double *out) {
  option_parameters q = of_function(p, 1);
  option_sampler *s;
  q.greeks = (option_greeks){.method = OPTION_AUTO};
  SIM_TRY(make_sampler(&q, &s));
  const int results = sim_expr_output_count(p->payoff);
  double *sample = calloc((size_t)results, OPTION_STRETCH_PATHS * sizeof *sample);
  for (int done = 0; sample != NULL && done < OPTION_STRETCH_PATHS; done += OPTION_CHUNK) {
    (void)option_simulate(s, &s->workspaces[0], OPTION_PILOT_FIRST + OPTION_PILOT + (uint64_t)done, OPTION_CHUNK);
    for (int k = 0; k < results; k++)
      for (int i = 0; i < OPTION_CHUNK; i++)
        sample[k * OPTION_STRETCH_PATHS + done + i] = sample_of(s, &s->estimate.combination[k], i);
  }
  for (int k = 0; sample != NULL && k < results; k++) {
    qsort(sample + k * OPTION_STRETCH_PATHS, OPTION_STRETCH_PATHS, sizeof *sample, in_order);
    out[k] = sample[k * OPTION_STRETCH_PATHS + OPTION_STRETCH_PATHS / 2];
  }
  const sim_status status = sample != NULL ? SIM_OK : sim_no_memory("the payoff");
  free(sample);
  option_ops_cpu.destroy(&s);
  return status;
}

sim_status option_stretched(const option_parameters *p, double stretch, option_stretch *out) {
  const option_parameters q = of_function(p, stretch);
  option_sampler *s;
  SIM_TRY(make_sampler(&q, &s));
  const int quantities = s->estimate.quantities;
  double *sums = calloc((size_t)quantities, SUMS * sizeof *sums);
  for (uint64_t done = 0; sums != NULL && done < OPTION_STRETCH_PATHS; done += OPTION_CHUNK) {
    (void)option_simulate(s, &s->workspaces[0], OPTION_PILOT_FIRST + OPTION_PILOT + done, OPTION_CHUNK);
    for (int k = 0; k < quantities; k++) add_sums(s, k, sums + k * SUMS);
  }
  for (int k = 0; sums != NULL && k < quantities; k++)
    out[k] = moments_of(&s->estimate.combination[k], sums + k * SUMS);
  const sim_status status = sums != NULL ? SIM_OK : sim_no_memory("the greeks");
  free(sums);
  option_ops_cpu.destroy(&s);
  return status;
}
