/* Field tables of the assets, and the rules between their fields. */
#include "kernels/option/models/sabr.h"
#include "kernels/option/scenario/motion.h"
#include "kernels/option/scenario/parameters.h"

#include <math.h>
#include <stdio.h>

const sim_signature option_term_signature = {.inputs = (const char *const[]){"t", NULL}, .outputs = {1}};

static const sim_signature local_signature = {.inputs = (const char *const[]){"S", "t", NULL}, .outputs = {1}};

#define POSITIVE .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY
#define OF_TIME                                                                                                        \
  .type = SIM_FUNCTION, .flags = SIM_REQUIRED | SIM_OR_NUMBER | SIM_OR_FILE, .signature = &option_term_signature
static const sim_field heston_fields[] = {
    {SIM_FIELD(option_heston, v), .type = SIM_REAL, .doc = "variance at time 0: 0.04 is a volatility of 20 %",
     POSITIVE},
    {SIM_FIELD(option_heston, kappa),
     .doc = "rate of mean reversion, above 0: a number, or a function or sim.curve of time", OF_TIME},
    {SIM_FIELD(option_heston, theta), .doc = "long-run mean of the variance, above 0; the same", OF_TIME},
    {SIM_FIELD(option_heston, sigma), .doc = "volatility of the variance, above 0; the same", OF_TIME},
    {SIM_FIELD(option_heston, rho), .doc = "correlation of variance and price, above -1 and below 1; the same",
     OF_TIME},
    {0}};
static const sim_schema heston_schema = {
    .doc = "Heston's model: dv = kappa (theta - v) dt + sigma sqrt(v) dW, by quadratic-exponential steps",
    .fields = heston_fields,
    .size = sizeof(option_heston)};

static const sim_field rough_fields[] = {
    {SIM_FIELD(option_rough, xi), OF_TIME,
     .doc = "forward variance, above 0: the mean of the variance at each time; a number, or a function or sim.curve"},
    {SIM_FIELD(option_rough, eta), .type = SIM_REAL, .doc = "volatility of the variance", POSITIVE},
    {SIM_FIELD(option_rough, hurst), .type = SIM_REAL, .doc = "Hurst parameter H, at most 1/2: about 0.1 in markets",
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN, .max = 0.5},
    {SIM_FIELD(option_rough, rho), .type = SIM_REAL, .doc = "correlation of variance and price",
     .flags = SIM_REQUIRED | SIM_RANGE, .min = -1, .max = 1},
    {0}};
static const sim_schema rough_schema = {
    .doc =
        "rough Bergomi model: v = xi(t) exp(eta Y - eta^2 t^(2H)/2), Y the integral of sqrt(2H) (t - s)^(H - 1/2) dW",
    .fields = rough_fields,
    .size = sizeof(option_rough)};

static const sim_field sabr_fields[] = {
    {SIM_FIELD(option_sabr, alpha), .type = SIM_REAL,
     .doc = "sigma at time 0: alpha F^(beta - 1) is the volatility as a share of the price", POSITIVE},
    {SIM_FIELD(option_sabr, beta), .type = SIM_REAL, .doc = "power of the price: 0, from 0.05 to 0.9, or 1",
     .flags = SIM_REQUIRED | SIM_RANGE, .max = 1},
    {SIM_FIELD(option_sabr, rho), .type = SIM_REAL, .doc = "correlation of sigma and price",
     .flags = SIM_REQUIRED | SIM_RANGE, .min = -1, .max = 1},
    {SIM_FIELD(option_sabr, nu), .type = SIM_REAL, .doc = "volatility of sigma", .flags = SIM_REQUIRED | SIM_RANGE,
     .max = INFINITY},
    {0}};
static const sim_schema sabr_schema = {
    .doc = "SABR model: dF = sigma F^beta dW, dsigma = nu sigma dZ, F the price over its growth by rate and dividend, "
           "ended at 0",
    .fields = sabr_fields,
    .size = sizeof(option_sabr)};

static const sim_field jumps_fields[] = {{SIM_FIELD(option_jumps, rate), .type = SIM_REAL,
                                          .doc = "expected number of jumps per unit of time",
                                          .flags = SIM_REQUIRED | SIM_RANGE, .max = INFINITY},
                                         {SIM_FIELD(option_jumps, mean), .type = SIM_REAL,
                                          .doc = "mean of a jump in the logarithm of the price", .initial = "0"},
                                         {SIM_FIELD(option_jumps, deviation), .type = SIM_REAL,
                                          .doc = "standard deviation of a jump in the logarithm of the price",
                                          .flags = SIM_REQUIRED | SIM_RANGE, .max = INFINITY},
                                         {0}};
static const sim_schema jumps_schema = {
    .doc = "Merton's jumps of the price, beside any motion", .fields = jumps_fields, .size = sizeof(option_jumps)};

static const sim_field grid_fields[] = {
    {SIM_FIELD(option_vol_grid, spots), .type = SIM_NUMBERS, .doc = "prices, ascending, 2 to 64",
     .flags = SIM_REQUIRED},
    {SIM_FIELD(option_vol_grid, times), .type = SIM_NUMBERS, .doc = "times, ascending", .flags = SIM_REQUIRED},
    {SIM_FIELD(option_vol_grid, vols), .type = SIM_NUMBERS, .flags = SIM_REQUIRED | SIM_RANGE, .max = INFINITY,
     .doc = "local volatilities: all prices at the first time, then at the second, ..."},
    {0}};
static const sim_schema grid_schema = {.doc = "local volatility on a grid, interpolated linearly, constant outside",
                                       .fields = grid_fields,
                                       .size = sizeof(option_vol_grid)};

static const sim_field leverage_fields[] = {
    {SIM_FIELD(option_leverage, mixing), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = 1, .initial = "1",
     .doc = "mixing fraction: factor of heston.sigma, above 0; near 0 the model is the local volatility alone"},
    {SIM_FIELD(option_leverage, particles), .type = SIM_REAL, .flags = SIM_RANGE, .min = 0x1p12, .max = 0x1p24,
     .initial = "131072", .doc = "paths that calibrate the leverage function, rounded up to a multiple of 4096"},
    {0}};
static const sim_schema leverage_schema = {
    .doc = "local-stochastic volatility: dS/S = ... + L(S, t) sqrt(v) dW with Heston's v; L makes calls cost what "
           "local_vol or vol_grid makes of them",
    .fields = leverage_fields,
    .size = sizeof(option_leverage)};

static const sim_field asset_fields[] = {
    {SIM_FIELD(option_asset, spot), .type = SIM_REAL, .doc = "price at time 0",
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY},
    {SIM_FIELD(option_asset, currency), .type = SIM_INT, .flags = SIM_RANGE, .max = OPTION_ASSETS_MAX, .initial = "0",
     .doc = "number of the asset that is the price of the currency in which `spot` is given; 0: that of the run"},
    {SIM_FIELD(option_asset, vol), .type = SIM_FUNCTION,
     .doc = "volatility: a number, or a function or sim.curve of time", .flags = SIM_OR_NUMBER | SIM_OR_FILE,
     .signature = &option_term_signature},
    {SIM_FIELD(option_asset, dividend), .type = SIM_FUNCTION,
     .doc = "dividend rate: a number, or a function or sim.curve of time", .flags = SIM_OR_NUMBER | SIM_OR_FILE,
     .initial = "0", .signature = &option_term_signature},
    {SIM_FIELD(option_asset, dividends), .type = SIM_NUMBERS, .components = 2, .flags = SIM_OR_FILE,
     .doc = "cash dividends {time, amount}: the price falls by the amount at that time"},
    {SIM_FIELD(option_asset, heston), .type = SIM_STRUCT, .doc = "in place of vol", .table = &heston_schema,
     .flags = SIM_OPTIONAL},
    {SIM_FIELD(option_asset, rough_bergomi), .type = SIM_STRUCT, .doc = "in place of vol", .table = &rough_schema,
     .flags = SIM_OPTIONAL},
    {SIM_FIELD(option_asset, sabr), .type = SIM_STRUCT, .doc = "in place of vol", .table = &sabr_schema,
     .flags = SIM_OPTIONAL},
    {SIM_FIELD(option_asset, jumps), .type = SIM_STRUCT, .doc = "Merton's jumps, in addition to any motion",
     .table = &jumps_schema, .flags = SIM_OPTIONAL},
    {SIM_FIELD(option_asset, local_vol), .type = SIM_FUNCTION, .signature = &local_signature,
     .doc = "local volatility, instead of vol: a function of price and time, evaluated at the beginning of each step"},
    {SIM_FIELD(option_asset, vol_grid), .type = SIM_STRUCT, .doc = "in place of vol", .table = &grid_schema,
     .flags = SIM_OPTIONAL},
    {SIM_FIELD(option_asset, leverage), .type = SIM_STRUCT, .table = &leverage_schema, .flags = SIM_OPTIONAL,
     .doc = "leverage function of heston, calibrated to local_vol or vol_grid: give heston and one of these"},
    {0}};
const sim_schema option_asset_schema = {SIM_SCHEMA(option_asset, "", "one asset", asset_fields)};

/* ---- rules between fields ---- */

static void check_ascending(const sim_doubles *x, int line, const char *path, const char *what, sim_faults *faults) {
  for (size_t i = 1; i < x->rows; i++)
    if (!(x->data[i] > x->data[i - 1])) {
      sim_faults_add(faults, line, path, "%s: expected ascending numbers, got %.9g after %.9g", what, x->data[i],
                     x->data[i - 1]);
      return;
    }
}

static void check_grid(const option_vol_grid *g, int line, const char *path, sim_faults *faults) {
  if (g->spots.rows < 2 || g->spots.rows > OPTION_NODES_MAX)
    sim_faults_add(faults, line, path, "spots: expected 2 to %d prices, got %zu", OPTION_NODES_MAX, g->spots.rows);
  if (g->times.rows < 1) sim_faults_add(faults, line, path, "times: expected one or more, got none");
  check_ascending(&g->spots, line, path, "spots", faults);
  check_ascending(&g->times, line, path, "times", faults);
  if (g->vols.rows != g->spots.rows * g->times.rows)
    sim_faults_add(faults, line, path, "vols: expected %zu numbers, spots times times, got %zu",
                   g->spots.rows * g->times.rows, g->vols.rows);
}

/* What the calibration of a leverage function has no place for. */
static void check_leverage(const option_parameters *p, const option_asset *a, int ways, int line, const char *path,
                           sim_faults *faults) {
  if (!(ways == 2 && a->heston.given && (a->local_vol != NULL || a->vol_grid.given)))
    sim_faults_add(faults, line, path,
                   "leverage: expected heston and one of local_vol and vol_grid, and no other motion");
  if (a->jumps.given)
    sim_faults_add(faults, line, path,
                   "leverage: expected no jumps: local volatilities of a price that jumps are others");
  if (a->dividends.rows > 0)
    sim_faults_add(faults, line, path, "leverage: expected a dividend rate, no cash dividends");
  if (p->hull_white.given)
    sim_faults_add(faults, line, path, "leverage: expected no hull_white: the calibration takes a rate that is known");
  if (p->sampling.multilevel)
    sim_faults_add(faults, line, path, "leverage: expected sampling.multilevel = false: each level would calibrate it");
}

void option_check_asset(const option_parameters *p, int i, sim_faults *faults) {
  const option_asset *a = option_asset_at(p, i);
  const int line = p->assets.items[i].line;
  const int ways = (a->vol != NULL) + a->heston.given + a->rough_bergomi.given + a->sabr.given +
                   (a->local_vol != NULL) + a->vol_grid.given;
  char path[64];
  snprintf(path, sizeof path, "assets[%d]", i + 1);
  if (a->leverage.given)
    check_leverage(p, a, ways, line, path, faults);
  else if (ways != 1)
    sim_faults_add(faults, line, path,
                   "expected one of vol, heston, rough_bergomi, sabr, local_vol and vol_grid, got %s",
                   ways == 0 ? "none" : "several");
  if (a->vol_grid.given) {
    snprintf(path, sizeof path, "assets[%d].vol_grid", i + 1);
    check_grid(&a->vol_grid, line, path, faults);
    snprintf(path, sizeof path, "assets[%d]", i + 1);
  }
  option_check_sabr(p, i, faults);
  if (a->rough_bergomi.given && p->nodes > OPTION_ROUGH_STEPS_MAX)
    sim_faults_add(faults, line, path, "rough_bergomi: expected at most %d steps, dates included, got %lld",
                   OPTION_ROUGH_STEPS_MAX, (long long)p->nodes);
  if (a->rough_bergomi.given && p->sampling.sequence == OPTION_SOBOL)
    sim_faults_add(faults, line, path, "rough_bergomi: expected sampling.sequence = \"philox\"");
  if (a->jumps.given && a->jumps.rate * p->longest > 20)
    sim_faults_add(faults, line, path, "jumps.rate: expected at most 20 jumps a step, got %.9g: use more steps",
                   a->jumps.rate * p->longest);
  if (!option_asset_is_gbm(a) &&
      (p->sampling.control == OPTION_CONTROL_GEOMETRIC || p->sampling.control == OPTION_CONTROL_BLACK_SCHOLES))
    sim_faults_add(faults, line, path,
                   "sampling.control: expected \"underlying\": the means of other controls are unknown for this model");
  if (a->dividends.rows > 0 && p->sampling.control != OPTION_NO_CONTROL)
    sim_faults_add(faults, line, path, "sampling.control: expected \"none\" with cash dividends: its mean is unknown");
  if (a->dividends.rows > 0 && p->greeks.method == OPTION_LIKELIHOOD)
    sim_faults_add(faults, line, path, "greeks.method: expected \"auto\" or \"bump\" with cash dividends");
  if (!option_asset_is_gbm(a) && p->greeks.method == OPTION_LIKELIHOOD)
    sim_faults_add(
        faults, line, path,
        "greeks.method: the likelihood ratio is for vol without jumps alone: expected \"auto\"%s or \"bump\"",
        a->sabr.given || a->local_vol != NULL || a->vol_grid.given ? "" : ", \"pathwise\"");
}

void option_check_correlation(const option_parameters *p, sim_faults *faults) {
  const size_t n = p->assets.count;
  const double *c = p->correlation.data;
  if (p->correlation.rows == 0) return;
  if (p->correlation.rows != n || p->correlation.cols != n) {
    sim_faults_add(faults, 0, "correlation", "expected %zu rows, one for each asset, got %zu", n, p->correlation.rows);
    return;
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      if (i == j && c[i * n + j] != 1)
        sim_faults_add(faults, 0, "correlation", "expected 1 in row %zu, column %zu, got %.9g", i + 1, j + 1,
                       c[i * n + j]);
      else if (c[i * n + j] != c[j * n + i])
        sim_faults_add(faults, 0, "correlation",
                       "expected a symmetric matrix, got %.9g and %.9g for assets %zu and %zu", c[i * n + j],
                       c[j * n + i], i + 1, j + 1);
    }
}
