/* Exposures and adjustments from the values and payments of all paths. */
#include "kernels/option/exposure/book.h"

#include "engine/log.h"
#include "engine/reduce.h"
#include "kernels/option/scenario/integral.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = OPTION_CHUNK };

/* ---- adjustments ---- */

/* Adds the rectangle of the exposure after the payments of date i. Between two payments without a date there is no
 * coarser trapezoid: its distance from the trapezoid bounds the error of an exposure that rises or falls there. */
static void add_rectangle(const exposure_book *b, const double *alive, double lost, int i, int j,
                          exposure_weights *out) {
  out->after[i] += lost * (alive[i] - alive[j]) * exposure_discount(b, 0, b->step[i]);
}

/* Adds the trapezoid from date i to date j, of the discounted exposure after the payments of i and before those of j.
 */
static void add_trapezoid(const exposure_book *b, const double *alive, double lost, int i, int j,
                          exposure_weights *out) {
  const double died = alive[i] - alive[j];
  out->after[i] += lost * died / 2 * exposure_discount(b, 0, b->step[i]);
  out->before[j] += lost * died / 2 * exposure_discount(b, 0, b->step[j]);
}

/* Whether anything is paid at a date: its values before and after differ. */
static bool is_paid(const exposure_book *b, int date) {
  for (int k = 0; k < b->contracts; k++)
    if (b->contract[k].end == b->step[date]) return true;
  return false;
}

/* Chances of being alive at each step's end: alive[steps + 1]. */
static sim_status find_alive(const exposure_book *b, const char *name, const sim_expr *hazard, double *alive) {
  const int steps = b->market->steps;
  double all = 0;
  alive[0] = 1;
  SIM_TRY(option_integrate(name, hazard, OPTION_NOT_NEGATIVE, &b->market->grid, alive + 1, NULL));
  for (int s = 1; s <= steps; s++) {
    all += alive[s];
    alive[s] = exp(-all);
  }
  return SIM_OK;
}

/* Adds to the weight of date i the integral, over the chance of a default between dates `from` and from + 1, of the
 * polynomial that is 1 at date i and 0 at the other dates from `first` to `last`. The intensity is constant in a step;
 * two Gauss nodes a step, in the chance. */
static void add_polynomial(const exposure_book *b, const double *alive, double lost, int from, int first, int last,
                           double share, exposure_weights *out) {
  const double *time = b->market->grid.time;
  for (int i = first; i <= last; i++) {
    double sum = 0;
    for (int s = b->step[from]; s < b->step[from + 1]; s++) {
      const double died = alive[s] - alive[s + 1];
      for (int k = 0; k < 2 && died > 0; k++) {
        const double node = 0.21132486540518713 + 0.57735026918962573 * k, gone = died / alive[s];
        const double t = time[s] + (time[s + 1] - time[s]) * (log1p(-node * gone) / log1p(-gone));
        double value = died / 2;
        for (int j = first; j <= last; j++)
          if (j != i) value *= (t - time[b->step[j]]) / (time[b->step[i]] - time[b->step[j]]);
        sum += value;
      }
    }
    double *into = i == last ? out->before : out->after;
    into[i] += share * lost * sum * exposure_discount(b, 0, b->step[i]);
  }
}

/* The rules that are linear and parabolic in time, between dates `first` and `last` with payments at these alone; of a
 * parabola the mean of both that there are in an interval. */
static void add_in_time(const exposure_book *b, const double *alive, double lost, int first, int last,
                        exposure_weights *out) {
  for (int i = first; i < last; i++) {
    const int before = i > first, after = i + 2 <= last;
    add_polynomial(b, alive, lost, i, i, i + 1, 1, &out[EXPOSURE_LINEAR]);
    if (before) add_polynomial(b, alive, lost, i, i - 1, i + 1, after ? 0.5 : 1, &out[EXPOSURE_PARABOLAS]);
    if (after) add_polynomial(b, alive, lost, i, i, i + 2, before ? 0.5 : 1, &out[EXPOSURE_PARABOLAS]);
    if (!before && !after) add_polynomial(b, alive, lost, i, i, i + 1, 1, &out[EXPOSURE_PARABOLAS]);
  }
}

static void set_weights(const exposure_book *b, const double *all, double lost, exposure_weights *out) {
  double alive[OPTION_EXPOSURES_MAX];
  for (int d = 0; d < b->dates; d++) alive[d] = all[b->step[d]];
  int kept = 0, paid = 0; /* last dates that the coarse rule has, and with payments */
  for (int d = 1; d < b->dates; d++) {
    const bool ends = d + 1 == b->dates || is_paid(b, d);
    add_trapezoid(b, alive, lost, d - 1, d, &out[EXPOSURE_TRAPEZOID]);
    if (ends) {
      add_in_time(b, all, lost, paid, d, out);
      paid = d;
    }
    if (d - kept < 2 && !ends) continue;
    if (d - kept < 2)
      add_rectangle(b, alive, lost, kept, d, &out[EXPOSURE_COARSE]);
    else
      add_trapezoid(b, alive, lost, kept, d, &out[EXPOSURE_COARSE]);
    kept = d;
  }
}

sim_status option_exposure_weights_create(const exposure_book *b, const char *name, const sim_expr *hazard,
                                          double recovery, exposure_weights out[EXPOSURE_RULES]) {
  memset(out, 0, EXPOSURE_RULES * sizeof *out);
  if (hazard == NULL) return SIM_OK;
  double *alive = calloc((size_t)b->market->steps + 1, sizeof *alive);
  if (alive == NULL) return sim_no_memory("the exposure");
  const sim_status status = find_alive(b, name, hazard, alive);
  if (status == SIM_OK) set_weights(b, alive, 1 - recovery, out);
  free(alive);
  return status;
}

/* ---- one date ---- */

typedef struct moments {
  double mean, error;
} moments;

/* Mean and standard error; overwrites x[count], with squares in room[count]. */
static moments moments_of(double *x, double *room, size_t count) {
  const double n = (double)count, shift = x[0];
  for (size_t i = 0; i < count; i++) {
    x[i] -= shift;
    room[i] = x[i] * x[i];
  }
  const double mean = sim_reduce_tree(x, count) / n, squares = sim_reduce_tree(room, count) / n;
  return (moments){shift + mean, sqrt(fmax(squares - mean * mean, 0) / (n - 1))};
}

typedef struct ranked {
  double value, paid;
  size_t path; /* the order of equal values must not depend on what is paid */
} ranked;

static int by_value(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->value != y->value) return x->value > y->value ? 1 : -1;
  return (x->path > y->path) - (x->path < y->path);
}

/* The quantile of sorted paths, and its error. */
static void set_quantile(const ranked *path, size_t count, double q, double *room, option_exposure_row *out) {
  const double n = (double)count, spread = sqrt(n * q * (1 - q));
  const size_t at = (size_t)fmin(fmax(ceil(q * n) - 1, 0), n - 1);
  const size_t low = (size_t)fmax((double)at - spread, 0), high = (size_t)fmin((double)at + spread, n - 1);
  const double near = fmax(n * fmin(q, 1 - q) / 4, 16);
  const size_t from = (size_t)fmax((double)at - near, 0), to = (size_t)fmin((double)at + near, n - 1);
  const size_t window = to - from + 1;
  for (size_t i = 0; i < window; i++) room[i] = path[from + i].paid - path[from + i].value;
  const moments off = moments_of(room, room + window, window);
  out->pfe = path[at].value;
  out->pfe_error = hypot((path[high].value - path[low].value) / 2, fmax(fabs(off.mean), off.error));
}

/* Rounding of fp64 paths: see option_error. */
static double at_least(double error, double size) { return fmax(error, 0x1p-40 * fabs(size)); }

/* Whether the value of each contract at a date is a formula, or known on each path. */
static bool all_known(const exposure_book *b, int date) {
  for (int k = 0; k < b->contracts; k++)
    if (b->step[date] < b->contract[k].end && !b->contract[k].known) return false;
  return true;
}

/* Sets the errors of the written values of a date to the distance of payments from values in the mean of the paths of
 * about the same value, where it is above 4 of its standard errors: what the functions of a regression cannot follow.
 * path[count]: sorted by value. */
static void set_errors(const exposure_book *b, int date, const ranked *path, size_t count, double *room,
                       double *error) {
  const size_t most = 64, least = 256; /* groups, and paths of one */
  const size_t groups = count / least < most ? count / least : most;
  if (error == NULL || b->step[date] == 0 || all_known(b, date)) return;
  for (size_t g = 0; g < groups; g++) {
    const size_t from = count * g / groups, to = count * (g + 1) / groups;
    for (size_t i = from; i < to; i++) room[i - from] = path[i].paid - path[i].value;
    const moments off = moments_of(room, room + (to - from), to - from);
    for (size_t i = from; i < to && fabs(off.mean) > 4 * off.error; i++)
      if (path[i].path < (size_t)b->p.exposure.values)
        error[path[i].path * (size_t)b->dates + (size_t)date] = fabs(off.mean);
  }
}

static void summarise_date(const exposure_book *b, const double *numbers, int chunks, int date, ranked *path,
                           double *room, double *error, option_exposure_row *out) {
  const size_t each = (size_t)(2 * b->dates + EXPOSURE_EXTRAS) * CHUNK, count = (size_t)chunks * CHUNK;
  double largest = 0;
  for (size_t i = 0; i < count; i++) {
    const double *from = numbers + i / CHUNK * each + i % CHUNK;
    path[i] = (ranked){from[(size_t)date * CHUNK], from[(size_t)(b->dates + date) * CHUNK], i};
  }
  moments side[2], plain[2];
  for (int k = 0; k < 2; k++) {
    const double sign = k == 0 ? 1 : -1;
    for (size_t i = 0; i < count; i++) room[i] = sign * path[i].value > 0 ? sign * path[i].paid : 0;
    side[k] = moments_of(room, room + count, count);
    for (size_t i = 0; i < count; i++) room[i] = sign * path[i].value > 0 ? sign * (path[i].value - path[i].paid) : 0;
    plain[k] = moments_of(room, room + count, count);
    largest = fmax(largest, fabs(side[k].mean));
  }
  *out = (option_exposure_row){.time = b->market->grid.time[b->step[date]],
                               .epe = side[0].mean,
                               .epe_error = at_least(side[0].error, largest),
                               .ene = side[1].mean,
                               .ene_error = at_least(side[1].error, largest)};
  qsort(path, count, sizeof *path, by_value);
  set_errors(b, date, path, count, room, error);
  if (b->step[date] > 0) {
    set_quantile(path, count, b->p.exposure.quantile, room, out);
  } else { /* one value */
    out->pfe = out->epe - out->ene;
    out->pfe_error = fmax(out->epe_error, out->ene_error);
  }
  out->pfe_error = at_least(out->pfe_error, out->pfe);
  for (int k = 0; k < 2 && b->step[date] > 0; k++)
    if (fabs(plain[k].mean) > 5 * plain[k].error && fabs(plain[k].mean) > 0.02 * largest)
      sim_log(
          SIM_LOG_WARN,
          "exposure: at t = %.6g the values by regression differ by %.2g from the payments, in the mean where the book "
          "is %s: %s is the mean of the payments; the error of the PFE includes the difference near it. More "
          "exposure.fit_paths may help",
          out->time, plain[k].mean, k == 0 ? "positive" : "negative", k == 0 ? "EPE" : "ENE");
}

/* An adjustment and its error: of the paths, and of the trapezoid between dates. Halved intervals lower the latter by
 * at least 2^1.5, that of an exposure which begins as the root of time; with few dates that estimate alone may be far
 * too small, where errors of intervals cancel. The two other rules have errors of other signs. */
static void set_adjustment(const exposure_book *b, const double *numbers, int chunks, int first, double *room,
                           double *value, double *error) {
  const size_t each = (size_t)(2 * b->dates + EXPOSURE_EXTRAS) * CHUNK, count = (size_t)chunks * CHUNK;
  moments of[EXPOSURE_RULES];
  for (int k = 0; k < EXPOSURE_RULES; k++) {
    for (size_t i = 0; i < count; i++)
      room[i] = numbers[i / CHUNK * each + (size_t)(2 * b->dates + first + k) * CHUNK + i % CHUNK];
    of[k] = moments_of(room, room + count, count);
  }
  const double mean = of[EXPOSURE_TRAPEZOID].mean, paths = of[EXPOSURE_TRAPEZOID].error;
  double squares = paths * paths;
  for (int k = EXPOSURE_COARSE; k < EXPOSURE_RULES; k++) {
    const double off = (of[k].mean - mean) / (k == EXPOSURE_COARSE ? 1.8 : 1);
    squares += off * off;
  }
  *value = mean;
  *error = at_least(sqrt(squares), mean);
}

/* Numbers beyond the range: of huge quantities, payments or prices. */
static sim_status check_finite(const exposure_book *b, const option_exposures *of) {
  const option_exposure *e = &b->p.exposure;
  double sum = e->hazard != NULL ? of->cva + of->cva_error : 0;
  if (e->own_hazard != NULL) sum += of->dva + of->dva_error;
  for (int d = 0; d < b->dates && isfinite(sum); d++) {
    const option_exposure_row *row = &of->row[d];
    sum = row->epe + row->epe_error + row->ene + row->ene_error + row->pfe + row->pfe_error;
  }
  return isfinite(sum) ? SIM_OK
                       : sim_fail(SIM_ERR_DIVERGED,
                                  "exposure: EPE, ENE, PFE, CVA, DVA or an error is not a finite number: expected "
                                  "smaller exposure.quantities, or another unit of money");
}

sim_status option_exposure_summarise(const exposure_book *b, const double *numbers, int chunks, option_exposures *out) {
  const size_t count = (size_t)chunks * CHUNK;
  const option_exposure *e = &b->p.exposure;
  double *room = calloc(2 * count, sizeof *room);
  ranked *path = calloc(count, sizeof *path);
  out->cva = out->cva_error = out->dva = out->dva_error = NAN;
  if (room != NULL && path != NULL) {
    for (int d = 0; d < b->dates; d++) summarise_date(b, numbers, chunks, d, path, room, out->error, &out->row[d]);
    if (e->hazard != NULL) set_adjustment(b, numbers, chunks, EXPOSURE_CVA, room, &out->cva, &out->cva_error);
    if (e->own_hazard != NULL) set_adjustment(b, numbers, chunks, EXPOSURE_DVA, room, &out->dva, &out->dva_error);
  }
  const sim_status status = room != NULL && path != NULL ? check_finite(b, out) : sim_no_memory("the exposure");
  free(room);
  free(path);
  return status;
}
