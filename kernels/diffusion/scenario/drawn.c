/* Fields that output.fields adds to snapshots, slices and probes: derived fields, functions of `observe` with their
 * value in each cell, components of the curl and the pressure. */
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

/* Number of the first component of the curl, and the number after the last drawn field. */
static int curl_number(const diffusion_parameters *p) { return (int)(p->derived.count + p->observe.count); }
static int end_number(const diffusion_parameters *p) { return curl_number(p) + DIFFUSION_VECTOR_NAMES; }

const char *diffusion_drawn_name(const diffusion_parameters *p, int number) {
  const int derived = (int)p->derived.count;
  if (number >= curl_number(p)) return p->vector_names[number - curl_number(p)];
  return number < derived ? p->derived.items[number].name : p->observe.items[number - derived].name;
}

/* Whether output.fields may have this drawn field. A function of `observe` takes the name of a curl or pressure. */
static bool is_offered(const diffusion_parameters *p, int number) {
  const char *name = diffusion_drawn_name(p, number);
  if (number < (int)p->derived.count) return true;
  if (number < curl_number(p)) return has_own_name(p, name);
  for (size_t i = 0; i < p->observe.count; i++)
    if (strcmp(p->observe.items[i].name, name) == 0) return false;
  return name[0] != '\0';
}

bool diffusion_is_drawn(const diffusion_parameters *p, int number) {
  return sim_output_has_field(&p->common.output, diffusion_drawn_name(p, number)) && is_offered(p, number);
}

int diffusion_drawn(const diffusion_parameters *p, int drawn[DIFFUSION_DRAWN]) {
  int count = 0;
  for (int i = 0; i < end_number(p) && count < DIFFUSION_DRAWN; i++)
    if (diffusion_is_drawn(p, i)) drawn[count++] = i;
  return count;
}

/* Returns the name of a field of the state if output.fields has it, which is a fault; else NULL. */
static const char *named_state(const diffusion_parameters *p, int field) {
  const char *name = diffusion_source_name(p, field);
  return name && sim_output_has_field(&p->common.output, name) ? name : NULL;
}

int diffusion_drawn_names(const void *parameters, const char *names[SIM_DERIVED_MAX]) {
  const diffusion_parameters *p = parameters;
  int count = 0;
  for (int i = 0; i < end_number(p) && count < SIM_DERIVED_MAX; i++)
    if (is_offered(p, i)) names[count++] = diffusion_drawn_name(p, i);
  for (int f = 0; f < (int)p->fields.count && count < SIM_DERIVED_MAX; f++) /* diffusion_check_drawn tells them */
    if (named_state(p, f)) names[count++] = named_state(p, f);
  return count;
}

void diffusion_check_drawn(const diffusion_parameters *p, sim_faults *faults) {
  int count = 0;
  sim_output_check_fields(&p->common.output, p->probes.rows > 0, faults);
  for (int f = 0; f < (int)p->fields.count; f++)
    if (named_state(p, f))
      sim_faults_add(faults, 0, "output.fields",
                     "expected names of derived fields, got \"%s\", a field of the state: all outputs have it anyhow",
                     named_state(p, f));
  for (int i = 0; i < end_number(p); i++) count += diffusion_is_drawn(p, i);
  if (count > DIFFUSION_DRAWN)
    sim_faults_add(faults, 0, "output.fields", "expected at most %d names, got %d", DIFFUSION_DRAWN, count);
}

void diffusion_find_drawn(const diffusion_parameters *p, diffusion_gradients *out) {
  for (int d = 0; d < (int)p->derived.count; d++)
    if (diffusion_is_drawn(p, d)) diffusion_add_gradient(out, (int)p->fields.count + d, DIFFUSION_VALUE);
  for (int c = 0; c < DIFFUSION_PRESSURE; c++) {
    int source[2], kind[2];
    if (!diffusion_is_drawn(p, curl_number(p) + c)) continue;
    diffusion_curl_of(p, c, source, kind);
    for (int i = 0; i < 2; i++) diffusion_add_gradient(out, source[i], kind[i]);
  }
}
