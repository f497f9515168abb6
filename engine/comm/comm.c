#include "engine/comm/comm.h"

#include <string.h>

/* ---- one rank ---- */

static sim_status gather(const sim_comm *comm, const void *in, size_t bytes, void *out) {
  (void)comm;
  if (bytes > 0) memmove(out, in, bytes);
  return SIM_OK;
}

static sim_status swap(const sim_comm *comm, const sim_piece *pieces, size_t count) {
  (void)comm;
  for (size_t i = 0; i < count; i++)
    if (pieces[i].in_bytes > 0) memmove(pieces[i].out, pieces[i].in, pieces[i].in_bytes);
  return SIM_OK;
}

static _Thread_local uint64_t posted;

static sim_status post(const sim_comm *comm, uint64_t word) {
  (void)comm;
  posted = word;
  return SIM_OK;
}

static sim_status test(const sim_comm *comm, bool *complete, uint64_t *words) {
  (void)comm;
  *complete = true;
  *words = posted;
  return SIM_OK;
}

static void abandon(const sim_comm *comm, sim_status status, const char *message) {
  (void)comm;
  (void)status;
  (void)message;
}

static sim_status check(const sim_comm *comm) {
  (void)comm;
  return SIM_OK;
}

static const sim_transport alone = {
    .name = "alone", .gather = gather, .swap = swap, .post = post, .test = test, .abandon = abandon, .check = check};

const sim_comm sim_comm_alone = {.size = 1, .host_size = 1, .ops = &alone};

/* ---- any transport ---- */

sim_status sim_comm_check(const sim_comm *comm) { return comm && comm->ops->check ? comm->ops->check(comm) : SIM_OK; }
sim_status sim_comm_gather_parts(const sim_comm *comm, void *data, const size_t *ends) {
  if (comm->size == 1) return SIM_OK;
  if (comm->ops->gather_parts) return comm->ops->gather_parts(comm, data, ends);
  sim_piece pieces[SIM_RANKS_MAX];
  size_t count = 0, first = 0;
  const size_t own = comm->rank > 0 ? ends[comm->rank - 1] : 0;
  for (int r = 0; r < comm->size; first = ends[r++])
    if (r != comm->rank)
      pieces[count++] = (sim_piece){.rank = r,
                                    .in = (const char *)data + own,
                                    .in_bytes = ends[comm->rank] - own,
                                    .out = (char *)data + first,
                                    .out_bytes = ends[r] - first};
  return comm->ops->swap(comm, pieces, count);
}

sim_status sim_comm_agree(const sim_comm *comm, uint64_t word, uint64_t *most) {
  uint64_t words[SIM_RANKS_MAX];
  SIM_TRY(comm->ops->gather(comm, &word, sizeof word, words));
  *most = word;
  for (int r = 0; r < comm->size; r++)
    if (words[r] > *most) *most = words[r];
  return SIM_OK;
}

sim_status sim_comm_same(const sim_comm *comm, uint64_t word, bool *same) {
  uint64_t words[SIM_RANKS_MAX];
  SIM_TRY(comm->ops->gather(comm, &word, sizeof word, words));
  *same = true;
  for (int r = 0; r < comm->size; r++) *same &= words[r] == word;
  return SIM_OK;
}
