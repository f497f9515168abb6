#include "kernels/nbody/cuda/laws.h"

static sim_status kernels_of_pairs(const nbody_options *options, bool single, int bodies, nbody_cuda_laws *out) {
  sim_bytes text = {0};
  nbody_cuda_pair_text form;
  sim_status status = nbody_cuda_write_pairs(options, single, bodies, &text, &form);
  const sim_source source = nbody_cuda_pairs_source(&text);
  if (status == SIM_OK) status = sim_module_create(&source, &out->pairs);
  if (status == SIM_OK) status = sim_module_kernel(out->pairs, "nbody_law_tile", &out->tile);
  if (status == SIM_OK && form.potential)
    status = sim_module_kernel(out->pairs, "nbody_law_potential", &out->potential);
  if (status == SIM_OK && options->jerk) status = sim_module_kernel(out->pairs, "nbody_law_start", &out->start);
  out->factor = form.factor;
  sim_bytes_free(&text);
  return status;
}

static sim_status kernels_of_external(const nbody_options *options, nbody_cuda_laws *out) {
  SIM_TRY(sim_module_kernel(out->bodies, "nbody_law_finish", &out->finish));
  SIM_TRY(sim_module_kernel(out->bodies, "nbody_law_kick", &out->kick));
  SIM_TRY(sim_module_kernel(out->bodies, "nbody_law_kick_drift", &out->kick_drift));
  SIM_TRY(sim_module_kernel(out->bodies, "nbody_law_outer", &out->outer));
  return options->jerk ? sim_module_kernel(out->bodies, "nbody_law_correct", &out->correct) : SIM_OK;
}

static sim_status kernels_of_bodies(const nbody_options *options, bool single, nbody_cuda_laws *out) {
  sim_bytes text = {0};
  sim_status status = nbody_cuda_write_bodies(options, single, &text);
  const sim_source source = nbody_cuda_bodies_source(&text);
  if (status == SIM_OK) status = sim_module_create(&source, &out->bodies);
  if (status == SIM_OK && options->laws.external) status = kernels_of_external(options, out);
  if (status == SIM_OK && options->observe && options->observe->count > 0) {
    status = sim_module_kernel(out->bodies, "nbody_law_observe", &out->observe);
    if (status == SIM_OK) status = sim_module_kernel(out->bodies, "nbody_law_gather", &out->gather);
  }
  sim_bytes_free(&text);
  return status;
}

sim_status nbody_cuda_laws_create(const nbody_options *options, bool single, int bodies, nbody_cuda_laws *out) {
  *out = (nbody_cuda_laws){.factor = 1};
  if (options->laws.pair && !options->laws.alone) SIM_TRY(kernels_of_pairs(options, single, bodies, out));
  if (options->laws.external || (options->observe && options->observe->count > 0))
    SIM_TRY(kernels_of_bodies(options, single, out));
  return SIM_OK;
}

void nbody_cuda_laws_destroy(nbody_cuda_laws *laws) {
  sim_module_free(&laws->pairs);
  sim_module_free(&laws->bodies);
  *laws = (nbody_cuda_laws){.factor = 1};
}
