#include "kernels/collision/gravity/walk.h"

static void add_point(collision_walk_group *g, const collision_image *im, double m, double x, double y, double z,
                      double softening2, double self) {
  for (int i = 0; i < COLLISION_LEAF; i++) {
    const walk_pull p = walk_point(m, x - g->x[i], y - g->y[i], z - g->z[i], g->place[i] == self, softening2, im->edge);
    g->ax[i] += p.x;
    g->ay[i] += p.y;
    g->az[i] += p.z;
    g->potential[i] += p.potential;
    g->swept[i] += im->number * p.y;
  }
}

static void add_cell(collision_walk_group *g, const collision_image *im, const collision_cell *c, double x, double y,
                     double z, double softening2, const double edge[2]) {
  const double limit[2] = {edge[0], edge[1]}, slope[2] = {c->slope[0], c->slope[1]};
  for (int i = 0; i < COLLISION_LEAF; i++) {
    const walk_pull p =
        walk_cell(c->mass, c->second, c->trace, slope, x - g->x[i], y - g->y[i], z - g->z[i], softening2, limit);
    g->ax[i] += p.x;
    g->ay[i] += p.y;
    g->az[i] += p.z;
    g->potential[i] += p.potential;
    g->swept[i] += im->number * p.y;
  }
}

static void add_leaf(const collision_tree *t, const collision_image *im, double softening2, collision_walk_group *g,
                     const collision_cell *c) {
  const bool box = im->number == 0 && im->x == 0 && im->y == 0;
  for (int64_t j = c->first; j < c->first + c->count; j++) {
    const collision_point *q = &t->at[j];
    const double x = q->x[0] - g->centre[0] + im->x, y = q->x[1] - g->centre[1] + im->y;
    if (walk_beyond(im, x, y, g->radius)) continue;
    add_point(g, im, q->m, x, y, q->x[2] - g->centre[2], softening2, box ? (double)j : -1);
  }
}

extern collision_walk COLLISION_WALK;
void COLLISION_WALK(const collision_tree *t, const collision_image *image, const collision_walk_numbers *numbers,
                    collision_walk_group *g) {
  const collision_image copy = *image, *const im = &copy; /* a copy, which no store to the group can change */
  const collision_walk_numbers own = *numbers, *const w = &own;
  const double all[2] = {INFINITY, INFINITY};
  for (int64_t k = 0; k < t->cells;) {
    const collision_cell *c = &t->cell[k];
    const double x = c->centre[0] - g->centre[0] + im->x, y = c->centre[1] - g->centre[1] + im->y,
                 z = c->centre[2] - g->centre[2];
    const walk_choice choice = walk_choose(c, im, w, x, y, z, g->radius);
    if (choice == WALK_TAKE || choice == WALK_CUT)
      add_cell(g, im, c, x, y, z, w->softening2, choice == WALK_CUT ? im->edge : all);
    if (choice == WALK_OPEN && cell_is_leaf(c)) add_leaf(t, im, w->softening2, g, c);
    k = choice == WALK_OPEN && !cell_is_leaf(c) ? k + 1 : c->next;
  }
}
