#include "engine/run/sinks.h"

#include "engine/log.h"
#include "engine/run/profile.h"

#include <stdio.h>
#include <string.h>

static void remember_failure(sim_sink *sink) {
  snprintf(sink->why, sizeof sink->why, "%.255s", sim_error_last()->message);
}

void sim_sink_report(sim_sink *sink, bool again) {
  if (sim_error_last()->status == SIM_ERR_CANT_CREATE)
    return; /* the folder belongs to another run: the next write ends the run */
  if (again && strncmp(sink->why, sim_error_last()->message, sizeof sink->why - 1) == 0) return; /* reported already */
  remember_failure(sink);
  sim_log(SIM_LOG_WARN, "%s not written: %s; the run continues and tries again", sink->name, sim_error_last()->message);
}

void sim_sink_flush(sim_sink *sink, bool told) {
  const bool before = sink->flush_failed, background = sink->saved || sink->failures;
  sink->flush_failed = sink->flush(sink->self) != SIM_OK;
  if (sink->flush_failed && background)
    remember_failure(sink);
  else if (sink->flush_failed)
    sim_sink_report(sink, before || told);
  if (before && !sink->flush_failed) sim_log(SIM_LOG_INFO, "%s: written again", sink->name);
}

void sim_sinks_flush(sim_sink *sinks, size_t count, const bool *told) {
  sim_profile_range_begin("flush");
  for (size_t i = 0; i < count; i++) {
    sim_sink *sink = &sinks[i];
    if (sink->flush) sim_sink_flush(sink, told && told[i]);
  }
  sim_profile_range_end();
}

sim_status sim_sink_write(sim_sink *sink, const sim_frame *frame, bool last) {
  sim_profile_range_begin(sink->name);
  sim_status status = sink->write(sink->self, frame);
  sim_profile_range_end();
  if (status == SIM_ERR_DIVERGED || status == SIM_ERR_NO_MEMORY || status == SIM_ERR_CANT_CREATE) return status;
  const bool before = sink->write_failed;
  sink->write_failed = status != SIM_OK;
  if (!sink->write_failed) return SIM_OK;
  if (before && sink->kind == SIM_SINK_CHECKPOINT) /* because later results could not be saved */
    return sim_fail(SIM_ERR_IO, "two checkpoints in a row could not be written (%s)", sim_error_last()->message);
  if (sink->kind == SIM_SINK_SNAPSHOT) sink->lost++;
  if (last)
    remember_failure(sink);
  else
    sim_sink_report(sink, before);
  return SIM_OK;
}

sim_saved sim_sink_saved(const sim_sink *sink) {
  sim_saved out;
  sink->saved(sink->self, &out);
  return out;
}
