/* State of a rigid body: a clump of spheres. Vectors of the body are in its principal axes, at its centre of mass. A
 * quaternion {w, x, y, z} turns them to the axes of the box. The angular momentum about the centre is kept in the axes
 * of the box, so that free motion does not change a bit of it. */
#ifndef COLLISION_BODY_H
#define COLLISION_BODY_H

/* Also a row of the array "bodies". */
typedef struct collision_body {
  double mass, moment[3]; /* principal moments of inertia */
  double axes[4];         /* from the principal axes to those of the scenario's spheres */
  double bound;           /* radius of the sphere about the centre that holds the spheres */
  double first, count;    /* the spheres are grains first ... first + count - 1 of the state */
  double position[3], velocity[3], orientation[4], angular[3]; /* angular: momentum */
  double acceleration[3], torque[3];                           /* by the last forces; torque about the centre */
} collision_body;

enum { COLLISION_BODY_NUMBERS = sizeof(collision_body) / sizeof(double) };

#endif
