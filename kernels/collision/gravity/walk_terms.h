/* Contribution of a cell or a grain to the attraction of one grain, and the choice of cells that are taken as a whole.
 * C and nvcc compile this text: both devices give the same bits. */
#ifndef COLLISION_GRAVITY_WALK_TERMS_H
#define COLLISION_GRAVITY_WALK_TERMS_H

#include "kernels/collision/gravity/cells.h"

/* An image of the box: displacement of its grains, its number along x, and the edge of the region that attracts: up to
 * `edge` from a target along x and y. */
typedef struct collision_image {
  double x, y, number, edge[2];
} collision_image;

/* softening2: square of the softening; blur: radius below which a cell that the edge cuts is not opened. */
typedef struct collision_walk_numbers {
  double softening2, opening, blur;
} collision_walk_numbers;

typedef struct walk_pull {
  double x, y, z, potential;
} walk_pull;

/* Attraction by a mass m at (dx, dy, dz) from the target; itself: the mass is the target and does not attract. */
WALK_INLINE walk_pull walk_point(double m, double dx, double dy, double dz, bool itself, double softening2,
                                 const double edge[2]) {
  const double square = itself ? 1 : dx * dx + dy * dy + dz * dz + softening2;
  const double counted = !itself & (fabs(dx) <= edge[0]) & (fabs(dy) <= edge[1]) ? m : 0;
  const double y1 = 1 / sqrt(square), f = counted * y1 * y1 * y1;
  const walk_pull out = {f * dx, f * dy, f * dz, counted * y1};
  return out;
}

/* Share of a cell within an edge, if the cell is uniform; `inside`: distance from its centre to the edge. */
WALK_INLINE double walk_share(double inside, double slope) {
  const double share = 0.5 + inside * slope, most = share < 1 ? share : 1;
  return most > 0 ? most : 0;
}

/* Attraction by a cell with its centre of mass at (dx, dy, dz) from the target; edge: INFINITY where all counts. */
WALK_INLINE walk_pull walk_cell(double mass, const double s[6], double trace, const double slope[2], double dx,
                                double dy, double dz, double softening2, const double edge[2]) {
  const double counted = walk_share(edge[0] - fabs(dx), slope[0]) * walk_share(edge[1] - fabs(dy), slope[1]);
  const double y2 = 1 / (dx * dx + dy * dy + dz * dz + softening2), y1 = counted * sqrt(y2), y3 = y1 * y2, y5 = y3 * y2;
  const double sx = s[0] * dx + s[3] * dy + s[5] * dz, sy = s[3] * dx + s[1] * dy + s[4] * dz,
               sz = s[5] * dx + s[4] * dy + s[2] * dz, q = sx * dx + sy * dy + sz * dz;
  const double f = mass * y3 + (7.5 * q * y2 - 1.5 * trace) * y5, h = -3 * y5;
  const walk_pull out = {f * dx + h * sx, f * dy + h * sy, f * dz + h * sz,
                         mass * y1 + 0.5 * (3 * q * y5 - trace * y3)};
  return out;
}

typedef enum walk_choice { WALK_SKIP, WALK_TAKE, WALK_CUT, WALK_OPEN } walk_choice;

/* Chooses what to do with an image of a cell: skip it, take it as a whole, take the share within the edge, or open it.
 * Its centre is at (x, y, z) from the centre of a group of targets with this radius. */
WALK_INLINE walk_choice walk_choose(const collision_cell *c, const collision_image *im, const collision_walk_numbers *w,
                                    double x, double y, double z, double radius) {
  const double reach = c->radius + radius, far = radius + c->radius / w->opening;
  const double beyond = fmax(fabs(x) - im->edge[0], fabs(y) - im->edge[1]);
  if (beyond > reach) return WALK_SKIP;
  const bool whole = beyond <= -reach;
  if (!(w->opening > 0 && (whole || c->radius < w->blur) && far * far < x * x + y * y + z * z)) return WALK_OPEN;
  return whole ? WALK_TAKE : WALK_CUT;
}

/* Whether an image of a grain, at (x, y) from the centre of a group of targets, is beyond the edge for all of them. */
WALK_INLINE bool walk_beyond(const collision_image *im, double x, double y, double radius) {
  return fmax(fabs(x) - im->edge[0], fabs(y) - im->edge[1]) > radius;
}

#endif
