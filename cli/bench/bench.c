/* sim bench: measures ceilings, then every model's rows at three sizes on the devices of this machine; with --scaling,
 * how the time of a step grows over four decades of size; or the steps of one scenario. */
#include "cli/bench/bench.h"
#include "cli/prepare.h"

#include <math.h>
#include <omp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { PLACES_MAX = 3, RESULTS_MAX = 256, FITS_MAX = 16 };

/* A device with a number of threads. */
typedef struct place {
  const char *device; /* value of --device */
  sim_backend_kind kind;
  int threads;
  char name[256];
  sim_ceilings ceilings;
} place;

typedef struct fit {
  const bench_result *first; /* the first of its results */
  size_t count;
  double all, upper; /* exponents over all sizes, and over the upper two decades */
} fit;

typedef struct bench {
  const cli_options *options;
  bench_pace pace;
  place places[PLACES_MAX];
  size_t place_count;
  bench_result results[RESULTS_MAX];
  size_t result_place[RESULTS_MAX], result_count;
  fit fits[FITS_MAX];
  size_t fit_count;
  bool json;
} bench;

/* ---- names ---- */

static bool wanted(const cli_options *o, const char *model) {
  for (int i = 0; i < o->target_count; i++)
    if (strcmp(o->targets[i], model) == 0) return true;
  return o->target_count == 0;
}

/* Whether the target is a scenario file: names of models contain neither . nor /. */
bool cli_bench_is_scenario(const cli_options *o) { return o->target_count == 1 && strpbrk(o->target, "./"); }

static sim_status check_scenario(const cli_options *o) {
  if (o->quick || o->json || (o->scaling && o->ranks == 0))
    return sim_fail(SIM_ERR_USAGE, "--quick, --json, and --scaling without --ranks or --gpus, are for rows of models, "
                                   "not for a scenario");
  if ((o->warm < 0) != (o->steps == 0))
    return sim_fail(SIM_ERR_USAGE, "--warm and --steps: expected both of them or none");
  return SIM_OK;
}

static sim_status check_models(const cli_options *o) {
  if (o->sets[0] || o->precision || o->warm >= 0 || o->steps)
    return sim_fail(SIM_ERR_USAGE, "--set, --precision, --warm and --steps are for a scenario, not for rows of models");
  const char *names[32] = {NULL};
  size_t count = 0;
  for (const sim_model *const *model = sim_models; *model && count < 32; model++)
    if ((*model)->bench) names[count++] = (*model)->name;
  for (int k = 0; k < o->target_count; k++) {
    const char *name = o->targets[k], *nearest = sim_nearest(name, names, count);
    bool known = false;
    for (size_t i = 0; i < count; i++) known |= strcmp(name, names[i]) == 0;
    if (known) continue;
    char all[256] = "";
    for (size_t i = 0; i < count; i++)
      snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", names[i]);
    return sim_fail(SIM_ERR_USAGE, "no rows of a model '%s'%s%s; sim bench has rows of %s", name,
                    nearest ? ", nearest is " : "", nearest ? nearest : "", all);
  }
  return SIM_OK;
}

sim_status cli_bench_check(const cli_options *options) {
  return cli_bench_is_scenario(options) ? check_scenario(options) : check_models(options);
}

static void place_text(const place *p, char *out, size_t capacity) {
  if (p->kind == SIM_BACKEND_CPU)
    snprintf(out, capacity, "cpu, %d thread%s", p->threads, p->threads == 1 ? "" : "s");
  else
    snprintf(out, capacity, "gpu");
}

/* ---- devices ---- */

static void add_cpu(bench *b, int threads) {
  place *p = &b->places[b->place_count++];
  *p = (place){.device = "cpu", .kind = SIM_BACKEND_CPU, .threads = threads};
  sim_backend_cpu.describe(p->name, sizeof p->name);
}

/* Lists the devices for --device: "auto" means all of them, the CPU with one thread and with all. */
static sim_status find_places(bench *b) {
  const cli_options *o = b->options;
  const bool automatic = strcmp(o->device, "auto") == 0;
  const cli_scheduler scheduler = cli_scheduler_find();
  const char *limit;
  const int cores = cli_scheduler_cores(&scheduler, 0, 1, false, &limit), most = omp_get_max_threads();
  const int all = o->threads ? o->threads : most < cores ? most : cores;
  if (automatic || strcmp(o->device, "cpu") == 0) {
    if (all > 1 && !o->threads && !o->scaling) add_cpu(b, 1);
    add_cpu(b, all);
  }
  for (const sim_backend *const *backend = sim_backends; *backend; backend++) {
    if ((*backend)->kind != SIM_BACKEND_CUDA || strcmp(o->device, "cpu") == 0) continue;
    if (automatic && (*backend)->unavailable()) continue;
    place *p = &b->places[b->place_count];
    const sim_backend *opened;
    *p = (place){.device = automatic ? "cuda" : o->device, .kind = SIM_BACKEND_CUDA, .threads = all};
    SIM_TRY(sim_backend_select(p->device, &opened));
    opened->describe(p->name, sizeof p->name);
    b->place_count++;
  }
  return b->place_count ? SIM_OK : sim_fail(SIM_ERR_NO_DEVICE, "--device %s: not in this build", o->device);
}

/* ---- ceilings ---- */

static sim_status measure_ceilings(bench *b, place *p) {
#ifdef SIM_HAS_CUDA
  if (p->kind == SIM_BACKEND_CUDA) return sim_ceilings_cuda(b->pace.ceiling, &p->ceilings);
#endif
  SIM_TRY(sim_ceilings_cpu(b->options->isa, p->threads, b->pace.ceiling, &p->ceilings));
  return cli_bench_fft(b->options->isa, p->threads, b->pace.ceiling, &p->ceilings.fft);
}

typedef struct ceiling_row {
  const char *key, *what, *unit;
  size_t offset;
  double scale;
} ceiling_row;

#define ROW(key, what, unit, scale)                                                                                    \
  { #key, what, unit, offsetof(sim_ceilings, key), scale }
static const ceiling_row ceiling_rows[] = {
    ROW(copy, "copy, read + write", "GB/s", 1e-9), ROW(fma32, "fp32 multiply-adds", "G/s", 1e-9),
    ROW(fma64, "fp64 multiply-adds", "G/s", 1e-9), ROW(rsqrt, "fp32 1/sqrt estimates", "G/s", 1e-9),
    ROW(fft, "fp32 transforms", "GFLOP/s", 1e-9),  ROW(host_copy, "copy to the host", "GB/s", 1e-9),
    ROW(launch, "a kernel's launch", "us", 1e6),
};
enum { CEILING_ROWS = sizeof ceiling_rows / sizeof ceiling_rows[0] };

static double ceiling_value(const place *p, const ceiling_row *row) {
  double value;
  memcpy(&value, (const char *)&p->ceilings + row->offset, sizeof value);
  return value;
}

static void print_ceilings(const bench *b) {
  char text[64];
  for (size_t i = 0; i < b->place_count; i++)
    if (i == 0 || strcmp(b->places[i].name, b->places[i - 1].name) != 0)
      printf("%-26s %s\n", b->places[i].kind == SIM_BACKEND_CPU ? "cpu" : "gpu", b->places[i].name);
  printf("%-26s %s\n", "instruction set (cpu)", sim_isa_name(b->options->isa));
  if (b->options->scaling) return;
  printf("\n%-26s", "ceilings");
  for (size_t i = 0; i < b->place_count; i++) {
    place_text(&b->places[i], text, sizeof text);
    printf(" %16s", text);
  }
  puts("");
  for (int r = 0; r < CEILING_ROWS; r++) {
    printf("%-26s", ceiling_rows[r].what);
    for (size_t i = 0; i < b->place_count; i++) {
      const double value = ceiling_value(&b->places[i], &ceiling_rows[r]) * ceiling_rows[r].scale;
      if (isnan(value))
        printf(" %16s", "-");
      else
        printf(" %16.4g", value);
    }
    printf("  %s\n", ceiling_rows[r].unit);
  }
}

static double ceiling_of(const place *p, const sim_bench_cost *cost) {
  const double limits[SIM_LIMITS] = {
      [SIM_LIMIT_BYTES] = p->ceilings.copy, [SIM_LIMIT_FP32] = p->ceilings.fma32, [SIM_LIMIT_FP64] = p->ceilings.fma64};
  return cost->amount > 0 ? limits[cost->limit] : NAN;
}

static const char *const limit_keys[] = {
    [SIM_LIMIT_BYTES] = "copy", [SIM_LIMIT_FP32] = "fma32", [SIM_LIMIT_FP64] = "fma64"};
static const char *const limit_units[] = {
    [SIM_LIMIT_BYTES] = "B", [SIM_LIMIT_FP32] = "fp32 instructions", [SIM_LIMIT_FP64] = "fp64 instructions"};

/* ---- rows ---- */

static void print_head(const bench *b) {
  if (!b->json) printf("\n%-41s %9s %13s   %-17s %-17s %s\n", "", "", "a second", "spread", "a step", "of the ceiling");
}

static void print_result(const bench_result *r, const place *p, bool scaling) {
  char where[64], step[32], spread[32];
  place_text(p, where, sizeof where);
  snprintf(step, sizeof step, "%.4g ms", 1e3 * r->step);
  snprintf(spread, sizeof spread, "-%.1f +%.1f %%", 100 * (1 - r->least / r->median), 100 * (r->most / r->median - 1));
  const char *size = scaling && r->row->grows ? r->row->grown : r->row->size;
  printf("  %-15s %9d %-14s %13.4g   %-17s %-17s", where, r->n, size, r->median, spread, step);
  if (r->cost.amount > 0 && !isnan(r->share))
    printf(" %3.0f %% (%g %s)", 100 * r->share, r->cost.amount, limit_units[r->cost.limit]);
  puts("");
  fflush(stdout);
}

/* Times one size; a size that does not fit into memory is skipped with a warning. */
static sim_status one(bench *b, const sim_model *model, const sim_bench *row, size_t at, int n) {
  const place *p = &b->places[at];
  bench_result *r = &b->results[b->result_count];
  if (b->result_count == RESULTS_MAX) return sim_fail(SIM_ERR_INTERNAL, "more than %d results", RESULTS_MAX);
  sim_status status = cli_bench_time(model, row, b->options, p->device, p->threads, n, &b->pace, r);
  if (status == SIM_ERR_NO_MEMORY) {
    sim_log(SIM_LOG_WARN, "%s, %d %s: %s", model->name, n, row->size, sim_error_last()->message);
    sim_error_clear();
    return SIM_OK;
  }
  SIM_TRY(status);
  if (!b->options->scaling) r->share = r->median * r->cost.amount / ceiling_of(p, &r->cost);
  b->result_place[b->result_count++] = at;
  if (!b->json) print_result(r, p, b->options->scaling);
  return SIM_OK;
}

/* Least-squares slope of ln(seconds per step) over ln(size), for sizes of at least `least`. */
static double slope(const bench_result *r, size_t count, double least) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (size_t i = 0; i < count; i++) {
    const double size = pow(r[i].n, r[i].row->power), x = log(size), y = log(r[i].step);
    if (size < least) continue;
    n++, sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return n < 2 ? NAN : (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

static sim_status scaling(bench *b, const sim_model *model, const sim_bench *row, size_t at) {
  const sim_bench_sizes *s = &row->sizes[b->places[at].kind];
  const size_t first = b->result_count;
  /* --quick: two decades fewer */
  const double to = b->options->quick ? s->scaling.to / pow(100, 1.0 / row->power) : s->scaling.to;
  for (double n = s->scaling.from; n < 1.01 * to; n *= s->scaling.factor)
    SIM_TRY(one(b, model, row, at, (int)lround(n)));
  if (b->result_count == first || b->fit_count == FITS_MAX) return SIM_OK;
  fit *f = &b->fits[b->fit_count++];
  f->first = &b->results[first];
  f->count = b->result_count - first;
  const bench_result *last = &b->results[b->result_count - 1];
  f->all = slope(f->first, f->count, 0);
  f->upper = slope(f->first, f->count, 0.0099 * pow(last->n, row->power));
  if (!b->json)
    printf("  time of a step as N^%.2f; over the upper two decades N^%.2f (N: %s)\n", f->all, f->upper,
           row->power == 3 ? "cells"
           : row->grows    ? row->grown
                           : row->size);
  return SIM_OK;
}

static sim_status time_row(bench *b, const sim_model *model, const sim_bench *row) {
  if (!b->json) printf("%s: %s (%s)\n", model->name, row->title, model->work_unit);
  for (size_t at = 0; at < b->place_count; at++) {
    const sim_backend_kind kind = b->places[at].kind;
    if (!sim_model_runs(model, kind, NULL) || row->sizes[kind].usual[0] == 0) continue;
    if (b->options->scaling) {
      SIM_TRY(scaling(b, model, row, at));
      continue;
    }
    const int *sizes = b->options->quick ? row->sizes[kind].quick : row->sizes[kind].usual;
    for (int i = 0; i < SIM_BENCH_SIZES; i++) SIM_TRY(one(b, model, row, at, sizes[i]));
  }
  return SIM_OK;
}

static sim_status time_rows(bench *b) {
  for (const sim_model *const *model = sim_models; *model; model++)
    for (const sim_bench *row = (*model)->bench; row && row->title && wanted(b->options, (*model)->name); row++)
      SIM_TRY(time_row(b, *model, row));
  return SIM_OK;
}

/* ---- JSON ---- */

static void json_number(sim_bytes *out, const char *key, double value) {
  if (isfinite(value))
    sim_bytes_format(out, ", \"%s\": %.6g", key, value);
  else
    sim_bytes_format(out, ", \"%s\": null", key);
}

static void json_place(sim_bytes *out, const bench *b, const place *p) {
  sim_bytes_format(out, "{\"device\": \"%s\", \"threads\": %d, \"name\": ", p->kind == SIM_BACKEND_CPU ? "cpu" : "cuda",
                   p->threads);
  sim_bytes_json_string(out, p->name, strlen(p->name));
  if (p->kind == SIM_BACKEND_CPU) sim_bytes_format(out, ", \"isa\": \"%s\"", sim_isa_name(b->options->isa));
  for (int r = 0; r < CEILING_ROWS && !b->options->scaling; r++)
    json_number(out, ceiling_rows[r].key, ceiling_value(p, &ceiling_rows[r]));
  sim_bytes_text(out, "}");
}

static void json_result(sim_bytes *out, const bench_result *r, size_t at, bool scaling) {
  sim_bytes_format(out, "{\"place\": %zu, \"model\": \"%s\", \"kernel\": \"%s\", \"device\": \"%s\", \"threads\": %d",
                   at, r->model->name, r->row->title, r->device == SIM_BACKEND_CPU ? "cpu" : "cuda", r->threads);
  sim_bytes_format(
      out, ", \"n\": %d, \"size\": \"%s\", \"unit\": \"%s/s\", \"repeats\": %d, \"steps\": %ld, \"warm\": %ld", r->n,
      scaling && r->row->grows ? r->row->grown : r->row->size, r->model->work_unit, r->repeats, r->steps, r->warm);
  json_number(out, "median", r->median);
  json_number(out, "min", r->least);
  json_number(out, "max", r->most);
  json_number(out, scaling ? "seconds" : "seconds_a_step", r->step);
  if (r->cost.amount > 0) {
    sim_bytes_format(out, ", \"ceiling\": \"%s\"", limit_keys[r->cost.limit]);
    json_number(out, "counted", r->cost.amount);
    json_number(out, "share", r->share);
  }
  sim_bytes_text(out, "}");
}

static sim_status print_json(const bench *b) {
  sim_bytes out = {0};
  sim_bytes_format(&out, "{\"sim\": \"%s\", \"revision\": \"%s\", \"quick\": %s,\n\"places\": [", cli_version_text,
                   cli_revision_text, b->options->quick ? "true" : "false");
  for (size_t i = 0; i < b->place_count; i++) {
    sim_bytes_text(&out, i ? ",\n  " : "\n  ");
    json_place(&out, b, &b->places[i]);
  }
  sim_bytes_text(&out, "],\n\"results\": [");
  for (size_t i = 0; i < b->result_count; i++) {
    sim_bytes_text(&out, i ? ",\n  " : "\n  ");
    json_result(&out, &b->results[i], b->result_place[i], b->options->scaling);
  }
  sim_bytes_text(&out, "],\n\"exponents\": [");
  for (size_t i = 0; i < b->fit_count; i++) {
    const bench_result *r = b->fits[i].first;
    sim_bytes_format(&out, "%s\n  {\"model\": \"%s\", \"kernel\": \"%s\", \"device\": \"%s\"", i ? "," : "",
                     r->model->name, r->row->title, r->device == SIM_BACKEND_CPU ? "cpu" : "cuda");
    json_number(&out, "all", b->fits[i].all);
    json_number(&out, "upper", b->fits[i].upper);
    sim_bytes_text(&out, "}");
  }
  sim_bytes_text(&out, "]}\n");
  const bool whole = !out.failed;
  if (whole) fputs(out.data, stdout);
  sim_bytes_free(&out);
  return whole ? SIM_OK : sim_no_memory("the results");
}

sim_status cli_bench(const cli_options *options) {
  static bench b;
  if (options->ranks > 0) return cli_bench_rank(options);
  b = (bench){.options = options, .json = options->json, .pace = {.2, 10, .2, 5, false, 0}};
  if (options->scaling) b.pace = (bench_pace){0, 10, .1, 3, true, 0};
  if (options->quick) b.pace = (bench_pace){.04, .3, .04, 3, options->scaling, 0};
  SIM_TRY(cli_bench_check(options));
  if (cli_bench_is_scenario(options)) {
    if (options->steps) b.pace = (bench_pace){.repeats = 1, .batch = options->steps};
    return cli_bench_scenario(options, &b.pace, NULL);
  }
  SIM_TRY(find_places(&b));
  for (size_t i = 0; i < b.place_count && !options->scaling; i++) SIM_TRY(measure_ceilings(&b, &b.places[i]));
  if (!b.json) print_ceilings(&b);
  print_head(&b);
  SIM_TRY(time_rows(&b));
  return b.json ? print_json(&b) : SIM_OK;
}
