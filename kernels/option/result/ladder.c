/* The ladder of a run: its points are sampled by samplers of their own, on the run's random numbers, so that changes
 * against today's price are differences of common paths. */
#include "kernels/option/scenario/ladder.h"
#include "kernels/option/payoff/names.h"
#include "kernels/option/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Points of one sampler: enough for the random numbers to cost little, few enough for the outputs of a chunk to stay in
 * a cache. */
enum { TOGETHER = 15 };

/* Number of points of a sampler, at most; an antithetic pair takes two paths. */
static int points_each(const option_parameters *p) { return p->sampling.antithetic ? TOGETHER / 2 : TOGETHER; }

int option_ladder_parts(const option_parameters *p) {
  return (option_ladder_points(p) + points_each(p) - 1) / points_each(p);
}

int option_ladder_quantities(const option_parameters *p) {
  return 2 * option_ladder_points(p) * option_payoff_count(p);
}

double option_ladder_markets(const option_parameters *p) { return option_ladder_points(p) + option_ladder_parts(p); }

/* Parameters of part `part`: its points, and no Greeks. */
static option_parameters parameters_of(const option_parameters *p, int part) {
  option_parameters q = *p;
  const int each = points_each(p), left = option_ladder_points(p) - part * each;
  q.greeks = (option_greeks){.method = OPTION_AUTO};
  q.first_point = part * each;
  q.points = left < each ? left : each;
  return q;
}

int option_ladder_batch(const option_parameters *p, const option_ops *ops) {
  int batch = ops->batch(p);
  if (option_ladder_parts(p) == 0) return batch;
  const option_parameters q = parameters_of(p, 0); /* no other part has more points */
  const int own = ops->batch(&q);
  return own < batch ? own : batch;
}

double option_ladder_bytes(const option_parameters *p, const option_ops *ops, const sim_setup *setup) {
  const int parts = option_ladder_parts(p);
  const double batch = option_ladder_batch(p, ops), numbers = 8 + 4 * batch; /* of each quantity: see make in model.c */
  if (parts == 0) return 0;
  const option_parameters q = parameters_of(p, 0);
  return parts * ops->bytes(&q, setup) + (numbers * option_groups(p) * option_ladder_quantities(p) +
                                          4 * batch * option_groups(p) * option_quantities(&q, NULL)) *
                                             sizeof(double);
}

/* ---- samplers ---- */

sim_status option_ladder_create(option_run *run, const sim_setup *setup) {
  const option_parameters *p = run->parameters;
  const int parts = option_ladder_parts(p);
  if (parts == 0) return SIM_OK;
  run->part = calloc((size_t)parts, sizeof *run->part);
  if (run->part == NULL) return sim_no_memory("the ladder");
  size_t most = (size_t)run->told;
  for (; run->parts < parts; run->parts++) {
    option_ladder_part *part = &run->part[run->parts];
    part->p = parameters_of(p, run->parts);
    const size_t own = (size_t)option_quantities(&part->p, NULL);
    if (own > most) most = own;
    SIM_TRY(run->ops->create(&part->p, setup, &part->sampler));
  }
  const size_t numbers = most * (size_t)run->groups * (size_t)run->batch;
  run->part_mean = calloc(4 * numbers, sizeof *run->part_mean);
  run->part_squares = run->part_mean + numbers;
  run->part_tails = run->part_squares + numbers;
  return run->part_mean != NULL ? SIM_OK : sim_no_memory("the ladder");
}

void option_ladder_destroy(option_run *run) {
  for (int i = 0; i < run->parts; i++) run->ops->destroy(&run->part[i].sampler);
  free(run->part);
  free(run->part_mean);
}

/* Samples by one sampler, and copies its quantities from number `skip` on to those of the run from `to` on. */
static sim_status sample_part(option_run *run, option_sampler *sampler, int quantities, int skip, int to, int64_t first,
                              int64_t count) {
  SIM_TRY(run->ops->sample(sampler, first, count, run->part_mean, run->part_squares, run->part_tails));
  const int64_t blocks = (count + run->block - 1) / run->block;
  for (int64_t b = 0; b < blocks; b++) {
    const size_t bytes = (size_t)(quantities - skip) * sizeof(double);
    memcpy(run->block_mean + b * run->quantities + to, run->part_mean + b * quantities + skip, bytes);
    memcpy(run->block_squares + b * run->quantities + to, run->part_squares + b * quantities + skip, bytes);
    memcpy(run->block_tails + 2 * (b * run->quantities + to), run->part_tails + 2 * (b * quantities + skip), 2 * bytes);
  }
  return SIM_OK;
}

sim_status option_ladder_sample(option_run *run, int64_t first, int64_t count) {
  const int payoffs = option_payoff_count(run->parameters);
  int to = run->told;
  if (run->parts == 0)
    return run->ops->sample(run->sampler, first, count, run->block_mean, run->block_squares, run->block_tails);
  SIM_TRY(sample_part(run, run->sampler, run->told, 0, 0, first, count));
  for (int i = 0; i < run->parts; i++) {
    const int quantities = option_quantities(&run->part[i].p, NULL);
    SIM_TRY(sample_part(run, run->part[i].sampler, quantities, payoffs, to, first, count));
    to += quantities - payoffs;
  }
  return SIM_OK;
}

sim_status option_ladder_diverged(const option_run *run, const option_quantity *of) {
  const option_point point = option_ladder_point(run->parameters, of->point - 1);
  char name[OPTION_PAYOFF_NAME];
  option_payoff_name(run->parameters, of->payoff, name, sizeof name);
  return sim_fail(SIM_ERR_DIVERGED,
                  "ladder: at spot %+.6g, vol %+.6g, time %.6g %s, or a local volatility, is not a finite number of at "
                  "least 0 on a path: expected smaller shifts",
                  point.bump.spot, point.bump.vol, fabs(point.bump.maturity), name);
}

/* ---- results ---- */

typedef struct cell {
  double price, price_error, change, change_error;
} cell;

static cell cell_of(const option_run *run, double n, int point, int payoff) {
  const int payoffs = option_payoff_count(run->parameters), q = run->told + 2 * (point * payoffs + payoff);
  cell out = {option_mean(run, q), option_error(run, n, q), option_mean(run, q + 1), option_error(run, n, q + 1)};
  if (option_ladder_point(run->parameters, point).today) out.change = out.change_error = 0;
  return out;
}

/* Writes one line of prices and changes at all spots. */
static void report_line(const option_run *run, double n, int payoff, int first, bool change, sim_bytes *out) {
  char text[64];
  for (int s = 0; s < option_shift_count(&run->parameters->ladder.spot); s++) {
    const cell c = cell_of(run, n, first + s, payoff);
    option_cell_text(change ? c.change : c.price, change ? c.change_error : c.price_error, text, sizeof text);
    sim_bytes_format(out, " %-22s", text);
  }
  while (out->size > 0 && out->data[out->size - 1] == ' ') out->data[--out->size] = '\0';
  sim_bytes_text(out, "\n");
}

void option_ladder_report(const option_run *run, double n, sim_bytes *out) {
  enum { SHOWN = 64, ACROSS = 7 };
  const option_parameters *p = run->parameters;
  const option_ladder *l = &p->ladder;
  const int points = option_ladder_points(p), payoffs = option_payoff_count(p), spots = option_shift_count(&l->spot);
  char name[128];
  if (points == 0) return;
  sim_bytes_format(out, "ladder of %d points, in ladder.h5\n", points);
  if (points * payoffs > SHOWN || spots > ACROSS) return;
  for (int k = 0; k < payoffs; k++) {
    option_row_name(p, k, name, sizeof name);
    sim_bytes_format(out, "%-28s", payoffs > 1 ? name : "spot");
    for (int s = 0; s < spots; s++) {
      snprintf(name, sizeof name, "%+.6g", option_ladder_point(p, s).bump.spot + 0.);
      sim_bytes_format(out, s + 1 < spots ? " %-22s" : " %s", name);
    }
    sim_bytes_text(out, "\n");
    for (int at = 0; at < points; at += spots) {
      const option_point point = option_ladder_point(p, at);
      snprintf(name, sizeof name, "  vol %+.6g, time %.6g", point.bump.vol, fabs(point.bump.maturity));
      sim_bytes_format(out, "%-28s", name);
      report_line(run, n, k, at, false, out);
      sim_bytes_format(out, "%-28s", "    change");
      report_line(run, n, k, at, true, out);
    }
  }
}

sim_status option_dataset_room(option_run *run, size_t count) {
  enum { LABEL = 128 };
  const int payoffs = option_payoff_count(run->parameters);
  free(run->dataset);
  free(run->labels);
  run->dataset = calloc(count, sizeof *run->dataset);
  run->labels = calloc((size_t)payoffs, sizeof *run->labels + LABEL);
  if (run->dataset == NULL || run->labels == NULL) return sim_no_memory("a dataset");
  char *text = (char *)(run->labels + payoffs);
  for (int k = 0; k < payoffs; k++, text += LABEL) {
    option_row_name(run->parameters, k, text, LABEL);
    run->labels[k] = text;
  }
  return SIM_OK;
}

static sim_axis axis_of(const char *name, const char *doc, const char *unit, const sim_doubles *shifts) {
  static const double none = 0;
  return (sim_axis){.name = name,
                    .doc = doc,
                    .unit = unit,
                    .count = option_shift_count(shifts),
                    .values = shifts->rows > 0 ? shifts->data : &none};
}

sim_status option_ladder_dataset(option_run *run, double n, sim_dataset *out) {
  static const char *const names[4][2] = {{"price", "price of each payoff at each point"},
                                          {"price_error", "its standard error"},
                                          {"change", "price less today's, by differences on the same paths"},
                                          {"change_error", "its standard error"}};
  const option_ladder *l = &run->parameters->ladder;
  const int points = option_ladder_points(run->parameters), payoffs = option_payoff_count(run->parameters);
  const size_t each = (size_t)points * (size_t)payoffs;
  SIM_TRY(option_dataset_room(run, 4 * each));
  for (int k = 0; k < payoffs; k++)
    for (int i = 0; i < points; i++) {
      const cell c = cell_of(run, n, i, k);
      const double all[4] = {c.price, c.price_error, c.change, c.change_error};
      for (int v = 0; v < 4; v++) run->dataset[(size_t)v * each + (size_t)(k * points + i)] = all[v];
    }
  *out = (sim_dataset){.name = "ladder",
                       .doc = "ladder of scenarios: prices where spots, volatilities and today's date are shifted",
                       .axes = {{.name = "payoff", .doc = "payoff", .count = payoffs, .labels = run->labels},
                                axis_of("time", "how much later it is", "years", &l->time),
                                axis_of("vol", "shift of the volatility", NULL, &l->vol),
                                axis_of("spot", "shift of the spot as a share of it", "1", &l->spot)},
                       .axis_count = 4,
                       .variable_count = 4};
  for (int v = 0; v < 4; v++)
    out->variables[v] = (sim_variable){.name = names[v][0],
                                       .doc = names[v][1],
                                       .unit = "money of the run",
                                       .rank = 4,
                                       .axis = {0, 1, 2, 3},
                                       .data = run->dataset + (size_t)v * each};
  return SIM_OK;
}
