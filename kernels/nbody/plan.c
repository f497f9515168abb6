/* Plan of a run: its operations, the options of its solver, its memory and its work. */
#include "kernels/nbody/cosmos/power.h"
#include "kernels/nbody/few/few.h"
#include "kernels/nbody/run.h"

#include <math.h>

const nbody_ops *nbody_ops_for(const nbody_parameters *p, const sim_setup *setup) {
  static const nbody_ops *const ops[SIM_BACKEND_KINDS][2] = {
      [SIM_BACKEND_CPU] = {&nbody_ops_cpu_f64, &nbody_ops_cpu_f32},
#ifdef SIM_HAS_CUDA
      [SIM_BACKEND_CUDA] = {&nbody_ops_cuda_f64, &nbody_ops_cuda_f32},
#endif
  };
  return ops[setup->backend->kind][p->common.precision == SIM_SINGLE];
}

double nbody_box_of(const nbody_parameters *p) { return p->box.given ? p->box.size : 0; }

/* Median of the force errors that the scenario asks for. Forces in a periodic box cancel: between bodies at random to
 * about a fifth of the forces for which the settings of multipoles were measured, at the start of an expanding universe
 * to a hundredth or less. */
enum { BOX_CANCELS = 5, EXPANSION_CANCELS = 100 };
double nbody_asked_error(const nbody_parameters *p) {
  if (p->gravity.error > 0) return p->gravity.error;
  return p->expansion.given ? EXPANSION_CANCELS * NBODY_ERROR : NBODY_ERROR;
}

/* Factor by which multipoles are set for smaller errors than the scenario asks for. At the start from a power spectrum
 * accelerations are 4 pi G times the density times the displacements, of root mean square psi (Zel'dovich). Measured
 * for 16^3 and 32^3 bodies in boxes of 64, 200 and 1000 Mpc/h: multipoles that are set for an error e have a median
 * error of 0.07 e to 0.25 e of 4 pi G times the density times the edge of the box, whatever psi is. */
static double finer_for(const nbody_parameters *p) {
  const nbody_zeldovich *z = nbody_zeldovich_of(p);
  const nbody_expansion *e = &p->expansion;
  if (!p->box.given) return 1;
  if (!e->given) return BOX_CANCELS;
  if (z == NULL) return EXPANSION_CANCELS;
  const nbody_power power = nbody_power_of(z, e);
  const double growth = nbody_growth(e, e->a_start) / nbody_growth(e, 1);
  return 0.25 * p->box.size / (growth * nbody_lattice_displacement(&power, p->box.size, z->n));
}

nbody_options nbody_options_for(const nbody_parameters *p, const nbody_laws *laws, const sim_setup *setup, int64_t n,
                                double spread) {
  const double finer = finer_for(p);
  const bool cpu_single = setup->backend->kind == SIM_BACKEND_CPU && p->common.precision != SIM_DOUBLE;
  nbody_options out = {
      .n = n,
      .single_pairs = p->common.precision != SIM_DOUBLE,
      .jerk = p->integrate.scheme == NBODY_HERMITE4,
      .few = nbody_scheme_is_few(p->integrate.scheme),
      .individual = p->integrate.steps == NBODY_INDIVIDUAL,
      .levels = (int)p->integrate.levels,
      .eta = p->integrate.eta,
      .isa = setup->isa,
      .threads = setup->threads,
      .comm = setup->comm,
      .G = p->gravity.G,
      .softening = p->gravity.softening,
      .box = nbody_box_of(p),
      .cutoff = p->cutoff > 0 ? p->cutoff : 0,
      .shifted = p->shift == NBODY_SHIFT_POTENTIAL,
      .listed = setup->saved != NULL,
      .method = (nbody_method)p->gravity.solver,
      .fmm = nbody_fmm_settings_for(nbody_asked_error(p) / finer, p->gravity.error_tail / finer, (double)n, cpu_single),
      .spread = spread,
      .laws = *laws,
      .observe = p->observe.count > 0 ? &p->observe : NULL};
  if (setup->saved != NULL) nbody_saved_method(setup->saved, &out);
  return out;
}

sim_status nbody_plan(const void *parameters, const sim_setup *setup, sim_plan *out) {
  const nbody_parameters *p = parameters;
  const nbody_ops *ops = nbody_ops_for(p, setup);
  double n, made = 0;
  if (setup->saved != NULL) {
    int64_t bodies;
    SIM_TRY(nbody_saved_check(&p->integrate, nbody_box_of(p), setup->saved, &bodies));
    n = (double)bodies;
  } else {
    nbody_groups groups;
    SIM_TRY(nbody_groups_list(p, setup, &groups));
    n = groups.n;
    made = nbody_bodies_bytes(&groups, p->recentre, setup->threads, 3 * n * (double)sim_dtype_size(ops->dtype));
    nbody_groups_free(&groups);
  }
  nbody_laws laws;
  SIM_TRY(nbody_laws_create(p, &laws));
  const nbody_options options = nbody_options_for(p, &laws, setup, (int64_t)fmin(n, 0x1p61), 0);
  nbody_choice choice;
  double host = 0, device = 0, scratch = 0;
  sim_status status = nbody_solver_choose(&options, setup->backend->kind, &choice);
  if (status == SIM_OK) {
    choice.solver->bytes(&options, &host, &device);
    if (choice.other != NULL) {
      double other_host = 0, other_device = 0;
      choice.other->bytes(&options, &other_host, &other_device);
      host = fmax(host, other_host), device = fmax(device, other_device);
      made = fmax(made, nbody_settle_bytes(n));
    }
    if (choice.other == NULL && choice.solver->room != NULL) out->room_bytes = choice.solver->room(&options);
    scratch = ops->bytes(&options);
    status = nbody_estimate(p, &options, choice.solver, setup->backend->kind, n, out);
  }
  nbody_laws_free(&laws);
  SIM_TRY(status);
  const double real = (double)sim_dtype_size(ops->dtype);
  const nbody_few *few = nbody_few_of(p->integrate.scheme);
  const double lists = !(p->cutoff > 0) ? 0 : 6 * n * sizeof(double);
  const double shown = n * (sizeof(uint64_t) + 7 * real + (p->merge ? sizeof(double) : 0));
  double kept = n * sizeof(double) * (options.jerk ? 6 : 3);
  kept += lists;
  if (few != NULL) {
    kept += few->numbers(n) * sizeof(double);
    scratch += few->bytes(n);
  }
  sim_plan_add_host(out, "numbers of bodies", n * sizeof(uint64_t));
  sim_plan_add(out, "bodies", shown + kept - n * sizeof(uint64_t));
  sim_plan_add(out, "integrator", scratch);
  if (host > 0) sim_plan_add_host(out, choice.name, host);
  if (device > 0) sim_plan_add(out, choice.name, device);
  const double spectrum = nbody_run_spectrum_bytes(p, setup, ops->dtype, n);
  if (spectrum > 0) sim_plan_add_host(out, "spectrum", spectrum);
  const double rdf = nbody_rdf_bytes(p, setup, ops->dtype, n);
  if (rdf > 0) sim_plan_add_host(out, "g(r)", rdf);
  if (setup->saved == NULL) nbody_rdf_warn(p, n);
  /* the memory of the generated bodies is freed before integrator and solver allocate theirs */
  made -= host + spectrum + (out->space == SIM_SPACE_HOST ? scratch : 0);
  if (made > 0) sim_plan_add_host(out, "bodies while they are made", made);
  out->snapshot_bytes = shown;
  out->staged_bytes = shown - n * sizeof(uint64_t);
  out->checkpoint_bytes = shown + kept + (NBODY_CONTROLS + (p->thermostat.given ? NBODY_BATH : 0)) * sizeof(double);
  return SIM_OK;
}
