#include "kernels/collision/gravity/walk.h"

/* Image (number, row) of the box: by what its grains are moved, and what counts of them: places up to `edge` from a
 * target along x and y. */
typedef struct image {
  double x, y, number, edge[2];
} image;

static image image_at(const collision_images *im, int n, int m) {
  if (isinf(im->size[0])) return (image){.edge = {INFINITY, INFINITY}};
  const double ahead = n * im->offset, most = im->rings + 0.5;
  return (image){n * im->size[0],
                 ahead - im->size[1] * rint(ahead / im->size[1]) + m * im->size[1],
                 n,
                 {most * im->size[0], most * im->size[1]}};
}

/* Adds a mass at (x, y, z) from the group's centre to what those of the group feel that it counts for, within the edge
 * of its image; self: its place, for the image that is the box itself, or -1. */
static void add_point(collision_walk_group *g, const image *im, double m, double x, double y, double z,
                      double softening2, double self) {
  for (int i = 0; i < COLLISION_LEAF; i++) {
    const double dx = x - g->x[i], dy = y - g->y[i], dz = z - g->z[i];
    const bool itself = g->place[i] == self;
    const double square = itself ? 1 : dx * dx + dy * dy + dz * dz + softening2;
    const double counted = !itself & (fabs(dx) <= im->edge[0]) & (fabs(dy) <= im->edge[1]) ? m : 0;
    const double y1 = 1 / sqrt(square), f = counted * y1 * y1 * y1, along = f * dy;
    g->ax[i] += f * dx;
    g->ay[i] += along;
    g->az[i] += f * dz;
    g->potential[i] += counted * y1;
    g->swept[i] += im->number * along;
  }
}

/* The same of a cell, which counts where its centre of mass does. */
static void add_cell(collision_walk_group *g, const image *im, const collision_cell *c, double x, double y, double z,
                     double softening2) {
  const double *s = c->second, mass = c->mass, trace = c->trace;
  for (int i = 0; i < COLLISION_LEAF; i++) {
    const double dx = x - g->x[i], dy = y - g->y[i], dz = z - g->z[i];
    const double counted = (fabs(dx) <= im->edge[0]) & (fabs(dy) <= im->edge[1]) ? 1 : 0;
    const double y2 = 1 / (dx * dx + dy * dy + dz * dz + softening2), y1 = counted * sqrt(y2), y3 = y1 * y2,
                 y5 = y3 * y2;
    const double sx = s[0] * dx + s[3] * dy + s[5] * dz, sy = s[3] * dx + s[1] * dy + s[4] * dz,
                 sz = s[5] * dx + s[4] * dy + s[2] * dz, q = sx * dx + sy * dy + sz * dz;
    const double f = mass * y3 + (7.5 * q * y2 - 1.5 * trace) * y5, h = -3 * y5, along = f * dy + h * sy;
    g->ax[i] += f * dx + h * sx;
    g->ay[i] += along;
    g->az[i] += f * dz + h * sz;
    g->potential[i] += mass * y1 + 0.5 * (3 * q * y5 - trace * y3);
    g->swept[i] += im->number * along;
  }
}

/* Adds an image of the grains of a leaf. */
static void add_leaf(const collision_tree *t, const image *im, double softening2, collision_walk_group *g,
                     const collision_cell *c) {
  const bool box = im->number == 0 && im->x == 0 && im->y == 0;
  for (int64_t j = c->first; j < c->first + c->count; j++) {
    const collision_point *q = &t->at[j];
    const double x = q->x[0] - g->centre[0] + im->x, y = q->x[1] - g->centre[1] + im->y;
    if (fmax(fabs(x) - im->edge[0], fabs(y) - im->edge[1]) > g->radius) continue;
    add_point(g, im, q->m, x, y, q->x[2] - g->centre[2], softening2, box ? (double)j : -1);
  }
}

/* Adds an image of all grains to what a group feels. A cell of which not all counts is opened, unless its radius is
 * below `blur`. */
static void add_image(const collision_tree *t, const image *im, double softening2, double opening, double blur,
                      collision_walk_group *g) {
  for (int64_t k = 0; k < t->cells;) {
    const collision_cell *c = &t->cell[k];
    const double x = c->centre[0] - g->centre[0] + im->x, y = c->centre[1] - g->centre[1] + im->y,
                 z = c->centre[2] - g->centre[2];
    const double reach = c->radius + g->radius, far = g->radius + c->radius / opening;
    const double beyond = fmax(fabs(x) - im->edge[0], fabs(y) - im->edge[1]);
    const bool whole = beyond <= -reach || c->radius < blur;
    if (beyond > reach) {
      k = c->next;
    } else if (opening > 0 && whole && far * far < x * x + y * y + z * z) {
      add_cell(g, im, c, x, y, z, softening2);
      k = c->next;
    } else {
      if (c->leaf) add_leaf(t, im, softening2, g, c);
      k = c->leaf ? c->next : k + 1;
    }
  }
}

/* Radius of cells that count, or not, as wholes where the edge of what is attracted cuts them. Some 12 L/s cells of a
 * width s and a surface density S, whose masses within the edge are wrong by 0.3 S s^2 at random, err by
 * 0.3 S s^2 sqrt(12 L/s)/(1.5 L)^2 = 0.5 S (s/L)^1.5 at most, a tenth of that over a usual acceleration, which is 4 S
 * or more. That is a third of the error e for which `opening` is 1.8 e^(1/4) with s = (6 e)^(2/3) L, two radii. */
static double blurred(const collision_images *images, double opening) {
  return 0.34 * fmin(images->size[0], images->size[1]) * pow(opening, 8.0 / 3);
}

/* Images that are in part within rings + 1/2 sides of a grain of the box. */
extern collision_walk COLLISION_WALK;
void COLLISION_WALK(const collision_tree *t, const collision_images *images, double softening, double opening,
                    collision_walk_group *g) {
  const int more = isinf(images->size[0]) ? 0 : images->rings + 1;
  const double blur = more > 0 ? blurred(images, opening) : 0;
  for (int n = -more; n <= more; n++)
    for (int m = -more - (more > 0); m <= more + (more > 0); m++) {
      const image im = image_at(images, n, m);
      add_image(t, &im, softening * softening, opening, blur, g);
    }
}
