/* Potentials of a scenario in periodic boxes. */
#ifndef LAWS_SIDES_H
#define LAWS_SIDES_H

#include "engine/expr/expr.h"

/* Warns where a potential, the only output of `external` (NULL or more outputs: nothing is done), differs between two
 * sides of a box that is periodic along that axis, at time t: `low`, `size` and `periodic` of x, y, z. Other inputs are
 * 0. SIM_ERR_NO_MEMORY. */
sim_status laws_check_sides(const sim_expr *external, const double low[3], const double size[3], const bool periodic[3],
                            double t) SIM_MUST_CHECK;

#endif
