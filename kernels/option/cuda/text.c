/* Writes the source of a run's kernels: constants of its paths, and the kernels that call the payoffs of payoff_text.c.
 */
#include "kernels/option/cuda/plan.h"
#include "kernels/option/models/rough.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char qualifier[] = "static __device__ __forceinline__";

/* ---- paths ---- */

static void add_list(sim_bytes *text, const char *name, const int *list, int count) {
  sim_bytes_format(text, "  static __device__ constexpr int %s(int i) {\n    constexpr int list[] = {", name);
  for (int i = 0; i < count; i++) sim_bytes_format(text, "%s%d", i ? ", " : "", list[i]);
  sim_bytes_text(text, "};\n    return list[i];\n  }\n");
}

/* Offsets in the table. */
static void add_offsets(sim_bytes *text, const char *name, const size_t *list, int count) {
  sim_bytes_format(text, "  static __device__ constexpr int %s(int i) {\n    constexpr int list[] = {", name);
  for (int i = 0; i < count; i++) sim_bytes_format(text, "%zu, ", list[i]);
  sim_bytes_text(text, "0};\n    return list[i];\n  }\n");
}

enum { BY_LINE, BY_SIGN, BY_SIDE, BY_SCHEDULE };

static int tangent_of(const option_cuda_plan *plan, int feature) {
  const int tangent = plan->estimate->graph.feature[feature].tangent;
  return tangent > 0 ? plan->place[tangent - 1] : -1;
}

static void add_views(sim_bytes *text, const char *name, const option_cuda_plan *plan, const option_cuda_view *view,
                      int count, int by) {
  sim_bytes_format(text, "  static __device__ constexpr int %s(int i) {\n    constexpr int list[] = {", name);
  for (int i = 0; i < count; i++) {
    const option_feature *f = &plan->estimate->graph.feature[view[i].feature];
    const int side = f->kind == OPTION_NOT_ABOVE ? 1 : -1;
    const int value[] = {view[i].line, view[i].sign, side, f->schedule - 1};
    sim_bytes_format(text, "%d, ", value[by]);
  }
  sim_bytes_text(text, "0};\n    return list[i];\n  }\n");
}

/* Reads the features of a path one by one: a loop over a table of kinds takes several times as long to compile. */
static void add_features(const option_cuda_plan *plan, sim_bytes *text) {
  sim_bytes_text(
      text,
      "  template <class W, class C> static __device__ __forceinline__ void read_features(const W &p, const C &c,\n"
      "                                                                                  real *o) {\n");
  for (int v = 0; v < plan->views; v++) {
    const option_cuda_view *view = &plan->view[v];
    const int tangent = tangent_of(plan, view->feature);
    const option_feature *f = &plan->estimate->graph.feature[view->feature];
    if (f->schedule > 0 && f->kind < OPTION_FIXING)
      sim_bytes_format(text, "    o[%d] = kept_view<scheme, %d>(p, c, %d, %d);\n", v, (int)f->kind, v, view->slot);
    else
      sim_bytes_format(text, "    o[%d] = view<scheme, %d, %s>(p, c, %d, %d, %d, %d, %d, %d);\n", v, (int)f->kind,
                       tangent >= 0 ? "true" : "false", v, view->line, plan->line_track[view->line], view->sign,
                       view->slot, tangent >= 0 ? tangent : 0);
  }
  sim_bytes_text(text, "  }\n");
}

/* Motion of each asset. */
static void add_motion(const option_cuda_plan *plan, sim_bytes *text) {
  bool checked = false;
  int roughs = 0;
  unsigned motions = 0;
  int motion[OPTION_ASSETS_MAX] = {0}, jumps[OPTION_ASSETS_MAX] = {0}, nodes[OPTION_ASSETS_MAX] = {0},
      cells[OPTION_ASSETS_MAX] = {0}, rough[OPTION_ASSETS_MAX] = {0};
  for (int a = 0; a < plan->assets && plan->moved; a++) {
    const option_dynamics *dynamics = option_cuda_dynamics(plan, plan->track_begin[a], 0);
    motion[a] = (int)dynamics->motion;
    checked |= dynamics->motion == OPTION_LOCAL_FUNCTION;
    jumps[a] = option_asset_at(plan->parameters, a)->jumps.given ? plan->jumps : 0;
    nodes[a] = dynamics->nodes;
    cells[a] = dynamics->cells;
    rough[a] = dynamics->motion == OPTION_ROUGH_BERGOMI ? roughs++ : 0;
    motions |= 1u << motion[a];
  }
  sim_bytes_format(
      text, "  enum : int { MOVED = %d, MOTIONS = %u, CHECKED = %d, C_DYNAMICS = %d, C_ABOVE = %d, JUMPS = %d };\n",
      plan->moved, motions, checked, plan->at_dynamics, plan->at_above, plan->jumps);
  sim_bytes_format(text, "  enum : int { KINDS = %d, CASH = %d, R_KIND = %d, R_TIME = %d, R_CASH = %d };\n",
                   plan->kinds, plan->cash, plan->row_kind, plan->row_time, plan->row_cash);
  sim_bytes_format(text, "  enum : int { ROUGHS = %d, TILTED = %d, R_TILT = %d };\n", roughs, plan->tilted,
                   plan->row_tilt);
  add_list(text, "rough", rough, plan->assets);
  add_list(text, "motion", motion, plan->assets);
  add_list(text, "jumps", jumps, plan->assets);
  add_list(text, "nodes", nodes, plan->assets);
  add_list(text, "cells", cells, plan->assets);
  add_offsets(text, "grid_at", plan->grid_at, plan->tracks);
  add_offsets(text, "kinds_at", plan->kinds_at, plan->tracks);
  sim_bytes_text(text, "  static __device__ __forceinline__ real local_volatility(int asset, real price, real t) {\n"
                       "    real sigma = 0;\n"
                       "    switch (asset) {\n");
  for (int a = 0; a < plan->assets; a++)
    if (option_asset_at(plan->parameters, a)->local_vol != NULL)
      sim_bytes_format(text, "    case %d: local_%d(price, t, &sigma); break;\n", a, a);
  sim_bytes_text(text, "    }\n    return sigma;\n  }\n");
}

/* Local volatilities as functions of price and time. */
static sim_status add_local(const option_cuda_plan *plan, sim_bytes *text) {
  for (int a = 0; a < plan->assets; a++) {
    const sim_expr *expr = option_asset_at(plan->parameters, a)->local_vol;
    char name[32];
    if (expr == NULL) continue;
    snprintf(name, sizeof name, "local_%d", a);
    SIM_TRY(
        sim_expr_emit(expr, &(sim_expr_emission){.name = name, .qualifier = qualifier, .single = plan->single}, text));
  }
  return SIM_OK;
}

static void add_tangents(const option_cuda_plan *plan, sim_bytes *text) {
  int flat[OPTION_TANGENTS_MAX + 1] = {0}, asset[OPTION_TANGENTS_MAX + 1] = {0};
  const int count = plan->tangent_begin[plan->assets];
  for (int g = 0; g < count; g++) {
    const option_sensitivity *tangent = &plan->estimate->graph.tangent[plan->tangent[g]];
    flat[g] = option_greek_is_rho(tangent->greek);
    asset[g] = tangent->asset;
  }
  sim_bytes_format(text, "  enum : int { TANGENTS = %d, R_SLOPE = %d, R_VOL_SLOPE = %d, C_VOL_SLOPE = %d };\n", count,
                   plan->row_slope, plan->row_vol_slope, plan->at_vol_slope);
  add_list(text, "tangent_asset", asset, count + 1);
  add_list(text, "tangent_flat", flat, count + 1);
}

static void add_early(const option_cuda_plan *plan, sim_bytes *text) {
  const size_t room = (size_t)plan->exercises + 1;
  const size_t each = room * (size_t)plan->assets;
  int *list = calloc(7 * room + 2 * each, sizeof *list), degree = 0, joints = 0, seen = 0, highest = 0;
  if (list == NULL) {
    text->failed = true;
    return;
  }
  int *flags = list + 4 * room + 2 * each;
  for (int k = 0; k < plan->exercises; k++) {
    const option_feature *f = &plan->estimate->graph.feature[plan->early[k].feature];
    const option_payoff *o = plan->parameters->payoffs.items[f->step].data;
    list[k] = (int)o->every;
    list[room + (size_t)k] = (int)option_date_count(plan->parameters, o);
    const bool joint = option_rule_is_joint(plan->parameters, o);
    const uint64_t volatilities = joint ? option_joint_volatilities(plan->parameters, o) : 0;
    seen |= volatilities != 0;
    list[2 * room + (size_t)k] = joint ? 0 : (int)o->degree;
    list[3 * room + (size_t)k] = joint ? f->step : -1;
    joints += joint;
    flags[k] = joint && option_reads_maxima(o);
    flags[room + (size_t)k] = joint && option_joint_rate(plan->parameters, o);
    flags[2 * room + (size_t)k] = plan->rate_of[plan->early[k].market];
    highest |= flags[k];
    if (degree < (int)o->degree && !joint) degree = (int)o->degree;
    for (int a = 0; a < plan->assets && joint; a++) {
      int *of = list + 4 * room + (size_t)(k * plan->assets + a);
      of[0] = plan->line_of[plan->early[k].market * plan->assets + a];
      of[each] = volatilities >> a & 1;
    }
  }
  sim_bytes_format(text,
                   "  enum : int { EXERCISES = %d, JOINTS = %d, SEEN = %d, HIGHEST = %d, DEGREE = %d, C_EARLY = %d, "
                   "RECORD = %d, DATED = %d, R_DATE = %d };\n",
                   plan->exercises, joints, seen, highest, degree, plan->at_early, plan->record, plan->dated,
                   plan->row_date);
  add_list(text, "early_every", list, plan->exercises + 1);
  add_list(text, "early_dates", list + room, plan->exercises + 1);
  add_list(text, "early_degree", list + 2 * room, plan->exercises + 1);
  add_list(text, "early_joint", list + 3 * room, plan->exercises + 1);
  add_list(text, "early_highest", flags, plan->exercises + 1);
  add_list(text, "early_sees_rate", flags + room, plan->exercises + 1);
  add_list(text, "early_rate", flags + 2 * room, plan->exercises + 1);
  add_list(text, "joint_line", list + 4 * room, plan->exercises * plan->assets + 1);
  add_list(text, "joint_sees", list + 4 * room + each, plan->exercises * plan->assets + 1);
  add_views(text, "early_line", plan, plan->early, plan->exercises, BY_LINE);
  add_views(text, "early_sign", plan, plan->early, plan->exercises, BY_SIGN);
  add_offsets(text, "early_at", plan->early_at, plan->exercises);
  free(list);
  option_cuda_add_settle(plan, text);
}

/* Numbers that a path keeps of the steps of schedules. */
static void add_kept(const option_cuda_plan *plan, sim_bytes *text) {
  const size_t room = (size_t)plan->kept + 1;
  int *list = calloc(4 * room, sizeof *list);
  if (list == NULL) {
    text->failed = true;
    return;
  }
  for (size_t k = 0; k + 1 < room; k++) {
    list[k] = (int)plan->keep[k].kind;
    list[room + k] = plan->keep[k].line;
    list[2 * room + k] = plan->keep[k].sign;
    list[3 * room + k] = plan->keep[k].schedule;
  }
  sim_bytes_format(text, "  enum : int { KEPT = %d, R_SCHEDULE = %d };\n", plan->kept, plan->row_schedule);
  add_list(text, "kept_kind", list, plan->kept + 1);
  add_list(text, "kept_line", list + room, plan->kept + 1);
  add_list(text, "kept_sign", list + 2 * room, plan->kept + 1);
  add_list(text, "kept_schedule", list + 3 * room, plan->kept + 1);
  free(list);
}

/* Random rates, and the deflators of payments. */
static void add_rates(const option_cuda_plan *plan, sim_bytes *text) {
  const size_t room = (size_t)plan->deflators + 1, tracks = (size_t)plan->tracks;
  int *list = calloc(3 * room + tracks, sizeof *list);
  if (list == NULL) {
    text->failed = true;
    return;
  }
  for (size_t k = 0; k + 1 < room; k++) {
    list[k] = plan->estimate->graph.feature[plan->deflator[k].feature].step;
    list[room + k] = plan->rate_of[plan->deflator[k].market];
    list[2 * room + k] = plan->deflator[k].sign;
  }
  for (size_t t = 0; t < tracks; t++) list[3 * room + t] = plan->rate_of[plan->track_market[t]];
  sim_bytes_format(text, "  enum : int { RATES = %d, DEFLATORS = %d, R_RISE = %d, R_RATE_KIND = %d };\n", plan->rates,
                   plan->deflators, plan->row_rise, plan->row_rate_kind);
  add_list(text, "deflator_step", list, (int)room);
  add_list(text, "deflator_rate", list + room, (int)room);
  add_list(text, "deflator_sign", list + 2 * room, (int)room);
  add_list(text, "track_rate", list + 3 * room, plan->tracks);
  add_offsets(text, "rates_at", plan->rates_at, plan->rates);
  free(list);
}

static void add_quasi(const option_cuda_plan *plan, sim_bytes *text) {
  const option_parameters *p = plan->parameters;
  int variance[OPTION_ASSETS_MAX], hestons = 0;
  for (int a = 0; a < plan->assets; a++)
    variance[a] = option_has_variance(option_asset_at(p, a)) ? plan->assets + hestons++ : -1;
  sim_bytes_format(text, "  enum : int { SOBOL = %d, PCA = %d, MATCHED = %d };\n",
                   !plan->record && p->sampling.sequence == OPTION_SOBOL, p->sampling.construction == OPTION_PCA,
                   plan->matched);
  add_list(text, "quasi_variance", variance, plan->assets);
}

/* Whether a path keeps little state: then 40 registers and six thread blocks a multiprocessor are fastest. Paths of
 * one or two steps unroll the inner loop fully, longer paths not at all. */
static bool is_lean(const option_cuda_plan *plan) {
  return plan->single && !plan->moved && !plan->matched && plan->parameters->sampling.sequence != OPTION_SOBOL &&
         plan->lines == 1 && plan->fixings == 0 && plan->survivals == 0 && plan->exercises == 0 && plan->kept == 0 &&
         plan->tangent_begin[plan->assets] == 0;
}

static int exercise_work(const option_cuda_plan *plan) {
  int work = 0;
  for (int k = 0; k < plan->exercises; k++)
    work += plan->estimate->graph.feature[plan->early[k].feature].asset < 0 ? 150 : 24;
  return work;
}

/* Rough count of instructions of a step, without its normals. */
static int step_work(const option_cuda_plan *plan) {
  const int own = plan->moved ? plan->signs : 1, tangents = plan->tangent_begin[plan->assets];
  const int past = option_any_rough(plan->parameters) ? 100 + plan->tracks * own * plan->steps : 0;
  const int moving = plan->tracks * own * (plan->moved ? 60 : 4) + past;
  const int paying = option_share(plan->steps) > 1 ? 12 * plan->estimate->quantities * plan->signs : 0;
  const int joint = plan->estimate->graph.joint != 0 ? 150 * plan->lines * plan->signs : 0;
  return joint + moving + (8 * plan->lines + 6 * tangents) * plan->signs + 10 * plan->survivals + exercise_work(plan) +
         8 * plan->kept + paying;
}

/* Whether a step is so long that the loop over four steps, or over the paths that share bits, is not unrolled:
 * unrolled it takes several times as long to compile, and runs no faster. */
static bool is_rolled(const option_cuda_plan *plan) {
  if (plan->large || is_lean(plan)) return false;
  return plan->record || plan->parameters->sampling.sequence == OPTION_SOBOL || step_work(plan) > 150;
}

static void add_scheme(const option_cuda_plan *plan, sim_bytes *text) {
  int need[OPTION_ASSETS_MAX];
  unsigned needs = 0;
  for (int a = 0; a < plan->assets; a++) {
    need[a] = (int)plan->need[a];
    needs |= plan->need[a];
  }
  const int rows = plan->rows > 0 ? plan->rows : 1, rolled = is_rolled(plan);
  sim_bytes_format(text,
                   "struct scheme {\n"
                   "  typedef %s real;\n"
                   "  enum : int {\n"
                   "    ASSETS = %d, STEPS = %d, SIGNS = %d, TRACKS = %d, LINES = %d, VIEWS = %d,\n"
                   "    FIXINGS = %d, SURVIVALS = %d, NEEDS = %u, FOLDED = %d, FAR = %d, CORRELATED = %d,\n",
                   plan->single ? "float" : "double", plan->assets, plan->steps, plan->signs, plan->tracks, plan->lines,
                   plan->views, plan->fixings, plan->survivals, needs, plan->folded, plan->far, plan->correlated);
  sim_bytes_format(text,
                   "    R_WEIGHT = %d, R_LEVEL = %d, R_VOL = %d, R_MARK = %d, ROWS = %d, KEPT_ROWS = %d,\n"
                   "    C_SPREAD = 0, C_FACTOR = %d, C_RATIO = %d, C_VOL = %d, C_VIEW = %d, C_SURVIVAL = %d,\n"
                   "    C_QUANTITY = %d, CONSTANTS = %d, INNER = %d, OUTER = %d, PART = %d,\n"
                   "    SHARE = %d, UNROLL = %d, ROLLED = %d, LOOPED = %d, LIGHT = %d\n"
                   "  };\n",
                   plan->row_weight, plan->row_level, plan->row_vol, plan->row_mark, rows,
                   plan->large || plan->dated || (rolled && option_share(plan->steps) == 1) ? 0 : rows, plan->at_factor,
                   plan->at_ratio, plan->at_vol, plan->at_view, plan->at_survival, plan->at_quantity, plan->constants,
                   plan->inner, plan->outer, plan->part, option_share(plan->steps),
                   is_lean(plan) && plan->signs == 1 && plan->steps <= 2 ? 8 : 1, rolled, plan->large || rolled,
                   is_lean(plan) || step_work(plan) <= 30);
  add_motion(plan, text);
  add_tangents(plan, text);
  add_early(plan, text);
  add_kept(plan, text);
  add_rates(plan, text);
  add_quasi(plan, text);
  add_list(text, "need", need, plan->assets);
  add_list(text, "track_begin", plan->track_begin, plan->assets + 1);
  add_list(text, "track_asset", plan->track_asset, plan->tracks);
  add_list(text, "line_begin", plan->line_begin, plan->tracks + 1);
  add_list(text, "line_track", plan->line_track, plan->lines);
  add_features(plan, text);
  add_views(text, "survival_line", plan, plan->survival, plan->survivals, BY_LINE);
  add_views(text, "survival_sign", plan, plan->survival, plan->survivals, BY_SIGN);
  add_views(text, "survival_side", plan, plan->survival, plan->survivals, BY_SIDE);
  add_views(text, "survival_schedule", plan, plan->survival, plan->survivals, BY_SCHEDULE);
  sim_bytes_text(text, "};\n");
}

/* ---- the whole source ---- */

static sim_status begin(const option_cuda_plan *plan, const char *file, sim_bytes *text) {
  sim_bytes_format(text,
                   "#define OPTION_EACH _Pragma(\"unroll%s\")\n"
                   "#define OPTION_MRG %d\n"
                   "#include \"kernels/option/cuda/paths/%s\"\n",
                   plan->large ? " 1" : "", plan->parameters->sampling.generator == OPTION_MRG32K3A, file);
  SIM_TRY(sim_expr_emit_prelude(text));
  SIM_TRY(add_local(plan, text));
  SIM_TRY(option_cuda_add_joint(plan, text));
  add_scheme(plan, text);
  return SIM_OK;
}

sim_status option_cuda_write_exercise(const option_cuda_plan *record, sim_bytes *text) {
  SIM_TRY(begin(record, "exercise.cuh", text));
  sim_bytes_text(text, "extern \"C\" __global__ void __launch_bounds__(OPTION_CUDA_THREADS)\n"
                       "    option_record(const __grid_constant__ constants<scheme> c,\n"
                       "                  const __grid_constant__ option_keys keys, const scheme::real *table,\n"
                       "                  unsigned high, unsigned low, const option_recorder to) {\n"
                       "  record_path<scheme>(c, keys, table, high, low, to);\n"
                       "}\n");
  option_cuda_add_joint_kernels(record, text);
  return text->failed ? sim_no_memory("the text of the paths") : SIM_OK;
}

sim_status option_cuda_write(option_cuda_plan *plan, sim_bytes *text) {
  sim_bytes payoffs = {0}; /* written first: the scheme has the number of constants */
  sim_status status = option_cuda_add_payoffs(plan, &payoffs);
  if (status == SIM_OK) status = begin(plan, "samples.cuh", text);
  sim_bytes_add(text, payoffs.data, payoffs.size);
  text->failed |= payoffs.failed;
  sim_bytes_free(&payoffs);
  SIM_TRY(status);
  sim_bytes_format(text, "#define OPTION_BOUNDS OPTION_CUDA_THREADS%s\n",
                   is_lean(plan) ? ", __CUDA_ARCH__ == 750 ? 4 : 6" : "");
  sim_bytes_text(text, "extern \"C\" __global__ void __launch_bounds__(OPTION_BOUNDS)\n"
                       "    option_sample(const __grid_constant__ constants<scheme> c,\n"
                       "                  const __grid_constant__ option_keys keys, const scheme::real *table,\n"
                       "                  const option_range range, const __grid_constant__ option_points points,\n"
                       "                  double *partial) {\n"
                       "  sample_part<scheme, payoffs>(c, keys, table, range, points, partial);\n"
                       "}\n");
  return text->failed ? sim_no_memory("the text of the payoffs") : SIM_OK;
}

sim_source option_cuda_source(const option_cuda_plan *plan, const sim_bytes *text) {
  return (sim_source){.name = "option_paths",
                      .text = text->data,
                      .files = option_cuda_files,
                      .contract = true,
                      .approximate = plan->single};
}
