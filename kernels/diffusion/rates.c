#include "kernels/diffusion/diffusion.h"

#include <stdlib.h>
#include <string.h>

enum { X, Y, Z, T, PLACES };
enum { INPUTS = DIFFUSION_FIELDS + PLACES + 1 };

struct diffusion_rates {
  sim_expr_program *program;
  bool single, uses_y;
  int fields;
  int64_t count; /* numbers of a piece */
  diffusion_grid grid;
  double t, h;
  int times;
  void *x;                                    /* [count] */
  size_t thread_bytes, output_bytes, y_bytes; /* a thread: scratch, y, outputs */
  char *threads;
  size_t scratch_bytes;
};

static sim_status add_scaled(sim_expr_builder *b, sim_expr_ref u, sim_expr_ref h, sim_expr_ref rate,
                             sim_expr_ref *out) {
  sim_expr_ref product;
  SIM_TRY(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){h, rate}, &product));
  return sim_expr_builder_call(b, SIM_EXPR_ADD, (sim_expr_ref[]){u, product}, out);
}

/* Inputs: the fields, x, y, z, t, h. */
static sim_status build(sim_expr_builder *b, const diffusion_parameters *p, diffusion_form form, sim_expr **out) {
  static const char *const places[] = {"x", "y", "z", "t"};
  const int fields = (int)p->fields.count;
  sim_expr_ref in[INPUTS], rate[DIFFUSION_FIELDS], half, t = 0;
  const char *names[DIFFUSION_FIELDS];
  for (int f = 0; f < fields; f++) {
    names[f] = diffusion_species_of(p, f)->name;
    SIM_TRY(sim_expr_builder_input(b, names[f], &in[f]));
  }
  for (int i = 0; i < PLACES; i++) SIM_TRY(sim_expr_builder_input(b, places[i], &in[fields + i]));
  SIM_TRY(sim_expr_builder_input(b, "h", &in[fields + PLACES]));
  const sim_expr_ref h = in[fields + PLACES];
  SIM_TRY(sim_expr_builder_insert(b, p->rates, in, rate));
  if (form == DIFFUSION_MIDPOINT) {
    sim_expr_ref middle[INPUTS], two;
    SIM_TRY(sim_expr_builder_number(b, 0.5, &two));
    SIM_TRY(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){h, two}, &half));
    memcpy(middle, in, sizeof middle);
    for (int f = 0; f < fields; f++) SIM_TRY(add_scaled(b, in[f], half, rate[f], &middle[f]));
    SIM_TRY(sim_expr_builder_call(b, SIM_EXPR_ADD, (sim_expr_ref[]){in[fields + T], half}, &t));
    middle[fields + T] = t;
    SIM_TRY(sim_expr_builder_insert(b, p->rates, middle, rate));
  }
  for (int f = 0; f < fields && form != DIFFUSION_RATE; f++) SIM_TRY(add_scaled(b, in[f], h, rate[f], &rate[f]));
  return sim_expr_builder_finish(b, rate, names, fields, out);
}

static size_t align(size_t bytes) { return (bytes + 63) / 64 * 64; }

static void put(const diffusion_rates *r, void *array, int64_t i, double value) {
  if (r->single)
    ((float *)array)[i] = (float)value;
  else
    ((double *)array)[i] = value;
}

double diffusion_rates_bytes(const diffusion_parameters *p, int threads) {
  const diffusion_grid grid = diffusion_grid_of(p);
  return p->rates ? (1 + threads * (1.0 + (double)p->fields.count)) * 128 * (double)grid.n[0] : 0;
}

sim_status diffusion_rates_create(const diffusion_parameters *p, diffusion_form form, sim_isa isa, int threads,
                                  diffusion_rates **out) {
  sim_expr_builder *builder;
  sim_expr *expr = NULL;
  diffusion_rates *r = calloc(1, sizeof *r);
  *out = r;
  if (!r) return sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
  r->fields = (int)p->fields.count;
  r->single = diffusion_single(p);
  r->grid = diffusion_grid_of(p);
  const size_t number = r->single ? sizeof(float) : sizeof(double), bytes = 128 * (size_t)r->grid.n[0];
  r->count = (int64_t)(bytes / number);
  SIM_TRY(sim_expr_builder_create(&builder));
  sim_status status = build(builder, p, form, &expr);
  sim_expr_builder_free(&builder);
  bool uniform[INPUTS] = {false};
  uniform[r->fields + Z] = uniform[r->fields + T] = uniform[r->fields + PLACES] = true;
  if (status == SIM_OK)
    status = sim_expr_program_create(expr, &(sim_expr_target){.single = r->single, .isa = isa, .uniform = uniform},
                                     &r->program);
  for (int f = 0; status == SIM_OK && f < r->fields; f++)
    r->uses_y = r->uses_y || sim_expr_depends(expr, f, r->fields + Y);
  sim_expr_free(&expr);
  if (status == SIM_OK) {
    r->scratch_bytes = align(sim_expr_program_scratch(r->program));
    r->output_bytes = r->y_bytes = align(bytes);
    r->thread_bytes = r->scratch_bytes + r->y_bytes + (size_t)r->fields * r->output_bytes;
    r->threads = aligned_alloc(64, (size_t)threads * r->thread_bytes);
    r->x = aligned_alloc(64, align(bytes));
    if (!r->threads || !r->x) status = sim_fail(SIM_ERR_NO_MEMORY, "out of memory");
  }
  const int64_t lanes = r->count / r->grid.n[0];
  for (int64_t i = 0; status == SIM_OK && i < r->count; i++)
    put(r, r->x, i, ((double)(i / lanes) + 0.5) * r->grid.size[0] / (double)r->grid.n[0]);
  if (status != SIM_OK) diffusion_rates_destroy(out);
  return status;
}

void diffusion_rates_destroy(diffusion_rates **rates) {
  if (!*rates) return;
  sim_expr_program_free(&(*rates)->program);
  free((*rates)->threads);
  free((*rates)->x);
  free(*rates);
  *rates = NULL;
}

void diffusion_rates_set(diffusion_rates *rates, double t, double h, int times) {
  rates->t = t;
  rates->h = h;
  rates->times = times;
}

void diffusion_rates_apply(void *opaque, const diffusion_piece *piece) {
  diffusion_rates *r = opaque;
  char *at = r->threads + (size_t)piece->thread * r->thread_bytes, *y = at + r->scratch_bytes;
  const int64_t lanes = r->count / r->grid.n[0];
  const double cell_y = r->grid.rank > 1 ? r->grid.size[1] / (double)r->grid.n[1] : 0;
  const double cell_z = r->grid.rank > 2 ? r->grid.size[2] / (double)r->grid.n[2] : 0;
  for (int64_t i = 0; r->uses_y && i < r->count; i++) {
    const int64_t lane = i % lanes < piece->rows ? i % lanes : 0;
    put(r, y, i, ((double)(piece->row + lane) + 0.5) * cell_y);
  }
  double uniform[3];
  const void *in[INPUTS];
  void *out[DIFFUSION_FIELDS];
  for (int f = 0; f < r->fields; f++) {
    in[f] = piece->columns[f];
    out[f] = y + r->y_bytes + (size_t)f * r->output_bytes;
  }
  in[r->fields + X] = r->x;
  in[r->fields + Y] = y;
  const size_t number = r->single ? sizeof(float) : sizeof(double);
  in[r->fields + Z] = uniform;
  in[r->fields + T] = (char *)uniform + number;
  in[r->fields + PLACES] = (char *)uniform + 2 * number;
  put(r, uniform, 0, ((double)piece->z + 0.5) * cell_z);
  put(r, uniform, 2, r->h);
  for (int i = 0; i < r->times; i++) {
    put(r, uniform, 1, r->t + i * r->h);
    sim_expr_program_run(r->program, (size_t)piece->count, in, out, at);
    for (int f = 0; f < r->fields; f++) memcpy(piece->columns[f], out[f], (size_t)r->count * number);
  }
}
