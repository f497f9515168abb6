/* Sums of a gate over the cells of its plane, in units of the lattice. */
#ifndef FLUID_GATE_SUMS_H
#define FLUID_GATE_SUMS_H

/* Area of the fluid, area times pressure (as density - 1), mass flux, and momentum flux along each axis. */
enum {
  FLUID_GATE_AREA,
  FLUID_GATE_PRESSURE,
  FLUID_GATE_FLUX,
  FLUID_GATE_MOMENTUM,
  FLUID_GATE_SUMS = FLUID_GATE_MOMENTUM + 3
};

#endif
