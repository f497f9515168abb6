/* What the kernels need to know of the market: exact steps of correlated geometric Brownian motions. */
#include "kernels/option/option.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 4 };
/* Gauss and Legendre, on [0, 1]. */
static const double node[NODES] = {0.0694318442029737, 0.3300094782075719, 0.6699905217924281, 0.9305681557970263};
static const double weight[NODES] = {0.1739274225687269, 0.3260725774312731, 0.3260725774312731, 0.1739274225687269};

/* A term structure at the nodes of every step: out[steps][NODES]. */
static sim_status at_nodes(const sim_expr *expr, const double *t, size_t count, double *out) {
  sim_expr_program *program;
  SIM_TRY(sim_expr_program_create(expr, &(sim_expr_target){.isa = SIM_ISA_PLAIN}, &program));
  const size_t bytes = (sim_expr_program_scratch(program) + 127) / 64 * 64;
  void *scratch = aligned_alloc(64, bytes);
  if (scratch != NULL) sim_expr_program_run(program, count, (const void *const[]){t}, (void *const[]){out}, scratch);
  free(scratch);
  sim_expr_program_free(&program);
  return scratch != NULL ? SIM_OK : sim_fail(SIM_ERR_NO_MEMORY, "no memory for the market");
}

static sim_status check(const char *what, int asset, const double *values, const double *t, size_t count,
                        double least) {
  for (size_t i = 0; i < count; i++) {
    if (isfinite(values[i]) && values[i] >= least) continue;
    char name[64];
    if (asset < 0)
      snprintf(name, sizeof name, "%s", what);
    else
      snprintf(name, sizeof name, "assets[%d].%s", asset + 1, what);
    char got[32] = "NaN";
    if (!isnan(values[i])) snprintf(got, sizeof got, "%.9g", values[i]);
    return sim_fail(SIM_ERR_SCENARIO, "%s: expected %s, got %s at t = %.9g", name,
                    least == 0 ? "a number >= 0" : "a finite number", got, t[i]);
  }
  return SIM_OK;
}

typedef struct nodes {
  double *t, *rate, *dividend, *vol; /* [steps][NODES] */
} nodes;

static sim_status fill(const option_parameters *p, const option_bump *bump, double dt, const nodes *n,
                       option_market *out) {
  const double ln2 = 0.69314718055994530942;
  const size_t count = (size_t)out->steps * NODES;
  for (size_t i = 0; i < count; i++) n->t[i] = ((double)(i / NODES) + node[i % NODES]) * dt;
  SIM_TRY(at_nodes(p->rate, n->t, count, n->rate));
  SIM_TRY(check("rate", -1, n->rate, n->t, count, -INFINITY));
  double all = 0;
  for (size_t i = 0; i < count; i++) {
    n->rate[i] += bump->rate;
    all += weight[i % NODES] * n->rate[i] * dt;
    out->bond[i / NODES] = exp(-all);
  }
  out->discount = exp(-all);
  for (int a = 0; a < out->assets; a++) {
    const option_asset *asset = option_asset_at(p, a);
    const bool bumped = bump->asset == a;
    out->spot[a] = asset->spot * (bumped ? 1 + bump->spot : 1);
    if (asset->vol != NULL)
      SIM_TRY(at_nodes(asset->vol, n->t, count, n->vol));
    else
      memset(n->vol, 0, count * sizeof *n->vol);
    SIM_TRY(at_nodes(asset->dividend, n->t, count, n->dividend));
    SIM_TRY(check("vol", a, n->vol, n->t, count, 0));
    SIM_TRY(check("dividend", a, n->dividend, n->t, count, -INFINITY));
    for (int s = 0; s < out->steps; s++) {
      double growth = 0, variance = 0;
      for (int k = 0; k < NODES; k++) {
        const size_t i = (size_t)s * NODES + (size_t)k;
        const double vol = n->vol[i] + (bumped && asset->vol != NULL ? bump->vol : 0);
        growth += weight[k] * (n->rate[i] - n->dividend[i]) * dt;
        variance += weight[k] * vol * vol * dt;
      }
      out->drift[s * out->assets + a] = (growth - variance / 2 - option_jump_drift(asset) * dt) / ln2;
      out->vol[s * out->assets + a] = sqrt(variance) / ln2;
    }
    if (out->mover != NULL) SIM_TRY(option_mover_set(asset, out->steps, dt, bumped ? bump->vol : 0, &out->mover[a]));
  }
  return SIM_OK;
}

sim_status option_market_create(const option_parameters *p, const option_bump *bump, option_market *out) {
  const option_bump none = {.asset = -1};
  *out = (option_market){.assets = (int)p->assets.count, .steps = (int)p->steps};
  const size_t numbers = (size_t)out->assets * (size_t)out->steps, count = (size_t)out->steps * NODES;
  if (bump == NULL) bump = &none;
  out->spot = calloc((size_t)out->assets + 2 * numbers + (size_t)out->steps, sizeof(double));
  double *room = calloc(4 * count, sizeof(double));
  sim_status status = SIM_OK;
  bool moved = false;
  for (int a = 0; a < out->assets; a++) {
    const option_asset *asset = option_asset_at(p, a);
    moved |= asset->vol == NULL || asset->jumps.given;
  }
  if (moved) out->mover = calloc((size_t)out->assets, sizeof *out->mover);
  if (out->spot == NULL || room == NULL || (moved && out->mover == NULL)) {
    status = sim_fail(SIM_ERR_NO_MEMORY, "no memory for the market");
  } else {
    out->drift = out->spot + out->assets;
    out->vol = out->drift + numbers;
    out->bond = out->vol + numbers;
    const nodes n = {room, room + count, room + 2 * count, room + 3 * count};
    status = fill(p, bump, (p->maturity + bump->maturity) / (double)p->steps, &n, out);
  }
  free(room);
  if (status != SIM_OK) option_market_free(out);
  return status;
}

void option_market_free(option_market *market) {
  for (int a = 0; market->mover != NULL && a < market->assets; a++) option_mover_free(&market->mover[a]);
  free(market->mover);
  free(market->spot);
  *market = (option_market){0};
}

/* Where a pivot vanishes, an asset is a mixture of those before it, and takes no normal of its own: the rest of its
 * column must vanish, too, and is left out. */
sim_status option_cholesky(const option_parameters *p, double *out) {
  const double rounding = 1e-12;
  const size_t n = p->assets.count;
  const double *c = p->correlation.data;
  for (size_t j = 0; j < n; j++)
    for (size_t i = j; i < n; i++) {
      double sum = c != NULL && p->correlation.rows > 0 ? c[i * n + j] : i == j;
      for (size_t k = 0; k < j; k++) sum -= out[i * n + k] * out[j * n + k];
      const bool mixture = out[j * n + j] == 0;
      if (i == j ? sum < -rounding : mixture && fabs(sum) > sqrt(rounding))
        return sim_fail(SIM_ERR_SCENARIO,
                        "correlation: expected a matrix without negative eigenvalues, got one that contradicts itself "
                        "in its first %zu rows",
                        i + 1);
      if (i == j)
        out[i * n + j] = sum > rounding ? sqrt(sum) : 0;
      else
        out[i * n + j] = mixture ? 0 : sum / out[j * n + j];
    }
  return SIM_OK;
}

static double normal_below(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }

double option_lognormal_price(double mean, double deviation, double strike, option_type type) {
  const double forward = exp(mean + deviation * deviation / 2), sign = type == OPTION_CALL ? 1 : -1;
  if (!(deviation > 0) || !(strike > 0)) return fmax(sign * (forward - strike), 0);
  const double d2 = (mean - log(strike)) / deviation;
  return sign * (forward * normal_below(sign * (d2 + deviation)) - strike * normal_below(sign * d2));
}
