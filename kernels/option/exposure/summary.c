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

sim_status option_exposure_weights_create(const exposure_book *b, const char *name, const sim_expr *hazard,
                                          double recovery, exposure_weights out[2]) {
  double alive[OPTION_EXPOSURES_MAX];
  memset(out, 0, 2 * sizeof *out);
  if (hazard == NULL) return SIM_OK;
  double *sum = calloc((size_t)b->market->steps + 1, sizeof *sum);
  if (sum == NULL) return sim_no_memory("the exposure");
  const sim_status status = option_integrate(name, hazard, OPTION_NOT_NEGATIVE, &b->market->grid, sum, NULL);
  double all = 0;
  for (int s = 0, d = 0; s <= b->market->steps && d < b->dates; s++) {
    if (s > 0) all += sum[s - 1];
    if (s == b->step[d]) alive[d++] = exp(-all);
  }
  free(sum);
  SIM_TRY(status);
  int kept = 0; /* last date that the coarse one has */
  for (int d = 1; d < b->dates; d++) {
    add_trapezoid(b, alive, 1 - recovery, d - 1, d, &out[0]);
    if (d - kept < 2 && d + 1 < b->dates && !is_paid(b, d)) continue;
    if (d - kept < 2)
      add_rectangle(b, alive, 1 - recovery, kept, d, &out[1]);
    else
      add_trapezoid(b, alive, 1 - recovery, kept, d, &out[1]);
    kept = d;
  }
  return SIM_OK;
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

static void summarise_date(const exposure_book *b, const double *numbers, int chunks, int date, ranked *path,
                           double *room, option_exposure_row *out) {
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

/* An adjustment and its error: of the paths, and of the trapezoid. Halved intervals lower the error of a trapezoid by
 * at least 2^1.5, that of an exposure which begins as the root of time. */
static void set_adjustment(const exposure_book *b, const double *numbers, int chunks, int fine, double *room,
                           double *value, double *error) {
  const size_t each = (size_t)(2 * b->dates + EXPOSURE_EXTRAS) * CHUNK, count = (size_t)chunks * CHUNK;
  moments of[2];
  for (int k = 0; k < 2; k++) {
    for (size_t i = 0; i < count; i++)
      room[i] = numbers[i / CHUNK * each + (size_t)(2 * b->dates + fine + k) * CHUNK + i % CHUNK];
    of[k] = moments_of(room, room + count, count);
  }
  *value = of[0].mean;
  *error = at_least(hypot(of[0].error, (of[1].mean - of[0].mean) / 1.8), of[0].mean);
}

sim_status option_exposure_summarise(const exposure_book *b, const double *numbers, int chunks, option_exposures *out) {
  const size_t count = (size_t)chunks * CHUNK;
  const option_exposure *e = &b->p.exposure;
  double *room = calloc(2 * count, sizeof *room);
  ranked *path = calloc(count, sizeof *path);
  *out = (option_exposures){.cva = NAN, .cva_error = NAN, .dva = NAN, .dva_error = NAN};
  if (room != NULL && path != NULL) {
    for (int d = 0; d < b->dates; d++) summarise_date(b, numbers, chunks, d, path, room, &out->row[d]);
    if (e->hazard != NULL) set_adjustment(b, numbers, chunks, EXPOSURE_CVA, room, &out->cva, &out->cva_error);
    if (e->own_hazard != NULL) set_adjustment(b, numbers, chunks, EXPOSURE_DVA, room, &out->dva, &out->dva_error);
  }
  const sim_status status = room != NULL && path != NULL ? SIM_OK : sim_no_memory("the exposure");
  free(room);
  free(path);
  return status;
}
