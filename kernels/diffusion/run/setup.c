/* Shared by the beginning of a run and its plan: the operations, the state's fields, and the checks of devices. */
#include "kernels/diffusion/run/run.h"

#include "engine/log.h"

#include <math.h>
#include <stdio.h>

const sim_field diffusion_state[] = {
    /* the name changes when the order of coefficients changes, so that older checkpoints are refused */
    {.name = "coefficients",
     .type = SIM_REAL,
     .doc = "spectral coefficients of the fields, in the order of the solver"},
    {.name = "level", .type = SIM_REAL, .doc = "dt = \"auto\": the next step is 2^level"},
    {.name = "begin", .type = SIM_REAL, .doc = "time and step from which steps are counted, after a change of t_end"},
    {.name = "twin", .type = SIM_REAL, .doc = "lyapunov: coefficients of the second run"},
    {.name = "lyapunov", .type = SIM_REAL, .doc = "lyapunov: the distance of the second run and how it has grown"},
    {.name = "implicit", .type = SIM_REAL, .doc = "rodas3: systems solved, their iterations, and the most of one"},
    {.name = NULL},
};

const diffusion_ops *diffusion_ops_of(const sim_setup *setup) {
  static const diffusion_ops *const ops[SIM_BACKEND_KINDS] = {
      [SIM_BACKEND_CPU] = &diffusion_ops_cpu,
#ifdef SIM_HAS_CUDA
      [SIM_BACKEND_CUDA] = &diffusion_ops_cuda,
#endif
  };
  return ops[setup->backend->kind];
}

void diffusion_run_extent(const void *parameters, sim_extent *out) {
  const grid_shape grid = diffusion_grid_of(parameters);
  grid_extent(&grid, out);
}

/* Reports steps whose length differs from the scenario's, for the time that is left from `begin` on. */
void diffusion_say_steps(const diffusion_integrate *left, double t_end, double begin) {
  const double h = diffusion_dt(left);
  char from[64] = "";
  if (begin > 0) snprintf(from, sizeof from, " from t = %.9g on", begin);
  if (isnan(left->dt) || h == left->dt) return;
  if (left->dt > left->t_end)
    sim_log(SIM_LOG_WARN, "integrate.dt: %.9g is longer than the run%s, which ends at t_end = %.9g: one step of %.9g",
            left->dt, from, t_end, h);
  else
    sim_log(SIM_LOG_INFO, "integrate.dt: %.9g does not divide the run%s, to t_end = %.9g: %lld steps of %.9g", left->dt,
            from, t_end, (long long)diffusion_steps(left), h);
}

sim_status diffusion_check_device(const diffusion_parameters *p, const sim_setup *setup) {
  const diffusion_ops *ops = diffusion_ops_of(setup);
  diffusion_parameters fine = *p;
  double n[3];
  diffusion_refine(&fine, n);
  return ops->check ? ops->check(&fine, setup) : SIM_OK;
}
