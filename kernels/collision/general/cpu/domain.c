#include "kernels/collision/general/cpu/domain.h"
#include "kernels/collision/scenario/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sim_status collision_domain_create(const sim_comm *comm, int64_t n, collision_domain *out) {
  const size_t grains = (size_t)n;
  *out = (collision_domain){.comm = comm, .mail = {.comm = comm}};
  if (comm->size == 1) return SIM_OK;
  out->owner = calloc(grains, 1);
  out->before = calloc(grains, 1);
  out->marked = calloc(grains, 1);
  if (out->owner && out->before && out->marked) return SIM_OK;
  collision_domain_destroy(out);
  return sim_no_memory("the ranks of %zu grains", grains);
}

void collision_domain_destroy(collision_domain *d) {
  free(d->owner), free(d->before), free(d->marked);
  free(d->sent.at), free(d->received.at);
  collision_mail_destroy(&d->mail);
  *d = (collision_domain){0};
}

double collision_domain_halo(const collision_options *o) {
  const collision_spread spread = collision_spread_of(o);
  const double ranks = o->comm->size, cutoff = o->reach + collision_search_skin(o, o->radius_least);
  const double beside = spread.diameter > 0 ? collision_spread_beside(&spread, cutoff) : pow(spread.n, 2.0 / 3);
  if (o->comm->size == 1) return 0;
  return fmin((ranks - 1) / ranks * spread.n, (o->periodic[0] || ranks > 2 ? 2 : 1) * beside);
}

double collision_domain_bytes(const sim_comm *comm, double n, double halo, double record) {
  return comm->size == 1 ? 0 : 3 * n + 2 * halo * (sizeof(uint32_t) + record);
}

void collision_domain_cut(collision_domain *d, collision_search *s) {
  const int ranks = d->comm->size, rank = d->comm->rank;
  collision_span own[COLLISION_LEVELS];
  if (ranks == 1) return;
  uint8_t *const before = d->before;
  d->before = d->owner;
  d->owner = before;
  d->levels = s->levels;
  for (int l = 0; l < s->levels; l++) {
    const int64_t first = s->cell_first[s->level[l].first_cell],
                  end = s->cell_first[l + 1 < s->levels ? s->level[l + 1].first_cell : s->cells];
    for (int r = 0; r <= ranks; r++) d->cut[l][r] = first + (end - first) * r / ranks;
    for (int r = 0; r < ranks; r++) memset(d->owner + d->cut[l][r], r, (size_t)(d->cut[l][r + 1] - d->cut[l][r]));
    own[l] = (collision_span){d->cut[l][rank], d->cut[l][rank + 1]};
  }
  collision_search_limit(s, own, s->levels);
}

/* ---- all ranks ---- */

/* Non-negative numbers have the order of their bits as integers, and NaN is above all of them. */
sim_status collision_domain_greatest(const collision_domain *d, double *value) {
  uint64_t bits;
  memcpy(&bits, value, sizeof bits);
  SIM_TRY(sim_comm_agree(d->comm, bits, &bits));
  memcpy(value, &bits, sizeof bits);
  return SIM_OK;
}

sim_status collision_domain_gather(const collision_domain *d, void *array, size_t item) {
  size_t ends[SIM_RANKS_MAX];
  for (int l = 0; l < d->levels && d->comm->size > 1; l++) {
    for (int r = 0; r < d->comm->size; r++) ends[r] = (size_t)(d->cut[l][r + 1] - d->cut[l][0]) * item;
    SIM_TRY(sim_comm_gather_parts(d->comm, (char *)array + (size_t)d->cut[l][0] * item, ends));
  }
  return SIM_OK;
}

/* ---- halo ---- */

/* Turns the counts of rank r in first[r + 1] into the first entries of the lists; makes room for the entries. */
static sim_status begin_lists(collision_by_rank *list, int ranks) {
  for (int r = 0; r < ranks; r++) list->first[r + 1] += list->first[r];
  if (list->first[ranks] <= list->room) return SIM_OK;
  free(list->at);
  list->room = list->first[ranks] + list->first[ranks] / 4;
  list->at = malloc((size_t)list->room * sizeof *list->at);
  if (list->at != NULL) return SIM_OK;
  list->room = 0;
  return sim_no_memory("%lld grains near those of other ranks", (long long)list->first[ranks]);
}

/* Visits this rank's grains that have neighbours on other ranks; `fill`: stores them in the lists, else counts them.
 * next [ranks]: scratch memory. */
static void go_through_sent(collision_domain *d, const collision_search *s, bool fill, int64_t *next) {
  int64_t last[SIM_RANKS_MAX]; /* last grain in a rank's list */
  for (int r = 0; r < d->comm->size; r++) last[r] = -1;
  for (int64_t b = 0; b < s->blocks; b++)
    for (int64_t i = s->block[b].first; i < s->block[b].end; i++)
      for (int64_t e = s->first[i]; e < s->first[i + 1]; e++) {
        const uint32_t j = s->neighbour[e];
        const int r = d->owner[j];
        d->marked[j] = 1;
        if (r == d->comm->rank || last[r] == i) continue;
        last[r] = i;
        if (fill) d->sent.at[next[r]] = (uint32_t)i;
        next[r]++;
      }
}

/* Being neighbours is symmetric to the bit, so that the list of grains that a rank sends equals the receiver's list. */
sim_status collision_domain_list_halo(collision_domain *d, const collision_search *s) {
  const int ranks = d->comm->size, rank = d->comm->rank;
  int64_t next[SIM_RANKS_MAX + 1] = {0};
  if (ranks == 1) return SIM_OK;
  memset(d->marked, 0, (size_t)s->n);
  memset(d->sent.first, 0, sizeof d->sent.first);
  memset(d->received.first, 0, sizeof d->received.first);
  go_through_sent(d, s, false, d->sent.first + 1);
  SIM_TRY(begin_lists(&d->sent, ranks));
  memcpy(next, d->sent.first, (size_t)ranks * sizeof *next);
  go_through_sent(d, s, true, next);
  for (int64_t j = 0; j < s->n; j++) d->received.first[d->owner[j] + 1] += d->marked[j] && d->owner[j] != rank;
  SIM_TRY(begin_lists(&d->received, ranks));
  memcpy(next, d->received.first, (size_t)ranks * sizeof *next);
  for (int64_t j = 0; j < s->n; j++)
    if (d->marked[j] && d->owner[j] != rank) d->received.at[next[d->owner[j]]++] = (uint32_t)j;
  for (int r = 0; r < ranks; r++) d->mail.out.bytes[r] = (size_t)(d->sent.first[r + 1] - d->sent.first[r]);
  SIM_TRY(collision_mail_announce(&d->mail));
  for (int r = 0; r < ranks; r++)
    if ((int64_t)d->mail.in.bytes[r] != d->received.first[r + 1] - d->received.first[r])
      return sim_fail(SIM_ERR_INTERNAL, "rank %d sends %zu grains, and rank %d needs %lld of it", r,
                      d->mail.in.bytes[r], rank, (long long)(d->received.first[r + 1] - d->received.first[r]));
  return SIM_OK;
}
