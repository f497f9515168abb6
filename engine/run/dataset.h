/* Results with named axes, which a model gives at the end of a run. Each dataset becomes a file of its own. */
#ifndef SIM_ENGINE_DATASET_H
#define SIM_ENGINE_DATASET_H

#include <stdint.h>

enum { SIM_AXES_MAX = 4, SIM_VARIABLES_MAX = 8 };

/* An axis, with a number or a label for each of its points. `unit`: of its numbers, such as "years"; NULL: not told. */
typedef struct sim_axis {
  const char *name, *doc, *unit;
  int64_t count;
  const double *values;      /* [count]; NULL: labels */
  const char *const *labels; /* [count]; NULL: values */
} sim_axis;

/* An array over some of the axes: data[count of axis[0]][count of axis[1]]..., in host memory. `unit` as of an axis. */
typedef struct sim_variable {
  const char *name, *doc;
  int rank, axis[SIM_AXES_MAX]; /* indices of sim_dataset.axes */
  const double *data;
  const char *unit;
} sim_variable;

/* All pointers are borrowed from the model. */
typedef struct sim_dataset {
  const char *name; /* of the file, without .h5 */
  const char *doc;
  sim_axis axes[SIM_AXES_MAX];
  int axis_count;
  sim_variable variables[SIM_VARIABLES_MAX];
  int variable_count;
} sim_dataset;

#endif
