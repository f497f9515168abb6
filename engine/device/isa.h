/* A limit to the instruction set of this process. */
#ifndef SIM_ENGINE_DEVICE_ISA_H
#define SIM_ENGINE_DEVICE_ISA_H

#include "engine/device/backend.h"

/* From now on sim_isa_best gives no wider set than this one. Call before other threads start. */
void sim_isa_limit(sim_isa isa);

#endif
