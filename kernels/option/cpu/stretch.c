/* Greeks by differences with longer steps, for result/jumps.c, and with shorter ones, for result/steps.c. */
#include "kernels/option/cpu/stretch.h"

#include "kernels/option/cpu/sampler.h"
#include "kernels/option/payoff/exercise.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

/* Whether the markets of all deltas fit beside those of the wanted Greeks. */
static bool has_room_for_delta(const option_parameters *p) {
  const int assets = (int)p->assets.count, signs = p->sampling.antithetic ? 2 : 1;
  int markets = 1 + 2 * assets;
  for (int g = OPTION_GAMMA; g < OPTION_GREEKS; g++)
    if (p->greeks.want[g] && option_greek_is_controlled(g)) markets += 2 * option_greek_count(p, g);
  return markets * signs <= OPTION_MARKETS_MAX;
}

static void make_plain(option_sampling *s) {
  s->sequence = OPTION_PHILOX;
  s->generator = OPTION_PHILOX4X32;
  s->moment_matching = false;
  s->control = OPTION_NO_CONTROL;
}

/* The scenario's function, alone where no dates of named payoffs make the steps; from pseudo-random numbers without
 * control. */
static option_parameters of_function(const option_parameters *p, double stretch) {
  option_parameters q = *p;
  make_plain(&q.sampling);
  if (!option_is_dated(p)) q.payoffs.count = 0;
  q.greeks.stretch = stretch;
  q.greeks.method = OPTION_BUMP;
  q.greeks.want[OPTION_DELTA] |= has_room_for_delta(p);
  return q;
}

static double sample_of(const option_sampler *s, const option_workspace *room, const option_combination *c, int i) {
  const int signs = s->estimate.signs, outputs = s->estimate.graph.outputs;
  double sum = 0;
  for (int t = 0; t < c->terms; t++)
    for (int sign = 0; sign < signs; sign++) {
      const void *from = room->outputs[(c->term[t].market * signs + sign) * outputs + c->term[t].output];
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
    const double x = sample_of(s, &s->workspaces[0], c, i), d = x - c->shift;
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

static sim_status make_sampler(const option_parameters *q, int threads, option_sampler **out) {
  const sim_setup setup = {
      .backend = &sim_backend_cpu, .comm = &sim_comm_alone, .isa = sim_isa_best(), .threads = threads, .folder = ""};
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
  SIM_TRY(make_sampler(&q, 1, &s));
  const int results = sim_expr_output_count(p->payoff);
  double *sample = calloc((size_t)results, OPTION_STRETCH_PATHS * sizeof *sample);
  for (int done = 0; sample != NULL && done < OPTION_STRETCH_PATHS; done += OPTION_CHUNK) {
    (void)option_simulate(s, &s->workspaces[0], OPTION_PILOT_FIRST + OPTION_PILOT + (uint64_t)done, OPTION_CHUNK);
    for (int k = 0; k < results; k++)
      for (int i = 0; i < OPTION_CHUNK; i++)
        sample[k * OPTION_STRETCH_PATHS + done + i] = sample_of(s, &s->workspaces[0], &s->estimate.combination[k], i);
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
  SIM_TRY(make_sampler(&q, 1, &s));
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

/* ---- half as long steps ---- */

enum { FIT_PATHS = 8192 }; /* the step's error hardly depends on the rule */

/* The scenario with rules from few paths, and those Greeks alone that are derivatives by a spot. */
typedef struct plain_book {
  option_parameters p;
  sim_item items[OPTION_PAYOFFS_MAX];
  option_payoff early[OPTION_PAYOFFS_MAX];
} plain_book;

static void make_book(const option_parameters *p, double stretch, plain_book *out) {
  out->p = *p;
  make_plain(&out->p.sampling);
  out->p.greeks.stretch = stretch;
  for (int g = 0; g < OPTION_GREEKS; g++) out->p.greeks.want[g] = p->greeks.want[g] && option_greek_by_spot(g);
  out->p.payoffs.items = out->items;
  for (size_t i = 0; i < p->payoffs.count; i++) {
    out->items[i] = p->payoffs.items[i];
    if (out->items[i].schema != &option_american_schema) continue;
    out->early[i] = *(const option_payoff *)p->payoffs.items[i].data;
    if (out->early[i].fit_paths > FIT_PATHS) out->early[i].fit_paths = FIT_PATHS;
    out->items[i].data = &out->early[i];
  }
}

enum { GROUP = 64, GROUPS = OPTION_CHUNK / GROUP };

/* Means of all quantities over each group of samples of a chunk: out[GROUPS][quantities]. */
static void find_group_means(const option_sampler *s, const option_workspace *room, double *out) {
  for (int g = 0; g < GROUPS; g++)
    for (int k = 0; k < s->estimate.quantities; k++) {
      double sum = 0;
      for (int i = g * GROUP; i < (g + 1) * GROUP; i++) sum += sample_of(s, room, &s->estimate.combination[k], i);
      out[g * s->estimate.quantities + k] = sum / GROUP;
    }
}

/* The same of all chunks, with steps `stretch` times as long: out[chunks][GROUPS][quantities]. */
static sim_status find_means(const option_parameters *p, double stretch, int threads, int chunks, double *out) {
  plain_book *book = calloc(1, sizeof *book);
  option_sampler *s = NULL;
  if (book == NULL) return sim_no_memory("the greeks");
  make_book(p, stretch, book);
  const sim_status status = make_sampler(&book->p, threads, &s);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (int c = 0; c < (status == SIM_OK ? chunks : 0); c++) {
    const option_workspace *room = &s->workspaces[omp_get_thread_num()];
    (void)option_simulate(s, room, OPTION_PILOT_FIRST + OPTION_PILOT + (uint64_t)c * OPTION_CHUNK, OPTION_CHUNK);
    find_group_means(s, room, out + (size_t)c * GROUPS * (size_t)s->estimate.quantities);
  }
  if (s != NULL) option_ops_cpu.destroy(&s);
  free(book);
  return status;
}

/* Numbers of the run's quantities that a plain book has, in its order: of the prices and the Greeks by a spot. Returns
 * their count; out[option_quantities], owned by the caller; NULL: no memory. */
static size_t list_compared(const option_parameters *p, size_t **out) {
  const size_t most = (size_t)option_quantities(p, NULL);
  option_quantity *quantity = calloc(most, sizeof *quantity);
  size_t count = 0, *number = calloc(most, sizeof *number);
  if (quantity == NULL) free(number), number = NULL;
  if (number != NULL) (void)option_quantities(p, quantity);
  for (size_t q = 0; q < (number != NULL ? most : 0); q++)
    if (quantity[q].greek < 0 || option_greek_by_spot(quantity[q].greek)) number[count++] = q;
  free(quantity);
  *out = number;
  return count;
}

sim_status option_halve_steps(const option_parameters *p, int threads, int chunks, option_halved *out) {
  size_t *number;
  const size_t count = list_compared(p, &number), groups = (size_t)chunks * GROUPS;
  double *whole = calloc(2 * groups * count, sizeof *whole), *half = whole + groups * count;
  sim_status status = number != NULL && whole != NULL ? SIM_OK : sim_no_memory("the greeks");
  if (status == SIM_OK) status = find_means(p, 1, threads, chunks, whole);
  if (status == SIM_OK) status = find_means(p, 0.5, threads, chunks, half);
  for (size_t k = 0; k < count && status == SIM_OK; k++) {
    const double n = (double)groups;
    option_halved *of = &out[number[k]];
    double squares = 0;
    for (size_t i = k; i < groups * count; i += count) {
      of->whole += whole[i] / n;
      of->half += half[i] / n;
      squares += pow(whole[i] - half[i], 2) / n;
    }
    of->error = sqrt(fmax(squares - pow(of->whole - of->half, 2), 0) / (n - 1));
  }
  free(whole);
  free(number);
  return status;
}
