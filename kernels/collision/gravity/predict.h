/* Positions of grains after some time without other forces. C and nvcc compile this text. */
#ifndef COLLISION_GRAVITY_PREDICT_H
#define COLLISION_GRAVITY_PREDICT_H

#include "kernels/collision/hill_motion.h"

#include <math.h>

/* hill: whether `flow` moves the grains, along y of a box with this middle and size; else straight on. */
typedef struct collision_prediction {
  hill_flow flow;
  double ahead, middle_y, size_y;
  int hill;
} collision_prediction;

HILL_INLINE void collision_predict(const collision_prediction *p, double x[3], double v[3]) {
  if (p->hill) {
    hill_advance(&p->flow, x, v);
    const double y = x[1] - p->middle_y;
    if (fabs(y) > p->size_y) x[1] -= p->size_y * rint(y / p->size_y); /* far along the flow of a long step */
  } else
    for (int c = 0; c < 3; c++) x[c] += v[c] * p->ahead;
}

#endif
