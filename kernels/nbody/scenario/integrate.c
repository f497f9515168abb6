/* Time stepping in a scenario: its field table, and the rules between fields. */
#include "kernels/nbody/scenario/fields.h"

#include <math.h>

const char *const nbody_scheme_names[] = {"leapfrog", "yoshida4", "hermite4", "ias15", "whfast", NULL};

bool nbody_scheme_is_few(int scheme) { return scheme == NBODY_IAS15 || scheme == NBODY_WHFAST; }

static const char *const steps_names[] = {"shared", "individual", NULL};

static const sim_field integrate_fields[] = {
    {SIM_FIELD(nbody_integrate, scheme), .type = SIM_CHOICE, .initial = "leapfrog", .choices = nbody_scheme_names,
     .doc = "leapfrog: order 2, kick-drift-kick; yoshida4: order 4, three force evaluations a step; hermite4: order 4, "
            "two evaluations of forces and their time derivatives; ias15: order 15, to rounding, for few bodies; "
            "whfast: order 2 along Kepler orbits, for planets; the last two on the CPU in double"},
    {SIM_FIELD(nbody_integrate, dt), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = INFINITY, .keyword = "adaptive", .dimension = TIME,
     .doc = "time step; adaptive: one step for all bodies, from eta (needs ias15, hermite4, or softening > 0); with "
            "individual "
            "steps the longest one; with expansion da/a of each step"},
    {SIM_FIELD(nbody_integrate, steps), .type = SIM_CHOICE, .initial = "shared", .choices = steps_names,
     .doc = "shared: one step for all bodies; individual: dt, or dt halved up to `levels` times, for each body by its "
            "acceleration, from eta (leapfrog with softening > 0)"},
    {SIM_FIELD(nbody_integrate, levels), .type = SIM_INT, .flags = SIM_RANGE, .min = 0, .max = NBODY_LEVELS_MAX,
     .initial = "auto", .keyword = "auto", .doc = "individual steps: most times that dt is halved; auto: 10"},
    {SIM_FIELD(nbody_integrate, eta), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = 1, .initial = "auto",
     .keyword = "auto",
     .doc = "accuracy of adaptive and of individual steps. hermite4: Aarseth's formula, auto 0.01, below 0.001 in "
            "double precision alone; ias15: relative size of the last term of the series of the acceleration, auto "
            "1e-9; else eta sqrt(softening/|a|), adaptive with the greatest |a|, auto 0.2"},
    {SIM_FIELD(nbody_integrate, dt_max), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "none", .keyword = "none", .dimension = TIME, .doc = "longest adaptive step"},
    {SIM_FIELD(nbody_integrate, t_end), .type = SIM_REAL,
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN | SIM_MAY_CHANGE, .max = INFINITY, .dimension = TIME,
     .doc = "end time; runs start at t = 0; with expansion the scale factor a is the time of the run"},
    {SIM_FIELD(nbody_integrate, max_energy_error), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "none", .keyword = "none",
     .doc = "limit of the relative energy error, above which the run fails; checked at each row of the energy table"},
    {0}};
const sim_schema nbody_integrate_schema = {SIM_SCHEMA(nbody_integrate, "integrate", "time stepping", integrate_fields)};

static void check_individual(const nbody_integrate *integrate, double softening, bool law, sim_faults *faults) {
  if (integrate->scheme != NBODY_LEAPFROG)
    sim_faults_add(faults, 0, "integrate.steps",
                   "expected \"shared\", got \"individual\", which is for leapfrog, not %s",
                   nbody_scheme_names[integrate->scheme]);
  else if (law)
    sim_faults_add(faults, 0, "integrate.steps",
                   "expected \"shared\", got \"individual\", which has no length scale with a pair law");
  else if (!(softening > 0))
    sim_faults_add(faults, 0, "integrate.steps",
                   "expected \"shared\", got \"individual\", which needs gravity.softening > 0");
  if (isnan(integrate->dt))
    sim_faults_add(faults, 0, "integrate.dt",
                   "expected a number, the longest step, with steps = \"individual\", got \"adaptive\"");
  if (!isnan(integrate->dt_max))
    sim_faults_add(faults, 0, "integrate.dt_max", "has no effect with steps = \"individual\": dt is the longest step");
}

void nbody_check_accuracy(nbody_integrate *integrate, sim_faults *faults) {
  const bool individual = integrate->steps == NBODY_INDIVIDUAL, adaptive = isnan(integrate->dt);
  if (!individual && integrate->levels != SIM_INT_KEYWORD)
    sim_faults_add(faults, 0, "integrate.levels", "has no effect with steps = \"shared\": expected \"individual\"");
  if (!individual && !adaptive && !isnan(integrate->eta))
    sim_faults_add(faults, 0, "integrate.eta",
                   "has no effect with steps of one fixed length: expected dt = \"adaptive\", or steps = "
                   "\"individual\"");
  if (!individual && !adaptive && !isnan(integrate->dt_max))
    sim_faults_add(faults, 0, "integrate.dt_max", "has no effect with a number for dt: expected dt = \"adaptive\"");
  if (individual && integrate->levels == SIM_INT_KEYWORD) integrate->levels = 10;
  if ((individual || adaptive) && isnan(integrate->eta))
    integrate->eta = integrate->scheme == NBODY_HERMITE4 ? 0.01 : integrate->scheme == NBODY_IAS15 ? 1e-9 : 0.2;
}

void nbody_check_time(const nbody_integrate *integrate, double softening, bool law, sim_faults *faults) {
  const size_t before = faults->count;
  if (integrate->steps == NBODY_INDIVIDUAL) check_individual(integrate, softening, law, faults);
  if (faults->count != before) return;
  if (isnan(integrate->dt)) {
    if (integrate->scheme == NBODY_IAS15) return;
    if (integrate->scheme == NBODY_WHFAST)
      sim_faults_add(faults, 0, "integrate.dt", "expected a number, got \"adaptive\": whfast has steps of one length");
    else if (integrate->scheme != NBODY_HERMITE4 && law)
      sim_faults_add(faults, 0, "integrate.dt",
                     "expected a number, got \"adaptive\": %s has no length scale with a pair law; use hermite4",
                     nbody_scheme_names[integrate->scheme]);
    else if (integrate->scheme != NBODY_HERMITE4 && !(softening > 0))
      sim_faults_add(faults, 0, "integrate.dt",
                     "expected a number, got \"adaptive\": %s then needs gravity.softening > 0; hermite4 does not",
                     nbody_scheme_names[integrate->scheme]);
    return;
  }
  const double steps = integrate->t_end / integrate->dt;
  if (!(steps <= 0x1p62))
    sim_faults_add(faults, 0, "integrate.dt", "expected at most 2^62 steps, got t_end/dt = %.9g", steps);
  else if (integrate->t_end - integrate->dt == integrate->t_end)
    sim_faults_add(faults, 0, "integrate.dt",
                   "expected a step that changes the time, got %.9g, below the rounding of t_end = %.9g", integrate->dt,
                   integrate->t_end);
}
