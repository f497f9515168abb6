/* Fields that output.fields adds to snapshots, slices and probes: derived fields, and functions of `observe` with their
 * value in each cell. */
#include "kernels/diffusion/diffusion.h"

#include <string.h>

/* Whether a function of `observe` may be drawn: its name is that of no other array of an output. */
static bool has_own_name(const diffusion_parameters *p, const char *name) {
  if (!diffusion_good_name(name)) return false;
  for (int f = 0; f < (int)p->fields.count; f++) {
    const char *field = diffusion_field_of(p, f)->name;
    if (field && strcmp(name, field) == 0) return false;
  }
  for (size_t d = 0; d < p->derived.count; d++)
    if (strcmp(name, p->derived.items[d].name) == 0) return false;
  return true;
}

const char *diffusion_drawn_name(const diffusion_parameters *p, int number) {
  const int derived = (int)p->derived.count;
  return number < derived ? p->derived.items[number].name : p->observe.items[number - derived].name;
}

bool diffusion_is_drawn(const diffusion_parameters *p, int number) {
  const char *name = diffusion_drawn_name(p, number);
  return sim_output_has_field(&p->common.output, name) && (number < (int)p->derived.count || has_own_name(p, name));
}

int diffusion_drawn(const diffusion_parameters *p, int drawn[DIFFUSION_DRAWN]) {
  int count = 0;
  for (int i = 0; i < (int)(p->derived.count + p->observe.count) && count < DIFFUSION_DRAWN; i++)
    if (diffusion_is_drawn(p, i)) drawn[count++] = i;
  return count;
}

int diffusion_drawn_names(const void *parameters, const char *names[SIM_DERIVED_MAX]) {
  const diffusion_parameters *p = parameters;
  int count = 0;
  for (int i = 0; i < (int)(p->derived.count + p->observe.count) && count < SIM_DERIVED_MAX; i++) {
    const char *name = diffusion_drawn_name(p, i);
    if (i < (int)p->derived.count || has_own_name(p, name)) names[count++] = name;
  }
  return count;
}

void diffusion_check_drawn(const diffusion_parameters *p, sim_faults *faults) {
  int count = 0;
  sim_output_check_fields(&p->common.output, p->probes.rows > 0, faults);
  for (int i = 0; i < (int)(p->derived.count + p->observe.count); i++) count += diffusion_is_drawn(p, i);
  if (count > DIFFUSION_DRAWN)
    sim_faults_add(faults, 0, "output.fields", "expected at most %d names, got %d", DIFFUSION_DRAWN, count);
}

void diffusion_find_drawn(const diffusion_parameters *p, diffusion_gradients *out) {
  for (int d = 0; d < (int)p->derived.count; d++)
    if (diffusion_is_drawn(p, d)) diffusion_add_gradient(out, (int)p->fields.count + d, DIFFUSION_VALUE);
}
