/* References of coefficients: their directions, and rules. */
#include "kernels/fluid/fluid.h"
#include "kernels/fluid/scenario/rules.h"
#include "kernels/fluid/start/walls.h"

#include "engine/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Scales a vector to length 1; false: it has none. */
static bool unit(double v[3]) {
  const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int a = 0; a < 3 && length > 0; a++) v[a] /= length;
  return length > 0 && isfinite(length);
}

/* The direction of the fluid that comes in by the one side that has a velocity inwards or a profile. */
static bool direction_of_inlet(const fluid_parameters *p, int rank, double out[3]) {
  int inlets = 0;
  for (int s = 0; s < 2 * rank; s++) {
    const fluid_side *side = &p->sides[s];
    const int axis = s / 2, inward = s % 2 ? -1 : 1;
    const bool in = side->velocity.rows == (size_t)rank && inward * side->velocity.data[axis] > 0;
    if (!side->given || !(in || (side->profile && fluid_side_passes(side, s)))) continue;
    inlets++;
    for (int a = 0; a < 3; a++) out[a] = a == axis ? inward : 0;
    for (int a = 0; a < rank && in; a++) out[a] = side->velocity.data[a];
  }
  return inlets == 1 && unit(out);
}

static bool find_direction(const fluid_parameters *p, int body, int rank, double out[3]) {
  const sim_doubles *given = &fluid_body_of(p, body)->reference.direction;
  memset(out, 0, 3 * sizeof *out);
  for (int a = 0; a < rank && given->rows == (size_t)rank; a++) out[a] = given->data[a];
  if (given->rows > 0) return unit(out);
  if (direction_of_inlet(p, rank, out)) return true;
  memset(out, 0, 3 * sizeof *out);
  for (int a = 0; a < rank && p->acceleration.rows == (size_t)rank; a++) out[a] = p->acceleration.data[a];
  return unit(out);
}

bool fluid_reference_axes(const fluid_parameters *p, int body, double drag[3], double lift[3], double side[3]) {
  const int rank = fluid_grid_of(p).rank;
  const sim_doubles *given = &fluid_body_of(p, body)->reference.lift;
  if (!find_direction(p, body, rank, drag)) return false;
  const int up = fabs(drag[1]) > 0.99 ? 2 : 1; /* the axis of the lift in 3-D */
  double along = 0;
  for (int a = 0; a < 3; a++) lift[a] = a == up;
  for (int a = 0; a < 3 && given->rows == 3; a++) lift[a] = given->data[a];
  for (int a = 0; a < 3; a++) along += lift[a] * drag[a];
  if (given->rows == 3 && fabs(along) > 0.999 * sqrt(lift[0] * lift[0] + lift[1] * lift[1] + lift[2] * lift[2]))
    return false;
  for (int a = 0; a < 3; a++) lift[a] -= along * drag[a];
  if (rank == 2) memcpy(lift, (double[]){0 - drag[1], drag[0], 0}, 3 * sizeof *lift);
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    side[a] = drag[b] * lift[c] - drag[c] * lift[b];
  }
  return unit(lift) && unit(side);
}

double fluid_reference_speed(const fluid_parameters *p, int body) {
  const double own = fluid_body_of(p, body)->reference.speed;
  return isnan(own) ? p->speed : own;
}

bool fluid_tells_plus(const fluid_parameters *p, int body) {
  return fluid_body_of(p, body)->reference.given || fluid_body_of(p, body)->yplus;
}

bool fluid_tells_some_plus(const fluid_parameters *p) {
  for (int b = 0; b < (int)p->bodies.count; b++)
    if (fluid_tells_plus(p, b)) return true;
  return false;
}

static void check_reference(const fluid_parameters *p, int b, int rank, sim_faults *faults) {
  const fluid_reference *r = &fluid_body_of(p, b)->reference;
  const int line = p->bodies.items[b].line;
  const size_t before = faults->count;
  double drag[3], lift[3], side[3];
  char path[64];
  snprintf(path, sizeof path, "bodies[%d].reference.direction", b + 1);
  if (r->direction.rows != 0 && r->direction.rows != (size_t)rank)
    sim_faults_add(faults, line, path, "expected %d numbers, one for each axis of the grid, got %zu", rank,
                   r->direction.rows);
  else if (!find_direction(p, b, rank, drag))
    sim_faults_add(faults, line, path,
                   r->direction.rows > 0 ? "expected a direction, got 0 along all axes"
                                         : "expected the direction of the flow, such as {1, 0%s}: the fluid does not "
                                           "come in by one side alone, and no acceleration drives it",
                   rank == 3 ? ", 0" : "");
  snprintf(path, sizeof path, "bodies[%d].reference.lift", b + 1);
  if (r->lift.rows != 0 && (rank == 2 || r->lift.rows != 3))
    sim_faults_add(faults, line, path,
                   rank == 2 ? "has no effect on a grid of two axes: lift is at a right angle to the drag"
                             : "expected a direction {x, y, z}, got %zu numbers",
                   r->lift.rows);
  if (faults->count == before && !fluid_reference_axes(p, b, drag, lift, side))
    sim_faults_add(faults, line, path, "expected a direction across that of the drag, {%.3g, %.3g, %.3g}", drag[0],
                   drag[1], drag[2]);
  snprintf(path, sizeof path, "bodies[%d].reference.centre", b + 1);
  if (r->centre.rows != 0 && r->centre.rows != 3)
    sim_faults_add(faults, line, path, "expected a point {x, y, z}, got %zu numbers", r->centre.rows);
  if (r->centre.rows != 0 && fluid_body_moves(p, b))
    sim_faults_add(faults, line, path, "is not supported for a body that moves");
}

void fluid_check_references(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults) {
  const int of_body = grid->rank == 2 ? 3 : 6, of_reference = grid->rank == 2 ? 3 : 4, of_plus = 3;
  int columns = 0;
  for (int b = 0; b < (int)p->bodies.count && b < FLUID_BODIES; b++) {
    const bool given = fluid_body_of(p, b)->reference.given;
    if (given) check_reference(p, b, grid->rank, faults);
    columns += of_body + (given ? of_reference : 0) + (fluid_tells_plus(p, b) ? of_plus : 0);
  }
  if (columns > SIM_COLUMNS_FEW)
    sim_faults_add(
        faults, 0, "bodies",
        "the table `bodies` would have %d columns: expected at most %d, so fewer bodies with a `reference` or `yplus`",
        columns, SIM_COLUMNS_FEW);
}

void fluid_tell_references(const fluid_parameters *p) {
  for (int b = 0; b < (int)p->bodies.count; b++) {
    double drag[3], lift[3], side[3];
    const fluid_reference *r = &fluid_body_of(p, b)->reference;
    if (!r->given || !fluid_reference_axes(p, b, drag, lift, side)) continue;
    const double speed = fluid_reference_speed(p, b);
    sim_log(SIM_LOG_INFO,
            "bodies[%d]: Reynolds number %.6g by the reference (speed %.6g, length %.6g); drag along {%.3g, %.3g, "
            "%.3g}, lift along {%.3g, %.3g, %.3g}",
            b + 1, speed * r->length / p->viscosity, speed, r->length, drag[0], drag[1], drag[2], lift[0], lift[1],
            lift[2]);
  }
}
