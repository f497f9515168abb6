/* What ends a run, and what it warns of. */
#include "kernels/fluid/run/run.h"

#include "engine/log.h"
#include "kernels/fluid/cpu/rheology.h"
#include "kernels/fluid/scenario/rules.h"

#include <math.h>
#include <stdio.h>

static bool has_open_side(const fluid_parameters *p) {
  for (int s = 0; s < FLUID_SIDES; s++)
    if (p->sides[s].given && !isnan(p->sides[s].pressure)) return true;
  return false;
}

/* A closed box keeps its mass, but for rounding and for bodies that move in it. `excess` as of fluid_ops.excess. */
static double mass_change(const fluid_run *run, double excess) {
  return has_open_side(run->p) || run->machine.motion
             ? 0
             : (excess - run->excess) / ((double)run->machine.walls.fluid + run->excess);
}
static const double mass_limit = 1e-3;

/* A cell and a time, for messages. */
static void place(const fluid_run *run, const fluid_worst *cell, int64_t step, char out[256]) {
  const grid_shape *g = &run->machine.grid;
  const int64_t at[3] = {cell->x, cell->row % g->n[1], cell->row / g->n[1]};
  snprintf(out, 256, "in cell {%lld, %lld, %lld}, at x = %.6g, y = %.6g, z = %.6g, step %lld, t = %.9g",
           (long long)at[0], (long long)at[1], (long long)at[2], grid_centre(g, 0, at[0]), grid_centre(g, 1, at[1]),
           grid_centre(g, 2, at[2]), (long long)step, (double)step * run->numbers.dt);
}

/* What may have driven the flow there, beside an unstable step: "; ...", or nothing. */
static void find_cause(const fluid_run *run, bool dense, char out[256]) {
  const fluid_parameters *p = run->p;
  const double buoyant = fluid_buoyant_speed(p, &run->warmth.levels);
  const int axis = fluid_free_axis(p);
  out[0] = '\0';
  if (buoyant > 2 * p->speed)
    snprintf(out, 256, "; buoyancy drives the fluid to a speed of about %.2g: set speed = %.2g", buoyant,
             fluid_round_up(buoyant, 2));
  else if (axis >= 0)
    snprintf(
        out, 256,
        "; the acceleration drives the fluid along %c, where no wall, body or resistance holds it: add one, or end "
        "the run earlier",
        "xyz"[axis]);
  else if (dense && fluid_moves(p))
    snprintf(
        out, 256,
        "; a body that moves compresses the fluid that it encloses: leave it a gap, or open a side with pressure = 0");
}

static sim_status fail_unstable(fluid_run *run, const fluid_seen *seen) {
  const fluid_numbers *k = &run->numbers;
  const fluid_worst *cell = &seen->cell;
  double excess;
  if (cell->hot) return fluid_heat_fail(&run->machine, seen->step, cell->row, cell->x, cell->temperature);
  SIM_TRY(run->ops->excess(run->work, &excess));
  run->shown = -1; /* it may have changed the fields */
  const double change = mass_change(run, excess), mach = sqrt(3) * cell->speed;
  char leak[96] = "", what[96], where[256], cause[256];
  const char *also = run->p->turbulence.given ? "" : ", `turbulence`";
  if (run->p->grains.count > 0) also = ", a shorter step (a lower `mach`) if a grain meets a wall or a grain fast";
  place(run, cell, seen->step, where);
  find_cause(run, cell->dense, cause);
  if (!cell->dense && cell->tau > 0)
    return sim_fail(SIM_ERR_DIVERGED,
                    "the viscosity is %.3g or %s, relaxation time %.4g, %s: expected one from %.3g to %.3g, which the "
                    "step and the cells allow: bound the function, or take %s",
                    (cell->tau - 0.5) * k->dx * k->dx / (3 * k->dt), cell->tau > 1 ? "more" : "less", cell->tau, where,
                    (FLUID_TAU_LEAST - 0.5) * k->dx * k->dx / (3 * k->dt),
                    (FLUID_TAU_MOST - 0.5) * k->dx * k->dx / (3 * k->dt),
                    cell->tau > 1 ? "a shorter step" : "more cells");
  if (fabs(change) > mass_limit && isfinite(change))
    snprintf(leak, sizeof leak, "; the mass has changed by %.3g %% since the start", 100 * change);
  if (cell->dense)
    snprintf(what, sizeof what, "the density is %.3g times that at rest", 1 + cell->rho1);
  else
    snprintf(what, sizeof what, "the speed is %.3g, Mach number %.3g,", cell->speed * k->dx / k->dt, mach);
  return sim_fail(
      SIM_ERR_DIVERGED,
      "%s %s: the flow is unstable or faster than `speed` (relaxation time %.6g, cell Reynolds number %.3g, "
      "Mach number of `speed` %.3g): take more cells, a higher viscosity%s, or a higher `speed` "
      "if the flow is that fast%s%s",
      what, where, k->tau, k->cell_reynolds, k->mach, also, cause, leak);
}

static void warn_fast(fluid_run *run, const fluid_seen *seen) {
  const double mach = sqrt(3) * seen->cell.speed, speed = seen->cell.speed * run->numbers.dx / run->numbers.dt;
  char where[256];
  place(run, &seen->cell, seen->step, where);
  run->fast = true;
  run->first[0] = (double)seen->step;
  run->first[1] = (double)seen->cell.row;
  run->first[2] = (double)seen->cell.x;
  sim_log(
      SIM_LOG_WARN,
      "the flow has the speed %.3g, Mach number %.3g, %s: compressibility errors of order mach^2, %.2g %%, and above "
      "Mach number %g the run ends: set speed = %.2g",
      speed, mach, where, 100 * mach * mach, FLUID_MACH_FASTEST, 1.1 * speed);
}

sim_status fluid_check_stable(fluid_run *run, const sim_clock *clock) {
  fluid_seen seen[FLUID_WARNINGS];
  if (run->checked == clock->step) return SIM_OK;
  SIM_TRY(run->ops->guards(run->work, clock->step, seen));
  run->checked = clock->step;
  if (seen[FLUID_WARN_FAST].seen && !run->fast) warn_fast(run, &seen[FLUID_WARN_FAST]);
  return seen[FLUID_WARN_END].seen ? fail_unstable(run, &seen[FLUID_WARN_END]) : SIM_OK;
}

sim_status fluid_show_fields(fluid_run *run, const sim_clock *clock) {
  if (run->shown == clock->step) return SIM_OK;
  SIM_TRY(fluid_check_stable(run, clock));
  run->shown = clock->step;
  return run->ops->show(run->work);
}

void fluid_warn_of_flow(fluid_run *run, const sim_clock *clock, const double *values) {
  const fluid_parameters *p = run->p;
  const double cell = p->density * pow(run->numbers.dx, run->machine.grid.rank);
  const double change = mass_change(run, values[FLUID_MASS] / cell - (double)run->machine.walls.fluid);
  if (fabs(change) > mass_limit && !run->told_mass) {
    run->told_mass = true;
    sim_log(SIM_LOG_WARN,
            "the mass has changed by %.3g %% by rounding at t = %.9g: forces are affected; take precision = \"double\"",
            100 * change, clock->t);
  }
  if (has_open_side(p)) run->dense = values[FLUID_MASS] / (cell * (double)run->machine.walls.fluid) - 1;
  const double speed = values[FLUID_SPEED], mach = values[FLUID_MACH];
  if (speed > 1.5 * p->speed && !run->fast && !run->told_speed) {
    run->told_speed = true;
    sim_log(SIM_LOG_WARN,
            "the flow has the speed %.3g, Mach number %.3g, at t = %.9g: more than `speed`, %.3g, which sets the time "
            "step: compressibility errors are of order mach^2, %.2g %%: set speed = %.2g",
            speed, mach, clock->t, p->speed, 100 * mach * mach, 1.1 * speed);
  }
}

void fluid_warn_of_heat(fluid_run *run, const sim_clock *clock, const fluid_heat_sums *sums) {
  const double part = fluid_heat_beyond(&run->warmth, sums);
  if (!(part > 0.05) || run->told_heat) return;
  run->told_heat = true;
  sim_log(SIM_LOG_WARN,
          "at t = %.9g a temperature is beyond those of the start and of the sides by %.2g %% of what these are apart, "
          "which no heat makes: take more cells or a higher diffusivity",
          clock->t, 100 * part);
}

void fluid_watch_porous(fluid_run *run, const sim_clock *clock, const double *row) {
  const int rank = run->machine.grid.rank;
  const double permeability = row[1 + rank], passed = clock->t - run->porous[0];
  double square = 0;
  for (int a = 0; a < rank; a++) square += row[1 + a] * row[1 + a];
  if (run->p->solid.given) run->inertia = sqrt(square * fmax(permeability, 0)) / run->p->viscosity;
  if (run->porous[1] != 0 && permeability != 0 && passed > 0)
    run->unsteady = fabs((permeability - run->porous[1]) / permeability) * clock->t / passed;
  run->porous[0] = clock->t;
  run->porous[1] = permeability;
}

/* The part of a permeability that inertia may take. J. C. Ward (J. Hydraulics Div. ASCE 90 (1964) HY5, 1): a pressure
 * gradient grows by 0.55 of the Reynolds number with the root of the permeability as a length. Below 1 the effect
 * begins with the square of that number (C. C. Mei and J.-L. Auriault, J. Fluid Mech. 222 (1991) 647), here joined to
 * it at 1; wide pores lose much less. */
static double lost_to_inertia(double reynolds) { return 0.55 * reynolds * fmin(reynolds, 1); }

/* Says of a porous box that its flow still changes, or is too fast for Darcy's law. */
static void remark_on_porous(const fluid_run *run, sim_bytes *out) {
  static const double percent = 0.01;
  if (run->unsteady > percent)
    sim_bytes_format(out,
                     "the permeability is not steady: at its last rate it changes by %.2g %% in the time of the run: "
                     "raise integrate.t_end",
                     100 * run->unsteady);
  if (lost_to_inertia(run->inertia) > percent)
    sim_bytes_format(
        out,
        "%sthe Reynolds number of the pores, darcy velocity times the root of the permeability over the "
        "viscosity, is %.2g: inertia may take up to some %.2g %% off the permeability, as in packed grains "
        "(in wide pores it takes down to a fortieth of that): lower what drives the flow until the "
        "permeability stays",
        out->size > 0 ? "; " : "", run->inertia, 100 * lost_to_inertia(run->inertia));
}

/* Says of a box with an open side that its flow has a mean density far from that at rest. Sounds of the start have died
 * out at the end. */
static void remark_on_density(const fluid_run *run, sim_bytes *out) {
  static const double much = 0.03;
  if (fabs(run->dense) > much)
    sim_bytes_format(
        out,
        "%sthe mean density is %.2g %% %s that at rest: pressures compress the fluid, and change the flow by "
        "about as much: take a lower mach",
        out->size > 0 ? "; " : "", 100 * fabs(run->dense), run->dense > 0 ? "above" : "below");
}

void fluid_report(const void *self, const sim_clock *clock, sim_bytes *out) {
  const fluid_run *run = self;
  (void)clock;
  if (run->change < run->p->steady)
    sim_bytes_format(out, "steady: in a step the velocity changes by %.3g of `speed`, less than %.3g\n", run->change,
                     run->p->steady);
}

static void remark_on_steady(const fluid_run *run, sim_bytes *out) {
  if (run->change >= run->p->steady)
    sim_bytes_format(out,
                     "%sthe flow is not steady: in a step the velocity changes by %.3g of `speed`, and steady = %.3g: "
                     "raise integrate.t_end",
                     out->size > 0 ? "; " : "", run->change, run->p->steady);
}

/* A flow that was too fast for its step, even if the warning has scrolled away; a porous box whose flow still changes;
 * one that is compressed. */
void fluid_remark(const void *self, const sim_clock *clock, sim_bytes *out) {
  const fluid_run *run = self;
  char where[256];
  (void)clock;
  remark_on_porous(run, out);
  remark_on_density(run, out);
  fluid_remark_on_bodies(run, out);
  remark_on_steady(run, out);
  if (!run->fast) return;
  place(run, &(fluid_worst){.row = (int64_t)run->first[1], .x = (int64_t)run->first[2]}, (int64_t)run->first[0], where);
  sim_bytes_format(out, "%sthe Mach number was above %g, first %s: compression changed the flow by %.0f %% or more",
                   out->size > 0 ? "; " : "", FLUID_MACH_FAST, where, 100 * FLUID_MACH_FAST * FLUID_MACH_FAST);
}
