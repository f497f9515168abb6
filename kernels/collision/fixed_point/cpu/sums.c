/* Fixed-point solver on the CPU: impulses at the current positions, and sums for the tables. Sums over contacts are of
 * integers, independent of their order. GPU counterparts: cuda/contacts.cu (contacts), cuda/sums.cu (grains). */
#include "kernels/collision/fixed_point/cpu/work.h"

#include "engine/reduce.h"

#include <stdlib.h>
#include <string.h>

/* Whether slab s belongs to a phase: even slabs, odd slabs, and the last slab of an odd number. Slabs of one phase have
 * no common neighbour, so that threads may add to the next slab. */
static bool in_phase(const collision_work *w, int64_t s, int phase) {
  const int64_t slabs = w->cells[0];
  const bool alone = (slabs & 1) && s == slabs - 1;
  return phase == 2 ? alone : !alone && (s & 1) == phase;
}

static void sum_impulses(int32_t *q, const fixed_impulse *impulse, size_t count) {
  for (size_t k = 0; k < count; k++)
    for (int c = 0; c < 3; c++) q[(impulse[k].at & ~FIXED_BEGUN) + (uint32_t)c] += impulse[k].q[c];
}

static void add_slab(collision_work *w, const fixed_rules *rules, int64_t s, fixed_thread *team) {
  fixed_tally others = {0};
  for (int which = 0; which < 2; which++) {
    const fixed_pairs *list = &w->slab[s].inner[which];
    const fixed_slab_pair sides = collision_fixed_slab_pair(w, s, which);
    const int64_t other = which == FIXED_WITHIN ? s : collision_fixed_next_slab(w, s);
    const size_t count = w->lanes->pair_impulses(rules, list, &sides, team->now.impulse[0], team->now.impulse[1],
                                                 collision_fixed_owns(w, s) ? &team->level[0].tally : &others);
    sum_impulses(w->spare.p + w->slab[s].first * w->stride, team->now.impulse[0], count);
    sum_impulses(w->spare.p + w->slab[other].first * w->stride, team->now.impulse[1], count);
  }
}

sim_status collision_fixed_impulses(collision_work *w, bool start, fixed_tally *tally) {
  const fixed_rules rules = collision_fixed_rules(w, w->before, w->before, start);
  memset(w->spare.p, 0, (size_t)(w->slots * w->stride) * sizeof *w->spare.p);
  for (int t = 0; t < w->threads; t++) w->team[t].level[0].tally = (fixed_tally){0};
#pragma omp parallel num_threads(w->threads)
  for (int phase = 0; phase < 3; phase++) {
#pragma omp for schedule(static, 1)
    for (int t = 0; t < w->threads; t++) {
      int64_t first, end;
      collision_fixed_thread_chain(w, t, 1, 0, &first, &end);
      for (int64_t s = first; s < end; s++) {
        const int64_t slab = collision_fixed_wrapped(w, s);
        if (in_phase(w, slab, phase)) add_slab(w, &rules, slab, &w->team[t]);
      }
    }
  }
  *tally = (fixed_tally){0};
  for (int t = 0; t < w->threads; t++) {
    tally->virial += w->team[t].level[0].tally.virial;
    tally->dissipated += w->team[t].level[0].tally.dissipated;
  }
  return collision_fixed_gather_impulses(w, tally);
}

/* ---- contacts ---- */

/* Energies are integers in units of 2^-40 k d^2: room for 10^9 contacts with an overlap of a tenth of d. */
typedef struct contact_sums {
  int64_t elastic, stress[6], touching;
  double overlap;
  uint32_t deepest; /* id of the grain with the largest overlap */
} contact_sums;

typedef struct scale {
  double energy, force; /* unit of energy; force of one unit of impulse */
  double touch;         /* greatest diameter of a grain */
} scale;

static void add_pair(const collision_work *w, const fixed_rules *rules, const scale *unit, const fixed_slab_pair *sides,
                     uint32_t word_a, uint32_t word_b, const uint32_t *id_a, const uint32_t *id_b, contact_sums *at) {
  const fixed_point_constants *g = &rules->numbers;
  const uint32_t *xa = sides->xa + word_a, *xb = sides->xb + word_b;
  const int32_t *pa = sides->pa + word_a, *pb = sides->pb + word_b;
  float f[3], radius[2] = {(float)w->system.radius[0], (float)w->system.radius[0]}, heavy[2] = {1, 1};
  if (!rules->equal)
    for (int k = 0; k < 2; k++) {
      memcpy(&radius[k], (k ? xb : xa) + 3, sizeof *radius);
      memcpy(&heavy[k], (k ? pb : pa) + 3, sizeof *heavy);
    }
  fixed_point_contact m;
  const float square = fixed_point_minimum_image(g, xa, xb, f);
  if (!fixed_point_pair_impulse(g, rules->equal, rules->damped, false, f, square, radius[0] + radius[1], pa, pb,
                                heavy[0], heavy[1], &m) ||
      !(m.overlap > 0))
    return;
  const double pairs_mass = w->system.mass / ((double)heavy[0] + (double)heavy[1]), depth = (double)m.overlap;
  const double stiffness = w->system.law.k0 + w->system.law.km * pairs_mass;
  at->elastic += llrint(0.5 * stiffness * depth * depth / unit->energy);
  for (int c = 0; c < 6; c++) {
    const int a = c < 3 ? c : c == 5 ? 2 : c - 3, b = c < 3 ? c : c == 5 ? 0 : c - 2;
    at->stress[c] += llrint((double)f[a] * (double)f[b] * (double)m.scale * unit->force / unit->energy);
  }
  at->touching += 2;
  const double part = depth / (double)fminf(radius[0], radius[1]);
  const uint32_t id = *id_a < *id_b ? *id_a : *id_b;
  if (part > at->overlap || (part == at->overlap && id < at->deepest)) {
    at->overlap = part;
    at->deepest = id;
  }
}

static void add_slab_contacts(const collision_work *w, const fixed_rules *rules, const scale *unit, int64_t s,
                              contact_sums *at) {
  for (int which = 0; which < 2; which++) {
    const fixed_pairs *list = &w->slab[s].inner[which];
    const fixed_slab_pair sides = collision_fixed_slab_pair(w, s, which);
    const uint32_t *id_a = w->now.id + w->slab[s].first;
    const uint32_t *id_b = which == FIXED_WITHIN ? id_a : w->now.id + w->slab[collision_fixed_next_slab(w, s)].first;
    for (size_t k = 0; k < list->count; k++)
      add_pair(w, rules, unit, &sides, list->a[k], list->b[k], id_a + list->a[k] / (uint32_t)w->stride,
               id_b + list->b[k] / (uint32_t)w->stride, at);
  }
}

static void merge(contact_sums *all, const contact_sums *one) {
  all->elastic += one->elastic;
  all->touching += one->touching;
  for (int c = 0; c < 6; c++) all->stress[c] += one->stress[c];
  if (one->overlap > all->overlap || (one->overlap == all->overlap && one->deepest < all->deepest)) {
    all->overlap = one->overlap;
    all->deepest = one->deepest;
  }
}

static sim_status add_contacts(collision_work *w, collision_sums *out) {
  const fixed_rules rules = collision_fixed_rules(w, w->before, w->before, false);
  const fixed_point_system *system = &w->system;
  const double touch = 2 * system->radius[1];
  const scale unit = {.energy = (system->law.k0 + system->law.km * system->mass / 2) * touch * touch * 0x1p-40,
                      .force = system->quantum / w->before};
  contact_sums all = {.deepest = UINT32_MAX};
#pragma omp parallel for schedule(static, 1) num_threads(w->threads)
  for (int t = 0; t < w->threads; t++) {
    contact_sums here = {.deepest = UINT32_MAX};
    int64_t first, end;
    collision_fixed_thread_chain(w, t, 0, 0, &first, &end);
    for (int64_t s = first; s < end; s++) add_slab_contacts(w, &rules, &unit, s, &here);
#pragma omp critical
    merge(&all, &here);
  }
  contact_sums ranks[SIM_RANKS_MAX];
  SIM_TRY(w->comm->ops->gather(w->comm, &all, sizeof all, ranks));
  all = (contact_sums){.deepest = UINT32_MAX};
  for (int r = 0; r < w->comm->size; r++) merge(&all, &ranks[r]);
  out->elastic = (double)all.elastic * unit.energy;
  for (int c = 0; c < 6; c++) out->stress[c] = (double)all.stress[c] * unit.energy;
  out->touching = (double)all.touching;
  out->overlap = all.overlap;
  out->overlap_grain = all.overlap > 0 ? all.deepest : 0;
  return SIM_OK;
}

/* ---- grains ---- */

enum { MASS, KINETIC, COLLISIONS, MOMENTUM, ANGULAR = MOMENTUM + 3, FLUX = ANGULAR + 3, SUMS = FLUX + 6 };

static void add_grain(const collision_work *w, int64_t k, double m, double sums[SUMS]) {
  double x[3], v[3];
  for (int c = 0; c < 3; c++) {
    const int64_t at = k * w->stride + c;
    x[c] = w->system.low[c] + (double)w->now.x[at] * 0x1p-32 * w->system.size[c];
    v[c] = ((double)w->now.p[at] + 0.5 * (double)w->spare.p[at]) * w->system.quantum / m;
    sums[KINETIC] += 0.5 * m * v[c] * v[c];
    sums[MOMENTUM + c] += m * v[c];
  }
  for (int c = 0; c < 3; c++) {
    const int a = (c + 1) % 3, b = (c + 2) % 3;
    sums[ANGULAR + c] += m * (x[a] * v[b] - x[b] * v[a]);
    sums[FLUX + c] += m * v[c] * v[c];
    sums[FLUX + 3 + c] += m * v[c == 2 ? 2 : c] * v[c == 2 ? 0 : c + 1];
  }
  sums[MASS] += m;
  sums[COLLISIONS] += (double)w->now.collisions[k];
}

/* Adds up the sums over grains in the order of ids, in blocks of a fixed size. */
static sim_status add_grains(collision_work *w, collision_sums *out) {
  const int64_t n = w->o.n, blocks = (n + SIM_REDUCE_BLOCK - 1) / SIM_REDUCE_BLOCK;
  double *partial = malloc((size_t)blocks * SUMS * sizeof *partial), all[SUMS];
  if (partial == NULL) return sim_no_memory("the sums");
  uint32_t *slot = w->order;
#pragma omp parallel num_threads(w->threads)
  {
#pragma omp for schedule(static)
    for (int64_t k = 0; k < w->slots; k++)
      if (w->now.id[k] != UINT32_MAX) slot[w->now.id[k]] = (uint32_t)k;
#pragma omp for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
      const int64_t end = (b + 1) * SIM_REDUCE_BLOCK < n ? (b + 1) * SIM_REDUCE_BLOCK : n;
      double here[SUMS] = {0};
      for (int64_t id = b * SIM_REDUCE_BLOCK; id < end; id++)
        add_grain(w, slot[id], (double)((const float *)w->state.mass)[id], here);
      for (int k = 0; k < SUMS; k++) partial[k * blocks + b] = here[k];
    }
  }
  for (int k = 0; k < SUMS; k++) all[k] = sim_reduce_tree(partial + k * blocks, (size_t)blocks);
  free(partial);
  out->mass = all[MASS];
  out->kinetic = all[KINETIC];
  out->collisions = all[COLLISIONS];
  memcpy(out->momentum, all + MOMENTUM, sizeof out->momentum);
  memcpy(out->angular, all + ANGULAR, sizeof out->angular);
  memcpy(out->flux, all + FLUX, sizeof out->flux);
  return SIM_OK;
}

sim_status collision_fixed_sums(collision_work *w, double t, collision_sums *out) {
  (void)t;
  fixed_tally now;
  *out = (collision_sums){0};
  SIM_TRY(collision_fixed_lists(w));
  SIM_TRY(collision_fixed_impulses(w, false, &now));
  SIM_TRY(add_contacts(w, out));
  SIM_TRY(collision_fixed_gather(w));
  /* Half of the current impulses act before this step. */
  out->virial = w->virial + 0.5 * (double)now.virial * w->system.virial_unit;
  out->dissipated = w->dissipated + 0.5 * (double)now.dissipated * w->system.dissipated_unit;
  return add_grains(w, out);
}
