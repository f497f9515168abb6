#include "kernels/collision/mail.h"

#include <stdlib.h>

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

sim_status collision_mail_reserve(collision_mail *mail) {
  SIM_TRY(reserve(mail->comm, &mail->out));
  return reserve(mail->comm, &mail->in);
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
  at[0] = message->data;
  for (int r = 1; r < mail->comm->size; r++) at[r] = at[r - 1] + message->bytes[r - 1];
}

sim_status collision_mail_swap(collision_mail *mail) {
  sim_piece pieces[SIM_RANKS_MAX];
  char *out[SIM_RANKS_MAX], *in[SIM_RANKS_MAX];
  size_t count = 0;
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
  *mail = (collision_mail){0};
}
