#include "kernels/common/laws/scratch.h"
#include "kernels/diffusion/diffusion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { X, Y, Z, T, COORDINATES };
/* inputs of the graph: the fields, x, y, z, t, h, and the derivatives that the rates read */
enum { INPUTS = DIFFUSION_FIELDS + COORDINATES + 1 + DIFFUSION_READ };

struct diffusion_rates {
  sim_expr_program *program;
  bool single, uses_y;
  int fields, gradients, results;
  int64_t count; /* numbers of a piece */
  grid_shape grid;
  diffusion_step_context context;
  void *x;              /* [count] */
  laws_scratch scratch; /* columns: y [count] */
};

static sim_status add_scaled(sim_expr_builder *b, sim_expr_ref u, sim_expr_ref h, sim_expr_ref rate,
                             sim_expr_ref *out) {
  sim_expr_ref product;
  SIM_TRY(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){h, rate}, &product));
  return sim_expr_builder_call(b, SIM_EXPR_ADD, (sim_expr_ref[]){u, product}, out);
}

/* Adds factor times `of` to *sum. */
static sim_status add_times(sim_expr_builder *b, double factor, sim_expr_ref of, sim_expr_ref *sum) {
  sim_expr_ref number;
  SIM_TRY(sim_expr_builder_number(b, factor, &number));
  return add_scaled(b, *sum, number, of, sum);
}

/* u = v + lift, of diffusion_lift. coordinates: x, y, z, t. */
static sim_status add_lift(sim_expr_builder *b, const diffusion_lift *lift, const sim_expr_ref *coordinates,
                           sim_expr_ref *field) {
  sim_expr_ref low;
  if (lift->axis < 0) return SIM_OK;
  SIM_TRY(sim_expr_builder_number(b, lift->low, &low));
  for (int axis = 0; axis < 3; axis++)
    if (lift->slopes[axis] != 0) SIM_TRY(add_times(b, lift->slopes[axis], coordinates[axis], &low));
  for (int axis = 0; axis < 3; axis++) {
    sim_expr_ref square;
    if (lift->curves[axis] == 0) continue;
    SIM_TRY(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){coordinates[axis], coordinates[axis]}, &square));
    SIM_TRY(add_times(b, lift->curves[axis], square, &low));
  }
  if (lift->growth != 0) SIM_TRY(add_times(b, lift->growth, coordinates[T], &low));
  return sim_expr_builder_call(b, SIM_EXPR_ADD, (sim_expr_ref[]){*field, low}, field);
}

/* Adds the lift's derivatives to the derivatives of v, inputs of[]. */
static sim_status add_slopes(sim_expr_builder *b, const diffusion_parameters *p, int source, const diffusion_lift *lift,
                             const sim_expr_ref *coordinates, sim_expr_ref *of) {
  for (int kind = 0; kind < DIFFUSION_VALUE && lift->axis >= 0; kind++) {
    const double constant = diffusion_lift_slope(lift, kind, 0);
    sim_expr_ref slope, *derivative = &of[diffusion_input(p, source, kind)];
    if (constant != 0) {
      SIM_TRY(sim_expr_builder_number(b, constant, &slope));
      SIM_TRY(sim_expr_builder_call(b, SIM_EXPR_ADD, (sim_expr_ref[]){*derivative, slope}, derivative));
    }
    if (kind <= DIFFUSION_Z && lift->curves[kind] != 0)
      SIM_TRY(add_times(b, 2 * lift->curves[kind], coordinates[kind], derivative));
  }
  return SIM_OK;
}

/* Builds a form of the rates. Inputs: the fields, x, y, z, t, h, derivatives. */
static sim_status build(sim_expr_builder *b, const diffusion_parameters *p, diffusion_form form, sim_expr **out) {
  static const char *const coordinates[] = {"x", "y", "z", "t"};
  const int fields = (int)p->fields.count;
  const diffusion_gradients gradients = diffusion_gradients_of(p);
  sim_expr_ref in[INPUTS], of[DIFFUSION_INPUTS], rate[DIFFUSION_FIELDS + DIFFUSION_FLUXES], half, t = 0;
  const char *names[DIFFUSION_FIELDS + DIFFUSION_FLUXES];
  for (int f = 0; f < fields; f++) {
    names[f] = diffusion_field_of(p, f)->name;
    SIM_TRY(sim_expr_builder_input(b, names[f], &in[f]));
  }
  for (int i = 0; i < COORDINATES; i++) SIM_TRY(sim_expr_builder_input(b, coordinates[i], &in[fields + i]));
  SIM_TRY(sim_expr_builder_input(b, "h", &in[fields + COORDINATES]));
  const sim_expr_ref h = in[fields + COORDINATES];
  for (int g = 0; g < gradients.count; g++) {
    char name[SIM_EXPR_NAME_MAX];
    diffusion_input_name(p, gradients.of[g].field, gradients.of[g].kind, name);
    SIM_TRY(sim_expr_builder_input(b, name, &in[fields + COORDINATES + 1 + g]));
  }
  for (int i = 0; i < DIFFUSION_INPUTS; i++) of[i] = i < fields + COORDINATES ? in[i] : h;
  const int member_axis = diffusion_grid_of(p).member_axis; /* member m is at position m - 1/2 */
  sim_expr_ref *member = &of[diffusion_member_input(fields)];
  SIM_TRY(sim_expr_builder_number(b, member_axis ? 0.5 : 1, member));
  if (member_axis) {
    SIM_TRY(sim_expr_builder_call(b, SIM_EXPR_ADD, (sim_expr_ref[]){in[fields + member_axis], *member}, member));
    SIM_TRY(sim_expr_builder_number(b, 0, &of[fields + member_axis]));
  }
  for (int g = 0; g < gradients.count; g++)
    of[diffusion_input(p, gradients.of[g].field, gradients.of[g].kind)] = in[fields + COORDINATES + 1 + g];
  for (int f = 0; f < fields; f++) {
    const diffusion_lift lift = diffusion_lift_of(p, f);
    SIM_TRY(add_lift(b, &lift, &in[fields], &of[f]));
    SIM_TRY(add_slopes(b, p, f, &lift, &in[fields], of));
  }
  for (int d = fields; d < fields + (int)p->derived.count; d++) {
    const diffusion_lift lift = diffusion_lift_of(p, d);
    SIM_TRY(add_lift(b, &lift, &in[fields], &of[diffusion_input(p, d, DIFFUSION_VALUE)]));
    SIM_TRY(add_slopes(b, p, d, &lift, &in[fields], of));
  }
  SIM_TRY(sim_expr_builder_insert(b, p->rates, of, rate));
  if (p->flux) SIM_TRY(sim_expr_builder_insert(b, p->flux, of, rate + fields));
  if (form == DIFFUSION_MIDPOINT) {
    sim_expr_ref middle[DIFFUSION_INPUTS], two;
    SIM_TRY(sim_expr_builder_number(b, 0.5, &two));
    SIM_TRY(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){h, two}, &half));
    memcpy(middle, of, sizeof middle);
    for (int f = 0; f < fields; f++) {
      const double growth = diffusion_lift_of(p, f).growth;
      SIM_TRY(add_scaled(b, of[f], half, rate[f], &middle[f]));
      if (growth != 0) SIM_TRY(add_times(b, growth, half, &middle[f]));
    }
    SIM_TRY(sim_expr_builder_call(b, SIM_EXPR_ADD, (sim_expr_ref[]){in[fields + T], half}, &t));
    middle[fields + T] = t;
    SIM_TRY(sim_expr_builder_insert(b, p->rates, middle, rate));
  }
  for (int f = 0; f < fields && form != DIFFUSION_RATE; f++) SIM_TRY(add_scaled(b, in[f], h, rate[f], &rate[f]));
  for (int i = fields; i < fields + gradients.fluxes; i++) {
    names[i] = "flux";
    if (form != DIFFUSION_RATE) SIM_TRY(sim_expr_builder_call(b, SIM_EXPR_MUL, (sim_expr_ref[]){h, rate[i]}, &rate[i]));
  }
  return sim_expr_builder_finish(b, rate, names, fields + gradients.fluxes, out);
}

diffusion_form diffusion_form_of(diffusion_scheme scheme) {
  return scheme == DIFFUSION_LIE ? DIFFUSION_EULER : scheme == DIFFUSION_STRANG ? DIFFUSION_MIDPOINT : DIFFUSION_RATE;
}

sim_status diffusion_rates_graph(const diffusion_parameters *p, diffusion_form form, sim_expr **out) {
  sim_expr_builder *builder;
  *out = NULL;
  SIM_TRY(sim_expr_builder_create(&builder));
  sim_status status = build(builder, p, form, out);
  sim_expr_builder_free(&builder);
  return status;
}

double diffusion_rates_bytes(const diffusion_parameters *p, int threads) {
  const grid_shape grid = diffusion_grid_of(p);
  return p->rates ? (1.0 + threads) * 128 * (double)grid.n[0] : 0;
}

sim_status diffusion_rates_create(const diffusion_parameters *p, diffusion_form form, sim_isa isa, int threads,
                                  diffusion_rates **out) {
  sim_expr *expr;
  *out = NULL;
  sim_status status = diffusion_rates_graph(p, form, &expr);
  if (status == SIM_OK) status = diffusion_rates_compile(p, expr, isa, threads, out);
  sim_expr_free(&expr);
  return status;
}

sim_status diffusion_rates_compile(const diffusion_parameters *p, const sim_expr *expr, sim_isa isa, int threads,
                                   diffusion_rates **out) {
  diffusion_rates *r = calloc(1, sizeof *r);
  *out = r;
  if (!r) return sim_no_memory("the rates");
  r->fields = (int)p->fields.count;
  r->single = diffusion_single(p);
  r->grid = diffusion_grid_of(p);
  r->gradients = diffusion_gradients_of(p).count;
  r->results = sim_expr_output_count(expr);
  const size_t number = r->single ? sizeof(float) : sizeof(double), bytes = 128 * (size_t)r->grid.n[0];
  r->count = (int64_t)(bytes / number);
  bool uniform[INPUTS] = {false};
  uniform[r->fields + Z] = uniform[r->fields + T] = uniform[r->fields + COORDINATES] = true;
  sim_status status = sim_expr_program_create(
      expr, &(sim_expr_target){.single = r->single, .isa = isa, .uniform = uniform}, &r->program);
  for (int f = 0; status == SIM_OK && f < r->results; f++)
    r->uses_y = r->uses_y || sim_expr_depends(expr, f, r->fields + Y);
  if (status == SIM_OK) {
    r->x = aligned_alloc(64, bytes);
    status = r->x ? laws_scratch_create(&r->program, 1, bytes, threads, &r->scratch) : sim_no_memory("the rates");
  }
  const int64_t lanes = r->count / r->grid.n[0];
  for (int64_t i = 0; status == SIM_OK && i < r->count; i++)
    grid_set_number(r->x, r->single, i, ((double)(i / lanes) + 0.5) * r->grid.size[0] / (double)r->grid.n[0]);
  if (status != SIM_OK) diffusion_rates_destroy(out);
  return status;
}

void diffusion_rates_destroy(diffusion_rates **rates) {
  if (!*rates) return;
  sim_expr_program_free(&(*rates)->program);
  laws_scratch_destroy(&(*rates)->scratch);
  free((*rates)->x);
  free(*rates);
  *rates = NULL;
}

void diffusion_rates_set(diffusion_rates *rates, const diffusion_step_context *context) { rates->context = *context; }

/* Values of the inputs of a piece. */
typedef struct piece_inputs {
  const void *in[INPUTS];
  double uniform[3]; /* z, t, h, in the precision of the run */
} piece_inputs;

static void set_inputs(const diffusion_rates *r, const diffusion_piece *piece, double *y, piece_inputs *out) {
  const int64_t lanes = r->count / r->grid.n[0];
  const double cell_y = r->grid.rank > 1 ? r->grid.size[1] / (double)r->grid.n[1] : 0;
  const double cell_z = r->grid.rank > 2 ? r->grid.size[2] / (double)r->grid.n[2] : 0;
  for (int64_t i = 0; r->uses_y && i < r->count; i++) {
    const int64_t lane = i % lanes < piece->rows ? i % lanes : 0;
    grid_set_number(y, r->single, i, ((double)(piece->row + lane) + 0.5) * cell_y);
  }
  for (int f = 0; f < r->fields; f++) out->in[f] = piece->columns[f];
  for (int g = 0; g < r->gradients; g++) out->in[r->fields + COORDINATES + 1 + g] = piece->columns[r->fields + g];
  out->in[r->fields + X] = r->x;
  out->in[r->fields + Y] = y;
  const size_t number = r->single ? sizeof(float) : sizeof(double);
  out->in[r->fields + Z] = out->uniform;
  out->in[r->fields + T] = (char *)out->uniform + number;
  out->in[r->fields + COORDINATES] = (char *)out->uniform + 2 * number;
  grid_set_number(out->uniform, r->single, 0, ((double)piece->z + 0.5) * cell_z);
  grid_set_number(out->uniform, r->single, 1, r->context.t);
  grid_set_number(out->uniform, r->single, 2, r->context.h);
}

void diffusion_rates_evaluate(diffusion_rates *r, const diffusion_piece *piece, void *const *results) {
  double *y;
  piece_inputs inputs;
  void *scratch = laws_scratch_here(&r->scratch, &y);
  set_inputs(r, piece, y, &inputs);
  sim_expr_program_run(r->program, (size_t)piece->count, inputs.in, results, scratch);
}

void diffusion_rates_apply(void *opaque, const diffusion_piece *piece) {
  diffusion_rates *r = opaque;
  double *y;
  piece_inputs inputs;
  void *scratch = laws_scratch_here(&r->scratch, &y);
  set_inputs(r, piece, y, &inputs);
  for (int i = 0; i < r->context.substeps; i++) {
    grid_set_number(inputs.uniform, r->single, 1, r->context.t + i * r->context.h);
    sim_expr_program_run(r->program, (size_t)piece->count, inputs.in, piece->spare, scratch);
    for (int f = 0; f < r->fields; f++) {
      void *rate = piece->spare[f];
      piece->spare[f] = piece->columns[f];
      inputs.in[f] = piece->columns[f] = rate;
    }
  }
}
