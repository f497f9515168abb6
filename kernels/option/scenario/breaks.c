/* Times at which a function of time may jump or have a kink: comparisons of functions linear in t are solved; others
 * are searched as sign changes on a grid of times and, between them, at minima of the magnitude. */
#include "engine/log.h"
#include "kernels/option/scenario/integral.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  INTERVALS = 1 << 15,
  TOGETHER = 16,
  SECTIONS_MOST = 64,
  INPUTS_MOST = 2,
  PARTS = 32,
  DEPTH = 2,
  REFINED_MOST = 1 << 16
};

typedef struct search {
  const sim_expr *switches; /* the compared differences, at most TOGETHER outputs */
  const sim_expr_program *program;
  void *scratch;
  int input;
  double other; /* value of the input other than the time, if there is one */
  double *t, *values[TOGETHER];
  double *found; /* owned */
  int count, capacity;
  int refined; /* cells that were searched on a finer grid */
  bool unsure; /* some crossing may have unsearched neighbours */
  bool failed; /* out of memory */
} search;

/* Output `which` at one time. */
static double value_at(const search *s, int which, double t) {
  double value[TOGETHER];
  void *outputs[TOGETHER];
  const void *inputs[INPUTS_MOST] = {&s->other, &s->other};
  for (int k = 0; k < TOGETHER; k++) outputs[k] = &value[k];
  inputs[s->input] = &t;
  sim_expr_program_run(s->program, 1, inputs, outputs, s->scratch);
  return value[which];
}

static void add(search *s, double t) {
  if (s->count == s->capacity) {
    const int wanted = 2 * s->capacity + 64;
    double *grown = realloc(s->found, (size_t)wanted * sizeof *grown);
    if (grown == NULL) {
      s->failed = true;
      return;
    }
    s->found = grown;
    s->capacity = wanted;
  }
  s->found[s->count++] = t;
}

/* Bisects [low, high], whose ends have different signs, down to adjacent numbers. */
static void bisect(search *s, int which, double low, double high) {
  const bool below = value_at(s, which, low) < 0;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) break;
    if ((value_at(s, which, middle) < 0) == below)
      low = middle;
    else
      high = middle;
  }
  add(s, high);
}

static void refine(search *s, int which, double low, double high, double inside, int depth);

/* [low, high] has a minimum of the magnitude inside and one sign at both ends: golden-section search until it is
 * found or the sign changes. */
static void search_minimum(search *s, int which, double low, double high, int depth) {
  static const double golden = 0.38196601125010515;
  const double from = low, to = high;
  const bool below = value_at(s, which, low) < 0;
  double left = low + golden * (high - low), right = high - golden * (high - low);
  double at_left = value_at(s, which, left), at_right = value_at(s, which, right);
  for (int i = 0; i < SECTIONS_MOST && left < right; i++) {
    const bool crossed_left = (at_left < 0) != below, crossed_right = (at_right < 0) != below;
    if (crossed_left || crossed_right) {
      refine(s, which, from, to, crossed_left ? left : right, depth);
      return;
    }
    if (fabs(at_left) < fabs(at_right)) {
      high = right;
      right = left;
      at_right = at_left;
      left = low + golden * (high - low);
      at_left = value_at(s, which, left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = high - golden * (high - low);
      at_right = value_at(s, which, right);
    }
  }
}

/* Searches every `stride`-th of the times t[0 ... last] with the values v. */
static void search_grid(search *s, int which, const double *t, const double *v, int last, int stride, int depth) {
  for (int i = stride; i <= last; i += stride) {
    if ((v[i - stride] < 0) != (v[i] < 0)) {
      refine(s, which, t[i - stride], t[i], t[i], depth);
    } else if (i + stride <= last && (v[i] < 0) == (v[i + stride] < 0)) {
      const double before = fabs(v[i - stride]), here = fabs(v[i]), after = fabs(v[i + stride]);
      if ((here < before && here <= after) || (here <= before && here < after))
        search_minimum(s, which, t[i - stride], t[i + stride], depth);
    }
  }
}

/* A crossing lies in [low, high], where the sign of `inside` differs from that at `low`. Neighbouring crossings are
 * searched for on a finer grid, and once more if one is found; then each side is taken to have one. */
static void refine(search *s, int which, double low, double high, double inside, int depth) {
  double t[PARTS + 1], v[PARTS + 1];
  const int before = s->count;
  const bool fine = !(low + (high - low) / PARTS > low), shown = inside == high;
  if (!fine && depth < DEPTH && s->refined < REFINED_MOST && !s->unsure) {
    bool shows = false;
    s->refined++;
    for (int i = 0; i <= PARTS; i++) {
      t[i] = i == PARTS ? high : low + (high - low) * i / PARTS;
      v[i] = value_at(s, which, t[i]);
      shows |= (v[i] < 0) != (v[0] < 0);
    }
    search_grid(s, which, t, v, PARTS, 1, depth + shows);
  } else if (!fine && (depth < DEPTH || !shown)) {
    s->unsure = true;
  }
  bool left = shown && s->count > before, right = shown; /* a crossing is known on each side of `inside` */
  for (int k = before; k < s->count; k++) {
    left |= s->found[k] <= inside;
    right |= s->found[k] > inside;
  }
  if (!left) bisect(s, which, low, inside);
  if (!right) bisect(s, which, inside, high);
}

/* Searches all switches of a graph. *coarse: the number of crossings that half of the grid shows. */
static sim_status search_all(search *s, double maturity, int *coarse) {
  sim_expr_program *program = NULL;
  const int outputs = sim_expr_output_count(s->switches);
  const bool uniform[INPUTS_MOST] = {s->input != 0, s->input != 1};
  SIM_TRY(sim_expr_program_create(s->switches, &(sim_expr_target){.isa = SIM_ISA_PLAIN, .uniform = uniform}, &program));
  s->program = program;
  s->scratch = aligned_alloc(64, (sim_expr_program_scratch(program) + 127) / 64 * 64);
  double *room = malloc((size_t)(TOGETHER + 1) * (INTERVALS + 1) * sizeof *room);
  if (s->scratch != NULL && room != NULL) {
    const void *inputs[INPUTS_MOST] = {&s->other, &s->other};
    s->t = room;
    for (int i = 0; i <= INTERVALS; i++) s->t[i] = maturity * i / INTERVALS;
    for (int k = 0; k < TOGETHER; k++) s->values[k] = room + (size_t)(k + 1) * (INTERVALS + 1);
    inputs[s->input] = s->t;
    sim_expr_program_run(program, INTERVALS + 1, inputs, (void *const *)s->values, s->scratch);
    for (int k = 0; k < outputs; k++) {
      const int before = s->count;
      const bool unsure = s->unsure;
      s->refined = 0;
      search_grid(s, k, s->t, s->values[k], INTERVALS, 2, 0);
      *coarse += s->count - before;
      s->count = before;
      s->unsure = unsure;
      s->refined = 0;
      search_grid(s, k, s->t, s->values[k], INTERVALS, 1, 0);
    }
  }
  const bool good = s->scratch != NULL && room != NULL && !s->failed;
  free(room);
  free(s->scratch);
  sim_expr_program_free(&program);
  return good ? SIM_OK : sim_no_memory("the jumps of a function");
}

static int compare(const void *a, const void *b) {
  return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

void option_warn_missed(const char *name) {
  sim_log(SIM_LOG_WARN,
          "%s jumps or bends too often to find every place: some may be missed, for it compares values that are not "
          "linear in t; expected a smoother function of time, or sim.curve { {t, value}, ... }",
          name);
}

sim_status option_breaks(const sim_expr *expr, int input, double other, double maturity, double **out, int *count,
                         bool *missed) {
  search s = {.input = input, .other = other};
  int coarse = 0;
  sim_status status = sim_expr_breaks(expr, input, &s.found, &s.count);
  const int linear = s.capacity = s.count;
  for (int skip = 0; status == SIM_OK; skip += TOGETHER) {
    sim_expr *switches;
    status = sim_expr_switches(expr, input, skip, TOGETHER, &switches);
    if (status != SIM_OK || switches == NULL) break;
    s.switches = switches;
    status = search_all(&s, maturity, &coarse);
    sim_expr_free(&switches);
  }
  *missed = coarse != s.count - linear || s.unsure;
  if (status == SIM_OK)
    qsort(s.found, (size_t)s.count, sizeof *s.found, compare);
  else
    free(s.found);
  *out = status == SIM_OK ? s.found : NULL;
  *count = s.count;
  return status;
}
