/* What the parts of the transport by MPI share: the world that this process has joined, failures, and the thread that
 * watches the other ranks. All functions are for one process that has called sim_mpi_attach. */
#ifndef SIM_ENGINE_COMM_MPI_WORLD_H
#define SIM_ENGINE_COMM_MPI_WORLD_H

#include "engine/comm/mpi.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SIM_MPI_TAG_SWAP = 1, SIM_MPI_TAG_WORD, SIM_MPI_TAG_FAILURE, SIM_MPI_TAG_BEAT };
enum { SIM_MPI_ENDED = -2 };
enum { SIM_MPI_TICK = 250 }; /* milliseconds between two rounds of the watching thread */

/* What all ranks know of each rank. */
typedef struct sim_mpi_member {
  char host[64], boot[40]; /* boot: tells machines of one name apart; "": unknown */
  int64_t process;
  uint64_t namespace; /* inode of the namespace of process numbers */
  int chunk;          /* most bytes of a message; the one of rank 0 is used */
} sim_mpi_member;

/* A failure as sent between ranks; the last message of a rank that leaves in order has the status SIM_OK. */
typedef struct sim_mpi_failure {
  int32_t rank, status, patience; /* patience: seconds */
  char message[1012];
} sim_mpi_failure;

/* What every rank must have alike when it gathers. Some MPI libraries take ranks that gather different numbers of bytes
 * for ranks in order: so small gathers carry a label, which tells of the large ones before them too. */
typedef struct sim_mpi_label {
  uint64_t number;  /* of exchanges so far */
  uint64_t history; /* a hash of the bytes of all gathers so far */
} sim_mpi_label;
enum { SIM_MPI_LABELLED = 512 }; /* bytes of the largest gather that carries a label */

/* The world that this process has joined. `lock` is held during every call of the plugin; none of these calls waits. */
typedef struct sim_mpi_world {
  const sim_mpi_plugin *mpi;
  sim_mpi_on_lost *lost;
  pthread_mutex_t lock;
  int rank, size, chunk;
  sim_mpi_member *members; /* [size] */
  bool introduced;         /* members is complete: before, failures of other ranks do not end this one */
  /* gathers */
  sim_mpi_label label;
  char *labelled; /* [size + 1][sizeof(sim_mpi_label) + SIM_MPI_LABELLED]: small gathers; the last row is sent */
  /* post: one round */
  uint64_t word, *words;                       /* words[size] */
  sim_mpi_request *word_sends, *word_receives; /* [size] */
  /* failures */
  atomic_int failed;    /* `first` holds a failure */
  atomic_bool follows;  /* this rank fails because another one has, so it reports no failure of its own */
  bool parted;          /* the last message of another rank has arrived: no failure can follow */
  atomic_bool given_up; /* another rank reports this one as lost; set before `failed` */
  sim_mpi_failure first, arriving, own;
  sim_mpi_request failure_receive, *failure_sends; /* [size] */
  /* the watching thread */
  pthread_t watch;
  atomic_bool watching;
  char beat_in, beat_out;
  bool beats_over; /* the last sign of life of the watched rank has arrived */
  sim_mpi_request beat_receive, beat_send;
  struct pollfd *processes; /* [size]; fd -1: not watched; SIM_MPI_ENDED: has ended */
  double patience;          /* seconds of silence after which a rank counts as lost */
  long delay;               /* longest delay in microseconds before an exchange; 0: none */
  atomic_uint random;       /* delays of two threads */
  sim_comm_totals totals;
} sim_mpi_world;

extern sim_mpi_world sim_mpi_joined;

/* mpi.c */
extern const sim_transport sim_mpi_transport;
/* Fails with the text of an error of the library; `what` names the operation. */
sim_status sim_mpi_fail(int error, const char *what);
/* Waits for an operation and counts the time; fails once a rank has failed. */
sim_status sim_mpi_wait(sim_mpi_request *request, const char *what) SIM_MUST_CHECK;

/* mpi_failure.c */
/* Begins to receive the next failure that another rank reports. Returns MPI's error. Call under the lock, or before the
 * watching thread has begun. */
int sim_mpi_receive_failure(void);
/* Receives the failures that other ranks report. Call under the lock. */
void sim_mpi_look(void);
/* The failure that counts. */
sim_mpi_failure sim_mpi_first(void);
/* Fails once a rank has failed. */
sim_status sim_mpi_check(void) SIM_MUST_CHECK;
/* Reports a failure of `rank` to all ranks but `dead` (-1: none), and waits up to a second until the messages have left
 * this process, except those to `rank`, which may be frozen, and to ranks that have ended. `patience`: seconds that the
 * others have to stop. */
void sim_mpi_tell(int rank, int dead, sim_status status, int patience, const char *message);

/* mpi_watch.c */
/* Begins to exchange signs of life and failures. */
sim_status sim_mpi_watch_listen(void) SIM_MUST_CHECK;
sim_status sim_mpi_watch_start(void) SIM_MUST_CHECK;
void sim_mpi_watch_stop(void);
/* Sends and receives the last signs of life, so that none is under way in MPI_Finalize. */
sim_status sim_mpi_watch_drain(void) SIM_MUST_CHECK;
/* Ends all processes of the world, this one too. */
void sim_mpi_end_world(int exit_code);
/* Seconds that ranks 0, 1 and the others leave to each other, in this order, to report a failure and to end the world:
 * a launcher loses what is printed while another rank ends it. */
int sim_mpi_turn(int rank);

#endif
