/* Rows of the table `bodies`: forces, torques, and coefficients of bodies with a reference. */
#include "kernels/fluid/run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* The torque about the reference's centre. */
static void move_torque(const fluid_run *run, int body, const double force[3], double torque[3]) {
  const sim_doubles *centre = &fluid_body_of(run->p, body)->reference.centre;
  if (centre->rows != 3) return;
  const fluid_shape s = fluid_body_shape(run->p, &run->meshes, body, &run->machine.walls.pose[body]);
  double arm[3];
  for (int a = 0; a < 3; a++) arm[a] = s.centre[a] - centre->data[a];
  for (int a = 0; a < 3; a++)
    torque[a] += arm[(a + 1) % 3] * force[(a + 2) % 3] - arm[(a + 2) % 3] * force[(a + 1) % 3];
}

/* The coefficients of a body, of its force and torque, in `values`; returns the end of them. */
static double *tell_coefficients(const fluid_run *run, int body, const double *own, double *values) {
  const fluid_parameters *p = run->p;
  const fluid_reference *r = &fluid_body_of(p, body)->reference;
  const int rank = run->machine.grid.rank;
  const double speed = fluid_reference_speed(p, body), unit = p->density * speed * speed / 2 * r->area;
  double force[3] = {0}, torque[3] = {0}, drag[3], lift[3], side[3];
  for (int a = 0; a < rank; a++) force[a] = own[a];
  for (int a = rank == 2 ? 2 : 0; a < 3; a++) torque[a] = own[rank == 2 ? rank : rank + a];
  move_torque(run, body, force, torque);
  (void)fluid_reference_axes(p, body, drag, lift, side); /* the rules have seen that there are some */
  *values++ = dot(force, drag) / unit;
  *values++ = dot(force, lift) / unit;
  if (rank == 3) *values++ = dot(force, side) / unit;
  *values++ = -dot(torque, side) / (unit * r->length); /* about lift x drag */
  return values;
}

static double *tell_plus(const fluid_run *run, int body, double *values) {
  *values++ = run->plus[body].most;
  *values++ = run->plus[body].mean;
  *values++ = run->plus[body].most <= FLUID_PLUS_SURE;
  return values;
}

/* y+ of the bodies. */
static sim_status find_plus(fluid_run *run) {
  double *velocity = NULL;
  sim_status status = SIM_OK;
  if (run->ops->wall_velocities) {
    velocity = malloc((size_t)(run->machine.walls.cells + 1) * 3 * sizeof *velocity);
    status = velocity ? run->ops->wall_velocities(run->work, velocity) : sim_no_memory("velocities beside bodies");
  }
  if (status == SIM_OK)
    status = fluid_find_plus(&run->machine, run->p, &run->numbers, run->ops->state(run->work), velocity, run->plus);
  free(velocity);
  return status;
}

sim_status fluid_bodies_row(fluid_run *run, double *values) {
  const fluid_parameters *p = run->p;
  const int columns = run->machine.grid.rank == 2 ? 3 : 6;
  double own[FLUID_BODIES * 6];
  SIM_TRY(run->ops->bodies(run->work, own));
  if (fluid_tells_some_plus(p)) SIM_TRY(find_plus(run));
  for (int b = 0; b < (int)p->bodies.count; b++) {
    memcpy(values, own + b * columns, (size_t)columns * sizeof *values);
    values += columns;
    if (fluid_body_of(p, b)->reference.given) values = tell_coefficients(run, b, own + b * columns, values);
    if (fluid_tells_plus(p, b)) values = tell_plus(run, b, values);
  }
  return SIM_OK;
}

void fluid_remark_on_bodies(const fluid_run *run, sim_bytes *out) {
  for (int b = 0; b < (int)run->p->bodies.count; b++) {
    const double most = run->plus[b].most;
    char name[FLUID_BODY_NAME];
    if (most <= FLUID_PLUS_SURE) continue;
    fluid_body_name(run->p, b, name);
    sim_bytes_format(out,
                     "%sforces on %s are not sure: y+ of its first cells is up to %.3g (mean %.3g), "
                     "and above %g cells do not resolve the flow at the surface: expected cells of at most %.2g",
                     out->size > 0 ? "; " : "", name, most, run->plus[b].mean, FLUID_PLUS_SURE,
                     run->numbers.dx * FLUID_PLUS_SURE / most);
  }
}
