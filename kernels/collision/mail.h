/* Messages between the ranks of a run, of any length: what each rank sends to each other one at a time. */
#ifndef COLLISION_MAIL_H
#define COLLISION_MAIL_H

#include "engine/comm/comm.h"

/* Bytes for each rank or from it, one after another in the order of ranks; none for a rank itself. */
typedef struct collision_message {
  char *data; /* [room], owned; host memory */
  size_t room, bytes[SIM_RANKS_MAX];
} collision_message;

typedef struct collision_mail {
  const sim_comm *comm;
  collision_message out, in;
} collision_mail;

/* Makes room for out.bytes and in.bytes. SIM_ERR_NO_MEMORY. */
sim_status collision_mail_reserve(collision_mail *mail) SIM_MUST_CHECK;
/* Sets in.bytes from the other ranks' out.bytes. All ranks. */
sim_status collision_mail_announce(collision_mail *mail) SIM_MUST_CHECK;
/* Sends out.data and receives in.data. All ranks. */
sim_status collision_mail_swap(collision_mail *mail) SIM_MUST_CHECK;
/* Sets at[rank] to the beginning of each rank's part of a message. */
void collision_message_parts(const collision_mail *mail, const collision_message *message, char **at);
void collision_mail_destroy(collision_mail *mail);

#endif
