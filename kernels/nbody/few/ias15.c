/* Gauss-Radau integrator of order 15 with adaptive steps. The acceleration along a step is a polynomial of degree 7 in
 * the time, which the forces at the start and at seven Radau nodes determine by iteration (E. Everhart, in Dynamics of
 * Comets, IAU Coll. 83 (1985) 185; H. Rein and D. S. Spiegel, MNRAS 446 (2015) 1424). The length of the next step
 * follows D. Pham, H. Rein and D. S. Spiegel, Open J. Astrophys. 7 (2024) 1. Positions, velocities and the time are
 * compensated sums (W. Kahan, Comm. ACM 8 (1965) 40).
 *
 * A step goes from the phase `now` to the phase `next`. The state at a time between them comes from a shorter step from
 * `now`, which the polynomial of the whole step predicts well: outputs have the times that the scenario asks for, and
 * the steps do not depend on them. Checkpoints keep `now`: a resumed run computes `next` again. */
#include "kernels/nbody/few/encounters.h"
#include "kernels/nbody/few/few.h"
#include "kernels/nbody/few/sums.h"

#include "engine/log.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 8, DEGREE = 7, ITERATIONS = 12 };
static const double safety =
    0.25; /* a step that is more than 1 / safety times too long is repeated; a step grows by at most this factor */

/* Zeros of P_7 + P_8 on [0, 1] (Legendre's polynomials). */
static const double node[NODES] = {0,
                                   0.05626256053692214646565219,
                                   0.1802406917368923649875799,
                                   0.3526247171131696373739078,
                                   0.5471536263305553830014486,
                                   0.7342101772154105315232106,
                                   0.8853209468390957680903598,
                                   0.9775206135612875018911745};

/* Newton's form of the polynomial in the time s, from 0 to 1: a(s) = a0 + sum g_k s (s - h_1) ... (s - h_k-1), and its
 * form in powers of s: a(s) = a0 + sum b_k s^(k + 1). */
typedef struct radau {
  double inverse[NODES][NODES]; /* 1 / (h_i - h_j) */
  double to_powers[DEGREE][DEGREE], to_newton[DEGREE][DEGREE];
} radau;

static radau make_radau(void) {
  radau r = {0};
  for (int i = 1; i < NODES; i++)
    for (int j = 0; j < i; j++) r.inverse[i][j] = 1 / (node[i] - node[j]);
  r.to_powers[0][0] = r.to_newton[0][0] = 1;
  for (int k = 1; k < DEGREE; k++)
    for (int j = 0; j <= k; j++) {
      r.to_powers[k][j] = (j > 0 ? r.to_powers[k - 1][j - 1] : 0) - node[k] * (j < k ? r.to_powers[k - 1][j] : 0);
      r.to_newton[k][j] = (j > 0 ? r.to_newton[k - 1][j - 1] : 0) + (j < k ? node[j + 1] * r.to_newton[k - 1][j] : 0);
    }
  return r;
}

/* Blocks of 3 n numbers in a phase, behind its CLOCKS. */
enum { X, V, X_LOW, V_LOW, B, E = B + DEGREE, BLOCKS = E + DEGREE };
/* Clocks of a phase: time, length of the step from here, number of steps before; FRESH: no step with these bodies
 * before. */
enum { TIME, TIME_LOW, STEP, COUNT, FRESH, CLOCKS };

typedef struct nbody_few_work {
  radau radau;
  int64_t m;           /* 3 n */
  double length;       /* length of the step from `now` to `next`; shorter where an event ends the step */
  double *now, *next;  /* phases; `now` is the state array */
  double *b, *shorter; /* [DEGREE][m]: polynomial of the step, and of a shorter one */
  double *g, *a0;      /* [DEGREE][m], [m] */
  void *memory;
  nbody_event event; /* event at the time of `next`, whose arrays still have all bodies */
  double rejected, unconverged;
  bool warned; /* a warning of forces that no step looks for has been logged */
} work;

static double numbers(double n) { return CLOCKS + BLOCKS * 3 * n; }
static double scratch(double n) { return numbers(n) + (3 * DEGREE + 1) * 3 * n; }
static double bytes(double n) { return sizeof(work) + scratch(n) * sizeof(double); }

static double *block(const work *w, double *phase, int which) { return phase + CLOCKS + which * w->m; }

static void destroy(nbody_run *run) {
  if (run->few_work == NULL) return;
  free(run->few_work->memory);
  free(run->few_work);
  run->few_work = NULL;
}

static sim_status create(nbody_run *run) {
  work *w = run->few_work = calloc(1, sizeof *w);
  if (w != NULL) w->memory = calloc((size_t)scratch((double)run->n), sizeof(double));
  if (w == NULL || w->memory == NULL) return sim_no_memory("the integrator");
  w->radau = make_radau();
  w->m = 3 * run->n;
  w->now = run->kept.data;
  w->next = w->memory;
  w->b = w->next + CLOCKS + BLOCKS * w->m;
  w->shorter = w->b + DEGREE * w->m;
  w->g = w->shorter + DEGREE * w->m;
  w->a0 = w->g + DEGREE * w->m;
  return SIM_OK;
}

/* ---- one step ---- */

/* Positions, and velocities where forces depend on them, at the node s of a step of length h, into the state's arrays.
 */
static void predict(const nbody_run *run, const work *w, double h, double s, const double *restrict b) {
  const int64_t m = w->m;
  const double *restrict x = block(w, w->now, X), *restrict v = block(w, w->now, V);
  const double *restrict x_low = block(w, w->now, X_LOW), *restrict a0 = w->a0;
  double *restrict out = run->position.data;
  const double u = h * s;
  double f[DEGREE + 1], power = u * u;
  for (int k = 0; k <= DEGREE; k++, power *= s) f[k] = power / ((k + 1) * (k + 2));
  for (int64_t i = 0; i < m; i++) {
    const double high = ((f[7] * b[6 * m + i] + f[6] * b[5 * m + i]) + f[5] * b[4 * m + i]) + f[4] * b[3 * m + i];
    const double all = (((high + f[3] * b[2 * m + i]) + f[2] * b[m + i]) + f[1] * b[i]) + f[0] * a0[i];
    out[i] = x[i] + (x_low[i] + (all + u * v[i]));
  }
  if (!run->laws.velocity_dependent) return;
  const double *restrict v_low = block(w, w->now, V_LOW);
  double *restrict speed = run->velocity.data;
  for (int k = 0; k <= DEGREE; k++) f[k] = u * pow(s, k) / (k + 1);
  for (int64_t i = 0; i < m; i++) {
    const double high = ((f[7] * b[6 * m + i] + f[6] * b[5 * m + i]) + f[5] * b[4 * m + i]) + f[4] * b[3 * m + i];
    speed[i] = v[i] + (v_low[i] + ((((high + f[3] * b[2 * m + i]) + f[2] * b[m + i]) + f[1] * b[i]) + f[0] * a0[i]));
  }
}

/* Corrects the coefficients by the acceleration a at node k; returns the largest change of b_6 where k is the last
 * node. */
static inline double correct(const radau *r, const int k, int64_t m, const double *restrict a,
                             const double *restrict a0, double *restrict g, double *restrict b) {
  double most = 0;
  for (int64_t i = 0; i < m; i++) {
    double value = (a[i] - a0[i]) * r->inverse[k][0];
    for (int j = 1; j < k; j++) value = (value - g[(j - 1) * m + i]) * r->inverse[k][j];
    const double change = value - g[(k - 1) * m + i];
    g[(k - 1) * m + i] = value;
    for (int j = 0; j < k; j++) b[j * m + i] += change * r->to_powers[k - 1][j];
    if (k == DEGREE) most = fmax(most, fabs(change));
  }
  return most;
}

/* As `correct`, with k known to the compiler. */
static double correct_at(const radau *r, int k, int64_t m, const double *a, const double *a0, double *g, double *b) {
  switch (k) {
  case 1: return correct(r, 1, m, a, a0, g, b);
  case 2: return correct(r, 2, m, a, a0, g, b);
  case 3: return correct(r, 3, m, a, a0, g, b);
  case 4: return correct(r, 4, m, a, a0, g, b);
  case 5: return correct(r, 5, m, a, a0, g, b);
  case 6: return correct(r, 6, m, a, a0, g, b);
  default: return correct(r, 7, m, a, a0, g, b);
  }
}

static double greatest(const double *x, int64_t m) {
  double most = 0;
  for (int64_t i = 0; i < m; i++) most = fmax(most, fabs(x[i]));
  return most;
}

/* Iterates the polynomial of a step of length h from `now`, starting with a prediction in b, until b_6 changes by less
 * than the rounding of the acceleration, or by no less than in the round before. Returns false where the step is too
 * long: the iteration does not end, or ends far from convergence. */
static bool iterate(nbody_run *run, double h, double *b) {
  work *w = run->few_work;
  const radau *r = &w->radau;
  const int64_t m = w->m;
  const double t = w->now[TIME] + w->now[TIME_LOW], *a = run->acceleration.data;
  for (int k = 0; k < DEGREE; k++)
    for (int64_t i = 0; i < m; i++) {
      double sum = 0;
      for (int j = DEGREE - 1; j >= k; j--) sum += r->to_newton[j][k] * b[j * m + i];
      w->g[k * m + i] = sum;
    }
  const double place = DBL_EPSILON * greatest(block(w, w->now, X), m) / (h * h); /* by rounding of positions */
  double before = INFINITY;
  for (int round = 0; round < ITERATIONS; round++) {
    double change = 0;
    for (int k = 1; k < NODES; k++) {
      predict(run, w, h, node[k], b);
      run->ops->force(run->work, t + h * node[k]);
      change = correct_at(r, k, m, a, w->a0, w->g, b);
    }
    const double size = greatest(a, m);
    if (!(change > 1e-16 * size)) return true;
    if (round > 1 && change >= before) return change < 1e-6 * size || change <= place;
    before = change;
  }
  return before <= place;
}

static void warn_of_long_step(work *w) {
  if (w->unconverged++ > 0) return;
  sim_log(SIM_LOG_WARN,
          "ias15: at t = %.9g the forces of a step of %.3g do not converge, so that its error is larger than rounding: "
          "take a shorter integrate.dt",
          w->now[TIME], w->now[STEP]);
}

/* Position and velocity at the end of a step of length h from `now`. */
static void land(const work *w, double h, const double *b, double *x, double *v, double *x_low, double *v_low) {
  const int64_t m = w->m;
  for (int64_t i = 0; i < m; i++) {
    double path = 0, speed = 0;
    for (int k = DEGREE - 1; k >= 0; k--) {
      path += b[k * m + i] / ((k + 2) * (k + 3));
      speed += b[k * m + i] / (k + 2);
    }
    nbody_add(&x[i], &x_low[i], h * h * (path + 0.5 * w->a0[i]));
    nbody_add(&x[i], &x_low[i], h * v[i]);
    nbody_add(&v[i], &v_low[i], h * (speed + w->a0[i]));
  }
}

/* Length of step that the polynomial of a step of length h asks for: (7! eta)^(1/7) times the shortest time in which
 * the motion of a body changes, (2 a^2 / (j^2 + a s))^(1/2) with jerk j, snap s and crackle c at the end of the step.
 * Where the acceleration passes through zero, Aarseth's ((a s + j^2) / (j c + s^2))^(1/2) is longer and is taken (S. J.
 * Aarseth, in Multiple Time Scales (1985) 377). A body does not count if its acceleration is no more than the rounding
 * of the largest one or of its position, and is no polynomial. NaN: a force is not finite. */
static double choose_step(const nbody_run *run, const work *w, double h) {
  static const double negligible = 1e-10; /* leaves 6 digits for the derivatives of the accelerations that count */
  const int64_t m = w->m, n = run->n;
  const double *b = w->b;
  double least = INFINITY, most = 0;
  for (int64_t c = 0; c < m; c++) most = fmax(most, fabs(w->a0[c]));
  most = fmax(most, greatest(run->acceleration.data, m)); /* accelerations at the last node */
  if (!isfinite(most)) return NAN;
  const double unit = most > 0 ? most : 1; /* keeps squares from underflow */
  const double rounding = DBL_EPSILON * greatest(block(w, w->now, X), m) / (h * h);
  const double counts = fmax(negligible * most, rounding);
  for (int64_t i = 0; i < n; i++) {
    double a2 = 0, j2 = 0, s2 = 0, c2 = 0, largest = 0, last = 0;
    for (int64_t c = i; c < m; c += n) {
      double a = w->a0[c], jerk = 0, snap = 0, crackle = 0;
      for (int k = 0; k < DEGREE; k++) {
        a += b[k * m + c];
        jerk += (k + 1) * b[k * m + c];
        snap += (k + 1) * k * b[k * m + c];
        crackle += (k + 1) * k * (k - 1) * b[k * m + c];
      }
      a2 += pow(a / unit, 2);
      j2 += pow(jerk / unit, 2);
      s2 += pow(snap / unit, 2);
      c2 += pow(crackle / unit, 2);
      largest = fmax(largest, fmax(fabs(a), fabs(w->a0[c])));
      last = fmax(last, fabs(b[(DEGREE - 1) * m + c]));
      if (isnan(a)) return NAN;
    }
    if (largest <= counts && !(last < 1e-6 * largest)) continue;
    const double as = sqrt(a2 * s2), change2 = j2 + as, next2 = sqrt(j2 * c2) + s2;
    if (change2 == 0) continue; /* a constant force */
    least = fmin(least, fmax(2 * a2 / change2, next2 > 0 ? change2 / next2 : 0));
  }
  const double eta = isnan(run->integrate.eta) ? 1 : run->integrate.eta; /* fixed steps have no eta */
  return h * sqrt(least) * pow(5040 * eta, 1.0 / 7);
}

/* b[k] *= q^(k + 1): the polynomial in a unit of time that is q times as long. */
static void stretch(double *b, int64_t m, double q) {
  double power = q;
  for (int k = 0; k < DEGREE; k++, power *= q)
    for (int64_t i = 0; i < m; i++) b[k * m + i] *= power;
}

/* Predicts the polynomial of the next step, q times as long, after a step with the polynomial b: e by shifting b, and b
 * by adding the error of the last prediction. */
static void predict_next(const work *w, double q) {
  static const double binomial[DEGREE][DEGREE] = {
      {1, 2, 3, 4, 5, 6, 7},  {0, 1, 3, 6, 10, 15, 21}, {0, 0, 1, 4, 10, 20, 35}, {0, 0, 0, 1, 5, 15, 35},
      {0, 0, 0, 0, 1, 6, 21}, {0, 0, 0, 0, 0, 1, 7},    {0, 0, 0, 0, 0, 0, 1}};
  const int64_t m = w->m;
  const double *e_before = block(w, w->now, E);
  const bool first = w->now[FRESH] != 0; /* nothing was predicted */
  double *b = block(w, w->next, B), *e = block(w, w->next, E), power = q;
  for (int k = 0; k < DEGREE; k++, power *= q)
    for (int64_t i = 0; i < m; i++) {
      double sum = 0;
      for (int j = DEGREE - 1; j >= k; j--) sum += binomial[k][j] * w->b[j * m + i];
      e[k * m + i] = power * sum;
      b[k * m + i] = power * (sum + (first ? 0 : w->b[k * m + i] - e_before[k * m + i]));
    }
}

/* Computes `next` from `now`. */
static sim_status proceed(nbody_run *run) {
  work *w = run->few_work;
  const int64_t m = w->m;
  const size_t size = (size_t)m * sizeof(double);
  const bool adaptive = isnan(run->integrate.dt);
  double h = w->now[STEP], wanted;
  memcpy(run->position.data, block(w, w->now, X), size);
  memcpy(run->velocity.data, block(w, w->now, V), size);
  run->ops->force(run->work, w->now[TIME]);
  memcpy(w->a0, run->acceleration.data, size);
  for (;;) {
    if (isnan(h)) return nbody_few_diverged(run, w->now[TIME]);
    if (!(w->now[TIME] + h > w->now[TIME]) || !isfinite(h))
      return sim_fail(
          SIM_ERR_DIVERGED,
          "ias15: the step has shrunk to %.3g at t = %.17g, too short for the clock: a force changes faster "
          "than any step follows, as that of bodies that meet without softening",
          h, w->now[TIME]);
    memcpy(w->b, block(w, w->now, B), DEGREE * size);
    const bool converged = iterate(run, h, w->b);
    if (!converged && !adaptive) warn_of_long_step(w);
    wanted = !converged && adaptive ? safety * safety * h : choose_step(run, w, h);
    if (!adaptive || wanted >= safety * h) break;
    w->rejected++;
    stretch(block(w, w->now, B), m, wanted / h);
    stretch(block(w, w->now, E), m, wanted / h);
    h = w->now[STEP] = wanted;
  }
  if (adaptive && isinf(wanted) && run->laws.time_dependent && isnan(run->integrate.dt_max) && !w->warned) {
    w->warned = true;
    sim_log(SIM_LOG_WARN,
            "ias15: at t = %.9g no force limits the step, so that one that external begins later may be missed: set "
            "integrate.dt_max",
            w->now[TIME]);
  }
  if (isnan(wanted)) return nbody_few_diverged(run, w->now[TIME]);
  w->event = (nbody_event){-1, -1, INFINITY};
  if (run->encounters) {
    const nbody_path path = {run->n, h, block(w, w->now, X), block(w, w->now, V), w->a0, w->b};
    w->event = nbody_find_event(run, &path);
  }
  if (w->event.first >= 0 && w->event.part < 1) { /* the step ends there */
    h *= w->event.part;
    stretch(w->b, m, w->event.part);
    if (!iterate(run, h, w->b)) warn_of_long_step(w);
  }
  w->length = h;
  memcpy(w->next, w->now, (CLOCKS + 4 * (size_t)m) * sizeof(double));
  land(w, h, w->b, block(w, w->next, X), block(w, w->next, V), block(w, w->next, X_LOW), block(w, w->next, V_LOW));
  nbody_add(&w->next[TIME], &w->next[TIME_LOW], h);
  w->next[COUNT]++;
  w->next[FRESH] = 0;
  if (adaptive) w->next[STEP] = fmin(wanted, h / safety);
  if (adaptive && !isnan(run->integrate.dt_max)) w->next[STEP] = fmin(w->next[STEP], run->integrate.dt_max);
  predict_next(w, w->next[STEP] / h);
  run->controller[NBODY_NEXT_STEP] = w->now[STEP];
  return SIM_OK;
}

/* ---- steps of the run ---- */

/* Length of a first step at time t, short enough for any motion: a thousandth of t_end, and a hundredth of the shortest
 * of these times of a body: to fall from rest as far as its nearest neighbour is away (without one, the origin); to get
 * there with their relative velocity; to gain its velocity by its acceleration. Longer steps follow at once. */
static double first_step(const nbody_run *run, double t) {
  const int64_t n = run->n;
  const double *x = run->position.data, *v = run->velocity.data, *a = run->acceleration.data;
  double least = 0.1 * run->integrate.t_end;
  for (int64_t i = 0; i < n; i++) {
    double nearest = INFINITY, meeting = INFINITY, a2 = 0, v2 = 0, from_origin = 0;
    for (int64_t c = i; c < 3 * n; c += n) {
      a2 += a[c] * a[c];
      v2 += v[c] * v[c];
      from_origin += x[c] * x[c];
    }
    for (int64_t j = 0; j < n; j++) {
      double r2 = 0, speed2 = 0;
      for (int64_t c = 0; c < 3 * n; c += n) {
        r2 += (x[c + j] - x[c + i]) * (x[c + j] - x[c + i]);
        speed2 += (v[c + j] - v[c + i]) * (v[c + j] - v[c + i]);
      }
      if (j != i) nearest = fmin(nearest, r2);
      if (j != i && r2 > 0 && speed2 > 0) meeting = fmin(meeting, r2 / speed2);
    }
    if (isinf(nearest)) nearest = from_origin;
    least = fmin(least, sqrt(meeting));
    if (a2 > 0 && nearest > 0) least = fmin(least, sqrt(sqrt(nearest / a2)));
    if (a2 > 0 && v2 > 0) least = fmin(least, sqrt(v2 / a2));
  }
  const double h = fmax(0.01 * least, 1e-12 * fmax(t, 1e-3 * run->integrate.t_end)); /* long enough for the clock */
  return isnan(run->integrate.dt_max) ? h : fmin(h, run->integrate.dt_max);
}

static sim_status begin(nbody_run *run, const sim_clock *saved) {
  work *w = run->few_work;
  const size_t size = (size_t)w->m * sizeof(double);
  if (saved == NULL) {
    memcpy(block(w, w->now, X), run->position.data, size);
    memcpy(block(w, w->now, V), run->velocity.data, size);
    w->now[STEP] = isnan(run->integrate.dt) ? first_step(run, w->now[TIME]) : run->integrate.dt;
    w->now[FRESH] = 1;
    return proceed(run);
  }
  const double *now = w->now;
  if (!(now[STEP] > 0) || !(now[TIME] <= saved->t) || !(now[COUNT] >= 0))
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's integrator has no step of ias15");
  SIM_TRY(proceed(run));
  if (!(w->next[TIME] >= saved->t))
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's integrator has another time than its clock");
  return SIM_OK;
}

static sim_status show(nbody_run *run, double t) {
  work *w = run->few_work;
  const int64_t m = w->m;
  const size_t size = (size_t)m * sizeof(double);
  double *x = block(w, t == w->next[TIME] ? w->next : w->now, X);
  if (t > w->now[TIME] && t < w->next[TIME]) {
    const double h = (t - w->now[TIME]) - w->now[TIME_LOW];
    memcpy(w->shorter, w->b, DEGREE * size);
    stretch(w->shorter, m, h / w->length);
    if (!iterate(run, h, w->shorter)) warn_of_long_step(w);
    x = w->g; /* g is free again: room for x, v and their low parts */
    memcpy(x, block(w, w->now, X), 4 * size);
    land(w, h, w->shorter, x, x + m, x + 2 * m, x + 3 * m);
  }
  memcpy(run->position.data, x, size);
  memcpy(run->velocity.data, x + m, size);
  run->ops->force(run->work, t);
  run->ops->finish(run->work);
  return SIM_OK;
}

/* Applies the event at the time of `now` to its bodies, and begins anew. */
static sim_status apply_event(nbody_run *run) {
  work *w = run->few_work;
  const double t = w->now[TIME];
  SIM_TRY(show(run, t));
  for (nbody_event event = w->event; event.first >= 0;) {
    SIM_TRY(nbody_apply_event(run, &event, t));
    event = nbody_find_overlap(run); /* finds none without `merge` */
    if (event.first < 0) event = nbody_find_outside(run);
  }
  const double clocks[CLOCKS] = {[TIME] = t, [TIME_LOW] = w->now[TIME_LOW], [COUNT] = w->now[COUNT], [FRESH] = 1};
  w->m = 3 * run->n;
  run->kept.shape[0] = (int64_t)numbers((double)run->n);
  memset(w->now, 0, sim_buffer_bytes(&run->kept));
  memcpy(w->now, clocks, sizeof clocks);
  memcpy(block(w, w->now, X), run->position.data, (size_t)w->m * sizeof(double));
  memcpy(block(w, w->now, V), run->velocity.data, (size_t)w->m * sizeof(double));
  w->now[STEP] = isnan(run->integrate.dt) ? first_step(run, w->now[TIME]) : run->integrate.dt;
  return SIM_OK;
}

/* The next multiple of the interval after t, counted as sim_cadence_due does. */
static double next_output(const sim_cadence *cadence, double t) {
  if (cadence->kind != SIM_EVERY_TIME) return INFINITY;
  return (floor(t / cadence->interval + 1e-9) + 1) * cadence->interval;
}

static sim_status step(nbody_run *run, const sim_clock *clock, double *after) {
  work *w = run->few_work;
  while (!(w->next[TIME] > clock->t)) {
    memcpy(w->now, w->next, (size_t)numbers((double)run->n) * sizeof(double));
    if (w->event.first >= 0) SIM_TRY(apply_event(run));
    SIM_TRY(proceed(run));
  }
  const double output =
      fmin(next_output(&run->output->snapshots, clock->t), next_output(&run->output->tables, clock->t));
  /* an output within rounding of the step's end is written at the step's end */
  *after = w->next[TIME] > output + 1e-12 * w->now[STEP] && output > clock->t ? output : w->next[TIME];
  if (*after >= clock->t_end) *after = clock->t_end;
  return SIM_OK;
}

static void report(const nbody_run *run, sim_bytes *out) {
  const work *w = run->few_work;
  sim_bytes_format(out, "ias15: %.0f steps, since the start or the last checkpoint %.0f repeated with a shorter step\n",
                   w->next[COUNT], w->rejected);
  if (w->unconverged > 0)
    sim_bytes_format(out,
                     "ias15: %.0f steps, or parts of steps to an event or an output, did not converge: their errors "
                     "are larger than rounding\n",
                     w->unconverged);
}

const nbody_few nbody_ias15 = {.name = "ias15",
                               .numbers = numbers,
                               .bytes = bytes,
                               .create = create,
                               .destroy = destroy,
                               .begin = begin,
                               .step = step,
                               .show = show,
                               .report = report};
