#include "kernels/nbody/direct/direct.h"

sim_status nbody_direct_count(const nbody_options *options, double n, nbody_cost *out) {
  const nbody_laws *laws = &options->laws;
  double pair = 0;
  out->interactions = n * (laws->no_pairs ? 1 : n);
  out->additions = 0;
  out->most_ranks = laws->no_pairs ? 1 : 0;
  if (laws->no_pairs) return SIM_OK;
  SIM_TRY(nbody_laws_work(laws->pair, options->jerk ? 2 : 1, &pair));
  out->additions = n * n * pair;
  return SIM_OK;
}
