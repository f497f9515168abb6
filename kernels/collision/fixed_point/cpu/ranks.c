/* Fixed-point solver on the CPU: division of the slabs among ranks. A rank owns consecutive slabs, and all ranks have
 * the same slots. In the first step of a sweep a rank computes the pairs of its slabs, also those with the slab above,
 * which it receives before, and passes the impulses on that slab up to its owner. In the second step the owner of that
 * slab, which moves it last, computes the same pairs, and passes impulses down. No pair is computed twice. */
#include "engine/comm/fault.h"
#include "kernels/collision/fixed_point/cpu/work.h"

#include <math.h>
#include <string.h>

/* ---- slabs of a rank ---- */

static bool is_alone(const collision_work *w) { return w->comm->size == 1; }

sim_status collision_fixed_ranks_create(collision_work *w, int threads) {
  const int64_t slabs = w->cells[0];
  uint64_t less = ~(uint64_t)threads;
  w->comm = w->o.comm;
  w->mail.comm = w->comm;
  w->known = w->ids = true;
  /* hosts may differ in their number of cores, and cuts and levels depend on the threads */
  SIM_TRY(sim_comm_agree(w->comm, less, &less));
  threads = (int)~less;
  w->owners = w->comm->size < slabs ? w->comm->size : (int)slabs;
  const int others = w->owners - 1;
  w->least = others > 0 ? (2 + others - 1) / others : slabs; /* a slab below and one above, of other ranks */
  if (w->least * w->owners > slabs) {                        /* rank 0 owns all */
    w->owners = 1;
    w->least = slabs;
  }
  w->levels = FIXED_QUEUED;
  w->threads = threads < slabs / w->owners ? threads : (int)(slabs / w->owners);
  if (w->least < w->threads) w->least = w->threads;
  return SIM_OK;
}

/* Sets the cuts so that the owners have equal numbers of grains, and at least w->least slabs each. */
void collision_fixed_cut(collision_work *w) {
  const int64_t slabs = w->cells[0];
  int64_t before = 0, s = 0;
  w->cut[0] = 0;
  for (int r = 1; r < w->owners; r++) {
    const int64_t aim = w->o.n * r / w->owners;
    while (s < slabs && 2 * (aim - before) > w->slab[s].count) before += w->slab[s++].count;
    const int64_t low = w->cut[r - 1] + w->least, high = slabs - w->least * (w->owners - r);
    w->cut[r] = s < low ? low : s > high ? high : s;
  }
  for (int r = w->owners; r <= w->comm->size; r++) w->cut[r] = slabs;
  int64_t first, end;
  collision_fixed_chain(w, 1, 1, &first, &end);
  memset(w->near, 0, (size_t)slabs * sizeof *w->near);
  for (s = first; s < end; s++) w->near[collision_fixed_wrapped(w, s)] = true;
}

bool collision_fixed_owns(const collision_work *w, int64_t slab) {
  return slab >= w->cut[w->comm->rank] && slab < w->cut[w->comm->rank + 1];
}

void collision_fixed_chain(const collision_work *w, int below, int above, int64_t *first, int64_t *end) {
  *first = w->cut[w->comm->rank];
  *end = w->cut[w->comm->rank + 1];
  if (*first == *end || w->owners == 1) return;
  *first -= below;
  *end += above;
}

int64_t collision_fixed_wrapped(const collision_work *w, int64_t s) {
  const int64_t slabs = w->cells[0];
  return s < 0 ? s + slabs : s >= slabs ? s - slabs : s;
}

/* Most steps of a sweep: each thread needs 2 L + 1 slabs for L steps. */
int collision_fixed_levels(const collision_work *w) {
  int64_t least = w->cells[0];
  for (int r = 0; r < w->owners && w->owners > 1; r++) {
    const int64_t slabs = w->cut[r + 1] - w->cut[r];
    least = slabs < least ? slabs : least;
  }
  int levels = 1;
  while (levels < w->levels && 2 * (levels + 1) + 1 <= least / w->threads) levels++;
  return levels;
}

/* ---- exchange ---- */

/* The rank that owns a slab. */
static int owner_of(const collision_work *w, int64_t slab) {
  int r = 0;
  while (slab >= w->cut[r + 1]) r++;
  return r;
}

sim_status collision_fixed_report(collision_work *w) {
  size_t ends[SIM_RANKS_MAX];
  if (is_alone(w)) return SIM_OK;
  for (int r = 0; r < w->comm->size; r++) ends[r] = (size_t)w->cut[r + 1] * sizeof *w->report;
  for (int64_t s = 0; s < (int64_t)w->cells[0]; s++)
    if (collision_fixed_owns(w, s))
      w->report[s] =
          (fixed_report){w->slab[s].fastest, w->slab[s].moved, {w->slab[s].moved_at[0], w->slab[s].moved_at[1]}};
  SIM_TRY(sim_comm_gather_parts(w->comm, w->report, ends));
  for (int64_t s = 0; s < (int64_t)w->cells[0]; s++) {
    w->slab[s].fastest = w->report[s].fastest;
    w->slab[s].moved = w->report[s].moved;
  }
  return SIM_OK;
}

/* Sets at[rank] to where the message for each rank is to be written. */
static sim_status begin_message(collision_work *w, char **at) {
  collision_message_parts(&w->mail, &w->mail.out, at);
  if (sim_comm_planted(w->comm) != SIM_PLANTED_EARLY) return SIM_OK;
  SIM_TRY(collision_mail_swap(&w->mail));
  sim_comm_planted_pause();
  return SIM_OK;
}

static sim_status end_message(collision_work *w) {
  return sim_comm_planted(w->comm) == SIM_PLANTED_EARLY ? SIM_OK : collision_mail_swap(&w->mail);
}

/* Visits, in their order, the slabs in the halo of rank `of` that rank `from` owns; the halo is sides[0] slabs before
 * those of the rank and sides[1] behind them. Adds their bytes to *bytes; where `at` is not NULL also writes them to
 * the message at *at (`out`), or reads them from it. */
static void carry_halo(collision_work *w, int of, int from, const int64_t sides[2], bool out, size_t *bytes,
                       char **at) {
  const int64_t first = w->cut[of], end = w->cut[of + 1];
  const int64_t below = sides[0], above = sides[1];
  const bool lacks = !out && sim_comm_planted(w->comm) == SIM_PLANTED_SHORT;
  for (int64_t k = 0; k < below + above && first < end; k++) {
    const int64_t s = collision_fixed_wrapped(w, k < below ? first - below + k : end + k - below);
    const size_t words = (size_t)(w->slab[s].count * w->stride), size = words * sizeof(uint32_t);
    if (owner_of(w, s) != from) continue;
    *bytes += 2 * size;
    if (at == NULL) continue;
    if (lacks && k == below + above - 1) continue;
    uint32_t *const x = w->now.x + w->slab[s].first * w->stride;
    int32_t *const p = w->now.p + w->slab[s].first * w->stride;
    memcpy(out ? *at : (char *)x, out ? (char *)x : *at, size);
    memcpy(out ? *at + size : (char *)p, out ? (char *)p : *at + size, size);
    *at += 2 * size;
  }
}

sim_status collision_fixed_halo(collision_work *w, int below, int above) {
  collision_mail *mail = &w->mail;
  const int64_t sides[2] = {below, above};
  char *at[SIM_RANKS_MAX];
  const int rank = w->comm->rank;
  if (is_alone(w) || w->known || w->owners == 1 || (w->ahead && below == 0)) return SIM_OK;
  memset(mail->out.bytes, 0, sizeof mail->out.bytes);
  memset(mail->in.bytes, 0, sizeof mail->in.bytes);
  for (int r = 0; r < w->owners; r++) {
    if (r == rank) continue;
    carry_halo(w, r, rank, sides, true, &mail->out.bytes[r], NULL);
    carry_halo(w, rank, r, sides, false, &mail->in.bytes[r], NULL);
  }
  SIM_TRY(collision_mail_reserve(mail));
  size_t bytes = 0;
  SIM_TRY(begin_message(w, at));
  for (int r = 0; r < w->owners; r++)
    if (r != rank) carry_halo(w, r, rank, sides, true, &bytes, &at[r]);
  SIM_TRY(end_message(w));
  collision_message_parts(mail, &mail->in, at);
  for (int r = 0; r < w->owners; r++)
    if (r != rank) carry_halo(w, rank, r, sides, false, &bytes, &at[r]);
  return SIM_OK;
}

/* Bytes of a message, and where they are. */
typedef struct part {
  const void *data;
  size_t bytes;
} part;

/* Sends the parts to owner `to`, and receives what owner `from` sends to this rank: *in, in memory of the messages, and
 * *bytes. */
static sim_status send_parts(collision_work *w, int to, int from, const part *parts, int count, char **in,
                             size_t *bytes) {
  collision_mail *mail = &w->mail;
  char *at[SIM_RANKS_MAX];
  memset(mail->out.bytes, 0, sizeof mail->out.bytes);
  for (int k = 0; k < count; k++) mail->out.bytes[to] += parts[k].bytes;
  SIM_TRY(collision_mail_reserve_any(mail));
  SIM_TRY(begin_message(w, at));
  for (int k = 0; k < count; k++) {
    if (parts[k].bytes > 0) memcpy(at[to], parts[k].data, parts[k].bytes);
    at[to] += parts[k].bytes;
  }
  SIM_TRY(end_message(w));
  collision_message_parts(mail, &mail->in, at);
  *in = at[from];
  *bytes = mail->in.bytes[from];
  return SIM_OK;
}

static int owner_beside(const collision_work *w, int side) { return (w->comm->rank + side + w->owners) % w->owners; }

enum { STATE_PARTS = 3 };

/* The state of a slab in a message. speeds: memory for its speed and displacement. */
static void state_of(collision_work *w, int64_t s, double speeds[2], part parts[STATE_PARTS]) {
  const fixed_slab *slab = &w->slab[s];
  const size_t bytes = (size_t)(slab->count * w->stride) * sizeof(uint32_t);
  speeds[0] = slab->fastest;
  speeds[1] = slab->moved;
  parts[0] = (part){speeds, 2 * sizeof *speeds};
  parts[1] = (part){w->now.x + slab->first * w->stride, bytes};
  parts[2] = (part){w->now.p + slab->first * w->stride, bytes};
}

/* Reads the state of a slab from the end of a message of *bytes, and takes it off. */
static void take_state(collision_work *w, int64_t s, const char *message, size_t *bytes) {
  fixed_slab *slab = &w->slab[s];
  double speeds[2];
  const size_t size = (size_t)(slab->count * w->stride) * sizeof(uint32_t);
  *bytes -= sizeof speeds + 2 * size;
  memcpy(speeds, message + *bytes, sizeof speeds);
  if (sim_comm_planted(w->comm) == SIM_PLANTED_SHORT) return;
  memcpy(w->now.x + slab->first * w->stride, message + *bytes + sizeof speeds, size);
  memcpy(w->now.p + slab->first * w->stride, message + *bytes + sizeof speeds + size, size);
  slab->fastest = speeds[0];
  slab->moved = speeds[1];
}

sim_status collision_fixed_pass(collision_work *w, int side, bool state, const fixed_next_impulses *out,
                                fixed_next_impulses *in) {
  const int64_t first = w->cut[w->comm->rank], end = w->cut[w->comm->rank + 1];
  const bool any = first < end;
  char *at;
  size_t bytes;
  double speeds[2];
  part parts[1 + STATE_PARTS] = {{0}};
  if (any) parts[0] = (part){out->impulse, out->count * sizeof *out->impulse};
  if (any && state) state_of(w, side > 0 ? end - 1 : first, speeds, parts + 1);
  SIM_TRY(send_parts(w, owner_beside(w, side), owner_beside(w, -side), parts, 1 + STATE_PARTS, &at, &bytes));
  if (any && state) take_state(w, collision_fixed_wrapped(w, side > 0 ? first - 1 : end), at, &bytes);
  *in = (fixed_next_impulses){(fixed_impulse *)(void *)at, bytes / sizeof *in->impulse};
  return SIM_OK;
}

/* Gathers an array of slots: every rank has the words of its own slots before, and all words afterwards. */
static sim_status gather_slots(const collision_work *w, void *array, size_t size) {
  size_t ends[SIM_RANKS_MAX];
  if (is_alone(w)) return SIM_OK;
  for (int r = 0; r < w->comm->size; r++) {
    const int64_t cut = w->cut[r + 1];
    ends[r] = (size_t)(cut < (int64_t)w->cells[0] ? w->slab[cut].first : w->slots) * size;
  }
  return sim_comm_gather_parts(w->comm, array, ends);
}

sim_status collision_fixed_gather(collision_work *w) {
  const size_t grain = (size_t)w->stride * sizeof(uint32_t);
  if (w->known) return SIM_OK;
  SIM_TRY(gather_slots(w, w->now.x, grain));
  SIM_TRY(gather_slots(w, w->now.p, grain));
  SIM_TRY(gather_slots(w, w->now.collisions, sizeof *w->now.collisions));
  if (!w->ids) SIM_TRY(gather_slots(w, w->now.id, sizeof *w->now.id));
  w->known = w->ids = true;
  return SIM_OK;
}

sim_status collision_fixed_gather_impulses(collision_work *w, fixed_tally *tally) {
  fixed_tally all[SIM_RANKS_MAX];
  SIM_TRY(gather_slots(w, w->spare.p, (size_t)w->stride * sizeof *w->spare.p));
  SIM_TRY(w->comm->ops->gather(w->comm, tally, sizeof *tally, all));
  *tally = (fixed_tally){0};
  for (int r = 0; r < w->comm->size; r++) {
    tally->virial += all[r].virial;
    tally->dissipated += all[r].dissipated;
  }
  return SIM_OK;
}

sim_status collision_fixed_account(const collision_work *w, fixed_account account[FIXED_LEVELS]) {
  fixed_account all[SIM_RANKS_MAX][FIXED_LEVELS];
  if (is_alone(w)) return SIM_OK;
  SIM_TRY(w->comm->ops->gather(w->comm, account, sizeof *all, all));
  memset(account, 0, sizeof *all);
  for (int r = 0; r < w->comm->size; r++)
    for (int l = 0; l < FIXED_LEVELS; l++) {
      account[l].fastest = fmax(account[l].fastest, all[r][l].fastest);
      account[l].tally.virial += all[r][l].tally.virial;
      account[l].tally.dissipated += all[r][l].tally.dissipated;
    }
  return SIM_OK;
}
