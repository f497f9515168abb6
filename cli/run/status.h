/* status.json, as a run writes it and as others read it. */
#ifndef SIM_CLI_STATUS_H
#define SIM_CLI_STATUS_H

#include "engine/bytes.h"
#include "engine/run/run.h"

struct cli_scheduler;

typedef struct cli_status_source {
  const char *state;
  sim_status status;
  const sim_model *model;
  sim_clock clock;                     /* where the run is */
  const sim_run *run;                  /* progress, checkpoints and digest */
  const char *phase;                   /* of a start: "placing grains"; NULL: steps have begun */
  const char *remark, *message, *host; /* remark NULL: none; message: where status is not SIM_OK */
  const struct cli_scheduler *scheduler;
} cli_status_source;

/* The text of status.json: a flat object. */
void cli_status_text(const cli_status_source *from, sim_bytes *out);

/* "" and NaN: not there. */
typedef struct cli_status {
  char state[16]; /* running, lost (its process died without a word), done, stopped, failed */
  char phase[64]; /* of a start; "": steps have begun */
  char model[64], digest[40], host[128], job[64], rate_unit[64], expected_end[32], updated[32], message[1024];
  double t, t_end, rate;
  double checkpoint_t; /* time of the newest checkpoint; 0: there is none */
  int exit_code;       /* -1: none */
} cli_status;

/* Texts are as the file has them: escape them before they are shown. SIM_ERR_NO_INPUT where the folder holds no run, or
 * where status.json is a FIFO, a device or a folder. */
sim_status cli_status_read(const char *folder, cli_status *out) SIM_MUST_CHECK;
/* Prints a line for each of these folders. */
sim_status cli_status_show(const char *const *folders) SIM_MUST_CHECK;

#endif
