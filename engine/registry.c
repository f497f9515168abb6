/* A file apart from model.c, so that only programs that look models up need the list sim_models. */
#include "engine/model.h"

#include <string.h>

const sim_model *sim_model_find(const char *name) {
  for (const sim_model *const *model = sim_models; *model; model++)
    if (strcmp((*model)->name, name) == 0) return *model;
  return NULL;
}
