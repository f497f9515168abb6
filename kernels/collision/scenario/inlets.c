/* Numbers and sizes of the grains that inlets insert. */
#include "kernels/collision/scenario/sizes.h"

#include <math.h>

double collision_inlet_total(const collision_inlet *inlet, double t) {
  const double end = inlet->stop < t ? inlet->stop : t;
  const double total = fmax(0, floor(inlet->rate * (end - inlet->start) * (1 + 1e-12)));
  return inlet->limit < total ? inlet->limit : total;
}

double collision_flow_total(const collision_parameters *p, double n) {
  for (size_t i = 0; i < p->insert.count; i++) n += collision_inlet_total(p->insert.items[i].data, p->integrate.t_end);
  return n;
}

bool collision_flow_varies(const collision_parameters *p) {
  bool varies = p->insert.count > 0 || p->remove.count > 0;
  for (int s = 0; s < 6; s++) varies = varies || p->box.sides[s] == COLLISION_OUTLET;
  return varies;
}

/* Estimated number of an inlet's grains in flight, if they fall or fly through the empty box: twice the number that it
 * inserts in the time of flight. */
static double on_their_way(const collision_parameters *p, const collision_inlet *inlet) {
  double way = 0, speed = 0, fall = 0;
  for (int c = 0; c < 3; c++) {
    way += p->box.size[c];
    speed += inlet->group.velocity[c] * inlet->group.velocity[c];
    fall += p->gravity[c] * p->gravity[c];
  }
  speed = sqrt(speed);
  const double time = 2 * way / (speed + sqrt(speed * speed + 2 * sqrt(fall) * way)); /* infinite at rest */
  return 2 * fmin(inlet->rate * time, collision_inlet_total(inlet, p->integrate.t_end));
}

/* Number of grains of the inlets' sizes that fill the whole box in random packing. */
static double packed(const collision_parameters *p) {
  double volume = INFINITY;
  for (size_t k = 0; k < p->insert.count; k++) {
    double least, most;
    collision_radii_bounds(&((const collision_inlet *)p->insert.items[k].data)->size, &least, &most);
    volume = fmin(volume, 4 * COLLISION_PI / 3 * pow(least * most, 1.5));
  }
  return 0.64 * p->box.size[0] * p->box.size[1] * p->box.size[2] / volume;
}

double collision_flow_estimate(const collision_parameters *p, double n) {
  bool goes = p->remove.count > 0, open = false;
  double passing = n;
  for (int s = 0; s < 6; s++) {
    goes = goes || p->box.sides[s] == COLLISION_OUTLET;
    open = open || p->box.sides[s] == COLLISION_OPEN;
  }
  for (size_t k = 0; k < p->insert.count; k++) passing += on_their_way(p, p->insert.items[k].data);
  double most = collision_flow_total(p, n);
  if (goes) most = fmin(most, passing);
  if (!open) most = fmin(most, packed(p));
  return fmax(1, ceil(fmax(n, most)));
}
