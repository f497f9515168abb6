/* RODAS3, a linearly implicit method of four stages and order 3, with an estimate by its own scheme of order 2 (Sandu
 * et al., Atmos. Environ. 31, 1997). Both are L-stable. u_t = F(u, t) = L u + N - div flux, J is the derivative of F by
 * u at the beginning of the step, and the stages k_i follow from
 *
 *   (1/(g h) - J) k_i = F(u_i, t_i) + sum_(j<i) (c_ij/h) k_j + g_i h F_t,    u_i = u + sum_(j<i) a_ij k_j,  g = 1/2.
 *
 * The new state is u_4 + k_4, the estimate of its error k_4.
 *
 * These equations are solved by GMRES in the space of coefficients. Each is multiplied by an approximate inverse P of
 * 1/(g h) - J (parts.h), which is made of that of 1/(g h) - J_mean. J_mean has the means over all cells of the
 * derivatives of N and of the flux, so that it is a number at each wavenumber. A residual after P is nearly the error
 * of k_i. Its norm is that of each field over the size of the field. Wavenumber 0 has J_mean alone, so that a field
 * that only fluxes change keeps its mean to rounding, whatever the residual is.
 *
 * Where the state grows faster than at the rate 1/(g h), 1/(g h) - J is negative. The equations then still have a
 * solution, but a wrong one: it decays. The true one grows, and may become infinite before the step ends. Such a step
 * is too long. */
#include "kernels/diffusion/implicit/parts.h"

#include "engine/run/profile.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* iterations: at most for a system, and for the choice of P */
enum { STAGES = DIFFUSION_RODAS_STAGES, MOST = 300, TRIED = 8 };

static const double gamma_ = 0.5;
static const double a[STAGES][STAGES - 1] = {{0}, {0}, {2, 0, 0}, {2, 0, 1}};
static const double c[STAGES][STAGES - 1] = {{0}, {4}, {1, -1}, {1, -1, -8.0 / 3}};
static const double by_time[STAGES] = {0.5, 1.5, 0, 0};
static const double at[STAGES] = {0, 0, 1, 1};

/* Returns all vectors, out[VECTORS]. */
enum { VECTORS = 8 + (int)STAGES + (int)DIFFUSION_KRYLOV + 1 };
static void all_vectors(diffusion_linearized *l, sim_buffer **out) {
  sim_buffer *const arrays[] = {&l->state,  &l->force,    &l->forced, &l->right,
                                &l->symbol, &l->levelled, &l->sum,    &l->part};
  int count = 0;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) out[count++] = arrays[i];
  for (int i = 0; i < STAGES; i++) out[count++] = &l->stage[i];
  for (int i = 0; i <= DIFFUSION_KRYLOV; i++) out[count++] = &l->basis[i];
}

double diffusion_linearized_vector_bytes(double field) { return VECTORS * field; }

void diffusion_linearized_destroy(diffusion_linearized **linearized) {
  diffusion_linearized *l = *linearized;
  if (!l) return;
  l->on->destroy(l);
  sim_buffer *vectors[VECTORS];
  all_vectors(l, vectors);
  for (int i = 0; i < VECTORS; i++) sim_buffer_destroy(vectors[i]);
  free(l);
  *linearized = NULL;
}

/* Whether a derivative turns cosines along an axis into sines. */
static bool is_odd(int kind, int axis) {
  switch (kind) {
  case DIFFUSION_X:
  case DIFFUSION_Y:
  case DIFFUSION_Z: return kind == axis;
  case DIFFUSION_XY: return axis != 2;
  case DIFFUSION_XZ: return axis != 1;
  case DIFFUSION_YZ: return axis != 0;
  default: return false;
  }
}

/* Along axes between walls, a rate has to be of the field's own series, and a flux of its derivative's. */
static bool is_even(const diffusion_parameters *p, int result, int input) {
  const diffusion_gradients read = diffusion_gradients_of(p);
  const int fields = (int)p->fields.count, axes = (int)p->grid.n.rows;
  const int field = result < fields ? result : (result - fields) / axes;
  const grid_shape own = diffusion_shape_of(p, field);
  for (int axis = 0; axis < own.rank; axis++) {
    const bool through = result >= fields && (result - fields) % axes == axis;
    const bool odd = input >= fields && is_odd(read.of[input - fields].kind, axis);
    if (!grid_is_periodic(&own, axis) && !grid_is_member_axis(&own, axis) && odd != through) return false;
  }
  return true;
}

int diffusion_entry_field(const diffusion_linearized *l, int entry) {
  const int result = l->jacobian.of[entry].result, fields = (int)l->p->fields.count;
  return result < fields ? result : (result - fields) / (diffusion_gradients_of(l->p).fluxes / fields);
}

sim_status diffusion_linearized_begin(const diffusion_parameters *p, const diffusion_linear_ops *on,
                                      diffusion_work *work, diffusion_linearized **out, sim_expr **entries,
                                      sim_expr **timed) {
  diffusion_linearized *l = *out = calloc(1, sizeof *l);
  *entries = *timed = NULL;
  if (!l) return sim_no_memory("the implicit scheme");
  l->on = on;
  l->p = p;
  l->work = work;
  l->comm = &sim_comm_alone;
  SIM_TRY(diffusion_jacobian_graph(p, &l->jacobian, entries, timed));
  l->timed = *timed != NULL;
  for (int i = 0; i < l->jacobian.count; i++)
    l->even[i] = is_even(p, l->jacobian.of[i].result, l->jacobian.of[i].input);
  return SIM_OK;
}

sim_status diffusion_linearized_vectors(diffusion_linearized *l, const sim_buffer *like) {
  sim_buffer *vectors[VECTORS];
  all_vectors(l, vectors);
  for (int i = 0; i < VECTORS; i++)
    SIM_TRY(sim_buffer_create(l->on->backend, like->dtype, like->rank, like->shape, vectors[i]));
  return SIM_OK;
}

/* out = P (1/(g h) - J) v */
static sim_status apply(void *context, const void *v, void *out) {
  diffusion_linearized *l = context;
  sim_profile_range_begin("iteration");
  sim_status status = l->on->inverse(l, v);
  if (status == SIM_OK) status = l->on->forward(l, DIFFUSION_LINEAR_PRODUCTS, NULL, v, out);
  l->on->vectors->sum(&l->vectors, out, 2, (const double[]){1 / (gamma_ * l->h), -1}, (const void *const[]){v, out});
  sim_profile_range_begin("preconditioner");
  if (status == SIM_OK) status = diffusion_inverse_apply(l, out);
  sim_profile_range_end();
  sim_profile_range_end();
  return status;
}

/* ---- a step ---- */

/* Sets the weights of the norm to the inverse squares of the fields' sizes, or of what the estimate of the error may
 * be. A field that is 0 has the size of its change. */
static sim_status set_weights(diffusion_linearized *l, const void *state) {
  const diffusion_integrate *i = &l->p->integrate;
  const double one = 1;
  const diffusion_vectors own = linear_one(l);
  for (int f = 0; f < l->vectors.fields; f++) {
    const void *u = linear_part(l, state, f), *k = linear_part(l, l->right.data, f);
    double size, change;
    SIM_TRY(l->on->vectors->dots(&own, &one, u, 1, &u, &size));
    SIM_TRY(l->on->vectors->dots(&own, &one, k, 1, &k, &change));
    const double reach = sqrt(size > 0 ? size : change > 0 ? change : 1);
    const double held = diffusion_estimates(l->p) ? i->atol + i->rtol * reach : reach;
    l->weight[f] = 1 / (held * held);
  }
  return SIM_OK;
}

/* Computes P times the right-hand side of a stage. */
static sim_status set_right(diffusion_linearized *l, int stage) {
  const void *of[STAGES + 2] = {l->force.data};
  double factor[STAGES + 2] = {1};
  int terms = 1;
  for (int j = 0; j < stage; j++) {
    of[terms] = l->stage[j].data;
    factor[terms++] = c[stage][j] / l->h;
  }
  if (l->timed && by_time[stage] != 0) {
    of[terms] = l->forced.data;
    factor[terms++] = by_time[stage] * l->h;
  }
  l->on->vectors->sum(&l->vectors, l->right.data, terms, factor, of);
  return diffusion_inverse_apply(l, l->right.data);
}

/* Computes u_i of a stage, and F there. */
static sim_status evaluate(diffusion_linearized *l, int stage, const void *state,
                           const diffusion_step_context *context) {
  const void *of[STAGES + 1] = {state};
  double factor[STAGES + 1] = {1};
  int terms = 1;
  for (int j = 0; j < stage; j++)
    if (a[stage][j] != 0) {
      of[terms] = l->stage[j].data;
      factor[terms++] = a[stage][j];
    }
  l->on->vectors->sum(&l->vectors, l->state.data, terms, factor, of);
  diffusion_step_context now = *context;
  now.t = context->t + at[stage] * context->h;
  now.substeps = 1;
  SIM_TRY(l->on->inverse(l, l->state.data));
  return l->on->forward(l, DIFFUSION_LINEAR_RATES, &now, l->state.data, l->force.data);
}

/* Computes F, F_t and the derivatives at the beginning of a step, and from these P. */
static sim_status linearize(diffusion_linearized *l, const void *u, const diffusion_step_context *context) {
  diffusion_step_context now = *context;
  now.substeps = 1;
  SIM_TRY(l->on->inverse(l, u));
  SIM_TRY(l->on->forward(l, DIFFUSION_LINEAR_ENTRIES, &now, u, l->force.data));
  SIM_TRY(l->on->average(l, &l->growth));
  if (l->timed) {
    SIM_TRY(l->on->inverse(l, u));
    SIM_TRY(l->on->forward(l, DIFFUSION_LINEAR_BY_TIME, &now, NULL, l->forced.data));
  }
  return diffusion_inverse_make(l);
}

static sim_status length_of(const diffusion_linearized *l, const void *vector, double *out) {
  double square;
  SIM_TRY(l->on->vectors->dots(&l->vectors, l->weight, vector, 1, &vector, &square));
  *out = sqrt(square);
  return SIM_OK;
}

/* Sets the tolerance of a step's systems, from the first one. The error of a step of order 3 is of the fourth power of
 * its change, so that the tolerance of a residual over the change is the third power. With an estimate it is a share of
 * what that may be, and of the change: a state that is small beside atol may grow. It is above the rounding of products
 * in the change, whatever the size of the fields: else slow changes would be lost. */
static sim_status set_tolerance(diffusion_linearized *l, const void *state) {
  const double rounding = 64 * (l->vectors.single ? FLT_EPSILON : DBL_EPSILON);
  const void *right = l->right.data;
  double square;
  SIM_TRY(set_weights(l, state));
  SIM_TRY(l->on->vectors->dots(&l->vectors, l->weight, right, 1, &right, &square));
  const double change = sqrt(square), part = fmin(fmax(change * square, 1e-9), 1e-4);
  l->tolerance = fmax(diffusion_estimates(l->p) ? fmin(0.02, 1e-3 * change) : part * change, rounding * change);
  return SIM_OK;
}

/* Computes by what rate the state grows at most: J_mean at each wavenumber, and the derivative of each field's rate by
 * that field in each cell. */
static sim_status growth_of(const diffusion_linearized *l, double *most) {
  *most = l->growth;
  return l->on->vectors->greatest(&l->vectors, l->symbol.data, most);
}

/* Whether a step of this length follows what grows. */
static sim_status check_growth(const diffusion_linearized *l, const diffusion_step_context *context, bool *follows) {
  double growth;
  SIM_TRY(growth_of(l, &growth));
  *follows = gamma_ * l->h * growth < 1;
  if (*follows || diffusion_estimates(l->p)) return SIM_OK;
  return sim_fail(
      SIM_ERR_DIVERGED,
      "at step %lld, t = %.9g, the solution grows by a rate of up to %.3g, which steps of rodas3 with dt = %.3g "
      "cannot follow: use dt below %.2g, or dt = \"auto\"",
      (long long)context->step, context->t, growth, l->h, 1 / growth);
}

/* Solves the first system, whose right-hand side is set for P without levels, and chooses P. An iteration with levels
 * takes twice the time or more. After a few without them, the system is solved with levels; unless as many of these are
 * worse, and the first ones are continued. */
static sim_status solve_first(diffusion_linearized *l, int *applied, double *residual) {
  const void *const right = l->right.data, *const by_level = l->state.data;
  diffusion_solver solver = l->solver;
  double norm, level;
  if (l->levels.count == 1)
    return diffusion_solve(&solver, right, l->stage[0].data, l->tolerance, MOST, applied, residual);
  SIM_TRY(length_of(l, right, &norm));
  SIM_TRY(diffusion_solve(&solver, right, l->stage[0].data, l->tolerance, TRIED, applied, residual));
  if (*residual <= l->tolerance) return SIM_OK;
  const double reduction = *residual / norm, one = 1;
  l->by_level = true;
  SIM_TRY(set_right(l, 0));
  SIM_TRY(length_of(l, right, &level));
  solver.tried = TRIED;
  solver.worth = level * reduction * sqrt(reduction);
  SIM_TRY(diffusion_solve(&solver, right, l->state.data, l->tolerance, MOST, applied, residual));
  if (*applied > TRIED || !(*residual > l->tolerance)) {
    l->on->vectors->sum(&l->vectors, l->stage[0].data, 1, &one, &by_level);
    return SIM_OK;
  }
  l->by_level = false;
  SIM_TRY(set_right(l, 0));
  solver.tried = 0;
  solver.from = true;
  SIM_TRY(diffusion_solve(&solver, right, l->stage[0].data, l->tolerance, MOST - TRIED, applied, residual));
  *applied += TRIED;
  return SIM_OK;
}

/* Solves for all stages. *found: whether there is a solution. */
static sim_status solve(diffusion_linearized *l, const void *state, const diffusion_step_context *context,
                        bool *found) {
  double residual = 0;
  *found = true;
  SIM_TRY(set_right(l, 0));
  SIM_TRY(set_tolerance(l, state));
  for (int s = 0; s < STAGES && *found; s++) {
    int applied;
    if (s >= 2) SIM_TRY(evaluate(l, s, state, context));
    if (s > 0) SIM_TRY(set_right(l, s));
    SIM_TRY(
        s == 0 ? solve_first(l, &applied, &residual)
               : diffusion_solve(&l->solver, l->right.data, l->stage[s].data, l->tolerance, MOST, &applied, &residual));
    l->solved.systems++;
    l->solved.iterations += applied;
    l->solved.most = applied > l->solved.most ? applied : l->solved.most;
    *found = residual <= l->tolerance;
  }
  if (*found || diffusion_estimates(l->p)) return SIM_OK;
  return sim_fail(SIM_ERR_DIVERGED,
                  "the implicit equations of rodas3 at step %lld, t = %.9g have no solution within %d iterations "
                  "(residual %.2g, expected %.2g of the fields): dt = %.3g is too long, the grid is too coarse, or the "
                  "solution itself grows without bound",
                  (long long)context->step, context->t, MOST, residual, l->tolerance, context->h);
}

sim_status diffusion_linearized_step(diffusion_linearized *l, const diffusion_implicit_step *step,
                                     const diffusion_step_context *context) {
  const double one = 1;
  bool found;
  l->h = context->h;
  l->solver = (diffusion_solver){
      .on = l->on->vectors, .vectors = &l->vectors, .weight = l->weight, .apply = apply, .context = l};
  for (int i = 0; i <= DIFFUSION_KRYLOV; i++) l->solver.basis[i] = l->basis[i].data;
  SIM_TRY(linearize(l, step->state, context));
  SIM_TRY(check_growth(l, context, &found));
  if (found) SIM_TRY(solve(l, step->state, context, &found));
  const void *last = l->stage[STAGES - 1].data;
  l->on->vectors->sum(&l->vectors, step->next, 2, (const double[]){1, 1}, (const void *const[]){l->state.data, last});
  if (step->error && found)
    l->on->vectors->sum(&l->vectors, step->error, 1, &one, &last);
  else if (step->error)
    l->on->vectors->fill(&l->vectors, step->error, INFINITY, INFINITY);
  return SIM_OK;
}

diffusion_solved diffusion_linearized_solved(const diffusion_linearized *l) { return l->solved; }
