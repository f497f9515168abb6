/* Temperature in fluids: a second lattice, which the flow carries and which may push it. */
#ifndef FLUID_HEAT_H
#define FLUID_HEAT_H

#include "kernels/fluid/cpu/heat_rows.h"
#include "kernels/fluid/fluid.h"
#include "kernels/fluid/machine.h"

#define FLUID_HEAT_MOST 1e100 /* greatest temperature, and least but for its sign */

/* What the fluid does at a side. */
typedef enum fluid_side_kind { FLUID_SIDE_KEEPS, FLUID_SIDE_GIVEN, FLUID_SIDE_OPEN } fluid_side_kind;

/* Levels of cells at the start, across the axis along which gravity is strongest. */
typedef struct fluid_levels {
  int axis;
  bool askew;    /* gravity is not along one axis */
  int64_t n;     /* of levels */
  double *mean;  /* [n]: temperature of the fluid in each; NULL: nothing pushes the fluid */
  double beside; /* the greatest difference of temperatures in a level */
  double upset;  /* the most by which a level is warmer than one above it */
} fluid_levels;

typedef struct fluid_warmth {
  double *heat[2]; /* on the CPU; [0] is the present one: [rows][1 + rank][pitch] behind FLUID_PAD numbers, temperature
                      and its flux after collision, in cells and steps (cpu/heat_rows.h) */
  sim_buffer room[2]; /* what they stand in on one rank */
  fluid_room common;  /* and on several */
  int64_t numbers;    /* of each */
  double shift;       /* temperatures in here are above this one: the middle of the greatest and the least, so that
                         compression changes only differences; `reference` where the fluid passes a side */
  fluid_heat_law law;
  const fluid_heat_kernels *kernels;
  double side[FLUID_SIDES], body[FLUID_BODIES];           /* temperatures; NaN: none */
  double side_flux[FLUID_SIDES], body_flux[FLUID_BODIES]; /* heat into the fluid by area, in cells and steps */
  double *share; /* [links]: of a link's face, as seen along it, in the area of a surface of given flux; NULL: none */
  fluid_side_kind kind[FLUID_SIDES]; /* the fluid passes none of it, with a given velocity, or freely */
  double velocity[FLUID_SIDES];      /* of the fluid through a side FLUID_SIDE_GIVEN, inwards, without profile */
  double low, high;                  /* least and greatest temperature of the start, of sides and bodies */
  double *shown;                     /* [cells]: for outputs; of this rank's rows */
  double *sums;                      /* [n[0] + rows]: scratch */
  fluid_levels levels;
} fluid_warmth;

/* Sums over the fluid, and the least and the greatest, of temperatures above the shift; heat that enters through sides
 * and from bodies in the step that begins now, in units of the lattice. */
typedef struct fluid_heat_sums {
  double sum, least, most, side[FLUID_SIDES], body[FLUID_BODIES];
  /* of surfaces of given flux: area in faces of cells, and its integral of the surface's temperature */
  double side_area[FLUID_SIDES], side_warm[FLUID_SIDES], body_area[FLUID_BODIES], body_warm[FLUID_BODIES];
} fluid_heat_sums;

/* ---- start/heat.c ---- */

/* With the temperatures of the start in `shown`; `walls` are there. Destroy with fluid_heat_destroy, also after a
 * failure. On a GPU without a state: heat[] are NULL. SIM_ERR_SCENARIO: a temperature is not finite, or `reference` is
 * far from them. */
sim_status fluid_heat_create(const fluid_parameters *p, const fluid_machine *m, const fluid_numbers *numbers,
                             const sim_setup *setup, fluid_warmth *out) SIM_MUST_CHECK;
/* The same faults without the memory, and what is wrong with the levels of the start. */
sim_status fluid_heat_check(const fluid_parameters *p, const fluid_numbers *numbers, const fluid_walls *walls,
                            const sim_setup *setup) SIM_MUST_CHECK;
/* Rows of the start that are filled at once where not all of them are kept: enough for all threads, some 2 MiB. */
int64_t fluid_heat_rows(const grid_shape *grid);
/* Temperatures of the start of some rows, out[rows][n[0]]. */
sim_status fluid_heat_fill(const fluid_parameters *p, grid_range rows, const sim_setup *setup, int threads,
                           double *out) SIM_MUST_CHECK;
/* How far a temperature is beyond those of the start, sides and bodies, in parts of what these are apart. */
double fluid_heat_beyond(const fluid_warmth *w, const fluid_heat_sums *sums);
/* A row of `heat`. */
void fluid_heat_row_of(const fluid_machine *m, const fluid_parameters *p, const fluid_numbers *numbers,
                       const fluid_heat_sums *sums, double *values);
/* SIM_ERR_DIVERGED: the temperature T, above the shift, of a cell is out of bounds. */
sim_status fluid_heat_fail(const fluid_machine *m, int64_t step, int64_t row, int64_t x, double T) SIM_MUST_CHECK;
/* How far `reference` is beyond the temperatures of sides and bodies, in parts of what these are apart, if the fluid
 * passes a side; and the least and the greatest of them. */
double fluid_heat_far(const fluid_parameters *p, double *low, double *high);
#define FLUID_HEAT_FAR 10 /* beyond is refused */
void fluid_heat_destroy(fluid_warmth *warmth);
double fluid_heat_numbers(const fluid_parameters *p);        /* of a state */
double fluid_heat_rate(const grid_shape *grid, int threads); /* cells a second, about, of the temperature alone */
bool fluid_is_passed(const fluid_parameters *p);             /* some side */
fluid_side_kind fluid_side_kind_of(const fluid_parameters *p, int side);
/* Whether the table `heat` has a side: it has a temperature or a flux, or the fluid passes it. */
bool fluid_tells_side(const fluid_parameters *p, int side);
/* Whether both sides of an axis have temperatures, which differ, and the fluid passes neither. */
bool fluid_has_nusselt(const fluid_parameters *p, int axis);
/* The length of a body's Nusselt number, its diameter, and its area (2-D: its girth); 0: it has none. */
double fluid_body_length(const fluid_parameters *p, int body, double *area);

/* ---- start/levels.c ---- */

/* From the temperatures of these rows of each rank: shown[cells], or NULL: of the scenario. solid[cells] may be NULL.
 * Destroy with fluid_levels_destroy, also after a failure. */
sim_status fluid_levels_create(const fluid_parameters *p, const bool *solid, const double *shown, grid_range rows,
                               const sim_comm *comm, const sim_setup *setup, fluid_levels *out) SIM_MUST_CHECK;
void fluid_levels_destroy(fluid_levels *levels);

/* ---- scenario/rules_drive.c, rules_pressure.c ---- */

/* About the speed to which buoyancy drives the fluid; 0: to none. levels: NULL, not known. */
double fluid_buoyant_speed(const fluid_parameters *p, const fluid_levels *levels);
/* Warns where that is far above `speed`. */
void fluid_tell_buoyancy(const fluid_parameters *p, const fluid_levels *levels);
/* SIM_ERR_SCENARIO: the weight of warm and cold levels changes the density too much; warns above 5 %. */
sim_status fluid_check_levels(const fluid_parameters *p, const fluid_numbers *numbers,
                              const fluid_levels *levels) SIM_MUST_CHECK;

/* ---- start/heat_flux.c ---- */

bool fluid_has_flux(const fluid_parameters *p); /* some side or body */
/* Sets the fluxes of `warmth`. An axis link to a body stands for the area |n_a| of a face of a cell, n the normal
 * there: of a smooth surface these add up to its area, as those along the axis a see |n_a| of it. Those of a body with
 * fluid all about it are scaled so that they do. */
sim_status fluid_flux_create(const fluid_parameters *p, const fluid_machine *m, const fluid_numbers *numbers,
                             fluid_warmth *warmth) SIM_MUST_CHECK;
/* How far given fluxes may take temperatures above and below those of the start, of sides and bodies: a bound. */
void fluid_flux_room(const fluid_parameters *p, double *rise, double *fall);
/* The diffusivity in a cell, with that of eddies, in units of the lattice. */
double fluid_heat_diffusivity(const fluid_machine *m, const sim_buffer *state, int64_t row, int64_t x);

/* ---- cpu/heat.c ---- */

const fluid_heat_kernels *fluid_heat_kernels_of(bool single, sim_isa isa);
static inline int64_t fluid_heat_at(const fluid_machine *m, int64_t row, int64_t x) {
  return FLUID_PAD + row * (1 + m->lattice->rank) * m->rows.pitch + x;
}
/* Makes the flux of the first temperatures, and adds half of their buoyancy to a first state. */
sim_status fluid_heat_start(const fluid_machine *m, const sim_buffer *state) SIM_MUST_CHECK;
/* Makes a step of the temperature of this rank's rows with the flow before and after this step, and adds the buoyancy
 * to the latter. Returns whether one may be out of bounds. */
bool fluid_heat_step(const fluid_machine *m, const sim_buffer *before, const sim_buffer *state);
/* SIM_ERR_DIVERGED: a temperature of some rank is out of bounds after step number `step`. */
sim_status fluid_heat_guard(const fluid_machine *m, int64_t step) SIM_MUST_CHECK;
/* Gets the planes beside those of this rank from others, as fluid_swap_planes. */
sim_status fluid_heat_swap(const fluid_machine *m) SIM_MUST_CHECK;
/* Fills warmth.shown: solid cells have the temperature of the body that is nearest, or `reference`. */
void fluid_heat_show(const fluid_machine *m, const fluid_parameters *p);
sim_status fluid_heat_find_sums(const fluid_machine *m, const sim_buffer *state, fluid_heat_sums *out) SIM_MUST_CHECK;
/* The temperature of the solid cell i of a row: of the first body that it lies in, or `reference`. */
double fluid_heat_solid(const fluid_machine *m, const fluid_parameters *p, const fluid_shape *shape, int64_t row,
                        int64_t i);
/* Links of a cell along the axes: they come first, and arrive by the directions 1 to 2 rank. */
int fluid_axis_links(const fluid_machine *m, const fluid_cell *cell);
/* The velocity of the fluid through a side FLUID_SIDE_GIVEN into a cell, but for a positive factor. */
double fluid_heat_given(const fluid_machine *m, const fluid_cell *cell, int side);
/* Acceleration of the fluid at a temperature, in units of the lattice. */
void fluid_buoyancy(const fluid_warmth *w, double temperature, double out[3]);

#endif
