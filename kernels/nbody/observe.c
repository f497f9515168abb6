/* Rows of the tables of observables. */
#include "kernels/nbody/few/encounters.h"
#include "kernels/nbody/few/few.h"
#include "kernels/nbody/scenario/tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const nbody_sums *nbody_sums_at(nbody_run *run, const sim_clock *clock) {
  if (run->sums_step != clock->step) run->ops->sums(run->work, clock->t, &run->sums);
  run->sums_step = clock->step;
  return &run->sums;
}

/* Relative change of a (T + W) plus the integral of T over a, which d(T + W)/da + (2 T + W)/a = 0 keeps constant (W. M.
 * Irvine, thesis, Harvard (1961); D. Layzer, ApJ 138 (1963) 174). It is relative to the energy that went into
 * motion. */
static double layzer_irvine_error(const nbody_run *run, double a, double kinetic, double potential) {
  const double moved = a * kinetic + run->controller[NBODY_KINETIC_INTEGRAL];
  const double change = moved + a * potential - run->controller[NBODY_INITIAL_ENERGY];
  return moved > 0 ? change / moved : change;
}

/* SIM_ERR_DIVERGED where one of the columns first ... first + count - 1 is not finite: a product of finite numbers was
 * out of range. In a periodic box, and without mass, these are unknown (NaN). */
static sim_status check_range(const nbody_run *run, const sim_clock *clock, int table, int first, int count,
                              const double *values) {
  const bool unknown = run->box > 0 || !(run->sums.mass > 0);
  for (int c = first; c < first + count; c++)
    if (isinf(values[c]) || (isnan(values[c]) && !unknown))
      return sim_fail(SIM_ERR_DIVERGED,
                      "%s.%s exceeds the range of double precision at step %" PRId64
                      ", t = %.9g: bodies are too far from each other or too fast: use other units",
                      run->tables[table]->name, run->tables[table]->columns[c].name, clock->step, clock->t);
  return SIM_OK;
}

static sim_status observe_energy(nbody_run *run, const sim_clock *clock, double *values) {
  const nbody_sums *s = nbody_sums_at(run, clock);
  SIM_TRY(nbody_check_solver(run, clock->step));
  const double a = run->expansion.given ? clock->t : 1, kinetic = s->kinetic / (a * a), potential = s->potential / a;
  const double initial = run->controller[NBODY_INITIAL_ENERGY], total = kinetic + potential;
  if (!isfinite(kinetic) || isinf(potential) || isinf(total))
    return sim_fail(SIM_ERR_DIVERGED,
                    "the energy is not finite at step %" PRId64
                    ", t = %.9g: use other units, a smaller G, or a shorter "
                    "integrate.dt",
                    clock->step, clock->t);
  values[NBODY_COLUMN_KINETIC] = kinetic;
  values[NBODY_COLUMN_POTENTIAL] = potential;
  values[NBODY_COLUMN_TOTAL] = total;
  if (run->expansion.given)
    values[NBODY_COLUMN_ERROR] = layzer_irvine_error(run, a, kinetic, potential);
  else {
    /* In a box the zero of the potential is arbitrary, and so is that of the total energy. Events may remove nearly all
     * energy. */
    const double at_start = initial + run->events[NBODY_EVENT_ENERGY];
    const double scale = run->box > 0 ? kinetic + fabs(potential) : fabs(at_start);
    const double change = total + nbody_bath_energy(run) - initial;
    values[NBODY_COLUMN_ERROR] = run->laws.time_dependent ? NAN : change / (scale > 0 ? scale : 1);
  }
  values[NBODY_COLUMN_VIRIAL_RATIO] = potential != 0 && run->box == 0 ? 2 * kinetic / fabs(potential) : NAN;
  for (int c = 0; c < 3; c++) {
    values[NBODY_COLUMN_MOMENTUM + c] = s->momentum[c];
    values[NBODY_COLUMN_ANGULAR_MOMENTUM + c] = run->box == 0 ? s->angular_momentum[c] : NAN;
    values[NBODY_COLUMN_CENTRE + c] = run->box == 0 ? s->moment[c] / s->mass : NAN;
  }
  SIM_TRY(check_range(run, clock, NBODY_TABLE_ENERGY, NBODY_COLUMN_MOMENTUM, 9, values));
  if (fabs(values[NBODY_COLUMN_ERROR]) > run->integrate.max_energy_error)
    return sim_fail(SIM_ERR_DIVERGED, "energy error %.3g at step %" PRId64 ", t = %.9g: above max_energy_error = %.3g",
                    values[NBODY_COLUMN_ERROR], clock->step, clock->t, run->integrate.max_energy_error);
  return SIM_OK;
}

/* Fills in a row of the table `force_error`; NaN with direct sums. */
static sim_status observe_force_error(nbody_run *run, const sim_clock *clock, double *values) {
  const nbody_force_error *e = &run->force_error;
  (void)nbody_sums_at(run, clock); /* computes the potential of this step */
  SIM_TRY(nbody_measure_force_error(run, clock));
  SIM_TRY(nbody_measure_potential_error(run, clock->step));
  SIM_TRY(nbody_check_solver(run, clock->step));
  values[0] = e->measured ? e->median : NAN;
  values[1] = e->measured ? e->tail : NAN;
  values[2] = e->potential;
  return SIM_OK;
}

static void observe_levels(nbody_run *run, double *values) {
  nbody_histogram levels;
  run->ops->choose_levels(run->work, run->integrate.dt, 0, &levels);
  for (int64_t level = 0; level <= run->integrate.levels; level++) values[level] = (double)levels.bodies[level];
}

sim_status nbody_observe(void *self, const sim_clock *clock, int table, double *values) {
  nbody_run *run = self;
  SIM_TRY(nbody_few_show(run));
  if (table == NBODY_TABLE_ENERGY) return observe_energy(run, clock, values);
  if (run->tables[table] == &nbody_force_error_table) return observe_force_error(run, clock, values);
  if (table == run->orbit_table) return nbody_observe_orbits(run, values);
  if (run->tables[table] == &nbody_events_table) {
    nbody_observe_events(run, values);
    return SIM_OK;
  }
  if (table == run->rdf_table) return nbody_observe_rdf(run, values);
  if (table == run->thermo_table) {
    const nbody_sums *sums = nbody_sums_at(run, clock);
    SIM_TRY(nbody_observe_thermo(run, sums, values));
    return nbody_check_solver(run, clock->step);
  }
  if (table == run->spectrum_table) return nbody_observe_spectrum(run, clock->t, values);
  if (table == NBODY_TABLE_LAGRANGIAN) {
    memcpy(values, nbody_sums_at(run, clock)->radii, NBODY_RADII * sizeof *values);
    return check_range(run, clock, table, 0, NBODY_RADII, values);
  }
  if (table == run->level_table)
    observe_levels(run, values);
  else
    return run->ops->observe(run->work, clock->t, values);
  return SIM_OK;
}
