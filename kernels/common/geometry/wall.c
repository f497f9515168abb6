/* Poses and contacts of walls, on the host. */
#include "kernels/common/geometry/geometry.h"
#include "kernels/common/geometry/wall_contact.h"

geometry_pose geometry_wall_pose(const geometry_wall *wall, double t) {
  geometry_pose pose = {.angle = wall->spin * t, .spin = wall->spin};
  for (int c = 0; c < 3; c++) {
    pose.velocity[c] = wall->velocity[c];
    pose.shift[c] = wall->velocity[c] * t;
  }
  return pose;
}

double geometry_wall_distance(const geometry_wall *wall, const geometry_pose *pose, const double x[3]) {
  geometry_contact out = {.distance = NAN};
  (void)wall_contact(wall, pose, x, -INFINITY, &out); /* not within reach: the velocity is not computed */
  return out.distance;
}

int geometry_wall_contacts(const geometry_wall *wall, const geometry_pose *pose, const double x[3], double reach,
                           geometry_contact out[GEOMETRY_CONTACTS_MAX]) {
  double y[3];
  if (wall->shape != GEOMETRY_MESH) return wall_contact(wall, pose, x, reach, out);
  wall_rest_position(wall, pose, x, y);
  const int count = mesh_contacts(wall->mesh, y, reach, out);
  for (int k = 0; k < count; k++) wall_contact_now(wall, pose, x, &out[k]);
  return count;
}
