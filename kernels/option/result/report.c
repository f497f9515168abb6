/* The report of a run: the price, or a table of all prices and Greeks, and lines on biases, bounds and exposures. */
#include "kernels/option/result/leverage.h"
#include "kernels/option/result/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void option_cell_text(double value, double error, char *out, size_t capacity) {
  const int digits = error > 0 && isfinite(error) ? 1 - (int)floor(log10(error)) : 6;
  if (isnan(error))
    snprintf(out, capacity, "%.6g +- ?", value);
  else if (error == 0)
    snprintf(out, capacity, "%.9g +- 0", value);
  else if (digits < 0 || digits > 9 || fabs(value) >= 1e9)
    snprintf(out, capacity, "%.10g +- %.1e", value, error);
  else
    snprintf(out, capacity, "%.*f +- %.*f", digits, value, digits, error);
}

/* The cell of a quantity: "0" where value and error are rounding alone, as a Greek by an asset that a payoff does not
 * see. */
static void quantity_text(const option_run *run, double n, int q, char *out, size_t capacity) {
  const double value = option_mean(run, q), error = option_error(run, n, q), least = option_rounding(run, q);
  if (fabs(value) <= least && error <= least)
    snprintf(out, capacity, "0");
  else if (fabs(value) <= least && isnan(error) && run->quantity[q].greek >= 0)
    snprintf(out, capacity, "unknown");
  else
    option_cell_text(value, error, out, capacity);
}

void option_row_name(const option_parameters *p, int payoff, char *out, size_t capacity) {
  static const char *const types[] = {" call", " put"}, *const ways[] = {"down", "up"}, *const knocks[] = {"out", "in"};
  const int functions = option_payoff_count(p) - (int)p->payoffs.count;
  if (payoff < functions) {
    snprintf(out, capacity, functions > 1 ? "%d result of payoff" : "%d payoff", payoff + 1);
    return;
  }
  const sim_item *item = &p->payoffs.items[payoff - functions];
  const option_payoff *o = item->data;
  if (o->name != NULL) {
    snprintf(out, capacity, "%d %s", payoff + 1, o->name);
    return;
  }
  const bool note = item->schema == &option_autocallable_schema, barrier = item->schema == &option_barrier_schema;
  const bool swap = option_is_swap(item), untyped = note || swap || o->exercise != NULL;
  const bool two = item->schema == &option_double_barrier_schema,
             forward = item->schema == &option_forward_start_schema;
  const bool bermudan = item->schema == &option_american_schema && (o->every > 1 || o->dates.rows > 0);
  static const char *const ons[] = {"", " on the best", " on the worst", " on the basket"};
  static const char *const ways_of_exchange[] = {"", "quanto", "composite", "converted"};
  char kind[32], strike[24] = "", level[48] = "", asset[16] = "";
  snprintf(kind, sizeof kind, "%s", bermudan ? "bermudan" : item->schema->name);
  if (barrier) snprintf(kind, sizeof kind, "%s-%s", ways[o->direction], knocks[o->knock]);
  if (two) snprintf(kind, sizeof kind, "double-%s", knocks[o->knock]);
  if (swap)
    snprintf(kind, sizeof kind, "%s",
             item->schema == &option_variance_swap_schema ? "variance-swap" : "volatility-swap");
  if (forward) {
    snprintf(kind, sizeof kind, "forward-start");
    if (o->start > 0)
      snprintf(level, sizeof level, ", %.6g from step %lld", o->moneyness, (long long)o->start);
    else
      snprintf(level, sizeof level, ", %.6g from %.6g", o->moneyness, o->start_time);
  }
  if (!note && !forward && !isnan(o->strike)) snprintf(strike, sizeof strike, " %.6g", o->strike);
  if (o->level > 0) snprintf(level, sizeof level, " at %.6g", o->level);
  if (two) snprintf(level, sizeof level, " at %.6g, %.6g", o->low, o->high);
  if (item->schema == &option_american_schema) snprintf(level, sizeof level, "%s", ons[o->on]);
  if (p->assets.count > 1 && o->asset > 0) snprintf(asset, sizeof asset, " of %d", (int)o->asset);
  snprintf(out, capacity, "%d %s%s%s%s%s%s", payoff + 1, kind, untyped ? "" : types[o->type], strike, asset, level,
           o->monitoring == OPTION_CONTINUOUS ? ", continuous" : "");
  size_t used = strlen(out);
  if (o->from > 0) used += (size_t)snprintf(out + used, capacity - used, " from %.6g", o->from);
  if (o->to > 0) used += (size_t)snprintf(out + used, capacity - used, " until %.6g", o->to);
  if (o->maturity > 0) used += (size_t)snprintf(out + used, capacity - used, ", to %.6g", o->maturity);
  if (o->exchange != OPTION_NO_EXCHANGE) snprintf(out + used, capacity - used, ", %s", ways_of_exchange[o->exchange]);
}

/* "vega at 0.5 of asset 2": by the node at t = 0.5 */
static void bucket_name(const option_parameters *p, const option_quantity *of, char *out, size_t capacity) {
  const double t = p->bucket[of->greek - OPTION_BUCKETS][of->bucket].t;
  char asset[20] = "";
  const bool by_vol = of->greek == OPTION_VEGA_BUCKET;
  if (by_vol && p->assets.count > 1) snprintf(asset, sizeof asset, " of asset %hd", (short)(of->asset + 1));
  snprintf(out, capacity, "%s at %.6g%s", by_vol ? "vega" : "rho", t, asset);
}

/* "delta of asset 2" */
void option_column_name(const option_parameters *p, const option_quantity *of, char *out, size_t capacity) {
  if (of->greek < 0)
    snprintf(out, capacity, "price");
  else if (of->greek == OPTION_CROSS_GAMMA)
    snprintf(out, capacity, "cross_gamma of assets %d and %d", of->asset + 1, of->second + 1);
  else if (of->greek >= OPTION_BUCKETS)
    bucket_name(p, of, out, capacity);
  else if (option_greek_by_asset(of->greek) && p->assets.count > 1)
    snprintf(out, capacity, "%s of asset %d", option_greek_names[of->greek], of->asset + 1);
  else
    snprintf(out, capacity, "%s", option_greek_names[of->greek]);
}

/* Index of the quantity: a payoff's price (column 0) or its Greek. */
static int place_of(int payoffs, int columns, int payoff, int column) {
  return column == 0 ? payoff : payoffs + payoff * (columns - 1) + column - 1;
}

/* Reports the bias of each price, of the Greeks of a single payoff, and of those of several whose bias shows. */
static void report_bias(const option_run *run, double n, sim_bytes *out) {
  const int payoffs = option_payoff_count(run->parameters);
  char name[128] = "", cell[64], greek[48] = "";
  for (int q = 0; q < run->told && run->bias != NULL; q++) {
    if (q >= payoffs && payoffs > 1 && !option_is_shifted(run, n, q)) continue;
    if (payoffs > 1) option_row_name(run->parameters, run->quantity[q].payoff, name, sizeof name);
    if (q >= payoffs) {
      snprintf(greek, sizeof greek, ", of ");
      option_column_name(run->parameters, &run->quantity[q], greek + 5, sizeof greek - 5);
    }
    const double shift = option_shift(run, q), error = option_shift_error(run, n, q);
    option_cell_text(shift, error, cell, sizeof cell);
    if (shift == 0 && error <= option_shift_rounding(run, q)) snprintf(cell, sizeof cell, "0 but for rounding");
    sim_bytes_format(out, "bias %s of the time steps, not in the standard error%s%s%s\n", cell, greek,
                     payoffs > 1 ? ": " : "", name);
  }
}

/* Reports the upper bound of each price that has one. */
static void report_upper(const option_run *run, double n, sim_bytes *out) {
  const int payoffs = option_payoff_count(run->parameters);
  char name[128] = "", cell[64];
  for (int k = 0; k < payoffs; k++) {
    if (isnan(option_upper(run, k))) continue;
    if (payoffs > 1) option_row_name(run->parameters, k, name, sizeof name);
    option_cell_text(option_upper(run, k), option_upper_error(run, n, k), cell, sizeof cell);
    sim_bytes_format(out, "upper bound %s, of the best rule for exercise%s%s\n", cell, payoffs > 1 ? ": " : "", name);
  }
}

/* Reports the exposure of each date, and the adjustments. */
static void report_exposure(const option_run *run, sim_bytes *out) {
  char cell[3][64];
  if (run->exposure == NULL) return;
  sim_bytes_format(out, "exposure at  %-24s %-24s PFE, %.6g of all paths below\n", "EPE", "ENE",
                   run->parameters->exposure.quantile);
  for (int d = 0; d < run->parameters->exposures; d++) {
    const option_exposure_row *row = &run->exposure->row[d];
    option_cell_text(row->epe, row->epe_error, cell[0], sizeof cell[0]);
    option_cell_text(row->ene, row->ene_error, cell[1], sizeof cell[1]);
    option_cell_text(row->pfe, row->pfe_error, cell[2], sizeof cell[2]);
    sim_bytes_format(out, "%-12.6g %-24s %-24s %s\n", row->time, cell[0], cell[1], cell[2]);
  }
  option_cell_text(run->exposure->cva, run->exposure->cva_error, cell[0], sizeof cell[0]);
  option_cell_text(run->exposure->dva, run->exposure->dva_error, cell[1], sizeof cell[1]);
  if (!isnan(run->exposure->cva)) sim_bytes_format(out, "CVA %s, to be subtracted\n", cell[0]);
  if (!isnan(run->exposure->dva)) sim_bytes_format(out, "DVA %s, to be added\n", cell[1]);
}

void option_report(const void *self, const sim_clock *clock, sim_bytes *out) {
  enum { ACROSS = 3, NAME = 42, CELL = 24 };
  const option_run *run = self;
  const option_parameters *p = run->parameters;
  const double n = option_samples(run, clock->t);
  const int payoffs = option_payoff_count(p), columns = run->told / payoffs;
  char text[128];
  for (int c = 0; c < columns && payoffs == 1; c++) { /* one line each */
    char name[40];
    option_column_name(p, &run->quantity[c], name, sizeof name);
    if (columns == 1 && !isnan(option_error(run, n, c)))
      snprintf(text, sizeof text, "%.8g +- %.2g", option_mean(run, c), option_error(run, n, c));
    else
      quantity_text(run, n, c, text, sizeof text);
    sim_bytes_format(out, "%-*s %s\n", columns == 1 ? 0 : p->assets.count > 1 ? 16 : 5, name, text);
  }
  int width = NAME; /* at least */
  for (int row = 0; row < payoffs; row++) {
    option_row_name(p, row, text, sizeof text);
    if (width < (int)strlen(text)) width = (int)strlen(text);
  }
  for (int from = 0; from < columns && payoffs > 1; from += ACROSS) {
    const int to = from + ACROSS < columns ? from + ACROSS : columns;
    for (int row = -1; row < payoffs; row++) {
      if (row >= 0)
        option_row_name(p, row, text, sizeof text);
      else
        snprintf(text, sizeof text, "payoff");
      sim_bytes_format(out, "%-*s", width, text);
      for (int c = from; c < to; c++) {
        const int q = place_of(payoffs, columns, row < 0 ? 0 : row, c);
        if (row < 0)
          option_column_name(p, &run->quantity[q], text, sizeof text);
        else
          quantity_text(run, n, q, text, sizeof text);
        sim_bytes_format(out, c + 1 < to ? " %-*s" : " %*s", c + 1 < to ? CELL : 0, text);
      }
      sim_bytes_text(out, "\n");
    }
  }
  report_bias(run, n, out);
  report_upper(run, n, out);
  option_leverage_report(run, out);
  report_exposure(run, out);
  option_ladder_report(run, n, out);
  if (run->levels != NULL) option_levels_report(run->levels, p, out);
}
