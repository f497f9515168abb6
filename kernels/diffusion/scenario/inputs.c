/* Inputs of the functions of a scenario: fields, derived fields, and their derivatives. */
#include "kernels/diffusion/diffusion.h"

#include <stdio.h>
#include <string.h>

/* The inputs are, in this order: the fields, x, y, z, t; the first derivatives of each field; the member; second
 * derivatives and the Laplacian of each field; and all kinds of each derived field. */
enum { COORDINATES = 4, SECOND = DIFFUSION_VALUE - DIFFUSION_XX };

static int sources_of(const diffusion_parameters *p) { return (int)p->fields.count + (int)p->derived.count; }

int diffusion_input(const diffusion_parameters *p, int source, int kind) {
  const int fields = (int)p->fields.count;
  const int more = diffusion_member_input(fields) + 1, derived = more + SECOND * fields;
  if (source >= fields) return derived + DIFFUSION_KINDS * (source - fields) + kind;
  return kind < DIFFUSION_XX ? fields + COORDINATES + 3 * source + kind : more + SECOND * source + kind - DIFFUSION_XX;
}

int diffusion_input_count(const diffusion_parameters *p) {
  return diffusion_input(p, (int)p->fields.count, 0) + DIFFUSION_KINDS * (int)p->derived.count;
}

bool diffusion_has_kind(const diffusion_parameters *p, int source, int kind) {
  return kind != DIFFUSION_VALUE || source >= (int)p->fields.count;
}

const char *diffusion_source_name(const diffusion_parameters *p, int source) {
  const int fields = (int)p->fields.count;
  return source < fields ? diffusion_field_of(p, source)->name : p->derived.items[source - fields].name;
}

void diffusion_input_name(const diffusion_parameters *p, int source, int kind, char out[SIM_EXPR_NAME_MAX]) {
  static const char *const ends[DIFFUSION_KINDS] = {"_x", "_y", "_z", "_xx", "_yy", "_zz", "_xy", "_xz", "_yz", "", ""};
  snprintf(out, SIM_EXPR_NAME_MAX, "%s%.*s%s", kind == DIFFUSION_LAPLACIAN ? "lap_" : "", SIM_EXPR_NAME_MAX - 5,
           diffusion_source_name(p, source), ends[kind]);
}

void diffusion_add_gradient(diffusion_gradients *out, int source, int kind) {
  for (int g = 0; g < out->count && g < DIFFUSION_READ; g++)
    if (out->of[g].field == source && out->of[g].kind == kind) return;
  if (out->count < DIFFUSION_READ) {
    out->of[out->count].field = source;
    out->of[out->count].kind = kind;
  }
  out->count++;
}

void diffusion_find_gradients(const diffusion_parameters *p, const sim_expr *expr, diffusion_gradients *out) {
  for (int source = 0; expr && source < sources_of(p); source++)
    for (int kind = 0; kind < DIFFUSION_KINDS; kind++)
      if (diffusion_has_kind(p, source, kind) && diffusion_takes(expr, diffusion_input(p, source, kind)))
        diffusion_add_gradient(out, source, kind);
}

/* Sorts by field, then by kind, so that all derivatives of a field are together. */
void diffusion_sort_gradients(diffusion_gradients *g) {
  for (int i = 1; i < g->count; i++)
    for (int j = i; j > 0 && DIFFUSION_KINDS * g->of[j].field + g->of[j].kind <
                                 DIFFUSION_KINDS * g->of[j - 1].field + g->of[j - 1].kind;
         j--) {
      const int field = g->of[j].field, kind = g->of[j].kind;
      g->of[j] = g->of[j - 1];
      g->of[j - 1].field = field;
      g->of[j - 1].kind = kind;
    }
}

diffusion_gradients diffusion_gradients_of(const diffusion_parameters *p) {
  diffusion_gradients g = {0};
  diffusion_find_gradients(p, p->rates, &g);
  diffusion_find_gradients(p, p->flux, &g);
  if (g.count > DIFFUSION_READ) g.count = DIFFUSION_READ; /* a fault */
  diffusion_sort_gradients(&g);
  if (p->flux) g.fluxes = (int)p->fields.count * (int)p->grid.n.rows;
  g.solenoidal = diffusion_vector_of(p, g.vector) > 0;
  return g;
}

bool diffusion_has_gradients(const diffusion_parameters *p) {
  const diffusion_gradients g = diffusion_gradients_of(p);
  return g.count > 0 || g.fluxes > 0 || g.solenoidal;
}

static int find_field(const diffusion_parameters *p, const char *name, size_t length) {
  for (int f = 0; f < (int)p->fields.count; f++) {
    const char *own = diffusion_field_of(p, f)->name;
    if (own && strlen(own) == length && strncmp(own, name, length) == 0) return f;
  }
  return -1;
}

int diffusion_named_fields(const diffusion_parameters *p, const char *names, int most, int *fields) {
  const char *at = names ? names : "";
  int count = 0;
  for (;;) {
    at += strspn(at, ", ");
    const size_t length = strcspn(at, ", ");
    if (length == 0) return count;
    if (count < most) fields[count] = find_field(p, at, length);
    count++;
    at += length;
  }
}

bool diffusion_twice(const int *fields, int count) {
  for (int a = 0; a < count; a++)
    for (int b = 0; b < a; b++)
      if (fields[a] == fields[b]) return true;
  return false;
}

int diffusion_vector_of(const diffusion_parameters *p, int vector[3]) {
  return diffusion_named_fields(p, p->solenoidal, 3, vector);
}

int diffusion_velocity_of(const diffusion_parameters *p, int vector[3]) {
  const char *own = p->integrate.velocity;
  return own && own[0] ? diffusion_named_fields(p, own, 3, vector) : diffusion_vector_of(p, vector);
}
