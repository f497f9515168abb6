/* Materials named in a scenario. */
#include "kernels/collision/scenario/options.h"

#include <string.h>

static int add_material(const char *names[COLLISION_MATERIALS_MAX], int count, const char *name) {
  if (count < 0 || collision_material_index(names, count, name) >= 0) return count;
  if (count == COLLISION_MATERIALS_MAX) return -1;
  names[count] = name;
  return count + 1;
}

int collision_material_index(const char *const *names, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

sim_status collision_materials(const collision_parameters *p, const char *names[COLLISION_MATERIALS_MAX], int *count) {
  *count = 0;
  for (size_t i = 0; i < p->grains.count; i++)
    *count = add_material(names, *count, ((const collision_group *)p->grains.items[i].data)->material);
  *count = add_material(names, *count, "wall");
  for (size_t i = 0; i < p->insert.count; i++)
    *count = add_material(names, *count, ((const collision_group *)p->insert.items[i].data)->material);
  for (size_t i = 0; i < p->walls.count; i++) /* `material` is the first member of every wall struct */
    *count = add_material(names, *count, ((const collision_plane *)p->walls.items[i].data)->material);
  if (*count < 0) return sim_fail(SIM_ERR_SCENARIO, "expected at most %d materials", COLLISION_MATERIALS_MAX);
  return SIM_OK;
}
