/* status.json, as others than its run read it. */
#ifndef SIM_CLI_STATUS_H
#define SIM_CLI_STATUS_H

#include "engine/status.h"

/* "" and NaN: not there. */
typedef struct cli_status {
  char state[16]; /* running, lost (its process died without a word), done, stopped, failed */
  char model[64], digest[40], host[128], job[64], rate_unit[64], expected_end[32], updated[32], message[1024];
  double t, t_end, rate;
  int exit_code; /* -1: none */
} cli_status;

/* Texts are as the file has them: escape them before they are shown. SIM_ERR_NO_INPUT where the folder holds no run, or
 * where status.json is a FIFO, a device or a folder. */
sim_status cli_status_read(const char *folder, cli_status *out) SIM_MUST_CHECK;
/* Prints a line for each of these folders. */
sim_status cli_status_show(const char *const *folders) SIM_MUST_CHECK;

#endif
