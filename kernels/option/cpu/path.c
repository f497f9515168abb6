/* The kernel of path.h, once for each instruction set and precision. Twins: cuda/paths/path.cuh, step.cuh. */
#include "kernels/option/cpu/joint.h"
#include "kernels/option/cpu/moments.h"
#include "kernels/option/cpu/quasi.h"
#include "kernels/option/cpu/rates.h"

#include <math.h>

/* ---- any number of assets and variants ---- */

typedef struct workspace {
  vreal z[OPTION_ASSETS_MAX][4];
  vbits high[OPTION_ASSETS_MAX][4], low[OPTION_ASSETS_MAX][4], variance[OPTION_ASSETS_MAX][4],
      rough[OPTION_ASSETS_MAX][4];
  bits4 jump[2];
  vreal grown[OPTION_VARIANTS_MAX]; /* by a random rate in the step */
  vwhole invalid;                   /* lanes with an invalid local volatility */
  int offset;                       /* number of the first of the four shared numbers that this path uses */
  int moved[OPTION_ASSETS_MAX];     /* number of variants that simulate each asset, and the variants */
  uint16_t variant[OPTION_ASSETS_MAX][OPTION_VARIANTS_MAX];
  int16_t shared[OPTION_ASSETS_MAX]
                [OPTION_VARIANTS_MAX];      /* beside variant: an earlier one with the same volatility, -1 */
  variance_step taken[OPTION_VARIANTS_MAX]; /* by Heston's model in the step, of one asset */
  asset_state state[];                      /* [variants][assets], [variants][schedules] */
} workspace;
_Static_assert(sizeof(workspace) + 8 * LANES_BYTES <= OPTION_SCRATCH_BASE &&
                   sizeof(asset_state) <= OPTION_SCRATCH_ASSET,
               "the scratch is large enough");

/* Scratch behind the asset states: tangents [variants][tangents], then bridges or moments, then the scratch of a
 * local volatility's program. */
static inline tangent_sums *tangent_sums_of(const option_paths *p, workspace *w) {
  return (tangent_sums *)(void *)((char *)w + OPTION_SCRATCH_BASE +
                                  (p->assets + p->schedules) * p->variants * OPTION_SCRATCH_ASSET);
}

static inline vreal *bridges(const option_paths *p, workspace *w) {
  return (vreal *)(void *)((char *)tangent_sums_of(p, w) + option_tangent_scratch(p->tangents, p->variants));
}

static inline match *matches(const option_paths *p, workspace *w) { return (match *)(void *)bridges(p, w); }

/* Increments of rough volatilities: [assets][steps]. */
static inline vreal *rough_past(const option_paths *p, workspace *w) {
  const size_t points = p->quasi != NULL ? option_bridge_scratch(p->assets, p->steps) : 0;
  return (vreal *)(void *)((char *)bridges(p, w) + (p->matched ? option_moments_scratch(p->assets, p->steps) : points));
}

/* State of a random rate: [variants]. */
static inline rate_state *rates_of(const option_paths *p, workspace *w) {
  return (rate_state *)(void *)((char *)rough_past(p, w) + (p->rough ? option_rough_scratch(p->assets, p->steps) : 0));
}

static inline void *program_room(const option_paths *p, workspace *w) {
  return (char *)rates_of(p, w) + (p->rates ? option_rates_scratch(p->variants) : 0);
}

/* Normals and variance bits from Sobol points, of the four steps from 4 * group on. */
static void quasi_group(const option_paths *p, int scramble, uint32_t index, int group, workspace *w) {
  const vreal *points = bridges(p, w);
  for (int a = 0; a < p->assets; a++) {
    const int variance = p->quasi->variance[a];
    for (int i = 0; i < 4 && 4 * group + i < p->steps; i++) {
      const vreal *at = points + a * (p->steps + 1) + 4 * group + i;
      w->z[a][(w->offset + i) & 3] = at[1] - at[0];
      if (variance >= 0)
        w->variance[a][(w->offset + i) & 3] =
            sobol_bits(p->quasi, scramble, index, (4 * group + i) * p->quasi->each + variance);
    }
  }
}

/* Whether a variant leaves out an asset. */
static inline bool is_kept(const option_paths *p, int variant, int asset) {
  return p->kept != NULL && (p->kept[variant] >> asset & 1);
}

static inline bool is_motion(const option_paths *p, int asset, int motion) {
  return p->variant[0].dynamics != NULL && (int)p->variant[0].dynamics[asset].motion == motion;
}

/* Whether the volatility of an asset takes a random number in each step. */
static inline bool has_volatility(const option_paths *p, int asset) {
  return is_motion(p, asset, OPTION_ROUGH_BERGOMI) || is_motion(p, asset, OPTION_HESTON) ||
         is_motion(p, asset, OPTION_SABR) || is_motion(p, asset, OPTION_LEVERAGE);
}

/* Normals of four steps, each the sum of the normals of two steps of half the length. */
static void draw_halves(const option_paths *p, const stream *s, uint32_t group, workspace *w) {
  for (uint32_t a = 0; a < (uint32_t)p->assets; a++) {
    const bool rough = is_motion(p, (int)a, OPTION_ROUGH_BERGOMI), varies = has_volatility(p, (int)a);
    for (uint32_t half = 0; half < 2; half++) {
      vreal z[4];
      four_normals(s, 2 * group + half, OPTION_DRAW_NORMAL + a, z);
      bits4 v, own;
      if (varies) v = random_bits(s, 2 * group + half, OPTION_DRAW_VARIANCE + a);
      if (rough) own = random_bits(s, 2 * group + half, OPTION_DRAW_ROUGH + a);
      for (uint32_t i = 0; i < 2; i++) {
        w->z[a][2 * half + i] = (z[2 * i] + z[2 * i + 1]) * (real)0.70710678118654752440;
        if (varies) w->variance[a][2 * half + i] = joined_bits(v.bits[2 * i], v.bits[2 * i + 1]);
        if (rough) w->rough[a][2 * half + i] = joined_bits(own.bits[2 * i], own.bits[2 * i + 1]);
      }
    }
  }
}

/* Exchanges the random numbers of the steps 0 and 1, and those of 2 and 3. */
static void swap_steps(const option_paths *p, workspace *w) {
  for (int a = 0; a < p->assets; a++)
    for (int i = 0; i < 4; i += 2) {
      const vreal z = w->z[a][i];
      const vbits high = w->high[a][i], low = w->low[a][i], variance = w->variance[a][i], rough = w->rough[a][i];
      w->z[a][i] = w->z[a][i + 1];
      w->high[a][i] = w->high[a][i + 1];
      w->low[a][i] = w->low[a][i + 1];
      w->variance[a][i] = w->variance[a][i + 1];
      w->rough[a][i] = w->rough[a][i + 1];
      w->z[a][i + 1] = z;
      w->high[a][i + 1] = high;
      w->low[a][i + 1] = low;
      w->variance[a][i + 1] = variance;
      w->rough[a][i + 1] = rough;
    }
}

static void draw_group(const option_paths *p, const stream *s, uint32_t group, unsigned need, workspace *w) {
  for (uint32_t a = 0; a < (uint32_t)p->assets; a++) {
    if (p->quasi == NULL && !p->halved) four_normals(s, group, OPTION_DRAW_NORMAL + a, w->z[a]);
    if (need & NEED_HIGH) memcpy(w->high[a], random_bits(s, group, OPTION_DRAW_HIGH + a).bits, sizeof w->high[a]);
    if (need & NEED_LOW) memcpy(w->low[a], random_bits(s, group, OPTION_DRAW_LOW + a).bits, sizeof w->low[a]);
    if (p->quasi != NULL || p->halved) continue;
    const bool rough = is_motion(p, (int)a, OPTION_ROUGH_BERGOMI);
    if (has_volatility(p, (int)a))
      memcpy(w->variance[a], random_bits(s, group, OPTION_DRAW_VARIANCE + a).bits, sizeof w->variance[a]);
    if (rough) memcpy(w->rough[a], random_bits(s, group, OPTION_DRAW_ROUGH + a).bits, sizeof w->rough[a]);
  }
  if (p->halved) draw_halves(p, s, group, w);
  if (p->swapped) swap_steps(p, w);
}

/* Applies moment matching to the four steps from `first` on. */
static void match_normals(const option_paths *p, int first, workspace *w) {
  for (int a = 0; a < p->assets; a++)
    for (int i = 0; i < 4 && first + i < p->steps; i++) {
      vreal *z = &w->z[a][(w->offset + i) & 3];
      *z = matched(&matches(p, w)[(first + i) * p->assets + a], *z);
    }
}

static void general_tangent(const option_paths *p, int v, int g, int step, int at, const asset_state *t, vreal next,
                            vreal price, vreal normal, unsigned need, workspace *w, void *const *out) {
  tangent_sums *s = &tangent_sums_of(p, w)[v * p->tangents + g];
  const option_tangent *of = &p->tangent[g];
  const real direction = p->variant[v].mirrored ? -1 : 1;
  if (!of->local)
    add_tangent(of, t, step, next, price, normal, direction, need, s);
  else if (step >= of->first && step < of->end)
    add_local_tangent(of, t, step, p->steps, normal, direction, s);
  for (int f = 0; f < p->features && need & NEED_SINGLES; f++)
    if (p->feature[f].tangent == g + 1 && p->feature[f].kind == OPTION_FIXING && p->feature[f].step == step + 1) {
      const vreal value = price_ratio(next, p->far) * (real)p->variant[v].spot[t - &w->state[v * p->assets]] * s->y;
      memcpy((real *)out[v * p->features + f] + at, &value, sizeof value);
    }
}

/* Maximum and minimum within a step; `joint`: a payoff depends on both. */
static void find_extremes(const asset_state *t, vreal next, vreal vol, unsigned need, bool joint, int asset, int word,
                          const workspace *w, vreal *high, vreal *low) {
  *high = *low = next;
  if (need & NEED_HIGH) *high = bridge_extreme(t->x, next, vol, w->high[asset][word], 1);
  if (joint)
    *low = bridge_minimum(t->x, next, vol, *high, w->low[asset][word]);
  else if (need & NEED_LOW)
    *low = bridge_extreme(t->x, next, vol, w->low[asset][word], -1);
}

/* Updates the schedules of an asset at the end of a step. `observed`: payoffs see this end. */
static void update_schedules(const option_paths *p, int step, int variant, int asset, bool observed, vreal next,
                             vreal high, vreal low, workspace *w) {
  const int observation = step / (p->skip + 1);
  for (int k = 0; k < p->schedules; k++) {
    const option_schedule *schedule = &p->schedule[k];
    if (schedule->asset != asset) continue;
    asset_state *t = &w->state[p->variants * p->assets + variant * p->schedules + k];
    if (schedule->mark[observation] & OPTION_WATCHED) {
      t->high = v_max(t->high, high);
      t->low = v_min(t->low, low);
    }
    if (observed && schedule->mark[observation] & OPTION_OBSERVED) update_asset(t, next, schedule->need, p->far);
  }
}

/* Stores the normals of a rough volatility. */
static void keep_increments(const option_paths *p, int step, int asset, const vreal *past, void *const *out, int at) {
  for (int f = 0; f < p->features; f++)
    if (p->feature[f].kind == OPTION_INCREMENT && p->feature[f].asset == asset && p->feature[f].step == step + 1)
      memcpy((real *)out[f] + at, &past[asset * p->steps + step], sizeof *past);
}

/* Early exercise by rules on several numbers of a path, after all assets of all variants have moved. */
static void exercise_all(const option_paths *p, int step, int at, workspace *w, void *const *out) {
  vreal input[3 * OPTION_ASSETS_MAX + 1], deflator = v_set(1);
  if ((step + 1) % (p->skip + 1) != 0) return;
  for (int f = 0; f < p->features; f++) {
    if (p->feature[f].kind != OPTION_EARLY || p->feature[f].asset >= 0) continue;
    for (int v = 0; v < p->variants; v++) {
      const option_variant *variant = &p->variant[v];
      const option_rule *rule = &variant->rule[p->feature[f].step];
      int inputs = rule->maxima ? 2 * p->assets : p->assets;
      for (int a = 0; a < p->assets; a++) {
        const asset_state *t = &w->state[v * p->assets + a];
        input[a] = price_ratio(t->x, p->far) * (real)variant->spot[a];
        if (rule->maxima) input[p->assets + a] = price_ratio(t->most, p->far) * (real)variant->spot[a];
        if (rule->volatilities >> a & 1) input[inputs++] = random_volatility(&variant->dynamics[a], t->v);
      }
      if (rule->rate) input[inputs++] = rates_of(p, w)[v].x;
      if (p->rates) deflator = price_ratio(rates_of(p, w)[v].deflator, true);
      exercise_jointly(rule, step / (p->skip + 1), input, inputs, p->rates ? &deflator : NULL, program_room(p, w),
                       (vreal *)(void *)((real *)out[v * p->features + f] + at));
    }
  }
}

/* Moves the random rate of all variants, and all prices by what it grows more than the forward rate. */
static void move_rates(const option_paths *p, const stream *own, int step, int word, workspace *w) {
  vreal normals[2];
  rate_normals(p, own, step, normals);
  for (int v = 0; v < p->variants; v++) {
    const option_variant *variant = &p->variant[v];
    const vreal grown = rate_step(&variant->rates[variant->kind[step]], variant->rise[step], variant->mirrored, w->z,
                                  word, p->assets, normals, &rates_of(p, w)[v]);
    w->grown[v] = grown;
  }
}

/* The normal of an asset in another currency; of a mirrored path it is mirrored later. */
static inline vreal tilted(const option_variant *v, int i, vreal normal) {
  if (v->tilt == NULL) return normal;
  const real tilt = ((const real *)v->tilt)[i];
  return v->mirrored ? normal + tilt : normal - tilt;
}

static void general_step(const option_paths *p, const stream *own, int step, int at, unsigned need, workspace *w,
                         void *const *out) {
  const real *cholesky = p->cholesky;
  const int word = (w->offset + step) & 3;
  const bool observed = (step + 1) % (p->skip + 1) == 0;
  if (p->rates) move_rates(p, own, step, word, w);
  const unsigned now = observed ? need : need & ~(unsigned)(NEED_SUM | NEED_LOGS | NEED_ENDS);
  for (int a = 0; a < p->assets; a++) {
    vreal normal = w->z[0][word] * cholesky[a * p->assets];
    for (int b = 1; b <= a; b++) normal += w->z[b][word] * cholesky[a * p->assets + b];
    const bool heston = is_motion(p, a, OPTION_HESTON) || is_motion(p, a, OPTION_LEVERAGE);
    const vreal shock = heston ? inverse_normal(w->variance[a][word]) : v_set(0);
    const option_dynamics *first = p->variant[0].dynamics;
    if (first != NULL && first[p->variant[0].kind[step] * p->assets + a].jumps > 0)
      for (int half = 0; half <= p->halved; half++)
        w->jump[half] = random_bits(own, drawn_step(p, step, half), (uint32_t)(OPTION_DRAW_JUMP + a));
    for (int k = 0; k < w->moved[a]; k++) {
      const int v = w->variant[a][k];
      const option_variant *variant = &p->variant[v];
      const int i = step * p->assets + a;
      asset_state *t = &w->state[v * p->assets + a];
      vreal high, low, next, vol = v_set(((const real *)variant->vol)[i]),
                             drift = v_set(((const real *)variant->drift)[i]);
      if (p->rates) drift += w->grown[v];
      if (variant->dynamics == NULL)
        next = v_fma(vol, normal, t->x + drift);
      else
        next = advance_asset(&variant->dynamics[variant->kind[step] * p->assets + a], variant, variant->spot[a], p->far,
                             step, variant->time[step], t, drift, tilted(variant, i, normal), w->variance[a][word],
                             shock, w->shared[a][k] < 0 ? NULL : &w->taken[w->shared[a][k]], &w->taken[v], w->jump,
                             p->steps, w->rough[a][word], rough_past(p, w) + a * p->steps, p->milstein,
                             program_room(p, w), &vol, &w->invalid);
      high = low = next;
      if (need & (NEED_HIGH | NEED_LOW)) {
        find_extremes(t, next, vol, need, p->joint >> a & 1, a, word, w, &high, &low);
        if (need & NEED_HIGH) t->high = v_max(t->high, high);
        if (need & NEED_LOW) t->low = v_min(t->low, low);
      }
      if (p->cash != NULL && observed && p->cash[step / (p->skip + 1) * p->assets + a] > 0)
        next = after_dividend(next, p->cash[step / (p->skip + 1) * p->assets + a] / variant->spot[a], p->far);
      if (p->schedules > 0) update_schedules(p, step, v, a, observed, next, high, low, w);
      if (need & NEED_SINGLES) update_single_features(p, step, a, t, next, vol, variant, out + v * p->features, at);
      if (need & 1 << OPTION_INCREMENT) keep_increments(p, step, a, rough_past(p, w), out + v * p->features, at);
      if (p->tangents > 0 && v < p->sloped) {
        const vreal price = need & NEED_SUM ? price_ratio(next, p->far) : next;
        for (int g = 0; g < p->tangents; g++)
          if (p->tangent[g].asset == a) general_tangent(p, v, g, step, at, t, next, price, normal, need, w, out);
      }
      update_asset(t, next, now, p->far);
    }
  }
  if (need & 1 << OPTION_EARLY) exercise_all(p, step, at, w, out);
  if (p->rates && observed) store_deflators(p, step / (p->skip + 1), at, rates_of(p, w), out);
}

/* Whether an asset of Heston's model has the same volatility, and the same increments beside its drift, on the paths of
 * two variants: the same numbers go into its steps. */
static bool is_same_volatility(const option_paths *p, int asset, const option_variant *u, const option_variant *v) {
  const double u0 = u->v != NULL ? u->v[asset] : u->dynamics[asset].v;
  const double v0 = v->v != NULL ? v->v[asset] : v->dynamics[asset].v;
  if (u->mirrored != v->mirrored || u->tilt != NULL || v->tilt != NULL || u0 != v0) return false;
  for (int step = 0; step < p->steps; step++) {
    const int k = u->kind[step], j = v->kind[step];
    if (step > 0 && k == u->kind[step - 1] && j == v->kind[step - 1]) continue;
    if (memcmp(&u->dynamics[k * p->assets + asset], &v->dynamics[j * p->assets + asset], sizeof *u->dynamics) != 0)
      return false;
  }
  return true;
}

/* The first variant before number k of an asset's whose volatility it shares; -1: none. */
static int find_shared(const option_paths *p, const workspace *w, int asset, int k) {
  if (!is_motion(p, asset, OPTION_HESTON)) return -1;
  for (int j = 0; j < k && j < 8; j++)
    if (w->shared[asset][j] < 0 &&
        is_same_volatility(p, asset, &p->variant[w->variant[asset][j]], &p->variant[w->variant[asset][k]]))
      return w->variant[asset][j];
  return -1;
}

static void list_variants(const option_paths *p, workspace *w) {
  for (int a = 0; a < p->assets; a++) {
    w->moved[a] = 0;
    for (int v = 0; v < p->variants; v++)
      if (!is_kept(p, v, a)) {
        const int k = w->moved[a]++;
        w->variant[a][k] = (uint16_t)v;
        w->shared[a][k] = (int16_t)find_shared(p, w, a, k);
      }
  }
}

/* Whether any of the first `count` lanes is set. */
static bool any_invalid(vwhole lanes, int count) {
  bool any = false;
  for (int i = 0; i < LANES && i < count; i++) any |= lanes[i] != 0;
  return any;
}

static bool general_paths(const option_paths *p, uint64_t first, int count, unsigned need, void *const *out,
                          void *scratch) {
  workspace *w = scratch;
  bool valid = true;
  const int share = p->halved || p->skip > 0 ? 1 : option_share(p->steps);
  list_variants(p, w);
  if (p->matched) match_chunk(p, first, matches(p, w));
  for (int at = 0; at < count; at += LANES) {
    const uint64_t path = first + (uint64_t)at;
    const stream own = begin_any(p, path), s = share > 1 ? begin_any(p, shared_path(path)) : own;
    const uint32_t shared = (uint32_t)path / OPTION_SHARE_STRIDE;
    w->offset = share > 1 ? p->steps * (int)(shared % (uint32_t)share) : 0;
    const int scramble = (int)(first >> OPTION_SCRAMBLE_SHIFT);
    const uint32_t index = (uint32_t)first + (uint32_t)at;
    if (p->quasi != NULL) bridge_points(p->quasi, p->assets, p->steps, scramble, index, bridges(p, w));
    for (int v = 0; v < p->variants; v++)
      for (int a = 0; a < p->assets; a++) {
        asset_state *t = &w->state[v * p->assets + a];
        *t = begin_asset();
        if (p->variant[v].dynamics != NULL)
          t->v = v_set((real)(p->variant[v].v != NULL ? p->variant[v].v[a] : p->variant[v].dynamics[a].v));
        if (p->variant[v].x != NULL) t->x = v_set((real)p->variant[v].x[a]);
      }
    for (int k = 0; k < p->variants * p->schedules; k++) w->state[p->variants * p->assets + k] = begin_asset();
    if (p->rates) memset(rates_of(p, w), 0, option_rates_scratch(p->variants));
    memset(tangent_sums_of(p, w), 0, option_tangent_scratch(p->tangents, p->sloped));
    w->invalid = (vwhole){0};
    for (int step = 0; step < p->steps; step++) {
      if (step % 4 == 0) draw_group(p, &s, share > 1 ? shared / (uint32_t)share : (uint32_t)step / 4, need, w);
      if (step % 4 == 0 && p->quasi != NULL) quasi_group(p, scramble, index, step / 4, w);
      if (step % 4 == 0 && p->matched) match_normals(p, step, w);
      general_step(p, &own, step, at, need, w, out);
    }
    for (int v = 0; v < p->variants; v++)
      for (int f = 0; f < p->features; f++) {
        const option_feature *feature = &p->feature[f];
        if (feature->kind >= OPTION_FIXING || is_kept(p, v, feature->asset)) continue;
        if (feature->tangent > 0 && v >= p->sloped) continue;
        const int schedule = feature->schedule - 1;
        const asset_state *t = schedule < 0 ? &w->state[v * p->assets + feature->asset]
                                            : &w->state[p->variants * p->assets + v * p->schedules + schedule];
        const double spot = p->variant[v].spot[feature->asset];
        const vreal value =
            feature->tangent == 0
                ? feature_value(p, t, feature, spot)
                : tangent_value(p, t, &tangent_sums_of(p, w)[v * p->tangents + feature->tangent - 1], feature, spot);
        memcpy((real *)out[v * p->features + f] + at, &value, sizeof value);
      }
    if (p->variant[0].dynamics != NULL) valid &= !any_invalid(w->invalid, count - at);
  }
  return valid;
}

#include "kernels/option/cpu/lean.inc"

option_path_kernel OPTION_PATHS;
bool OPTION_PATHS(const option_paths *p, uint64_t first, int count, void *const *out, void *scratch) {
  unsigned need = 0;
  int curved, flat;
  for (int f = 0; f < p->features; f++) {
    const option_feature *feature = &p->feature[f];
    const bool joint = feature->kind == OPTION_EARLY && feature->asset < 0;
    need |= 1u << feature->kind;
    if (feature->kind == OPTION_HIGHEST || (joint && p->variant[0].rule[feature->step].maxima)) need |= 1 << OPTION_MAX;
  }
  const bool lean = p->assets == 1 && p->variant[0].dynamics == NULL && p->quasi == NULL && p->mrg == NULL &&
                    !p->halved && p->skip == 0 && !p->matched && p->schedules == 0 && p->cash == NULL &&
                    !(need & (NEED_ENDS | NEED_HIGH | NEED_LOW | NEED_SINGLES)) &&
                    lean_tangents(p, need, &curved, &flat);
  if (!lean) return general_paths(p, first, count, need, out, scratch);
  if (p->steps <= 2 && (p->variants > 1 || p->tangents > 0) && !(need & (NEED_SUM | NEED_LOGS))) {
    lean_last(p, first, count, curved, out);
    return true;
  }
  for (int v = 0; v < p->variants;) {
    const int left = p->variants - v;
    const bool slopes = p->tangents > 0 && v < p->sloped;
    const int size = slopes ? p->sloped : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    option_paths group = *p;
    group.variant += v;
    group.sloped = slopes ? p->sloped : 0;
    lean_group(&group, first, count, need, slopes ? 2 * curved + flat : 0, size, out + v * p->features);
    v += size;
  }
  return true;
}
