/* Ranks of one run: those of --ranks, which a process of this program starts on this host, or those of a launcher
 * (launcher.h). */
#ifndef SIM_CLI_RANKS_H
#define SIM_CLI_RANKS_H

#include "cli/prepare.h"

/* Transport of this run's ranks; sim_comm_alone before cli_ranks_attach or cli_ranks_join, and in a run with one
 * rank. */
const sim_comm *cli_comm(void);
/* Whether this process is a rank that cli_ranks_launch has started. */
bool cli_ranks_started(void);

/* In a process that cli_ranks_launch has started: gets its rank from the environment; ranks above 0 print nothing. */
sim_status cli_ranks_attach(void) SIM_MUST_CHECK;

/* In one of several processes of a launcher (mpirun, srun): joins them to the ranks of one run, unless --ranks is
 * given. Ranks above 0 print nothing. *done: another process does all of this command. SIM_ERR_USAGE if they cannot be
 * joined, and for sim sweep and sim bench. */
sim_status cli_ranks_join(const cli_options *options, bool *done) SIM_MUST_CHECK;
/* alike.c: fails on all ranks unless they are of one build, have one command and one C library. Where processors differ
 * sim_isa_best is from then on that of the least of them. */
sim_status cli_ranks_compare(const cli_options *options, const sim_comm *comm) SIM_MUST_CHECK;
/* alike.c: a line about an instruction set that all ranks use because one has no wider one; "" otherwise. */
const char *cli_ranks_isa_text(void);
/* Whether a launcher has started the ranks of this run. */
bool cli_ranks_launched(void);
/* *size: number of ranks that share the cores of this process; *rank: number of this rank among them. */
void cli_ranks_cores(const sim_comm *ranks, int *rank, int *size);
/* Writes a line about the ranks: "4 ranks on 2 hosts, by MPICH Version: 4.0.2 (plugin mpich)". */
void cli_ranks_text(char *out, size_t capacity);
/* The last call of a process, which ends with this status: leaves the ranks of a launcher. After a failure a rank's
 * process ends in this call: a launcher then ends all processes, and libraries may wait for a rank that is lost. */
void cli_ranks_leave(sim_status status, bool json);
/* Call before a failure is printed; false if another thread of this process prints it. */
bool cli_ranks_speak(void);
/* Ends all ranks of a launcher at once. Any thread. */
void cli_ranks_leave_now(int code);

/* Starts options->ranks processes of this program with the same arguments and waits for them. Passes signals on to rank
 * 0, and tells all ranks of a rank that died. Kills a rank that gives no sign of life for 30 s (5 s once the run must
 * end), and ranks that do not end within 20 s after a failure or 3 s after rank 0. If rank 0 was killed, releases its
 * lock and reports the failure. Returns the exit code; ends by SIGINT if rank 0 did. */
int cli_ranks_launch(const cli_options *options, char **argv);

/* At the end of a run with ranks: if `status` is a failure, all other ranks fail with it; else waits until all ranks
 * are done. Returns the status with which this process ends. */
sim_status cli_ranks_end(sim_status status) SIM_MUST_CHECK;

/* inputs.c: rank 0 sends the path of the checkpoint that it has loaded, if any, and the other ranks load it.
 * SIM_ERR_INCOMPATIBLE if it is another file there. */
sim_status cli_ranks_share_checkpoint(cli_job *job) SIM_MUST_CHECK;
/* inputs.c: waits for all ranks before the model is created, after its plan. SIM_ERR_SCENARIO unless all have the same
 * parameters, files of the scenario and first step. */
sim_status cli_ranks_check_start(const cli_job *job) SIM_MUST_CHECK;

/* profile.c: call on all ranks `seconds` after the loop began, which ended with `status`. Rank 0 prints what each rank
 * has waited and received since the totals `before`. Returns `status`, or the failure of this exchange. */
sim_status cli_say_ranks(const sim_comm *comm, const sim_comm_totals *before, double seconds,
                         sim_status status) SIM_MUST_CHECK;

/* follow.c: makes the run on a rank above 0, which has no folder and writes no files. */
sim_status cli_follow(cli_job *job) SIM_MUST_CHECK;

#endif
