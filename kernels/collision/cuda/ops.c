/* What the operations on an NVIDIA GPU have not. */
#include "kernels/collision/cuda/ops.h"

#include "kernels/collision/run.h"

#include <stdio.h>

bool collision_cuda_lacks(const collision_parameters *p, char *lacks, size_t capacity) {
  collision_options options;
  bool mesh = false;
  if (collision_options_fill(p, &options) != SIM_OK) return false; /* the scenario's own fault: said elsewhere */
  for (int w = 0; w < options.walls; w++) mesh = mesh || options.wall[w].shape == COLLISION_MESH;
  const struct {
    bool there, many;
    const char *what;
  } of[] = {{collision_flow_varies(p), true, "grains that come and go"},
            {mesh, true, "meshes of triangles"},
            {options.force == COLLISION_OWN, false, "a contact law of the scenario's own"},
            {options.external != NULL, true, "external forces"},
            {options.shear != 0, false, "a sheared box"},
            {options.gates > 0, true, "gates"}};
  collision_options_free(&options);
  int left = 0, listed = 0;
  size_t at = 0;
  bool many = false;
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) left += of[k].there;
  for (size_t k = 0; k < sizeof of / sizeof *of && at < capacity; k++) {
    if (!of[k].there) continue;
    many = of[k].many || listed > 0;
    left--;
    at += (size_t)snprintf(lacks + at, capacity - at, "%s%s",
                           listed++ == 0 ? ""
                           : left > 0    ? ", "
                                         : " and ",
                           of[k].what);
  }
  if (at < capacity) snprintf(lacks + at, capacity - at, "%s", many ? " are" : " is");
  return listed > 0;
}
