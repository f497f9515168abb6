/* The laws of all pairs of materials, for one precision: `real` is defined before this is included. */
#ifndef COLLISION_LAW_REAL_H
#define COLLISION_LAW_REAL_H

#include "kernels/collision/scenario/options.h"
#include "kernels/collision/general/physics.h"

static inline void contact_laws(const collision_options *o,
                                contact_law out[COLLISION_MATERIALS_MAX][COLLISION_MATERIALS_MAX]) {
  for (int a = 0; a < o->materials; a++)
    for (int b = 0; b < o->materials; b++) {
      const collision_law *from = &o->law[a][b];
      contact_law *to = &out[a][b];
      to->k0 = (real)from->k0;
      to->km = (real)from->km;
      to->g0 = (real)from->g0;
      to->gh = (real)from->gh;
      to->gm = (real)from->gm;
      to->tangential = (real)from->tangential;
      to->kn = (real)(4.0 / 3.0 * from->E);
      to->kt = (real)(8 * from->G);
      to->gn = (real)(from->beta * sqrt(2 * from->E));
      to->gt = (real)(from->beta * sqrt(8 * from->G));
      to->friction = (real)from->friction;
      to->rolling = (real)from->rolling;
      to->twisting = (real)from->twisting;
      to->pull = (real)from->pull;
      to->limited = (real)from->limited;
    }
}

#endif
