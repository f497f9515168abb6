#include "kernels/nbody/direct/cuda/custom_law.h"

sim_status nbody_cuda_custom_law_create(const nbody_options *options, bool single, int bodies,
                                        nbody_cuda_custom_law *out) {
  *out = (nbody_cuda_custom_law){.factor = 1};
  if (!options->laws.pair || options->laws.no_pairs) return SIM_OK;
  sim_bytes text = {0};
  nbody_custom_law_text form;
  sim_status status = nbody_custom_law_write(options, single, bodies, &text, &form);
  const sim_source source = nbody_custom_law_source(&text);
  if (status == SIM_OK) status = sim_module_create(&source, &out->module);
  if (status == SIM_OK) status = sim_module_kernel(out->module, "nbody_custom_tile", &out->tile);
  if (status == SIM_OK && form.potential)
    status = sim_module_kernel(out->module, "nbody_custom_potential", &out->potential);
  if (status == SIM_OK && options->jerk) status = sim_module_kernel(out->module, "nbody_custom_start", &out->start);
  out->factor = form.factor;
  sim_bytes_free(&text);
  return status;
}

void nbody_cuda_custom_law_destroy(nbody_cuda_custom_law *law) {
  sim_module_free(&law->module);
  *law = (nbody_cuda_custom_law){.factor = 1};
}
