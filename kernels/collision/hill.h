/* Hill's equations for the options of a run. */
#ifndef COLLISION_HILL_H
#define COLLISION_HILL_H

#include "kernels/collision/gravity/predict.h"
#include "kernels/collision/scenario/options.h"

#include <math.h>

static inline hill_flow hill_flow_of(const collision_options *o, double dt) {
  const double kappa2 = o->kappa * o->kappa;
  return (hill_flow){.omega = o->omega,
                     .kappa = o->kappa,
                     .nu = o->vertical,
                     .dt = dt,
                     .centre = 2 * o->omega / kappa2,
                     .wide = 2 * o->omega / kappa2,
                     .drift = o->shear * dt,
                     .sine = sin(o->kappa * dt),
                     .half = tan(0.5 * o->kappa * dt),
                     .sine_z = sin(o->vertical * dt),
                     .half_z = tan(0.5 * o->vertical * dt),
                     .middle = {o->low[0] + 0.5 * o->size[0], o->low[2] + 0.5 * o->size[2]},
                     .tide = 2 * o->omega * o->shear};
}

static inline collision_prediction collision_prediction_of(const collision_options *o, double ahead) {
  return (collision_prediction){.flow = hill_flow_of(o, ahead),
                                .ahead = ahead,
                                .middle_y = o->low[1] + 0.5 * o->size[1],
                                .size_y = o->size[1],
                                .hill = o->hill};
}

#endif
