/* Calls of sinks, and the handling of their failures. One thread at a time. */
#ifndef SIM_ENGINE_SINKS_H
#define SIM_ENGINE_SINKS_H

#include "engine/run/sink.h"

/* Calls sink->write. An invalid state, lack of memory or the loss of the folder's lock is returned and ends the run;
 * any other failure is reported, and the sink is called again later. last: no output follows, and the error that ends
 * the run will give the reason. */
sim_status sim_sink_write(sim_sink *sink, const sim_frame *frame, bool last) SIM_MUST_CHECK;

/* Calls sink->flush. told: the sink has just reported a failure. A sink that writes in the background reports its
 * own. */
void sim_sink_flush(sim_sink *sink, bool told);
/* Flushes all sinks. told[count]: see sim_sink_flush; NULL: no sink has reported a failure. */
void sim_sinks_flush(sim_sink *sinks, size_t count, const bool *told);

/* Warns of the last error, a failure of the sink; with `again` only if the message differs from the sink's last one. */
void sim_sink_report(sim_sink *sink, bool again);

/* Progress of a sink that writes checkpoints in the background; sink->saved must not be NULL. */
sim_saved sim_sink_saved(const sim_sink *sink);

#endif
