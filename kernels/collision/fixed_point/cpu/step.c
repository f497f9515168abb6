/* The gas's steps: one sweep over the slabs makes one or some.
 *
 * Level l of a sweep is its l-th step. Once slab s has made step l, slab s - 1 makes step l + 1: both are still in the
 * cache. Slab s moves when s - 1 and s have met, each with the slab after it. A thread begins at level l with its slab
 * first + l, which meets but does not move, and ends at end - 1 - l; what lies between is made when all are done. */
#include "kernels/collision/fixed_point/cpu/work.h"

#include <math.h>

typedef struct gas_plan {
  collision_work *w;
  gas_rules rules[GAS_LEVELS];
  double before[GAS_LEVELS], dt[GAS_LEVELS];
  int levels;
} gas_plan;

static int64_t wrapped(const collision_work *w, int64_t s) {
  const int64_t slabs = w->cells[0];
  return s < 0 ? s + slabs : s >= slabs ? s - slabs : s;
}

/* What is wanted soon: the slab after the next, a part of it at each level. Nothing is fetched beyond the array. */
static void look_ahead(const gas_plan *plan, int level, int64_t s, int which, size_t pairs, gas_sides *sides) {
  const collision_work *w = plan->w;
  const gas_slab *later = &w->slab[wrapped(w, s + 2 + level)];
  const size_t bytes = (size_t)(later->count * w->stride) * sizeof(uint32_t) / (size_t)plan->levels;
  const char *begin = which == GAS_OWN ? (const char *)(w->now.x + later->first * w->stride)
                                       : (const char *)(w->now.p + later->first * w->stride);
  if (pairs == 0) return;
  sides->ahead = begin + bytes * (size_t)level;
  sides->ahead_step = (bytes + pairs - 1) / pairs;
}

/* Contacts of slab s. */
static void meet(const gas_plan *plan, int level, int64_t s, gas_tally *tally, gas_own *own, gas_carried *carried) {
  collision_work *w = plan->w;
  gas_rules rules = plan->rules[level];
  const gas_slab *slab = &w->slab[s], *other = &w->slab[wrapped(w, s + 1)];
  rules.trial = collision_gas_trial(w, fmax(slab->fastest, other->fastest), plan->before[level]);
  for (int which = 0; which < 2; which++) {
    collision_gas_prune(w, s, which, plan->before[level]);
    const gas_list *list = &slab->inner[which];
    gas_sides sides = collision_gas_sides(w, s, which);
    look_ahead(plan, level, s, which, list->count, &sides);
    gas_event *const on_b = which == GAS_OWN ? own->event[1] : carried->event;
    own->count[which] = w->lanes->meet(&rules, list, &sides, own->event[2 * which], on_b, tally);
  }
  carried->count = own->count[1];
}

static void take_and_move(const gas_plan *plan, int level, int64_t s, const gas_own *own, const gas_carried *carried,
                          float *fastest) {
  collision_work *w = plan->w;
  gas_slab *slab = &w->slab[s];
  const int64_t slots = (slab->count + GAS_GROUP) / GAS_GROUP * GAS_GROUP;
  int32_t *p = w->now.p + slab->first * w->stride;
  uint32_t *collisions = w->now.collisions + slab->first;
  const gas_lanes *lanes = w->lanes;
  lanes->take(p, collisions, w->stride, carried->event, carried->count);
  lanes->take(p, collisions, w->stride, own->event[0], own->count[0]);
  lanes->take(p, collisions, w->stride, own->event[1], own->count[0]);
  lanes->take(p, collisions, w->stride, own->event[2], own->count[1]);
  const float most = lanes->move(&plan->rules[level], slots, w->now.x + slab->first * w->stride, p);
  *fastest = most > *fastest ? most : *fastest;
  slab->fastest = collision_gas_speed(w, (double)most);
  slab->moved += slab->fastest * plan->dt[level];
}

static void sweep_share(const gas_plan *plan, int thread) {
  gas_team *team = &plan->w->team[thread];
  int64_t first, end;
  collision_gas_share(plan->w, thread, &first, &end);
  for (int l = 0; l < plan->levels; l++) {
    team->level[l].tally = (gas_tally){0};
    team->level[l].fastest = 0;
  }
  for (int64_t s = first; s < end; s++)
    for (int l = 0; l < plan->levels && s - l >= first + l; l++) {
      const int64_t q = s - l;
      gas_level *level = &team->level[l];
      gas_carried *next = &level->carried[q & 1];
      gas_own *own = q == first + l ? &level->first : &team->now;
      meet(plan, l, q, &level->tally, own, next);
      level->last = next;
      if (q > first + l) take_and_move(plan, l, q, own, &level->carried[1 - (q & 1)], &level->fastest);
    }
}

/* Around a thread's first slab. */
static void sweep_between(const gas_plan *plan, int thread) {
  collision_work *w = plan->w;
  gas_team *team = &w->team[thread];
  const gas_team *last = &w->team[thread > 0 ? thread - 1 : w->threads - 1];
  int64_t first, end;
  collision_gas_share(w, thread, &first, &end);
  for (int l = 0; l < plan->levels; l++) {
    gas_level *level = &team->level[l];
    const gas_carried *from = last->level[l].last;
    for (int64_t q = first - l; q <= first + l; q++) {
      gas_carried *next = &team->between[q & 1];
      const int64_t s = wrapped(w, q);
      if (q < first + l) meet(plan, l, s, &level->tally, &team->now, next);
      take_and_move(plan, l, s, q < first + l ? &team->now : &level->first, from, &level->fastest);
      from = next;
    }
  }
}

/* Levels of the sweep that begins now: as many as are due, as threads have slabs for, and as outer lists hold for. */
static int levels_of(const collision_work *w, double rest) {
  const int64_t slabs = (int64_t)w->cells[0] / w->threads;
  int levels = 1;
  for (; levels < w->dues && 2 * levels + 1 <= slabs; levels++) {
    rest -= 2 * collision_gas_stride_most(w, w->due[levels - 1].dt);
    if (rest < 0) break;
  }
  return levels;
}

static sim_status account(collision_work *w, const gas_plan *plan) {
  for (int l = 0; l < plan->levels; l++) {
    double most = 0;
    gas_tally tally = {0};
    for (int k = 0; k < w->threads; k++) {
      const gas_level *level = &w->team[k].level[l];
      most = fmax(most, (double)level->fastest);
      tally.virial += level->tally.virial;
      tally.lost += level->tally.lost;
    }
    if (!(sqrt(most) < COLLISION_GAS_SPEED_MOST))
      return sim_fail(SIM_ERR_DIVERGED,
                      "a grain moves by more than a thirty-second of a radius in a step at t = %.9g: contacts are too "
                      "stiff or grains too fast for this step",
                      w->due[l].t);
    w->virial += (double)tally.virial * w->gas.virial_unit;
    w->lost += (double)tally.lost * w->gas.lost_unit;
    w->fastest = collision_gas_speed(w, most);
    w->before = plan->dt[l];
  }
  return SIM_OK;
}

sim_status collision_gas_sweep(collision_work *w) {
  while (w->dues > 0) {
    double rest;
    SIM_TRY(collision_gas_outer(w, &rest));
    gas_plan plan = {.w = w, .levels = levels_of(w, rest)};
    for (int l = 0; l < plan.levels; l++) {
      plan.before[l] = l > 0 ? plan.dt[l - 1] : w->before;
      plan.dt[l] = w->due[l].dt;
    }
    for (int l = 0; l < plan.levels; l++) plan.rules[l] = collision_gas_rules(w, plan.before[l], plan.dt[l], false);
#pragma omp parallel num_threads(w->threads)
    {
#pragma omp for schedule(static, 1)
      for (int t = 0; t < w->threads; t++) sweep_share(&plan, t);
#pragma omp for schedule(static, 1)
      for (int t = 0; t < w->threads; t++) sweep_between(&plan, t);
    }
    SIM_TRY(account(w, &plan));
    w->dues -= plan.levels;
    for (int l = 0; l < w->dues; l++) w->due[l] = w->due[l + plan.levels];
  }
  return SIM_OK;
}
