/* Ranks of one run: of --ranks, which a process of this program starts on this host, or of a launcher (launcher.h). */
#ifndef SIM_CLI_RANKS_H
#define SIM_CLI_RANKS_H

#include "cli/prepare.h"

/* Ranks of this run; sim_comm_alone before cli_ranks_attach, and without ranks. */
const sim_comm *cli_comm(void);
/* Whether this process is a rank that cli_ranks_launch has started. */
bool cli_ranks_started(void);

/* In a process that cli_ranks_launch has started: takes its rank from the environment; ranks above 0 are silent. */
sim_status cli_ranks_attach(void) SIM_MUST_CHECK;

/* In one of several processes that a launcher (mpirun, srun) has started: joins them to the ranks of one run, unless
 * --ranks is given. Ranks above 0 are silent. *done: another process does all of this command. SIM_ERR_USAGE where
 * they cannot be joined, and for sim sweep and sim bench. */
sim_status cli_ranks_join(const cli_options *options, bool *done) SIM_MUST_CHECK;
/* Whether a launcher has started the ranks of this run. */
bool cli_ranks_launched(void);
/* Number of ranks that share the cores of this process, and the place of this rank among them. */
void cli_ranks_cores(const sim_comm *ranks, int *rank, int *size);
/* A line on the ranks: "4 ranks on 2 hosts, by MPICH Version: 4.0.2 (plugin mpich)". */
void cli_ranks_text(char *out, size_t capacity);
/* The last call of a process: leaves the ranks of a launcher with this exit code. After a failure the process ends
 * here, as the launcher then ends all. */
void cli_ranks_leave(int code);
/* Call before a failure is printed: false where another thread of this process prints it. */
bool cli_ranks_speak(void);
/* Ends all ranks of a launcher at once. Any thread. */
void cli_ranks_leave_now(int code);

/* Starts options->ranks processes of this program with the same arguments and waits for them. Passes signals on to rank
 * 0, tells all ranks of one that died, kills one that gives no sign of life for 30 s (5 s once the run is to end), and
 * those that do not end within 20 s after a failure or 3 s after rank 0. Where rank 0 was killed, gives back its lock
 * and reports the failure. Returns the exit code; ends
 * by SIGINT if rank 0 did. */
int cli_ranks_launch(const cli_options *options, char **argv);

/* Of a run with ranks: where `status` is a failure of this rank, all other ranks fail with it; else waits until all
 * ranks are done. Returns the status with which this process ends. */
sim_status cli_ranks_end(sim_status status) SIM_MUST_CHECK;

/* Rank 0 names the checkpoint that it has loaded, if any; the other ranks load it. */
sim_status cli_ranks_share_checkpoint(cli_job *job) SIM_MUST_CHECK;
/* Waits for all ranks before the model is created. SIM_ERR_SCENARIO unless all have the same parameters and start. */
sim_status cli_ranks_check_start(const cli_job *job) SIM_MUST_CHECK;

/* profile.c, on all ranks after a loop that took `seconds` and ended with `status`: rank 0 prints what each rank waited
 * and received since its totals were `before`. Returns `status`, or why this failed. */
sim_status cli_say_ranks(const sim_comm *comm, const sim_comm_totals *before, double seconds,
                         sim_status status) SIM_MUST_CHECK;

/* follow.c: the run on a rank above 0, which has no folder and writes nothing. */
sim_status cli_follow(cli_job *job) SIM_MUST_CHECK;

#endif
