#include "kernels/collision/scenario/spread.h"

#include "kernels/collision/scenario/fields.h"

#include <math.h>

/* Share of its volume that a packing of spheres fills, and the density in diameters^-3 of the grains that nearly touch
 * one of them: 8 lie in the shell from 1 to 1.15 diameters, whose volume is 2.18. */
static const double packed = 0.6, packed_pairs = 3.7;

static bool is_bed(const collision_options *o) {
  for (int c = 0; c < 3; c++)
    if (o->gravity[c] != 0 && !o->periodic[c]) return true;
  return false;
}

collision_spread collision_spread_of(const collision_options *o) {
  const double n = (double)o->n, d = o->radius_least + o->radius_most;
  if (!(d > 0 && d < INFINITY)) return (collision_spread){.n = n};
  const double grain = COLLISION_PI / 6 * d * d * d, box = o->size[0] * o->size[1] * o->size[2];
  const double volume = fmin(box, is_bed(o) ? n * grain / packed : INFINITY);
  return (collision_spread){.n = n,
                            .diameter = d,
                            .density = n / volume,
                            .filled = fmin(packed, n * grain / volume),
                            .area = is_bed(o) && o->gravity[0] != 0 ? o->size[1] * o->size[2] : volume / o->size[0]};
}

/* Density of other grains in the shell of this thickness around a grain, from contact on. The pair distribution
 * of hard spheres at contact is that of Carnahan and Starling (1969); from there it falls to 1 over some 0.06 diameters
 * divided by the filled share, which is read from tables of it. */
static double pairs(const collision_spread *s, double cutoff) {
  const double empty = 1 - s->filled, contact = (1 - 0.5 * s->filled) / (empty * empty * empty);
  const double falls = cutoff / s->diameter * s->filled / 0.06, mean = falls > 0 ? -expm1(-falls) / falls : 1;
  return fmin(s->density * (1 + (contact - 1) * mean), packed_pairs / (s->diameter * s->diameter * s->diameter));
}

static double sphere(double r) { return 4 * COLLISION_PI / 3 * r * r * r; }

double collision_spread_neighbours(const collision_spread *s, double cutoff) {
  return pairs(s, cutoff) * (sphere(s->diameter + cutoff) - sphere(s->diameter));
}

/* Volume of the part of a sphere of radius r that lies beyond a plane at a distance z from its centre. */
static double cap(double r, double z) { return z < r ? COLLISION_PI / 3 * (r - z) * (r - z) * (2 * r + z) : 0; }

/* A grain at a distance z from the cut has such a neighbour unless the shell beyond the cut is empty. */
double collision_spread_beside(const collision_spread *s, double cutoff) {
  enum { STEPS = 200 };
  const double reach = s->diameter + cutoff, dz = reach / STEPS, density = pairs(s, cutoff);
  double sum = 0;
  for (int k = 0; k < STEPS; k++) {
    const double z = (k + 0.5) * dz;
    sum += dz * -expm1(-density * (cap(reach, z) - cap(s->diameter, z)));
  }
  return s->density * s->area * sum;
}
