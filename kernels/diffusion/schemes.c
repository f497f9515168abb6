/* Exponential time differencing: du/dt = L u + N(u) for each wavenumber, with c = L h.
 *
 *   ETD1     u' = e^c u + h phi1 N(u)
 *   ETDRK2   a = e^c u + h phi1 N(u),  u' = a + h phi2 (N(a) - N(u))
 *   ETDRK4   a = e^(c/2) u + Q N(u),  b = e^(c/2) u + Q N(a),  d = e^(c/2) a + Q (2 N(b) - N(u)),
 *            u' = e^c u + f1 N(u) + 2 f2 (N(a) + N(b)) + f3 N(d)
 *
 * with phi_j(c) = (phi_(j-1)(c) - 1/(j-1)!)/c, phi_0 = e^c, and Q = h/2 phi1(c/2), f1 = h (phi1 - 3 phi2 + 4 phi3),
 * f2 = h (phi2 - 2 phi3), f3 = h (4 phi3 - phi2) (Cox and Matthews, J. Comput. Phys. 176, 2002).
 *
 * ETDRK2 stores a - h phi2 N(u) in the place of u, from which a follows, so that N(u) needs no array.
 */
#include "kernels/diffusion/diffusion.h"

#include "kernels/diffusion/modes.cuh"

#include <complex.h>

/* indices of arrays */
enum { NOW, U, N, M, A, B };
/* indices of tables */
enum { E, P1, P2, HALF = 1, Q, F1, F2, F3 };
enum { NONE = -1 };

/* Stages of ETDRK4: state b from the rates at a, and state d from the rates at b. M accumulates both rates. */
#define STAGE_B                                                                                                        \
  1, 1, 2, {                                                                                                           \
    {M, 1, {{0, NONE, NOW}}}, {                                                                                        \
      NOW, 2, {                                                                                                        \
        {1, HALF, U}, { 1, Q, M }                                                                                      \
      }                                                                                                                \
    }                                                                                                                  \
  }
#define STAGE_D                                                                                                        \
  1, 1, 3, {                                                                                                           \
    {NOW, 1, {{0, NONE, NOW}}}, {M, 2, {{1, NONE, M}, {1, NONE, NOW}}}, {                                              \
      NOW, 3, {                                                                                                        \
        {1, HALF, A}, {2, Q, NOW}, { -1, Q, N }                                                                        \
      }                                                                                                                \
    }                                                                                                                  \
  }

const diffusion_method diffusion_methods[DIFFUSION_SCHEMES] = {
    [DIFFUSION_EXACT] = {.name = "exact", .arrays = 1, .tables = 1, .order = 0},
    [DIFFUSION_LIE] = {.name = "lie",
                       .arrays = 0,
                       .tables = 1,
                       .order = 1,
                       .stages = 1,
                       .stage = {{1, 1, 1, {{NOW, 1, {{1, E, NOW}}}}}}},
    [DIFFUSION_STRANG] = {.name = "strang",
                          .arrays = 0,
                          .tables = 1,
                          .order = 2,
                          .stages = 1,
                          .stage = {{1, 1, 1, {{NOW, 1, {{1, E, NOW}}}}}}},
    [DIFFUSION_ETD1] =
        {.name = "etd1",
         .arrays = 1,
         .tables = 2,
         .order = 1,
         .stages = 1,
         .stage =
             {{1, 1, 3, {{NOW, 1, {{0, NONE, NOW}}}, {U, 2, {{1, E, U}, {1, P1, NOW}}}, {NOW, 1, {{1, NONE, U}}}}}}},
    [DIFFUSION_ETDRK2] =
        {.name = "etdrk2",
         .arrays = 1,
         .tables = 3,
         .order = 2,
         .stages = 2,
         .at = {0, 1},
         .stage =
             {{1,
               1,
               3,
               {{NOW, 1, {{0, NONE, NOW}}},
                {U, 3, {{1, E, U}, {1, P1, NOW}, {-1, P2, NOW}}},
                {NOW, 2, {{1, NONE, U}, {1, P2, NOW}}}}},
              {1, 1, 3, {{NOW, 1, {{0, NONE, NOW}}}, {U, 2, {{1, NONE, U}, {1, P2, NOW}}}, {NOW, 1, {{1, NONE, U}}}}}}},
    [DIFFUSION_ETDRK4] =
        {.name = "etdrk4",
         .arrays = 4,
         .tables = 6,
         .order = 4,
         .stages = 4,
         .at = {0, 0.5, 0.5, 1},
         .stage = {{1, 1, 3, {{N, 1, {{0, NONE, NOW}}}, {A, 2, {{1, HALF, U}, {1, Q, N}}}, {NOW, 1, {{1, NONE, A}}}}},
                   {STAGE_B},
                   {STAGE_D},
                   {1,
                    1,
                    3,
                    {{NOW, 1, {{0, NONE, NOW}}},
                     {U, 4, {{1, E, U}, {1, F1, N}, {2, F2, M}, {1, F3, NOW}}},
                     {NOW, 1, {{1, NONE, U}}}}}}},
    /* its tables are L, and the factor of N (implicit/) */
    [DIFFUSION_RODAS3] = {.name = "rodas3", .arrays = 1, .tables = 2, .stages = 1, .order = 3, .stage = {{1, 1, 0}}},
};

/* Embedded schemes. Each step has two error estimates, of which the larger one counts.
 *
 * The first is the difference from a scheme of one order less: ETD1 for ETDRK2; for ETDRK4 the scheme with the rates
 * of the new state instead of 0.6 of those of d. Without L that is the pair of Balac and Mahe (Comput. Phys. Commun.
 * 184, 2013), whose new rates begin the next step. Both rates are of the same time, so that rates that depend on t
 * alone, or on fields that are exact, would show no error.
 *
 * The second estimate is therefore that of the quadrature. A step is the integral of exp(c (1 - s)) h P(s) over s in
 * [0, 1], where P is the polynomial through the rates at the stages' times; its error is the integral of exp(c (1 -
 * s)) h w(s) [N], with w the product of s minus those times and [N] the divided difference of N there and at s. For
 * Re c <= 0 it is at most h max |[N]| times the integral of |w|: 1/32 for the times 0, 1/2, 1 (ETDRK4) and 1/6 for
 * 0, 1 (ETDRK2). [N] needs one more rate, at s = theta = 1/2 - sqrt(3)/6, of the parabola or line through the states
 * at the stages' times, which is as accurate as they are. The estimate is O(h^4) or O(h^3), for pure quadrature far
 * above ETDRK4's own error O(h^5). The weight h/6 is F3 also where L is large, and h/2 is P2. At theta ETDRK4's |w|
 * is largest, so that rounding counts least, and because theta is irrational no periodic rate looks constant.
 *
 * A Strang step is v = e^c (u + g), u' = v + f, where g and f are the changes by the rates over both halves of the
 * step. The Lie step e^c (u + 2 g) has the difference f - e^c g. The second estimate is that of the quadrature of g and
 * f, whose times are 1/4 and 3/4, so that the integral of |w| is 1/16. The third change, over h/2 from s = theta of the
 * line through u and u', has its time at theta + 1/4. */
#define ROOT3 1.7320508075688772
#define THETA (ROOT3 - 1)
#define BETWEEN (1 / (8 * THETA * (THETA - 0.5))) /* the change is h/2 times the rate: a divided difference over 8 */

static const diffusion_embedded embedded[] = {
    {.power = 2,
     .part = 0.5,
     .whole = true,
     .method = {.name = "strang",
                .arrays = 5,
                .tables = 1,
                .order = 2,
                .stages = 3,
                .at = {0, 0.5, THETA},
                .stage = {{1,
                           1,
                           3,
                           {{N, 2, {{0, NONE, NOW}, {-1, NONE, U}}},
                            {M, 2, {{1, E, U}, {1, E, N}}},
                            {NOW, 1, {{1, NONE, M}}}}},
                          {1,
                           1,
                           5,
                           {{NOW, 2, {{0, NONE, NOW}, {-1, NONE, M}}},
                            {A, 2, {{1, NONE, NOW}, {-1, E, N}}},
                            {B, 2, {{-BETWEEN * (1 - 2 * THETA), NONE, N}, {-BETWEEN * 2 * THETA, NONE, NOW}}},
                            {M, 2, {{1, NONE, M}, {1, NONE, NOW}}},
                            {NOW, 2, {{1 - THETA, NONE, U}, {THETA, NONE, M}}}}},
                          {1,
                           1,
                           4,
                           {{NOW, 1, {{0, NONE, NOW}}},
                            {B, 2, {{1, NONE, B}, {BETWEEN, NONE, NOW}}},
                            {B, 3, {{1, NONE, B}, {-BETWEEN * (1 - THETA), NONE, U}, {-BETWEEN * THETA, NONE, M}}},
                            {NOW, 1, {{1, NONE, M}}}}}}}},
    {.power = 2,
     .part = 1,
     .method = {.name = "etdrk2",
                .arrays = 5,
                .tables = 3,
                .order = 2,
                .stages = 4,
                .at = {0, 0, 1, 0.5 - ROOT3 / 6},
                .stage =
                    {{1, 0, 1, {{N, 1, {{0, NONE, NOW}}}}},
                     {0, 1, 2, {{M, 2, {{1, E, U}, {1, P1, N}}}, {NOW, 1, {{1, NONE, M}}}}},
                     {1,
                      1,
                      5,
                      {{NOW, 1, {{0, NONE, NOW}}},
                       {A, 2, {{1, P2, NOW}, {-1, P2, N}}},
                       {B, 2, {{1 + ROOT3 / 3, P2, N}, {1 - ROOT3 / 3, P2, NOW}}},
                       {NOW, 2, {{0.5 + ROOT3 / 6, NONE, U}, {0.5 - ROOT3 / 6, NONE, M}}},
                       {M, 2, {{1, NONE, M}, {1, NONE, A}}}}},
                     {1,
                      1,
                      3,
                      {{NOW, 1, {{0, NONE, NOW}}}, {B, 2, {{1, NONE, B}, {-2, P2, NOW}}}, {NOW, 1, {{1, NONE, M}}}}}}}},
    {.kept = true,
     .power = 4,
     .part = 1,
     .method =
         {
             .name = "etdrk4",
             .arrays = 5,
             .tables = 6,
             .order = 4,
             .stages = 7,
             .at = {0, 0, 0.5, 0.5, 1, 0.5 - ROOT3 / 6, 1},
             .stage =
                 {{1, 0, 1, {{N, 1, {{0, NONE, NOW}}}}},
                  {0, 1, 2, {{A, 2, {{1, HALF, U}, {1, Q, N}}}, {NOW, 1, {{1, NONE, A}}}}},
                  {STAGE_B},
                  {STAGE_D},
                  /* the state at 1/2 is e^(c/2) u + Q (N/2 + M/4), at theta (1 + ROOT3)/6 u + 2/3 of that +
                   * (1 - ROOT3)/6 u' */
                  {1,
                   1,
                   5,
                   {{A, 1, {{0, NONE, NOW}}},
                    {NOW, 4, {{(1 + ROOT3) / 6, NONE, U}, {2.0 / 3, HALF, U}, {1.0 / 3, Q, N}, {1.0 / 6, Q, M}}},
                    {B, 3, {{-(18 + 6 * ROOT3) / 16, F3, N}, {-0.75 * ROOT3, F3, M}, {(18 - 6 * ROOT3) / 16, F3, A}}},
                    {M, 4, {{1, E, U}, {1, F1, N}, {2, F2, M}, {1, F3, A}}},
                    {NOW, 2, {{1, NONE, NOW}, {(1 - ROOT3) / 6, NONE, M}}}}},
                  {1,
                   1,
                   3,
                   {{NOW, 1, {{0, NONE, NOW}}},
                    {B, 2, {{1, NONE, B}, {2.25 * ROOT3, F3, NOW}}},
                    {NOW, 1, {{1, NONE, M}}}}},
                  {1,
                   0,
                   3,
                   {{NOW, 1, {{0, NONE, NOW}}}, {A, 2, {{0.6, F3, A}, {-0.6, F3, NOW}}}, {N, 1, {{1, NONE, NOW}}}}}}}},
    /* one estimate: the difference from its own scheme of order 2 */
    {.whole = true,
     .power = 3,
     .part = 1,
     .method = {.name = "rodas3", .arrays = 5, .tables = 2, .stages = 1, .order = 3, .stage = {{1, 1, 0}}}},
};

const diffusion_embedded *diffusion_embedded_of(diffusion_scheme scheme) {
  switch (scheme) {
  case DIFFUSION_STRANG: return &embedded[0];
  case DIFFUSION_ETDRK2: return &embedded[1];
  case DIFFUSION_ETDRK4: return &embedded[2];
  case DIFFUSION_RODAS3: return &embedded[3];
  default: return NULL;
  }
}

/* Derivatives are computed from coefficients at the end of a step, so the state is the coefficients. The real fields
 * alone would lose bits at a restart. */
static const diffusion_method lie_of_derivatives = {
    .name = "lie",
    .arrays = 1,
    .tables = 1,
    .order = 1,
    .stages = 1,
    .stage = {{1, 1, 2, {{U, 1, {{1, E, NOW}}}, {NOW, 1, {{1, NONE, U}}}}}}};

/* Forcing in proportion to the fields reads the state of a stage, a, which is then stored. */
static const diffusion_method etdrk2_of_forcing = {
    .name = "etdrk2",
    .arrays = 2,
    .tables = 3,
    .order = 2,
    .stages = 2,
    .at = {0, 1},
    .stage = {
        {1, 1, 3, {{N, 1, {{0, NONE, NOW}}}, {U, 2, {{1, E, U}, {1, P1, N}}}, {NOW, 1, {{1, NONE, U}}}}},
        {1,
         1,
         3,
         {{NOW, 1, {{0, NONE, NOW}}}, {U, 3, {{1, NONE, U}, {1, P2, NOW}, {-1, P2, N}}}, {NOW, 1, {{1, NONE, U}}}}}}};

const diffusion_method *diffusion_method_of(const diffusion_parameters *p) {
  if (p->integrate.scheme == DIFFUSION_ETDRK2 && diffusion_held(p)) return &etdrk2_of_forcing;
  if (p->integrate.scheme == DIFFUSION_LIE && diffusion_gradients_of(p).count > 0) return &lie_of_derivatives;
  return diffusion_estimates(p) ? &diffusion_embedded_of(p->integrate.scheme)->method
                                : &diffusion_methods[p->integrate.scheme];
}

static diffusion_method scaled(diffusion_method method, double scale) {
  for (int i = 0; i < method.stages; i++) {
    diffusion_stage *stage = &method.stage[i];
    for (int s = 0; s < stage->sets; s++)
      for (int t = 0; t < stage->set[s].terms; t++)
        if (stage->set[s].term[t].coefficient == 0) /* the result of the forward transform */
          stage->set[s].term[t].coefficient = scale;
  }
  return method;
}

/* Keeps the state of every stage in an array, and adds it to the stage's rates. */
static void add_forcing(diffusion_method *method) {
  int state = U; /* array of the state whose rates a stage evaluates */
  for (int i = 0; i < method->stages; i++) {
    diffusion_stage *stage = &method->stage[i];
    diffusion_set *rates = &stage->set[0], *last = &stage->set[stage->sets - 1];
    rates->term[rates->terms++] = (diffusion_term){NAN, method->tables, state};
    state = last->term[0].source;
    if (last->terms == 1 && state != NOW) continue;
    state = last->target = B;
    stage->set[stage->sets++] = (diffusion_set){NOW, 1, {{1, NONE, B}}};
    method->arrays = B;
  }
  method->tables++;
}

diffusion_method diffusion_method_with(const diffusion_parameters *p, double scale) {
  diffusion_method method = *diffusion_method_of(p);
  if (diffusion_has_noise(p) && method.stages > 0) {
    diffusion_stage *last = &method.stage[method.stages - 1];
    for (int s = 0; s < last->sets; s++) {
      diffusion_set *set = &last->set[s];
      if (set->target != (method.arrays > 0 ? U : NOW)) continue;
      /* coefficient 0: scaled as the result of a forward transform; random forcing gives coefficients directly */
      set->term[set->terms++] = (diffusion_term){diffusion_stirred(p) ? 1 : 0, method.tables, DIFFUSION_NOISE};
    }
    method.tables++;
  }
  if (diffusion_held(p) && method.stages > 0) add_forcing(&method);
  return scaled(method, scale);
}
int diffusion_table_count(const diffusion_parameters *p) {
  const diffusion_method *method = diffusion_method_of(p);
  return method->tables + ((diffusion_fluctuates(p) || diffusion_forced(p) != 0) && method->stages > 0);
}

/* Computes phi_1, phi_2, phi_3 of c, with e = exp(c). The quotients cancel near c = 0 (Kassam and Trefethen, SIAM J.
 * Sci. Comput. 26, 2005). For |c| < 1 they come from the series of phi_3, whose next term is c^17/20! < 1e-18. */
static void phis(double complex c, double complex e, double complex phi[3]) {
  if (cabs(c) < 1) {
    double complex sum = 1;
    for (int j = 16; j > 0; j--) sum = 1 + sum * c / (j + 3);
    phi[2] = sum / 6;
    phi[1] = 0.5 + c * phi[2];
    phi[0] = 1 + c * phi[1];
  } else {
    phi[0] = (e - 1) / c;
    phi[1] = (phi[0] - 1) / c;
    phi[2] = (phi[1] - 0.5) / c;
  }
}

/* Returns L of one wavenumber. */
static double complex linear_part(const diffusion_filling *f, const double k[3], const int64_t mode[3]) {
  const diffusion_field *s = f->species;
  const double squares[3] = {k[0] * k[0], k[1] * k[1], k[2] * k[2]};
  const double k2 = squares[0] + squares[1] + squares[2];
  /* odd parts are 0 where k is its own mirror image, because the coefficients there are real */
  double odd[3], real_part = -s->hyper * k2 * k2 - s->decay, turn = 0;
  for (int a = 0; a < 3; a++) {
    odd[a] = f->grid.boundary[a] == GRID_PERIODIC && 2 * (mode[a] < 0 ? -mode[a] : mode[a]) == f->grid.n[a] ? 0 : k[a];
    real_part -= s->D * s->axes[a] * squares[a];
    turn -= s->drift[a] * odd[a];
  }
  real_part -= 2 * (s->tensor[0] * odd[0] * odd[1] + s->tensor[1] * odd[0] * odd[2] + s->tensor[2] * odd[1] * odd[2]);
  if (f->linear) { /* real if the function has one result */
    _Alignas(64) char scratch[DIFFUSION_SCRATCH];
    double out[2] = {0, 0};
    const double member = f->grid.member_axis ? (double)mode[f->grid.member_axis] + 1 : 1;
    sim_expr_program_run(f->linear, 1, (const void *const[]){&k2, &k[0], &k[1], &k[2], &member},
                         (void *const[]){&out[0], &out[1]}, scratch);
    real_part += out[0];
    turn += odd[0] == k[0] && odd[1] == k[1] && odd[2] == k[2] ? out[1] : 0;
  }
  return real_part + turn * I;
}

void diffusion_filling_linear(const diffusion_filling *f, const double k[3], const int64_t mode[3], double out[2]) {
  const double complex c = linear_part(f, k, mode);
  out[0] = creal(c);
  out[1] = cimag(c);
}

/* Whether mode m of a series has the wavenumber of m + 1/2, or one between m and m + 1. Dealiasing cuts it as m + 1. */
static bool is_quarter(grid_boundary b) { return b == GRID_FIXED_LOW || b == GRID_FIXED_HIGH || b == GRID_ROBIN; }

bool diffusion_filling_keeps(const diffusion_filling *f, const int64_t mode[3]) {
  for (int a = 0; a < f->grid.rank; a++)
    if ((a == 0 || a != f->grid.member_axis) &&
        !diffusion_mode_kept(mode[a] + is_quarter(f->grid.boundary[a]), f->grid.n[a],
                             f->grid.boundary[a] == GRID_PERIODIC, f->dealias))
      return false;
  return true;
}

double diffusion_filling_norm(const diffusion_filling *f, const double k[3], const int64_t mode[3]) {
  double factor = 1;
  for (int a = 0; a < f->grid.rank; a++)
    if (f->grid.boundary[a] == GRID_ROBIN)
      factor *= sqrt((mode[a] == 0 ? 1 : 2) / diffusion_robin_weight(f->grid.mix[a], f->grid.size[a], k[a]));
  return factor;
}

void diffusion_method_fill(void *context, const double k[3], const int64_t mode[3], double (*values)[2]) {
  const diffusion_filling *f = context;
  if (!diffusion_filling_keeps(f, mode)) { /* the mode is cut: removes rates and rounding errors of the field */
    for (int t = 0; t <= diffusion_methods[f->scheme].tables; t++) values[t][0] = values[t][1] = 0;
    return;
  }
  const double complex c = linear_part(f, k, mode) * f->dt;
  const double under = f->species->conserved ? -(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]) : 1; /* of lap N, or of N */
  if (f->scheme == DIFFUSION_RODAS3) {
    const double complex linear = linear_part(f, k, mode);
    values[0][0] = creal(linear);
    values[0][1] = cimag(linear);
    values[1][0] = under;
    values[1][1] = 0;
    return;
  }
  const double h = under * f->dt;
  double complex result[6] = {cexp(c)}, phi[3] = {0}, half[3];
  if (f->scheme == DIFFUSION_LIE || f->scheme == DIFFUSION_STRANG) result[E] *= f->scale;
  if (f->scheme > DIFFUSION_STRANG) phis(c, result[E], phi);
  if (f->scheme == DIFFUSION_ETD1 || f->scheme == DIFFUSION_ETDRK2) result[P1] = h * phi[0];
  if (f->scheme == DIFFUSION_ETDRK2) result[P2] = h * phi[1];
  if (f->scheme == DIFFUSION_ETDRK4) {
    result[HALF] = cexp(c / 2);
    phis(c / 2, result[HALF], half);
    result[Q] = h / 2 * half[0];
    result[F1] = h * (phi[0] - 3 * phi[1] + 4 * phi[2]);
    result[F2] = h * (phi[1] - 2 * phi[2]);
    result[F3] = h * (4 * phi[2] - phi[1]);
  }
  const double weight = diffusion_noise_weight(f->dt, 2 * creal(c)), k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
  values[diffusion_methods[f->scheme].tables][0] =
      f->forcing     ? diffusion_in_shell(f->forcing->k[0], f->forcing->k[1], k2) * (f->forcing->random ? weight : 1)
      : f->noise > 0 ? f->noise * under * weight * diffusion_filling_norm(f, k, mode)
                     : 0;
  values[diffusion_methods[f->scheme].tables][1] = 0;
  for (int t = 0; t < diffusion_methods[f->scheme].tables; t++) {
    values[t][0] = creal(result[t]);
    values[t][1] = cimag(c) == 0 ? 0 : cimag(result[t]);
  }
}

sim_status diffusion_filling_begin(const diffusion_parameters *p, int field, double dt, double scale,
                                   diffusion_filling *out) {
  const bool uniform[] = {true, true, true, true, true};
  *out = (diffusion_filling){.species = diffusion_field_of(p, field),
                             .grid = diffusion_shape_of(p, field),
                             .scheme = p->integrate.scheme,
                             .dt = dt,
                             .scale = diffusion_estimates(p) ? 1 : scale,
                             .dealias = diffusion_dealias(&p->integrate),
                             .noise = diffusion_noise_of(p, field),
                             .forcing = diffusion_forced(p) >> field & 1 ? &p->forcing : NULL};
  if (!out->species->linear) return SIM_OK;
  return sim_expr_program_create(out->species->linear, &(sim_expr_target){.uniform = uniform, .block = 1},
                                 &out->linear);
}

void diffusion_filling_end(diffusion_filling *filling) { sim_expr_program_free(&filling->linear); }

int diffusion_tables_field(const diffusion_parameters *p, int field) {
  const unsigned forced = diffusion_forced(p);
  const diffusion_field *own = diffusion_field_of(p, field);
  for (int f = 0; f < field; f++) {
    const diffusion_field *other = diffusion_field_of(p, f);
    if (diffusion_same_linear(own, other) && diffusion_same_walls(p, f, field) &&
        own->fluctuation == other->fluctuation && (forced >> f & 1) == (forced >> field & 1))
      return f;
  }
  return field;
}

int diffusion_distinct_tables(const diffusion_parameters *p) {
  int count = 0;
  for (int f = 0; f < (int)p->fields.count; f++) count += diffusion_tables_field(p, f) == f;
  return count;
}
