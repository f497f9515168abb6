/* Relaxation times of cells whose viscosity is a function. No result depends on how cells are dealt out. */
#include "kernels/fluid/cpu/rheology.h"

#include "kernels/fluid/heat.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

enum { CHUNK = 128 }; /* cells that are solved at a time */

sim_status fluid_rheology_create(const fluid_parameters *p, const fluid_numbers *k, const fluid_machine *m, sim_isa isa,
                                 fluid_rheology **out) {
  *out = NULL;
  if (!fluid_has_law(p)) return SIM_OK;
  fluid_rheology *r = *out = calloc(1, sizeof *r);
  if (!r) return sim_no_memory("the viscosity");
  r->warm = sim_expr_depends(p->law, 0, 1);
  r->per_stress = 3 / sqrt(2) / k->dt;
  r->scale = 3 * k->dt / (k->dx * k->dx);
  r->rounding = m->single ? 3e-8 : 1e-12;
  SIM_TRY(sim_expr_program_create(p->law, &(sim_expr_target){.isa = isa, .block = CHUNK}, &r->program));
  r->scratch = (sim_expr_program_scratch(r->program) + 63) / 64 * 64 + 64;
  r->memory = aligned_alloc(64, (size_t)m->threads * r->scratch);
  return r->memory ? SIM_OK : sim_no_memory("the viscosity");
}

void fluid_rheology_destroy(fluid_rheology **rheology) {
  fluid_rheology *r = *rheology;
  if (!r) return;
  sim_expr_program_free(&r->program);
  free(r->memory);
  free(r);
  *rheology = NULL;
}

/* Cells side by side. */
typedef struct chunk {
  int n;
  double stress[CHUNK];      /* |Q|/rho */
  double temperature[CHUNK]; /* not set where the viscosity does not depend on it */
  double tau[CHUNK];         /* in: a guess, or 0 */
} chunk;

/* tau at shear rates, within its range; a viscosity that is not a number has the shortest one. */
static void tau_of(const fluid_rheology *r, int n, const double *shear, const double *temperature, double *tau) {
  sim_expr_program_run(r->program, (size_t)n, (const void *const[]){shear, r->warm ? temperature : NULL},
                       (void *const[]){tau}, r->memory + (size_t)omp_get_thread_num() * r->scratch);
  for (int i = 0; i < n; i++) {
    const double at = 0.5 + r->scale * tau[i];
    tau[i] = !(at >= FLUID_TAU_LEAST) ? FLUID_TAU_LEAST : fmin(at, FLUID_TAU_MOST);
  }
}

/* A root of miss(tau) = tau of the shear rate at tau - tau, which lies between `low` and `high`. */
typedef struct search {
  double low, high, before, miss; /* before: the last tau, whose miss is `miss`; 0: none */
  bool done;
} search;

/* Takes a miss at *tau, and sets *tau to the next one: by the secant of the last two, or where that leaves the bounds,
 * and once in four times, to their mean. */
static void advance(search *s, double miss, double rounding, int round, double *tau) {
  const double here = *tau;
  if (s->done) return;
  *(miss > 0 ? &s->low : &s->high) = here;
  s->done = fabs(miss) <= rounding * here || s->high - s->low <= rounding * here;
  if (s->done) return;
  double next = s->before > 0 ? here - miss * (here - s->before) / (miss - s->miss) : here + miss;
  if (!(next >= s->low && next <= s->high) || next == here || round % 4 == 3) next = sqrt(s->low * s->high);
  s->before = here;
  s->miss = miss;
  *tau = next;
}

/* Finds tau of each cell. Returns whether one is at an end of its range. */
static bool solve(const fluid_rheology *r, chunk *c) {
  enum { ROUNDS = 240 }; /* 60 of them halve the bounds */
  search s[CHUNK];
  double shear[CHUNK], tau[CHUNK];
  bool wrong = false;
  for (int i = 0; i < c->n; i++) {
    s[i] = (search){.low = FLUID_TAU_LEAST, .high = FLUID_TAU_MOST};
    if (!(c->tau[i] >= FLUID_TAU_LEAST && c->tau[i] <= FLUID_TAU_MOST)) c->tau[i] = 1;
  }
  for (int round = 0; round < ROUNDS; round++) {
    bool all = true;
    for (int i = 0; i < c->n; i++) shear[i] = r->per_stress * c->stress[i] / c->tau[i];
    tau_of(r, c->n, shear, c->temperature, tau);
    for (int i = 0; i < c->n; i++) {
      advance(&s[i], tau[i] - c->tau[i], r->rounding, round, &c->tau[i]);
      all = all && s[i].done;
    }
    if (all) break;
  }
  for (int i = 0; i < c->n; i++) wrong = wrong || !(c->tau[i] > FLUID_TAU_LEAST && c->tau[i] < FLUID_TAU_MOST);
  return wrong;
}

static double temperature_of(const fluid_machine *m, int64_t row, int64_t x) {
  return m->rheology->warm ? m->warmth->shift + m->warmth->heat[0][fluid_heat_at(m, row, x)] : 0;
}

/* Number of the rate of relaxation of the cell x of a row, in a state. */
static int64_t rate_at(const fluid_machine *m, int64_t row, int64_t x) {
  return fluid_row_at(&m->rows, row) + m->collision.tell * m->rows.stride + x;
}

/* Takes what is known of the cell x of a row: at[0] of `from` is its rate in the step before, at[1] of `to` its
 * stress. */
static void put_cell(const fluid_machine *m, chunk *c, int64_t row, int64_t x, const void *from, const void *to,
                     const int64_t at[2]) {
  const double rate = grid_number(from, m->single, at[0]);
  c->tau[c->n] = rate > 0 ? 1 / rate : 0;
  c->stress[c->n] = grid_number(to, m->single, at[1]);
  c->temperature[c->n] = temperature_of(m, row, x);
  c->n++;
}

bool fluid_rheology_row(const fluid_machine *m, const fluid_row *row, int64_t number) {
  const int64_t tell = m->collision.tell * row->stride;
  fluid_collision k = m->collision;
  bool wrong = false;
  k.local = FLUID_LOCAL_STRESS;
  (void)m->kernels->row(m->lattice, &k, row);
  for (int64_t first = 0; first < row->n; first += CHUNK) {
    chunk c = {.n = 0};
    for (int64_t x = first; x < row->n && x < first + CHUNK; x++)
      put_cell(m, &c, number, x, row->from[4], row->to, (int64_t[]){tell + x, tell + x});
    wrong = solve(m->rheology, &c) || wrong;
    for (int i = 0; i < c.n; i++) grid_set_number(row->to, m->single, tell + first + i, 1 / c.tau[i]);
  }
  k.local = FLUID_LOCAL_RATE;
  return m->kernels->row(m->lattice, &k, row) || wrong;
}

bool fluid_rheology_cells(const fluid_machine *m, const fluid_links *links, grid_range some, const sim_buffer *from,
                          const sim_buffer *to) {
  void *old = fluid_first(from), *new = fluid_first(to);
  fluid_collision k = m->collision;
  bool wrong = false;
  k.local = FLUID_LOCAL_STRESS;
  (void)m->kernels->cells(m->lattice, &k, &m->rows, links, some.first, some.end, old, new);
  for (int64_t first = some.first; first < some.end; first += CHUNK) {
    chunk c = {.n = 0};
    int64_t at[CHUNK];
    for (int64_t i = first; i < some.end && i < first + CHUNK; i++) {
      const fluid_cell *cell = &links->cell[i];
      at[c.n] = rate_at(m, cell->row, cell->x);
      put_cell(m, &c, cell->row, cell->x, old, new, (int64_t[]){at[c.n], at[c.n]});
    }
    wrong = solve(m->rheology, &c) || wrong;
    for (int i = 0; i < c.n; i++) grid_set_number(new, m->single, at[i], 1 / c.tau[i]);
  }
  k.local = FLUID_LOCAL_RATE;
  return m->kernels->cells(m->lattice, &k, &m->rows, links, some.first, some.end, old, new) || wrong;
}

double fluid_rheology_tau(const fluid_machine *m, double shear, int64_t row, int64_t x) {
  const double temperature = temperature_of(m, row, x);
  double tau;
  tau_of(m->rheology, 1, &shear, &temperature, &tau);
  return tau;
}

double fluid_rheology_beyond(const fluid_machine *m, const sim_buffer *state, int64_t row, int64_t x) {
  const double tau = 1 / grid_number(fluid_first(state), m->single, rate_at(m, row, x));
  const double slack = m->rheology->rounding * 4;
  return tau > FLUID_TAU_LEAST * (1 + slack) && tau < FLUID_TAU_MOST * (1 - slack) ? 0 : tau;
}
