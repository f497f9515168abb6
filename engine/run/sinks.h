/* Calls of sinks, and what becomes of their failures. One thread at a time. */
#ifndef SIM_ENGINE_SINKS_H
#define SIM_ENGINE_SINKS_H

#include "engine/run/sink.h"

/* An invalid state or the loss of the folder's lock ends the run; any other failure of a sink is reported, and the
 * sink is called again later. last: nothing is written after this, and the error that ends the run gives the reason. */
sim_status sim_sink_write(sim_sink *sink, const sim_frame *frame, bool last) SIM_MUST_CHECK;

/* told: the sink has just reported a failure. A sink that writes in the background reports its own. */
void sim_sink_flush(sim_sink *sink, bool told);
/* told[count]: of each sink; NULL: none has. */
void sim_sinks_flush(sim_sink *sinks, size_t count, const bool *told);

/* Warns of the last error, which the sink has had; again: unless it was the sink's last failure too. */
void sim_sink_report(sim_sink *sink, bool again);

/* Progress of a sink that writes in the background (sink->saved is not NULL). */
sim_saved sim_sink_saved(const sim_sink *sink);

#endif
