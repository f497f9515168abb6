/* The table `spectrum` of a run, measured on the host for bodies on any device. */
#include "kernels/nbody/run.h"

#include <math.h>
#include <stdlib.h>

double nbody_run_spectrum_bytes(const nbody_parameters *p, const sim_setup *setup, sim_dtype dtype, double n) {
  if (p->spectrum == 0) return 0;
  const double staged = setup->backend->kind == SIM_BACKEND_CPU ? 0 : 4 * n * (double)sim_dtype_size(dtype);
  return nbody_spectrum_bytes(p->spectrum, setup->threads) + staged;
}

sim_status nbody_create_spectrum(nbody_run *run, const nbody_parameters *p, const sim_setup *setup) {
  if (p->spectrum == 0) return SIM_OK;
  const nbody_zeldovich *z = nbody_zeldovich_of(p);
  nbody_power power;
  if (z != NULL) power = nbody_power_of(z, &p->expansion);
  SIM_TRY(nbody_spectrum_create(p->spectrum, nbody_box_side(p), z != NULL ? &power : NULL, setup->isa, setup->threads,
                                &run->spectrum));
  if (run->position.space == SIM_SPACE_HOST) return SIM_OK;
  run->staged = malloc(sim_buffer_bytes(&run->mass) + sim_buffer_bytes(&run->position));
  return run->staged != NULL ? SIM_OK : sim_no_memory("the spectrum of %lld bodies", (long long)run->n);
}

sim_status nbody_observe_spectrum(nbody_run *run, double a, double *values) {
  const void *mass = run->mass.data, *position = run->position.data;
  if (run->staged != NULL) {
    char *const positions = (char *)run->staged + sim_buffer_bytes(&run->mass);
    SIM_TRY(run->backend->copy(run->staged, mass, sim_buffer_bytes(&run->mass)));
    SIM_TRY(run->backend->copy(positions, position, sim_buffer_bytes(&run->position)));
    mass = run->staged;
    position = positions;
  }
  nbody_spectrum_measure(run->spectrum, run->ops->dtype, run->n, mass, position, values);
  const double *linear = nbody_spectrum_linear(run->spectrum);
  if (linear == NULL) return SIM_OK;
  const int shells = nbody_spectrum_shells(run->spectrum);
  const double growth = nbody_growth(&run->expansion, a) / nbody_growth(&run->expansion, 1);
  for (int i = 0; i < shells; i++) values[1 + shells + i] = growth * growth * linear[i];
  return SIM_OK;
}
