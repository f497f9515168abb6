/* Names that follow from others: components of the curl of the solenoidal vector, its pressure, and mixed derivatives
 * in another order. */
#include "kernels/diffusion/diffusion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { X, Y, Z };

/* Whether a field or derived field has this name. */
static bool is_source(const diffusion_parameters *p, const char *name) {
  for (int source = 0; source < (int)(p->fields.count + p->derived.count); source++) {
    const char *own = diffusion_source_name(p, source);
    if (own && strcmp(own, name) == 0) return true;
  }
  return false;
}

void diffusion_name_vector(diffusion_parameters *p) {
  int vector[3];
  const int axes = diffusion_vector_of(p, vector);
  memset(p->vector_names, 0, sizeof p->vector_names);
  if (axes != (int)p->grid.n.rows || axes < 2 || axes > 3) return; /* a fault, or no vector */
  for (int a = 0; a < axes; a++)
    if (vector[a] < 0) return;
  for (int a = 0; a < axes && axes == 3; a++)
    snprintf(p->vector_names[a], SIM_EXPR_NAME_MAX, "curl_%.*s", SIM_EXPR_NAME_MAX - 6,
             diffusion_source_name(p, vector[a]));
  if (axes == 2) snprintf(p->vector_names[Z], SIM_EXPR_NAME_MAX, "vorticity");
  snprintf(p->vector_names[DIFFUSION_PRESSURE], SIM_EXPR_NAME_MAX, "pressure");
  for (int i = 0; i < DIFFUSION_VECTOR_NAMES; i++)
    if (is_source(p, p->vector_names[i])) p->vector_names[i][0] = '\0';
}

void diffusion_curl_of(const diffusion_parameters *p, int component, int source[2], int kind[2]) {
  const int b = (component + 1) % 3, c = (component + 2) % 3;
  int vector[3];
  (void)diffusion_vector_of(p, vector);
  source[0] = vector[c], kind[0] = b;
  source[1] = vector[b], kind[1] = c;
}

/* ---- functions ---- */

/* Inputs of a function while it is written anew. Three components of the curl add six derivatives. */
enum { MOST = SIM_EXPR_INPUTS_MAX };
typedef struct writing {
  sim_expr_builder *builder;
  int count;
  char name[MOST][SIM_EXPR_NAME_MAX];
  sim_expr_ref ref[MOST];
} writing;

static sim_status input_of(writing *w, const char *name, sim_expr_ref *out) {
  for (int i = 0; i < w->count; i++)
    if (strcmp(w->name[i], name) == 0) {
      *out = w->ref[i];
      return SIM_OK;
    }
  snprintf(w->name[w->count], SIM_EXPR_NAME_MAX, "%s", name);
  SIM_TRY(sim_expr_builder_input(w->builder, name, &w->ref[w->count]));
  *out = w->ref[w->count++];
  return SIM_OK;
}

/* Returns the component of the curl that a name is; -1: none. */
static int curl_named(const diffusion_parameters *p, const char *name) {
  for (int c = 0; c < DIFFUSION_PRESSURE; c++)
    if (p->vector_names[c][0] && strcmp(p->vector_names[c], name) == 0) return c;
  return -1;
}

/* Finds the derivative that a name such as u_yx is. Returns false where it is none. */
static bool find_mixed(const diffusion_parameters *p, const char *name, int *source, int *kind) {
  static const char *const ends[] = {"yx", "zx", "zy"};
  if (is_source(p, name)) return false;
  for (*source = 0; *source < (int)(p->fields.count + p->derived.count); ++*source)
    for (int i = 0; i < 3; i++) {
      char other[SIM_EXPR_NAME_MAX + 4];
      snprintf(other, sizeof other, "%s_%s", diffusion_source_name(p, *source), ends[i]);
      *kind = DIFFUSION_XY + i;
      if (strcmp(other, name) == 0) return true;
    }
  return false;
}

static sim_status write_input(const diffusion_parameters *p, writing *w, const char *name, sim_expr_ref *out) {
  const int curl = curl_named(p, name);
  char derivative[SIM_EXPR_NAME_MAX];
  int source[2], kind[2];
  if (curl >= 0) {
    sim_expr_ref parts[2];
    diffusion_curl_of(p, curl, source, kind);
    for (int i = 0; i < 2; i++) {
      diffusion_input_name(p, source[i], kind[i], derivative);
      SIM_TRY(input_of(w, derivative, &parts[i]));
    }
    return sim_expr_builder_call(w->builder, SIM_EXPR_SUB, parts, out);
  }
  if (find_mixed(p, name, source, kind)) {
    diffusion_input_name(p, source[0], kind[0], derivative);
    return input_of(w, derivative, out);
  }
  return input_of(w, name, out);
}

static sim_status write_function(const diffusion_parameters *p, writing *w, const sim_expr *expr, sim_expr_ref *in,
                                 sim_expr_ref *outputs, const char **names, sim_expr **out) {
  const int results = sim_expr_output_count(expr);
  for (int i = 0; i < sim_expr_input_count(expr); i++) SIM_TRY(write_input(p, w, sim_expr_input_name(expr, i), &in[i]));
  SIM_TRY(sim_expr_builder_insert(w->builder, expr, in, outputs));
  for (int i = 0; i < results; i++) names[i] = sim_expr_output_name(expr, i);
  return sim_expr_builder_finish(w->builder, outputs, names, results, out);
}

sim_status diffusion_spell_out(const diffusion_parameters *p, sim_expr **expr) {
  const int inputs = sim_expr_input_count(*expr);
  int source, kind;
  bool any = false;
  for (int i = 0; i < inputs && !any; i++)
    any = curl_named(p, sim_expr_input_name(*expr, i)) >= 0 ||
          find_mixed(p, sim_expr_input_name(*expr, i), &source, &kind);
  if (!any || inputs + 6 > MOST) return SIM_OK;
  writing *w = calloc(1, sizeof *w);
  sim_expr_ref in[MOST], outputs[SIM_EXPR_OUTPUTS_MAX];
  const char *names[SIM_EXPR_OUTPUTS_MAX];
  sim_expr *out = NULL;
  sim_status status = w ? sim_expr_builder_create(&w->builder) : sim_no_memory("a function");
  if (status == SIM_OK) status = write_function(p, w, *expr, in, outputs, names, &out);
  if (w) sim_expr_builder_free(&w->builder);
  free(w);
  if (status != SIM_OK) return status;
  sim_expr_free(expr);
  *expr = out;
  return SIM_OK;
}

/* ---- pressure ---- */

int diffusion_pressure_input(const diffusion_parameters *p) { return diffusion_input_count(p); }

bool diffusion_needs_pressure(const diffusion_parameters *p) {
  if (!p->vector_names[DIFFUSION_PRESSURE][0]) return false;
  for (size_t i = 0; i < p->observe.count; i++)
    if (diffusion_takes(p->observe.items[i].expr, diffusion_pressure_input(p))) return true;
  return diffusion_is_drawn(p, (int)(p->derived.count + p->observe.count) + DIFFUSION_PRESSURE);
}
