#include "kernels/nbody/cuda/functions.h"

static sim_status external_kernels(const nbody_options *options, nbody_cuda_functions *out) {
  SIM_TRY(sim_module_kernel(out->module, "nbody_external_finish", &out->finish));
  SIM_TRY(sim_module_kernel(out->module, "nbody_external_kick", &out->kick));
  SIM_TRY(sim_module_kernel(out->module, "nbody_external_kick_drift", &out->kick_drift));
  SIM_TRY(sim_module_kernel(out->module, "nbody_external_energy", &out->energy));
  return options->jerk ? sim_module_kernel(out->module, "nbody_external_correct", &out->correct) : SIM_OK;
}

sim_status nbody_cuda_functions_create(const nbody_options *options, bool single, nbody_cuda_functions *out) {
  const bool observe = options->observe && options->observe->count > 0;
  *out = (nbody_cuda_functions){0};
  if (!options->laws.external && !observe) return SIM_OK;
  sim_bytes text = {0};
  sim_status status = nbody_cuda_functions_write(options, single, &text);
  const sim_source source = nbody_cuda_functions_source(&text);
  if (status == SIM_OK) status = sim_module_create(&source, &out->module);
  if (status == SIM_OK && options->laws.external) status = external_kernels(options, out);
  if (status == SIM_OK && observe) status = sim_module_kernel(out->module, "nbody_observe", &out->observe);
  if (status == SIM_OK && observe) status = sim_module_kernel(out->module, "nbody_gather", &out->gather);
  sim_bytes_free(&text);
  return status;
}

void nbody_cuda_functions_destroy(nbody_cuda_functions *functions) {
  sim_module_free(&functions->module);
  *functions = (nbody_cuda_functions){0};
}
