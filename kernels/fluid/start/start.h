/* The first state, and what is told of it. */
#ifndef FLUID_START_H
#define FLUID_START_H

#include "kernels/fluid/machine.h"

/* ---- start/tell.c ---- */

/* Tells how the grid resolves walls and bodies: cells of each body; warns of widths below 8 and gaps below 3 cells. */
void fluid_tell_walls(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_walls *walls);

/* ---- start/ways.c ---- */

/* SIM_ERR_SCENARIO: bodies cover a side with a velocity, or stand between it and all sides with a pressure; a warning
 * where bodies move. */
sim_status fluid_check_ways(const fluid_parameters *p, const fluid_numbers *numbers, fluid_walls *walls) SIM_MUST_CHECK;

/* ---- start/start.c ---- */

/* The cell that holds a probe. */
int64_t fluid_probe_cell(const fluid_parameters *p, size_t probe);
/* SIM_ERR_SCENARIO: a probe is in a body. */
sim_status fluid_check_probes(const fluid_parameters *p, const fluid_walls *walls) SIM_MUST_CHECK;

/* Finds the faults that a run would find at its start: as of fluid_walls_create and fluid_start, without the memory of
 * a state. Tells of walls and bodies. */
sim_status fluid_start_check(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_meshes *meshes,
                             const sim_setup *setup) SIM_MUST_CHECK;
/* Fills the fields of the start on this rank's rows, as of fluid_show, where there is `initial` or a weight; `values`
 * begin with the row `first`. SIM_ERR_SCENARIO where `initial` is not finite, faster than `speed`, or its pressure too
 * great. */
sim_status fluid_fill(const fluid_machine *m, const fluid_parameters *p, const sim_setup *setup, int64_t first,
                      void *const *values) SIM_MUST_CHECK;
/* Makes this rank's rows of the first state from these fields, which are there beside them too. */
void fluid_start(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *numbers, void *const *values,
                 const sim_buffer *state);

/* ---- start/levels.c ---- */

/* Whether a run begins with the pressure of the fluid at rest under its weight: that of `acceleration`, and of the mean
 * temperature of each height. The box is closed, and the scenario gives no pressure and no `force`. */
bool fluid_rests(const fluid_parameters *p);
/* Fills m->rest, of which the machine must have all but the walls; fluid_rest_destroy frees it, also after a failure.
 */
sim_status fluid_rest_create(const fluid_parameters *p, fluid_machine *m) SIM_MUST_CHECK;
void fluid_rest_destroy(fluid_machine *m);
/* Sets the pressure, in the precision of the run, on this rank's rows, 0 in solid cells; unit: pressure by density - 1;
 * first: row with which `pressure` begins. */
void fluid_rest_fill(const fluid_machine *m, double unit, int64_t first, void *pressure);

#endif
