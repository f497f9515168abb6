/* Fixed-point solver on the CPU: a sweep over the slabs makes one or several steps. GPU counterpart: cuda/step.cu.
 *
 * Level l of a sweep is its l-th step. Once slab s has made step l, slab s - 1 makes step l + 1, while both are still
 * in the cache. Slab s moves once the impulses from the pairs of s - 1 and of s are known. At level l a thread begins
 * with slab first + l, whose impulses it computes but which it does not move, and ends at end - 1 - l; the slabs
 * between two threads follow when all threads are done, and those between two ranks after an exchange, see ranks.c. */
#include "kernels/collision/fixed_point/cpu/work.h"

#include <math.h>

typedef struct fixed_sweep {
  collision_work *w;
  fixed_rules rules[FIXED_LEVELS];
  double before[FIXED_LEVELS], dt[FIXED_LEVELS];
  int levels;
} fixed_sweep;

/* Sets the memory to prefetch while slab s is computed: a part of the slab after the next, at each level. */
static void set_prefetch(const fixed_sweep *plan, int level, int64_t s, int which, size_t pairs,
                         fixed_slab_pair *sides) {
  const collision_work *w = plan->w;
  const fixed_slab *later = &w->slab[collision_fixed_wrapped(w, s + 2 + level)];
  const size_t bytes = (size_t)(later->count * w->stride) * sizeof(uint32_t) / (size_t)plan->levels;
  const char *begin = which == FIXED_WITHIN ? (const char *)(w->now.x + later->first * w->stride)
                                            : (const char *)(w->now.p + later->first * w->stride);
  if (pairs == 0) return;
  sides->ahead = begin + bytes * (size_t)level;
  sides->ahead_step = (bytes + pairs - 1) / pairs;
}

/* Computes the impulses of a list of slab s; returns their number. */
static size_t list_impulses(const fixed_sweep *plan, int level, int64_t s, int which, fixed_tally *tally,
                            fixed_impulse *on_a, fixed_impulse *on_b) {
  collision_work *w = plan->w;
  fixed_rules rules = plan->rules[level];
  const fixed_slab *slab = &w->slab[s], *other = &w->slab[collision_fixed_next_slab(w, s)];
  rules.trial = collision_fixed_trial(w, fmax(slab->fastest, other->fastest), plan->before[level]);
  collision_fixed_inner_list(w, s, which, plan->before[level]);
  const fixed_pairs *list = &slab->inner[which];
  fixed_slab_pair sides = collision_fixed_slab_pair(w, s, which);
  set_prefetch(plan, level, s, which, list->count, &sides);
  return w->lanes->pair_impulses(&rules, list, &sides, on_a, on_b, tally);
}

/* Computes the impulses of the pairs of slab s. */
static void pair_impulses(const fixed_sweep *plan, int level, int64_t s, fixed_tally *tally, fixed_slab_impulses *own,
                          fixed_next_impulses *carried) {
  own->count[0] = list_impulses(plan, level, s, FIXED_WITHIN, tally, own->impulse[0], own->impulse[1]);
  own->count[1] = list_impulses(plan, level, s, FIXED_NEXT, tally, own->impulse[2], carried->impulse);
  carried->count = own->count[1];
}

static void apply_and_move(const fixed_sweep *plan, int level, int64_t s, const fixed_slab_impulses *own,
                           const fixed_next_impulses *carried, float *fastest) {
  collision_work *w = plan->w;
  fixed_slab *slab = &w->slab[s];
  const int64_t slots = (slab->count + FIXED_GROUP) / FIXED_GROUP * FIXED_GROUP;
  int32_t *p = w->now.p + slab->first * w->stride;
  uint32_t *collisions = w->now.collisions + slab->first;
  const fixed_lanes *lanes = w->lanes;
  lanes->add_impulses(p, collisions, w->stride, carried->impulse, carried->count);
  lanes->add_impulses(p, collisions, w->stride, own->impulse[0], own->count[0]);
  lanes->add_impulses(p, collisions, w->stride, own->impulse[1], own->count[0]);
  lanes->add_impulses(p, collisions, w->stride, own->impulse[2], own->count[1]);
  const float most = lanes->move(&plan->rules[level], slots, w->now.x + slab->first * w->stride, p);
  *fastest = most > *fastest ? most : *fastest;
  slab->fastest = collision_fixed_speed(w, (double)most);
  slab->moved += slab->fastest * plan->dt[level];
}

/* Slabs of a thread in a sweep. */
static void find_share(const fixed_sweep *plan, int thread, int64_t *first, int64_t *end) {
  collision_fixed_thread_chain(plan->w, thread, 0, 0, first, end);
}

static void sweep_share(const fixed_sweep *plan, int thread) {
  fixed_thread *team = &plan->w->team[thread];
  int64_t first, end;
  find_share(plan, thread, &first, &end);
  for (int l = 0; l < plan->levels; l++) {
    team->level[l].tally = (fixed_tally){0};
    team->level[l].fastest = 0;
  }
  for (int64_t s = first; s < end; s++)
    for (int l = 0; l < plan->levels && s - l >= first + l; l++) {
      const int64_t q = s - l;
      fixed_level *level = &team->level[l];
      fixed_next_impulses *next = &level->carried[q & 1];
      fixed_slab_impulses *own = q == first + l ? &level->first : &team->now;
      const int64_t slab = collision_fixed_wrapped(plan->w, q);
      pair_impulses(plan, l, slab, &level->tally, own, next);
      level->last = next;
      if (q > first + l) apply_and_move(plan, l, slab, own, &level->carried[1 - (q & 1)], &level->fastest);
    }
}

/* Makes the steps of the slabs around a thread's first slab. Around the first slab of a rank, `up` has the impulses of
 * the first step on it, and `down` gets those of the second step on the slab before, which its owner moves. */
_Static_assert(FIXED_QUEUED == 2, "the exchange between ranks is for sweeps of up to two steps");
static void sweep_between(const fixed_sweep *plan, int thread, const fixed_next_impulses *up,
                          fixed_next_impulses *down) {
  collision_work *w = plan->w;
  fixed_thread *team = &w->team[thread];
  const fixed_thread *last = &w->team[thread > 0 ? thread - 1 : w->threads - 1];
  const bool border = w->owners > 1 && thread == 0;
  int64_t first, end;
  find_share(plan, thread, &first, &end);
  for (int l = 0; l < plan->levels && first < end; l++) {
    fixed_level *level = &team->level[l];
    const fixed_next_impulses *from = border && l == 0 ? up : last->level[l].last;
    for (int64_t q = first - l; q <= first + l; q++) {
      fixed_next_impulses *next = &team->between[q & 1];
      const int64_t s = collision_fixed_wrapped(w, q);
      if (border && q < first) {
        down->impulse = team->level[0].first.impulse[2]; /* of the first step, which is done */
        down->count = next->count = list_impulses(plan, l, s, FIXED_NEXT, &level->tally, down->impulse, next->impulse);
      } else {
        if (q < first + l) pair_impulses(plan, l, s, &level->tally, &team->now, next);
        apply_and_move(plan, l, s, q < first + l ? &team->now : &level->first, from, &level->fastest);
      }
      from = next;
    }
  }
}

/* Makes the second step of this rank's last slab. down: impulses from its pairs with the next slab. */
static void finish_last(const fixed_sweep *plan, const fixed_next_impulses *down) {
  collision_work *w = plan->w;
  fixed_thread *team = &w->team[w->threads - 1];
  fixed_level *level = &team->level[1];
  const int64_t s = w->cut[w->comm->rank + 1] - 1;
  fixed_slab_impulses own = {.impulse = {team->now.impulse[0], team->now.impulse[1], down->impulse}};
  own.count[0] = list_impulses(plan, 1, s, FIXED_WITHIN, &level->tally, own.impulse[0], own.impulse[1]);
  own.count[1] = down->count;
  apply_and_move(plan, 1, s, &own, level->last, &level->fastest);
}

/* Number of steps of the next sweep: limited by the pending steps, by the slabs, and by the outer lists. */
static int levels_of(const collision_work *w, double rest) {
  const int most = collision_fixed_levels(w);
  int levels = 1;
  for (; levels < w->pending_count && levels < most; levels++) {
    rest -= 2 * collision_fixed_displacement_max(w, w->pending[levels - 1].dt);
    if (rest < 0) break;
  }
  return levels;
}

/* Makes the steps of all slabs of this rank. */
static sim_status sweep_all(const fixed_sweep *plan) {
  collision_work *w = plan->w;
  const fixed_level *last = w->team[w->threads - 1].level;
  const bool any = w->cut[w->comm->rank] < w->cut[w->comm->rank + 1];
  fixed_next_impulses up = {0}, down = {0}, back = {0};
  sim_status status = SIM_OK;
#pragma omp parallel num_threads(w->threads)
  {
#pragma omp for schedule(static, 1)
    for (int t = 0; t < w->threads; t++) sweep_share(plan, t);
    if (w->owners > 1) {
#pragma omp master
      status = collision_fixed_pass(w, 1, plan->levels > 1, any ? last[0].last : &up, &up);
#pragma omp barrier
    }
#pragma omp for schedule(static, 1)
    for (int t = 0; t < w->threads; t++)
      if (status == SIM_OK) sweep_between(plan, t, &up, &down);
  }
  w->ahead = false;
  if (w->owners == 1 || plan->levels == 1 || status != SIM_OK) return status;
  SIM_TRY(collision_fixed_pass(w, -1, true, &down, &back));
  if (any) finish_last(plan, &back);
  w->ahead = true;
  return SIM_OK;
}

static sim_status account(collision_work *w, const fixed_sweep *plan) {
  fixed_account all[FIXED_LEVELS] = {0};
  for (int l = 0; l < plan->levels; l++)
    for (int k = 0; k < w->threads; k++) {
      const fixed_level *level = &w->team[k].level[l];
      all[l].fastest = fmax(all[l].fastest, (double)level->fastest);
      all[l].tally.virial += level->tally.virial;
      all[l].tally.dissipated += level->tally.dissipated;
    }
  SIM_TRY(collision_fixed_account(w, all));
  for (int l = 0; l < plan->levels; l++) {
    const double most = all[l].fastest;
    if (!(sqrt(most) < FIXED_POINT_MOMENTUM_MAX))
      return sim_fail(SIM_ERR_DIVERGED,
                      "a grain moves by more than a thirty-second of a radius in a step at t = %.9g: contacts are too "
                      "stiff or grains too fast for this step",
                      w->pending[l].t);
    w->virial += (double)all[l].tally.virial * w->system.virial_unit;
    w->dissipated += (double)all[l].tally.dissipated * w->system.dissipated_unit;
    w->fastest = collision_fixed_speed(w, most);
    w->before = plan->dt[l];
  }
  return SIM_OK;
}

sim_status collision_fixed_sweep(collision_work *w) {
  while (w->pending_count > 0) {
    double rest;
    SIM_TRY(collision_fixed_outer_lists(w, false, &rest));
    fixed_sweep plan = {.w = w, .levels = levels_of(w, rest)};
    for (int l = 0; l < plan.levels; l++) {
      plan.before[l] = l > 0 ? plan.dt[l - 1] : w->before;
      plan.dt[l] = w->pending[l].dt;
    }
    SIM_TRY(collision_fixed_halo(w, 0, 1));
    if (w->comm->size > 1) w->known = false;
    for (int l = 0; l < plan.levels; l++) plan.rules[l] = collision_fixed_rules(w, plan.before[l], plan.dt[l], false);
    SIM_TRY(sweep_all(&plan));
    SIM_TRY(account(w, &plan));
    w->pending_count -= plan.levels;
    for (int l = 0; l < w->pending_count; l++) w->pending[l] = w->pending[l + plan.levels];
  }
  return SIM_OK;
}

sim_status collision_fixed_lists(collision_work *w) {
  double rest;
  SIM_TRY(collision_fixed_sweep(w));
  /* The list of the pairs with the slab below is used here alone: what its owner has filtered lately does not serve. */
  SIM_TRY(collision_fixed_outer_lists(w, w->owners > 1, &rest));
  SIM_TRY(collision_fixed_halo(w, 1, 1));
#pragma omp parallel for schedule(static, 1) num_threads(w->threads)
  for (int t = 0; t < w->threads; t++) {
    int64_t first, end;
    collision_fixed_thread_chain(w, t, 1, 0, &first, &end);
    for (int64_t s = first; s < end; s++)
      for (int which = 0; which < 2; which++)
        collision_fixed_inner_list(w, collision_fixed_wrapped(w, s), which, w->before);
  }
  return SIM_OK;
}
