/* Lists of grains that pass between the run and its solver. */
#include "kernels/collision/solver.h"

#include <stdlib.h>

void *collision_list_more(void *list, int64_t count, int64_t *room, size_t size) {
  if (count < *room) return list;
  const int64_t more = 2 * count + 256;
  void *out = realloc(list, (size_t)more * size);
  if (out != NULL) *room = more;
  return out;
}

bool collision_indices_add(collision_indices *indices, int64_t index) {
  int64_t *at = collision_list_more(indices->at, indices->count, &indices->room, sizeof *at);
  if (at == NULL) return false;
  indices->at = at;
  at[indices->count++] = index;
  return true;
}
