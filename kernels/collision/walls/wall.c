/* Where walls are, and who touches them. */
#include "kernels/collision/walls/wall_touch.h"

#include "kernels/collision/collision.h"

collision_pose collision_wall_pose(const collision_wall *wall, double t) {
  collision_pose pose = {.angle = wall->spin * t, .spin = wall->spin};
  for (int c = 0; c < 3; c++) {
    pose.velocity[c] = wall->velocity[c];
    pose.shift[c] = wall->velocity[c] * t;
  }
  return pose;
}

int collision_wall_touch(const collision_wall *wall, const collision_pose *pose, const double x[3], double reach,
                         collision_touch out[COLLISION_TOUCHES_MAX]) {
  double y[3];
  if (wall->shape != COLLISION_MESH) return wall_touch(wall, pose, x, reach, out);
  wall_enter(wall, pose, x, y);
  const int count = mesh_touch(wall->mesh, y, reach, out);
  for (int k = 0; k < count; k++) wall_leave(wall, pose, x, &out[k]);
  return count;
}
