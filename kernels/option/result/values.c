/* Values of the netted book along paths of the exposure, for a file. */
#include "kernels/option/run.h"

#include <stdlib.h>

sim_status option_value_dataset(option_run *run, sim_dataset *out) {
  const option_parameters *p = run->parameters;
  const option_exposures *e = run->exposure;
  const int64_t paths = p->exposure.values, assets = (int64_t)p->assets.count, dates = p->exposures;
  free(run->dataset);
  double *at = run->dataset = calloc((size_t)(paths + assets + dates), sizeof *run->dataset);
  if (at == NULL) return sim_no_memory("the exposure");
  for (int64_t i = 0; i < paths; i++) *at++ = (double)i;
  for (int64_t a = 0; a < assets; a++) *at++ = (double)a + 1;
  for (int64_t d = 0; d < dates; d++) *at++ = e->row[d].time;
  *out = (sim_dataset){
      .name = "exposure",
      .doc = "values of the netted book along the first paths of its exposure",
      .axes = {{.name = "path", .doc = "number of the path", .count = paths, .values = run->dataset},
               {.name = "asset", .doc = "number of the asset", .count = assets, .values = run->dataset + paths},
               {.name = "time", .doc = "time", .count = dates, .values = run->dataset + paths + assets}},
      .axis_count = 3,
      .variables = {{.name = "value",
                     .doc = "V(t) by the regressions, before the payments of that time, in its money",
                     .rank = 2,
                     .axis = {0, 2},
                     .data = e->value},
                    {.name = "price",
                     .doc = "price of each asset, after cash dividends of that time",
                     .rank = 3,
                     .axis = {0, 1, 2},
                     .data = e->price}},
      .variable_count = 2};
  return SIM_OK;
}
