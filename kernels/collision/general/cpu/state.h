/* From the state and into it. Part of cpu.c, for one precision: `real` is defined before this is included. */
#ifndef COLLISION_CPU_STATE_H
#define COLLISION_CPU_STATE_H

#include "kernels/collision/general/cpu/lists.h"

static sim_status load_springs(collision_work *w) {
  const collision_state *s = &w->state;
  const int springs = w->o.springs;
  const real *saved = s->contact_spring;
  for (int64_t k = 0; k < s->room && springs > 0; k++) {
    if (s->contact_grain[k] == UINT64_MAX) continue;
    if (s->contact_grain[k] >= (uint64_t)w->o.n || s->contact_partner[k] >= (uint64_t)w->o.n)
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's contacts name grains that are not there");
    const uint32_t ids[2] = {(uint32_t)s->contact_grain[k], (uint32_t)s->contact_partner[k]};
    for (int side = 0; side < 2; side++) {
      const int64_t i = w->slot[ids[side]];
      const uint32_t j = w->slot[ids[1 - side]];
      for (int64_t e = w->search.first[i]; e < w->search.first[i + 1]; e++) {
        if (w->search.neighbour[e] != j) continue;
        for (int c = 0; c < springs; c++) {
          const real value = saved[c * s->room + k];
          w->spring[e * springs + c] = side == 0 || c == 6 ? value : -value;
        }
      }
    }
  }
  return SIM_OK;
}

/* Contacts that are about to begin or have just ended have a history too: the list has to hold them all. */
static void reach_contacts(collision_work *w) {
  const collision_state *s = &w->state;
  w->held = 0;
  for (int64_t k = 0; k < s->room && w->o.springs > 0; k++) {
    if (s->contact_grain[k] >= (uint64_t)w->o.n || s->contact_partner[k] >= (uint64_t)w->o.n) continue;
    const place *p = &w->now.place[s->contact_grain[k]], *q = &w->now.place[s->contact_partner[k]];
    real d[3];
    (void)apart(&w->box, p, q, d);
    w->held = fmax(w->held, sqrt((double)contact_dot(d, d)) - (double)(p->r + q->r));
  }
  w->search.cutoff = fmax(default_skin(&w->o, w->search.smallest), 1.01 * w->held);
}

/* Where grains come and go. */
static void take_count(collision_work *w) {
  if (w->state.live == NULL) return;
  w->o.n = w->search.n = w->state.n = *w->state.live;
  w->state.room = collision_contact_room(w->o.n, w->o.springs);
  w->blocks = (w->o.n + BLOCK - 1) / BLOCK;
}

static sim_status load(collision_work *w) {
  const collision_state *s = &w->state;
  const grains *g = &w->now;
  take_count(w);
  const int64_t n = w->o.n;
  const int64_t springs = (int64_t)wall_numbers(&w->o), gates = w->o.gates;
  const real *x = s->position, *v = s->velocity, *spin = s->spin, *a = s->acceleration, *twirl = s->twirl;
  for (int64_t i = 0; i < n; i++) {
    if (s->material[i] >= (uint64_t)w->o.materials)
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint names a material that is not there");
    g->id[i] = (uint32_t)i;
    g->material[i] = (uint32_t)s->material[i];
    g->place[i].r = ((const real *)s->radius)[i];
    g->seen[i].m = ((const real *)s->mass)[i];
    for (int k = 0; k < 3; k++) {
      g->place[i].x[k] = x[k * n + i];
      g->velocity[i].v[k] = g->seen[i].v[k] = v[k * n + i];
      g->spin[i].v[k] = g->turned[i].v[k] = spin[k * n + i];
      g->acceleration[i].v[k] = a[k * n + i];
      g->twirl[i].v[k] = twirl[k * n + i];
    }
    g->tally[i] = (tally){s->dissipated[i], s->virial[i], s->work != NULL ? s->work[i] : 0, s->collisions[i]};
    for (int64_t k = 0; k < springs; k++) g->wall_spring[i * springs + k] = ((const real *)s->wall_spring)[k * n + i];
    for (int64_t k = 0; k < gates; k++) g->crossed[i * gates + k] = (int32_t)s->crossed[k * n + i];
  }
  memset(w->near, 0, (size_t)n * (size_t)w->o.meshes * sizeof *w->near);
  w->listed = false;
  reach_contacts(w);
  SIM_TRY(make_list(w));
  return load_springs(w);
}

static sim_status store_springs(collision_work *w) {
  const collision_state *s = &w->state;
  const int springs = w->o.springs;
  real *out = s->contact_spring;
  int64_t k = 0;
  if (springs == 0) return SIM_OK;
  memset(s->contact_grain, 0xff, (size_t)s->room * sizeof *s->contact_grain);
  memset(s->contact_partner, 0xff, (size_t)s->room * sizeof *s->contact_partner);
  memset(out, 0, (size_t)(s->room * springs) * sizeof *out);
  for (int64_t id = 0; id < w->o.n; id++) {
    const int64_t i = w->slot[id];
    for (int64_t e = w->search.first[i]; e < w->search.first[i + 1]; e++) {
      const uint32_t partner = w->now.id[w->search.neighbour[e]];
      const real *spring = w->spring + e * springs;
      bool any = false;
      for (int c = 0; c < springs; c++) any = any || spring[c] != 0;
      if (partner < id || !any) continue;
      if (k == s->room)
        return sim_fail(SIM_ERR_DIVERGED,
                        "more than %" PRId64 " contacts have a history: grains are pressed into "
                        "each other",
                        s->room);
      s->contact_grain[k] = (uint64_t)id;
      s->contact_partner[k] = partner;
      for (int c = 0; c < springs; c++) out[c * s->room + k] = spring[c];
      k++;
    }
  }
  return SIM_OK;
}

static sim_status store(collision_work *w) {
  const collision_state *s = &w->state;
  const grains *g = &w->now;
  const int64_t n = w->o.n, springs = (int64_t)wall_numbers(&w->o), gates = w->o.gates;
#pragma omp parallel for schedule(static) num_threads(w->o.threads) if (w->o.n > 4096)
  for (int64_t id = 0; id < n; id++) {
    const int64_t i = w->slot[id];
    for (int k = 0; k < 3; k++) {
      ((real *)s->position)[k * n + id] = g->place[i].x[k];
      ((real *)s->velocity)[k * n + id] = g->velocity[i].v[k];
      ((real *)s->spin)[k * n + id] = g->spin[i].v[k];
      ((real *)s->acceleration)[k * n + id] = g->acceleration[i].v[k];
      ((real *)s->twirl)[k * n + id] = g->twirl[i].v[k];
    }
    s->dissipated[id] = g->tally[i].dissipated;
    s->virial[id] = g->tally[i].virial;
    if (s->work != NULL) s->work[id] = g->tally[i].work;
    s->collisions[id] = g->tally[i].collisions;
    for (int64_t k = 0; k < springs; k++) ((real *)s->wall_spring)[k * n + id] = g->wall_spring[i * springs + k];
    for (int64_t k = 0; k < gates; k++) s->crossed[k * n + id] = g->crossed[i * gates + k];
  }
  return store_springs(w);
}

#endif
