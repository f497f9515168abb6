/* Gates, plane sections of the box through which the flow is measured, and the spectrum of its kinetic energy. */
#ifndef FLUID_GATES_H
#define FLUID_GATES_H

#include "kernels/fluid/fluid.h"
#include "kernels/fluid/gate_sums.h"
#include "kernels/fluid/start/walls.h"

typedef struct fluid_gate {
  char *name;           /* NULL: gate1, ... */
  int axis;             /* across which the plane lies */
  double at;            /* its coordinate */
  sim_doubles range[3]; /* {from, to} along the other axes; none: the whole box */
} fluid_gate;
extern const sim_schema *const fluid_gate_variants[];

/* Columns of a gate: mass flux, pressure, and momentum flux along each axis. */
#define FLUID_GATE_COLUMNS(rank) (2 + (rank))

static inline const fluid_gate *fluid_gate_of(const fluid_parameters *p, int gate) { return p->gates.items[gate].data; }

/* ---- scenario/rules_gates.c ---- */

/* The name of a gate in columns. */
void fluid_gate_name(const fluid_parameters *p, int gate, char out[FLUID_BODY_NAME]);
void fluid_check_gates(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults);
void fluid_check_spectrum(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults);

/* ---- start/gates.c ---- */

/* The planes of cells next to a gate, and their parts: between the centres of two cells values are linear, and within
 * half a cell of a side that is not periodic they are those of the last cell. */
typedef struct fluid_section {
  int64_t plane[2];
  double part[2];
} fluid_section;
fluid_section fluid_section_of(const grid_shape *g, const fluid_gate *gate);
/* The part of the cell i along an axis that lies in the gate's range; along the gate's own axis, of its plane. */
double fluid_section_part(const grid_shape *g, const fluid_gate *gate, const fluid_section *s, int axis, int64_t i);
/* SIM_ERR_SCENARIO: a gate has no cell of the fluid. */
sim_status fluid_check_gates_open(const fluid_parameters *p, const fluid_walls *walls) SIM_MUST_CHECK;

#endif
