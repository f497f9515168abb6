#include "kernels/collision/mail.h"

#include <stdlib.h>
#include <string.h>

static sim_status reserve(const sim_comm *comm, collision_message *m) {
  size_t bytes = 0;
  for (int r = 0; r < comm->size; r++) bytes += m->bytes[r];
  if (bytes <= m->room) return SIM_OK;
  free(m->data);
  m->room = bytes + bytes / 4;
  m->data = malloc(m->room);
  if (m->data != NULL) return SIM_OK;
  m->room = 0;
  return sim_no_memory("%zu bytes of grains between ranks", bytes);
}

/* ---- memory in common ---- */

enum { PAGE = 4096 };

static size_t head_bytes(const sim_comm *comm) { return ((size_t)comm->size + 1) * sizeof(size_t); }

/* What rank r writes: where its part for each rank begins, where the last one ends, and the parts. */
static char *desk(const collision_mail *mail, int r) { return mail->common + (size_t)r * mail->each; }

/* Maps memory where the longest message fits, and writes where this rank's parts begin. Without effect where ranks have
 * no memory in common. */
static sim_status reserve_common(collision_mail *mail) {
  const sim_comm *comm = mail->comm;
  uint64_t most = head_bytes(comm);
  for (int r = 0; r < comm->size; r++) most += mail->out.bytes[r];
  SIM_TRY(sim_comm_agree(comm, most, &most)); /* all have read what they received before */
  if (most > mail->each) {
    const size_t each = (most + most / 4 + PAGE) / PAGE * PAGE, first = (size_t)comm->rank * each;
    void *memory = NULL;
    sim_comm_unmap(mail->common, (size_t)comm->size * mail->each);
    mail->common = NULL;
    SIM_TRY(sim_comm_map(comm, 1, (size_t)comm->size * each, first, first + each, &memory));
    mail->common = memory;
    mail->each = each;
    mail->apart = memory == NULL;
    if (mail->apart) return SIM_OK;
  }
  size_t at = head_bytes(comm);
  for (int r = 0; r <= comm->size; r++) {
    memcpy(desk(mail, comm->rank) + (size_t)r * sizeof at, &at, sizeof at);
    if (r < comm->size) at += mail->out.bytes[r];
  }
  return SIM_OK;
}

/* Reads in.bytes from the memory in common, once all have written. */
static void read_lengths(collision_mail *mail) {
  size_t at[2];
  for (int r = 0; r < mail->comm->size; r++) {
    memcpy(at, desk(mail, r) + (size_t)mail->comm->rank * sizeof *at, sizeof at);
    mail->in.bytes[r] = at[1] - at[0];
  }
}

/* The part of rank `from` for rank `to`. */
static char *part_of(const collision_mail *mail, int from, int to) {
  size_t at;
  memcpy(&at, desk(mail, from) + (size_t)to * sizeof at, sizeof at);
  return desk(mail, from) + at;
}

/* ---- messages ---- */

sim_status collision_mail_reserve(collision_mail *mail) {
  if (!mail->apart) SIM_TRY(reserve_common(mail));
  if (mail->common) return SIM_OK;
  SIM_TRY(reserve(mail->comm, &mail->out));
  return reserve(mail->comm, &mail->in);
}

sim_status collision_mail_reserve_any(collision_mail *mail) {
  if (!mail->apart) SIM_TRY(reserve_common(mail));
  if (mail->common) return SIM_OK;
  SIM_TRY(collision_mail_announce(mail));
  return collision_mail_reserve(mail);
}

sim_status collision_mail_announce(collision_mail *mail) {
  const size_t ranks = (size_t)mail->comm->size;
  size_t *all = malloc(ranks * ranks * sizeof *all); /* [from][to] */
  if (all == NULL) return sim_no_memory("%zu ranks", ranks);
  const sim_status status = mail->comm->ops->gather(mail->comm, mail->out.bytes, ranks * sizeof *all, all);
  for (size_t r = 0; r < ranks && status == SIM_OK; r++) mail->in.bytes[r] = all[r * ranks + (size_t)mail->comm->rank];
  free(all);
  return status;
}

void collision_message_parts(const collision_mail *mail, const collision_message *message, char **at) {
  const int own = mail->comm->rank;
  for (int r = 0; r < mail->comm->size && mail->common; r++)
    at[r] = message == &mail->out ? part_of(mail, own, r) : part_of(mail, r, own);
  if (mail->common) return;
  at[0] = message->data;
  for (int r = 1; r < mail->comm->size; r++) at[r] = at[r - 1] + message->bytes[r - 1];
}

sim_status collision_mail_swap(collision_mail *mail) {
  sim_piece pieces[SIM_RANKS_MAX];
  char *out[SIM_RANKS_MAX], *in[SIM_RANKS_MAX];
  size_t count = 0;
  uint64_t most;
  if (mail->common) {
    SIM_TRY(sim_comm_agree(mail->comm, 0, &most)); /* all have written */
    read_lengths(mail);
    return SIM_OK;
  }
  collision_message_parts(mail, &mail->out, out);
  collision_message_parts(mail, &mail->in, in);
  for (int r = 0; r < mail->comm->size; r++)
    if (mail->out.bytes[r] > 0 || mail->in.bytes[r] > 0)
      pieces[count++] = (sim_piece){
          .rank = r, .in = out[r], .in_bytes = mail->out.bytes[r], .out = in[r], .out_bytes = mail->in.bytes[r]};
  return mail->comm->ops->swap(mail->comm, pieces, count);
}

void collision_mail_destroy(collision_mail *mail) {
  free(mail->out.data), free(mail->in.data);
  if (mail->common) sim_comm_unmap(mail->common, (size_t)mail->comm->size * mail->each);
  *mail = (collision_mail){0};
}
