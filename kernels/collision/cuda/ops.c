/* What the operations on an NVIDIA GPU have not. */
#include "kernels/collision/cuda/ops.h"

#include "kernels/collision/run.h"

const char *collision_cuda_lacks(const collision_parameters *p) {
  const char *lacks = NULL;
  collision_options options;
  if (collision_flow_varies(p)) return "grains that come and go are";
  if (collision_options_fill(p, &options) != SIM_OK) return NULL; /* the scenario's own fault: said elsewhere */
  for (int w = 0; w < options.walls; w++)
    if (options.wall[w].shape == COLLISION_MESH) lacks = "meshes of triangles are";
  if (options.force == COLLISION_OWN) lacks = "a contact law of the scenario's own is";
  if (options.external != NULL) lacks = "external forces are";
  if (options.shear != 0) lacks = "a sheared box is";
  if (options.gates > 0) lacks = "gates are";
  collision_options_free(&options);
  return lacks;
}
