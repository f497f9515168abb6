/* Finds the path, price and time at which a block of samples has no finite sums. The paths are simulated once more
 * on the CPU, also those of a GPU run. */
#include "kernels/option/cpu/reuse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WINDOW = 32 /* steps whose prices are checked together */ };

/* A chunk of samples and its paths. */
typedef struct chunk_paths {
  const option_parameters *p;
  const option_sampler *s;
  int64_t sample; /* number of the chunk's first sample; its path is `first` */
  uint64_t first;
  int count;
} chunk_paths;

static double number(const option_sampler *s, const void *from, int i) {
  return s->single ? (double)((const float *)from)[i] : ((const double *)from)[i];
}

static double path_number(const chunk_paths *at, int i) { return ((double)at->sample + i) * at->s->estimate.signs; }

/* ---- local volatilities ---- */

/* Prices of an asset after the steps first .. first + count - 1, counted from 1:
 * out[variants][WINDOW][OPTION_CHUNK]. */
static void simulate_steps(const chunk_paths *at, int asset, int first, int count, void **out) {
  option_feature feature[WINDOW];
  option_paths paths = at->s->paths;
  for (int k = 0; k < WINDOW; k++) /* always WINDOW features: those beyond `count` repeat the first step */
    feature[k] = (option_feature){.kind = OPTION_FIXING, .asset = asset, .step = first + (k < count ? k : 0)};
  paths.feature = feature;
  paths.kept = NULL;
  paths.features = WINDOW;
  (void)at->s->kernel(&paths, at->first, at->count, out, at->s->workspaces[0].kernel);
}

/* SIM_ERR_DIVERGED where the local volatility of a path before `step` is invalid, in any variant. prices[variants *
 * stride] of that step, or NULL for the spot. */
static sim_status check_volatility(const chunk_paths *at, int asset, int step, const sim_expr_program *program,
                                   void *scratch, void *const *prices, int stride) {
  double price[OPTION_CHUNK], sigma[OPTION_CHUNK];
  for (int v = 0; v < at->s->paths.variants; v++) {
    const double t = at->s->variant[v].time[step];
    for (int i = 0; i < at->count; i++)
      price[i] = prices != NULL ? number(at->s, prices[v * stride], i) : at->s->variant[v].spot[asset];
    sim_expr_program_run(program, (size_t)at->count, (const void *const[]){price, &t}, (void *const[]){sigma}, scratch);
    for (int i = 0; i < at->count; i++) {
      if (sigma[i] >= 0 && sigma[i] <= OPTION_LOCAL_MAX) continue;
      if (sigma[i] > 0 && price[i] < exp2(OPTION_LOCAL_ZERO) * at->s->variant[v].spot[asset]) continue;
      char text[32] = "NaN";
      if (!isnan(sigma[i])) snprintf(text, sizeof text, "%.6g", sigma[i]);
      return sim_fail(
          SIM_ERR_DIVERGED,
          "assets[%d].local_vol is %s at S = %.9g, t = %.9g (path %.0f): expected a number >= 0, at most %g", asset + 1,
          text, price[i], t, path_number(at, i), OPTION_LOCAL_MAX);
    }
  }
  return SIM_OK;
}

static sim_status check_steps(const chunk_paths *at, int asset, const sim_expr_program *program, void *scratch,
                              void **prices) {
  SIM_TRY(check_volatility(at, asset, 0, program, scratch, NULL, 0));
  for (int step = 1; step < at->s->paths.steps; step += WINDOW) {
    const int left = at->s->paths.steps - step, count = left < WINDOW ? left : WINDOW;
    simulate_steps(at, asset, step, count, prices);
    for (int k = 0; k < count; k++)
      SIM_TRY(check_volatility(at, asset, step + k, program, scratch, prices + k, WINDOW));
  }
  return SIM_OK;
}

static sim_status diagnose_asset(const chunk_paths *at, int asset) {
  const size_t variants = (size_t)at->s->paths.variants, row = OPTION_CHUNK * sizeof(double);
  const bool uniform[] = {false, true};
  sim_expr_program *program;
  SIM_TRY(sim_expr_program_create(option_asset_at(at->p, asset)->local_vol,
                                  &(sim_expr_target){.isa = SIM_ISA_PLAIN, .uniform = uniform}, &program));
  void *scratch = aligned_alloc(64, (sim_expr_program_scratch(program) + 127) / 64 * 64);
  void **prices = calloc(variants * WINDOW, sizeof *prices);
  char *room = aligned_alloc(64, variants * WINDOW * row);
  sim_status status = sim_no_memory("the search for a path");
  if (scratch != NULL && prices != NULL && room != NULL) {
    for (size_t i = 0; i < variants * WINDOW; i++) prices[i] = room + i * row;
    status = check_steps(at, asset, program, scratch, prices);
  }
  free(room);
  free(prices);
  free(scratch);
  sim_expr_program_free(&program);
  return status;
}

static sim_status diagnose_local(const chunk_paths *at) {
  for (int a = 0; a < at->s->paths.assets; a++)
    if (option_asset_at(at->p, a)->local_vol != NULL) SIM_TRY(diagnose_asset(at, a));
  return SIM_OK;
}

/* ---- payoffs and Greeks ---- */

/* Writes ", where last[1] = 83.2, mean[1] = 91": the first three features that the payoffs of path i read. */
static void describe_features(const chunk_paths *at, int variant, int i, char *out, size_t capacity) {
  const option_graph *g = &at->s->estimate.graph;
  size_t used = 0;
  int shown = 0;
  *out = '\0';
  for (int f = 0; f < g->features && shown < 3 && used < capacity; f++) {
    char name[OPTION_PAYOFF_NAME];
    if (g->feature[f].tangent > 0 || !option_feature_text(&g->feature[f], name, sizeof name)) continue;
    used += (size_t)snprintf(out + used, capacity - used, "%s%s = %.6g", shown == 0 ? ", where " : ", ", name,
                             number(at->s, at->s->workspaces[0].features[variant * g->features + f], i));
    shown++;
  }
}

static sim_status diagnose_payoffs(const chunk_paths *at) {
  const option_graph *g = &at->s->estimate.graph;
  char name[OPTION_PAYOFF_NAME], where[160];
  const int signs = at->s->estimate.signs, variants = at->s->estimate.markets * signs;
  for (int o = 0; o < g->outputs; o++)
    for (int v = 0; v < variants; v++)
      for (int i = 0; i < at->count && option_is_read(at->s, v / signs, o); i++) {
        const double value = number(at->s, at->s->workspaces[0].outputs[v * g->outputs + o], i);
        if (isfinite(value)) continue;
        describe_features(at, v, i, where, sizeof where);
        if (o < g->payoffs)
          option_payoff_name(at->p, o, name, sizeof name);
        else
          snprintf(name, sizeof name, "a derivative of a payoff");
        return sim_fail(SIM_ERR_DIVERGED, "%s is %s on path %.0f%s%s", name, isnan(value) ? "NaN" : "infinite",
                        path_number(at, i), where, o < g->payoffs ? "" : ": greeks.method = \"bump\" needs none");
      }
  return SIM_OK;
}

/* ---- search ---- */

static sim_status search(const option_parameters *p, const option_sampler *s, int64_t first, int64_t count) {
  for (int64_t done = 0; done < count; done += s->chunk) {
    const int64_t left = count - done;
    const chunk_paths at = {p, s, first + done, option_path_of(s, first + done),
                            (int)(left < s->chunk ? left : s->chunk)};
    const bool valid = option_simulate(s, &s->workspaces[0], at.first, at.count);
    if (valid) {
      SIM_TRY(diagnose_payoffs(&at));
      continue;
    }
    SIM_TRY(diagnose_local(&at));
    return sim_fail(SIM_ERR_DIVERGED,
                    "a local volatility is below 0, or not finite, on a path from %.0f on: expected a "
                    "number >= 0",
                    path_number(&at, 0));
  }
  return SIM_OK;
}

sim_status option_diagnose(const option_parameters *p, int64_t first, int64_t count, const option_quantity *quantity) {
  const sim_setup setup = {
      .backend = &sim_backend_cpu, .comm = &sim_comm_alone, .isa = sim_isa_best(), .threads = 1, .folder = ""};
  option_sampler *sampler;
  char name[OPTION_PAYOFF_NAME], greek[32] = "";
  if (option_ops_cpu.create(p, &setup, &sampler) == SIM_OK) {
    const sim_status status = search(p, sampler, first, count);
    option_ops_cpu.destroy(&sampler);
    if (status != SIM_OK) return status;
  }
  option_payoff_name(p, quantity->payoff, name, sizeof name);
  if (quantity->greek >= 0) snprintf(greek, sizeof greek, "the %s of ", option_greek_names[quantity->greek]);
  const double pair = p->sampling.antithetic ? 2 : 1;
  return sim_fail(SIM_ERR_DIVERGED, "%s%s has a mean or a square that is not finite over the paths from %.0f to %.0f",
                  greek, name, (double)first * pair, (double)(first + count) * pair - 1);
}
