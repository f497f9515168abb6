/* Messages between the ranks of a run, of any length: what each rank sends to each other one at a time. Ranks of one
 * host write them to memory that all of them see, and read those of the others there. */
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
  char
      *common; /* [ranks][each]: where each of a rank's parts begins, and its parts; NULL: out.data and in.data serve */
  size_t each;
  bool apart; /* there is no such memory */
} collision_mail;

/* Makes room for out.bytes and in.bytes, once all ranks have read the messages before. SIM_ERR_NO_MEMORY. All ranks. */
sim_status collision_mail_reserve(collision_mail *mail) SIM_MUST_CHECK;
/* The same without in.bytes, which are known after collision_mail_swap. All ranks. */
sim_status collision_mail_reserve_any(collision_mail *mail) SIM_MUST_CHECK;
/* Sets in.bytes from the other ranks' out.bytes. All ranks. */
sim_status collision_mail_announce(collision_mail *mail) SIM_MUST_CHECK;
/* Sends `out` and receives `in`. All ranks. */
sim_status collision_mail_swap(collision_mail *mail) SIM_MUST_CHECK;
/* Sets at[rank] to the beginning of each rank's part of a message, of &mail->in once it was received. */
void collision_message_parts(const collision_mail *mail, const collision_message *message, char **at);
void collision_mail_destroy(collision_mail *mail);

#endif
