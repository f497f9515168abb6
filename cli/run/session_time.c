/* The time limit of a run. */
#include "cli/run/session.h"

#include "engine/wall_clock.h"

#include <math.h>

void cli_session_find_limit(cli_session *s) {
  const cli_options *options = s->job->options;
  s->left = options->wall - (sim_wall_clock() - s->begin);
  if (options->wall_auto) s->left = cli_scheduler_left(&s->job->scheduler, s->how, sizeof s->how);
  s->asked = sim_wall_clock();
  s->run.wall_reserve = options->wall_auto && isfinite(s->left);
}

double cli_session_wall_limit(const cli_session *s) {
  const cli_scheduler *scheduler = &s->job->scheduler;
  const double left = s->left - (sim_wall_clock() - s->asked);
  char text[32];
  cli_duration(s->left, text, sizeof text);
  if (!s->job->options->wall_auto) return left > 0 ? left : 1e-9;
  if (!scheduler->name)
    cli_say("  --wall auto: not in a batch job, no limit");
  else if (isnan(left))
    sim_log(SIM_LOG_WARN, "--wall auto: %s's job %s: %s gives no time limit: none is set", scheduler->name,
            scheduler->job, s->how);
  else if (left <= 0)
    sim_log(SIM_LOG_WARN, "%s's job %s has exceeded its limit (%s): one step, then a checkpoint", scheduler->name,
            scheduler->job, s->how);
  else if (!isfinite(left))
    cli_say("  --wall auto: %s's job %s has no limit", scheduler->name, scheduler->job);
  else
    cli_say("  %s's job %s ends in %s (%s): the run stops before that with a checkpoint", scheduler->name,
            scheduler->job, text, s->how);
  return isnan(left) ? INFINITY : left > 0 ? left : 1e-9;
}

cli_watched cli_session_watched(cli_session *s) {
  const bool known = s->run.wall_reserve && s->left > 0;
  return (cli_watched){.comm = s->job->setup.comm,
                       .step = cli_step_seconds(s->job),
                       .limit = known ? s->asked + s->left : INFINITY,
                       .margin = known ? fmin(10, 0.1 * s->left) : 0,
                       .context = s};
}

void cli_session_say_reserve(cli_session *s) {
  char one[32];
  if (s->limit_said || !s->run.wall_reserve || s->run.checkpoint_step < 0) return;
  s->limit_said = true;
  cli_duration(s->run.checkpoint_seconds, one, sizeof one);
  cli_say("  a checkpoint takes %s: the run stops twice that time, one step and a margin before the limit", one);
}
