/* The tables of a run: price and Greeks of the first payoff, and tables of all payoffs where there are several. */
#include "kernels/option/cpu/leverage.h"
#include "kernels/option/estimate.h"
#include "kernels/option/multilevel/levels.h"
#include "kernels/option/result/tables.h"

#include <stdio.h>
#include <string.h>

static const sim_field price_columns[] = {
    {.name = "paths",
     .type = SIM_REAL,
     .display = SIM_DISPLAY_NUMBER,
     .doc = "paths so far; an antithetic pair counts as two"},
    {.name = "price", .type = SIM_REAL, .doc = "price of the first payoff"},
    {.name = "standard_error", .type = SIM_REAL, .display = SIM_DISPLAY_LOG, .doc = "standard error of this price"},
    {.name = "relative_error",
     .type = SIM_REAL,
     .flags = SIM_HEALTH,
     .display = SIM_DISPLAY_ERROR,
     .doc = "standard error / price"},
    {0}};
const sim_table option_price_table = {.name = "price", .doc = "price and Greeks", .columns = price_columns};

static const sim_field greek_columns[] = {
    {.name = "GREEK",
     .type = SIM_REAL,
     .doc = "GREEK of the first payoff; with several assets GREEK_ASSET, or cross_gamma_ASSET_ASSET; by nodes "
            "vega_bucket_NODE, with several assets vega_bucket_ASSET_NODE, and rho_bucket_NODE"},
    {.name = "GREEK_error", .type = SIM_REAL, .doc = "its standard error"},
    {0}};
static const sim_field bias_columns[] = {
    {.name = "bias", .type = SIM_REAL, .doc = "time-step bias of the first price, not part of standard_error"},
    {.name = "bias_error", .type = SIM_REAL, .doc = "its standard error"},
    {0}};
static const sim_field upper_columns[] = {
    {.name = "upper", .type = SIM_REAL, .doc = "upper bound of the first price, NaN without one"},
    {.name = "upper_error", .type = SIM_REAL, .doc = "its standard error"},
    {0}};
static const sim_field cva_columns[] = {
    {.name = "cva", .type = SIM_REAL, .doc = "credit valuation adjustment of the netted book, to be subtracted"},
    {.name = "cva_error", .type = SIM_REAL, .doc = "its standard error, with that of the dates"},
    {0}};
static const sim_field dva_columns[] = {
    {.name = "dva", .type = SIM_REAL, .doc = "debit valuation adjustment, to be added"},
    {.name = "dva_error", .type = SIM_REAL, .doc = "its standard error, with that of the dates"},
    {0}};
static const sim_field leverage_columns[] = {
    {.name = "leverage_miss",
     .type = SIM_REAL,
     .doc = "largest difference in volatility between calls of the calibrated model and of the local volatility"},
    {.name = "leverage_miss_error", .type = SIM_REAL, .doc = "its standard error"},
    {0}};
static const sim_field date_columns[] = {
    {.name = "date_NUMBER", .type = SIM_REAL, .doc = "at date NUMBER of the exposure; date 1 is time 0"}, {0}};
static const char *const exposure_tables[OPTION_EXPOSURE_TABLES][2] = {
    [OPTION_EXPOSURE_TIMES] = {"exposure_times", "times of the exposure"},
    [OPTION_EPE] = {"epe", "expected positive exposure E max(V, 0) of the netted book at each date, not discounted"},
    [OPTION_EPE_ERRORS] = {"epe_errors", "standard errors of epe"},
    [OPTION_ENE] = {"ene", "expected negative exposure E max(-V, 0), not discounted"},
    [OPTION_ENE_ERRORS] = {"ene_errors", "standard errors of ene"},
    [OPTION_PFE] = {"pfe", "potential future exposure: the quantile of V, not discounted"},
    [OPTION_PFE_ERRORS] = {"pfe_errors", "standard errors of pfe, with that of the regression near it"}};
static const sim_field level_columns[] = {{.name = "level_NUMBER",
                                           .type = SIM_REAL,
                                           .doc = "with each step in 2^NUMBER pieces; the last one of a randomised "
                                                  "run: all later levels together; NaN: no paths"},
                                          {0}};
static const char *const level_tables[OPTION_LEVEL_TABLES][2] = {
    [OPTION_LEVEL_PATHS] = {"level_paths", "paths of each level of a multilevel run"},
    [OPTION_LEVEL_MEANS] = {"level_means",
                            "mean of the first payoff on level 0, and of its differences to the level before"},
    [OPTION_LEVEL_DEVIATIONS] = {"level_deviations", "their standard deviations"}};
static const sim_field payoff_columns[] = {
    {.name = "payoff_NUMBER", .type = SIM_REAL, .doc = "price of payoff NUMBER, or its name; functions come first"},
    {0}};
static const sim_field greeks_columns[] = {{.name = "payoff_NUMBER",
                                            .type = SIM_REAL,
                                            .doc =
                                                "GREEK of payoff NUMBER; with several assets payoff_NUMBER_ASSET, by "
                                                "nodes payoff_NUMBER_NODE or payoff_NUMBER_ASSET_NODE"},
                                           {0}};
static const sim_table described[] = {
    {"price", "more columns, with greeks", greek_columns},
    {"prices", "prices of all payoffs; with several payoffs", payoff_columns},
    {"errors", "their standard errors", payoff_columns},
    {"price", "time-step bias; with heston, rough_bergomi, sabr, local_vol or vol_grid, whose steps are not exact",
     bias_columns},
    {"price", "upper bound; with upper_paths of an American payoff", upper_columns},
    {"uppers", "upper bounds of all payoffs; with upper_paths and several payoffs", payoff_columns},
    {"upper_errors", "their standard errors", payoff_columns},
    {"biases", "time-step biases of all payoffs; with these and several payoffs", payoff_columns},
    {"bias_errors", "their standard errors", payoff_columns},
    {"GREEKs", "GREEK of all payoffs; with greeks and several payoffs", greeks_columns},
    {"GREEK_errors", "their standard errors", greeks_columns},
    {"price", "with exposure.hazard", cva_columns},
    {"price", "with exposure.own_hazard", dva_columns},
    {"price", "with leverage of an asset", leverage_columns},
    {"exposure_times", "times of the exposure; with exposure", date_columns},
    {"epe", "expected positive exposure; with exposure", date_columns},
    {"epe_errors", "their standard errors", date_columns},
    {"ene", "expected negative exposure; with exposure", date_columns},
    {"ene_errors", "their standard errors", date_columns},
    {"pfe", "potential future exposure; with exposure", date_columns},
    {"pfe_errors", "their standard errors", date_columns},
    {"level_paths", "paths of each level; with sampling.multilevel", level_columns},
    {"level_means", "mean of the first payoff on level 0, then of the differences; with sampling.multilevel",
     level_columns},
    {"level_deviations", "their standard deviations; with sampling.multilevel", level_columns}};
const sim_table *const option_described[] = {
    &described[0],  &described[1],  &described[2],  &described[3],  &described[4],
    &described[5],  &described[6],  &described[7],  &described[8],  &described[9],
    &described[10], &described[11], &described[12], &described[13], &described[14],
    &described[15], &described[16], &described[17], &described[18], &described[19],
    &described[20], &described[21], &described[22], &described[23], NULL};

/* Writes "_2" after a Greek by one of several assets, "_1_2" after a cross gamma, "_3" after one by a node or "_2_3" by
 * that of one of several assets, else nothing. */
static void suffix_of(const option_parameters *p, const option_quantity *of, char out[16]) {
  *out = '\0';
  if (of->greek == OPTION_CROSS_GAMMA)
    snprintf(out, 16, "_%hd_%hd", (short)(of->asset + 1), (short)(of->second + 1));
  else if (of->greek == OPTION_VEGA_BUCKET && p->assets.count > 1)
    snprintf(out, 16, "_%hd_%hd", (short)(of->asset + 1), (short)(p->bucket[0][of->bucket].node + 1));
  else if (of->greek >= OPTION_BUCKETS)
    snprintf(out, 16, "_%hd", (short)(p->bucket[of->greek - OPTION_BUCKETS][of->bucket].node + 1));
  else if (p->assets.count > 1 && option_greek_by_asset(of->greek))
    snprintf(out, 16, "_%hd", (short)(of->asset + 1));
}

/* Name of the column of a payoff, from 0, with the suffix of a Greek. */
static void column_of(const option_parameters *p, int payoff, const char *number, char out[OPTION_NAME_MAX + 8]) {
  const char *own = option_own_name(p, payoff);
  if (own != NULL)
    snprintf(out, OPTION_NAME_MAX + 8, "%.40s%.7s", own, number);
  else
    snprintf(out, OPTION_NAME_MAX + 8, "payoff_%hd%.15s", (short)(payoff + 1), number);
}

/* Adds a table of each Greek and one of its errors to p->tables, from index `tables` on, as far as one table and all
 * tables have room. `used`: columns so far; `names`: the first free name. */
static void add_greek_tables(option_parameters *p, const option_quantity *quantity, int quantities, size_t used,
                             int tables, size_t names) {
  static const char *const titles[OPTION_GREEKS][2] = {{"deltas", "delta_errors"},
                                                       {"gammas", "gamma_errors"},
                                                       {"vegas", "vega_errors"},
                                                       {"rhos", "rho_errors"},
                                                       {"thetas", "theta_errors"},
                                                       {"cross_gammas", "cross_gamma_errors"},
                                                       {"vannas", "vanna_errors"},
                                                       {"volgas", "volga_errors"},
                                                       {"charms", "charm_errors"},
                                                       {"vega_buckets", "vega_bucket_errors"},
                                                       {"rho_buckets", "rho_bucket_errors"}};
  const bool full = used + 2 * (size_t)quantities > SIM_EXPR_INPUTS_MAX - 2;
  for (int g = 0; g < OPTION_GREEKS; g++) {
    size_t columns = 0;
    for (int q = 0; q < quantities; q++) columns += quantity[q].greek == g;
    p->untabled[g] = columns > 0 && (full || columns > SIM_COLUMNS_FEW || tables + 2 > SIM_TABLES_MAX);
    if (columns == 0 || p->untabled[g]) continue;
    sim_field *column = p->greek_columns[g];
    for (int q = 0; q < quantities; q++) {
      if (quantity[q].greek != g) continue;
      char *name = p->names[names++], number[16];
      suffix_of(p, &quantity[q], number);
      column_of(p, quantity[q].payoff, number, name);
      *column++ = (sim_field){.name = name, .type = SIM_REAL, .doc = "Greek of this payoff, by this asset"};
    }
    *column = (sim_field){0};
    for (int k = 0; k < 2; k++) {
      p->greek_tables[g][k] =
          (sim_table){titles[g][k], k == 0 ? "of all payoffs" : "standard errors of these Greeks", p->greek_columns[g]};
      p->tables[tables++] = &p->greek_tables[g][k];
    }
  }
  p->tables[tables] = NULL;
}

/* Adds the tables of the exposure; `columns`: of all tables so far. Returns the new columns. */
static size_t add_exposure_tables(option_parameters *p, size_t columns, int *tables, sim_faults *faults) {
  const int dates = p->exposure.given ? p->exposures : 0;
  const size_t most = SIM_EXPR_INPUTS_MAX - 2, room = columns < most ? most - columns : 0;
  if (dates == 0) return 0;
  if ((size_t)(OPTION_EXPOSURE_TABLES * dates) > room)
    sim_faults_add(faults, 0, "exposure", "expected at most %zu dates beside the other tables of this run, got %d",
                   room / OPTION_EXPOSURE_TABLES, dates);
  for (int d = 0; d < dates; d++) {
    snprintf(p->exposure_names[d], sizeof p->exposure_names[d], "date_%d", d + 1);
    p->exposure_columns[d] =
        (sim_field){.name = p->exposure_names[d], .type = SIM_REAL, .doc = "at this date of the exposure"};
  }
  p->exposure_columns[dates] = (sim_field){0};
  for (int k = 0; k < OPTION_EXPOSURE_TABLES; k++) {
    p->exposure_tables[k] = (sim_table){exposure_tables[k][0], exposure_tables[k][1], p->exposure_columns};
    p->tables[(*tables)++] = &p->exposure_tables[k];
  }
  p->tables[*tables] = NULL;
  return (size_t)(OPTION_EXPOSURE_TABLES * dates);
}

/* Adds the tables of the levels. Returns their columns. */
static size_t add_level_tables(option_parameters *p, int *tables) {
  const int levels = option_levels_most(p);
  if (!p->sampling.multilevel) return 0;
  for (int l = 0; l < levels; l++) {
    snprintf(p->level_names[l], sizeof p->level_names[l], "level_%d", l);
    p->level_columns[l] = (sim_field){.name = p->level_names[l], .type = SIM_REAL, .doc = "of this level"};
  }
  p->level_columns[levels] = (sim_field){0};
  for (int k = 0; k < OPTION_LEVEL_TABLES; k++) {
    p->level_tables[k] = (sim_table){level_tables[k][0], level_tables[k][1], p->level_columns};
    p->tables[(*tables)++] = &p->level_tables[k];
  }
  p->tables[*tables] = NULL;
  return OPTION_LEVEL_TABLES * (size_t)levels;
}

/* Adds the Greeks of the first payoff to the table `price`, as far as it has room: false where it has not for all.
 * `kept`: columns that come after them. */
static bool add_price_greeks(option_parameters *p, const option_quantity *quantity, int quantities, size_t kept,
                             size_t *columns, size_t *names) {
  const int payoffs = option_payoff_count(p);
  p->price_greeks = 0;
  for (int q = payoffs; q < quantities && quantity[q].payoff == 0; q++) {
    if (*columns + 2 + kept > SIM_COLUMNS_FEW) return false;
    const char *greek = option_greek_names[quantity[q].greek];
    for (int k = 0; k < 2; k++) {
      char *name = p->names[(*names)++], number[16];
      suffix_of(p, &quantity[q], number);
      snprintf(name, sizeof p->names[0], "%s%s%s", greek, number, k == 0 ? "" : "_error");
      p->price_columns[(*columns)++] =
          (sim_field){.name = name, .type = SIM_REAL, .doc = k == 0 ? "of the first payoff" : "its standard error"};
    }
    p->price_greeks++;
  }
  return true;
}

/* Adds the columns of biases, bounds and adjustments to the table `price`; returns their number. With `columns` NULL it
 * counts alone. */
static size_t add_price_columns(option_parameters *p, size_t *columns) {
  const sim_field *const all[] = {
      option_has_bias(p) ? bias_columns : NULL, option_wants_upper(p) ? upper_columns : NULL,
      p->exposure.hazard != NULL ? cva_columns : NULL, p->exposure.own_hazard != NULL ? dva_columns : NULL,
      option_any_leverage(p) ? leverage_columns : NULL};
  size_t count = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (int k = 0; k < 2 && all[i] != NULL; k++, count++)
      if (columns != NULL) p->price_columns[(*columns)++] = all[i][k];
  return count;
}

void option_make_tables(option_parameters *p, sim_faults *faults) {
  option_quantity quantity[OPTION_PAYOFFS_MAX * 4];
  const int payoffs = option_payoff_count(p);
  size_t columns = 4, names = 0;
  if (option_quantities(p, NULL) > (int)(sizeof quantity / sizeof *quantity)) {
    sim_faults_add(faults, 0, "greeks", "expected at most %zu numbers of all payoffs together",
                   sizeof quantity / sizeof *quantity);
    return;
  }
  const int quantities = option_quantities(p, quantity);
  memcpy(p->price_columns, price_columns, sizeof price_columns);
  const bool whole = add_price_greeks(p, quantity, quantities, add_price_columns(p, NULL), &columns, &names);
  (void)add_price_columns(p, &columns);
  p->price_columns[columns] = (sim_field){0};
  p->price_table = (sim_table){"price", "price and Greeks of the first payoff", p->price_columns};
  p->tables[0] = &p->price_table;
  p->tables[1] = NULL;
  int tables = 1;
  if (payoffs < 2) {
    columns += add_exposure_tables(p, columns, &tables, faults);
    columns += add_level_tables(p, &tables);
    if (!whole) add_greek_tables(p, quantity, quantities, columns, tables, names);
    return;
  }
  for (int k = 0; k < payoffs; k++) {
    char *name = p->names[names++];
    column_of(p, k, "", name);
    p->prices_columns[k] = (sim_field){.name = name, .type = SIM_REAL, .doc = "price of this payoff"};
    p->errors_columns[k] = (sim_field){.name = name, .type = SIM_REAL, .doc = "standard error of its price"};
  }
  p->prices_columns[payoffs] = p->errors_columns[payoffs] = (sim_field){0};
  p->prices_table = (sim_table){"prices", "prices of all payoffs: functions first", p->prices_columns};
  p->errors_table = (sim_table){"errors", "standard errors of all prices", p->errors_columns};
  p->tables[1] = &p->prices_table;
  p->tables[2] = &p->errors_table;
  p->tables[3] = NULL;
  tables = 3;
  if (option_has_bias(p)) {
    p->bias_tables[0] = (sim_table){"biases", "bias of each price by the time steps", p->prices_columns};
    p->bias_tables[1] = (sim_table){"bias_errors", "standard errors of the biases", p->errors_columns};
    for (int k = 0; k < 2; k++) p->tables[tables++] = &p->bias_tables[k];
    p->tables[tables] = NULL;
    columns += 2 * (size_t)payoffs;
  }
  if (option_wants_upper(p)) {
    p->upper_tables[0] = (sim_table){"uppers", "upper bound of each price", p->prices_columns};
    p->upper_tables[1] = (sim_table){"upper_errors", "standard errors of the upper bounds", p->errors_columns};
    for (int k = 0; k < 2; k++) p->tables[tables++] = &p->upper_tables[k];
    p->tables[tables] = NULL;
    columns += 2 * (size_t)payoffs;
  }
  columns += add_exposure_tables(p, columns + 2 * (size_t)payoffs, &tables, faults);
  columns += add_level_tables(p, &tables);
  add_greek_tables(p, quantity, quantities, columns, tables, names);
}
