/* Walls to the device, with their meshes. `real` is defined before this is included. */
#ifndef COLLISION_CUDA_BED_MESH_CUH
#define COLLISION_CUDA_BED_MESH_CUH

#include "kernels/collision/general/cuda/queue.cuh"

/* Triangles and boxes of a mesh behind each other, from `base` on (NULL: only counts the bytes); `to`: as the device
 * has it. */
static sim_status put_mesh(const geometry_mesh *from, char *base, size_t *at, geometry_mesh *to) {
  const struct {
    const void *from;
    void **to;
    size_t bytes;
  } parts[] = {
      {from->corner, (void **)&to->corner, (size_t)from->count * 9 * sizeof *from->corner},
      {from->bound, (void **)&to->bound, (size_t)from->count * 4 * sizeof *from->bound},
      {from->vertex, (void **)&to->vertex, (size_t)from->count * 3 * sizeof *from->vertex},
      {from->around, (void **)&to->around, (size_t)from->count * 3 * sizeof *from->around},
      {from->around_first, (void **)&to->around_first, (size_t)(from->vertices + 1) * sizeof *from->around_first},
      {from->box, (void **)&to->box, (size_t)from->groups * 48 * sizeof *from->box}};
  *to = *from;
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    if (base != NULL) {
      *parts[k].to = base + *at;
      SIM_TRY(sim_backend_cuda.copy(base + *at, parts[k].from, parts[k].bytes));
    }
    *at += (parts[k].bytes + 255) / 256 * 256;
  }
  return SIM_OK;
}

static sim_status put_walls(bed_work *w) {
  static geometry_wall wall[COLLISION_WALLS_MAX];
  geometry_mesh mesh[COLLISION_WALLS_MAX] = {};
  const collision_options *o = &w->options;
  const size_t head = (sizeof mesh + 255) / 256 * 256;
  memcpy(wall, o->wall, sizeof wall);
  for (int pass = 0; pass < 2; pass++) {
    size_t at = head;
    for (int k = 0; k < o->walls; k++)
      if (o->wall[k].shape == GEOMETRY_MESH) SIM_TRY(put_mesh(o->wall[k].mesh, (char *)w->meshes, &at, &mesh[k]));
    if (at == head) break;
    if (pass == 0) SIM_TRY(sim_backend_cuda.alloc(at, &w->meshes));
  }
  if (w->meshes != NULL) SIM_TRY(sim_backend_cuda.copy(w->meshes, mesh, sizeof mesh));
  for (int k = 0; k < o->walls; k++)
    if (wall[k].shape == GEOMETRY_MESH) wall[k].mesh = (const geometry_mesh *)w->meshes + k;
  return sim_backend_cuda.copy((void *)w->arrays.wall, wall, sizeof wall);
}

#endif
