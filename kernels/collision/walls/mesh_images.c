/* Meshes in periodic boxes: which have images, and which would not be right there. */
#include "kernels/collision/run.h"

#include <math.h>

/* Of the box about the triangles along axis c: where they are at the start, or, if they turn about another axis, where
 * they may come. */
static void extent_of(const collision_triangles *t, const collision_wall *w, int c, bool sweeps, double *low,
                      double *high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (int64_t k = 0; k < 3 * t->count; k++) {
    const double *const x = t->corner + 3 * k;
    double middle = x[c], reach = 0;
    if (sweeps) {
      double d[3], along = 0, square = 0;
      for (int e = 0; e < 3; e++) {
        d[e] = x[e] - w->pivot[e];
        along += d[e] * w->turn[e];
        square += d[e] * d[e];
      }
      middle = w->pivot[c] + along * w->turn[c];
      reach = sqrt(fmax(0, square - along * along) * fmax(0, 1 - w->turn[c] * w->turn[c]));
    }
    *low = fmin(*low, middle - reach);
    *high = fmax(*high, middle + reach);
  }
}

/* Whether some triangle is within `close` of x. */
static bool covers(const collision_mesh *m, const double x[3], double close) {
  collision_touch touch[COLLISION_TOUCHES_MAX];
  /* A point on a triangle has no contact: one beside it has, whichever way that is. */
  for (int c = 0; c < 3; c++) {
    double beside[3] = {x[0], x[1], x[2]};
    beside[c] += close;
    if (collision_mesh_touch(m, beside, 2 * close, touch) > 0) return true;
  }
  return false;
}

/* Whether what is within `reach` of a side of the box, at `from` along axis c, is there again `way` further: corners,
 * and where edges go through planes beside the side. */
static bool repeats(const collision_mesh *m, int c, double from, double way, double reach, double close) {
  for (int64_t k = 0; k < 3 * m->count; k++) {
    const double *const p = m->corner + 3 * k, *const q = k % 3 < 2 ? p + 3 : p - 6;
    for (int s = -1; s <= 1; s++) {
      const double part = s == 0 ? 0 : (from + s * reach - p[c]) / (q[c] - p[c]);
      double x[3];
      if (!(part >= 0 && part <= 1)) continue;
      for (int e = 0; e < 3; e++) x[e] = p[e] + part * (q[e] - p[e]);
      if (fabs(x[c] - from) > reach * (1 + 1e-9)) continue;
      x[c] += way;
      if (!covers(m, x, close)) return false;
    }
  }
  return true;
}

static sim_status refuse(const collision_options *o, const collision_wall *w, int c, const char *why) {
  int sides = 0;
  while (sides < o->walls && o->wall[sides].side >= 0) sides++;
  return sim_fail(SIM_ERR_SCENARIO, "walls[%d]: the box is periodic in %c, and the mesh %s", w->number - sides + 1,
                  "xyz"[c], why);
}

sim_status collision_mesh_place(const collision_options *o, int b, const collision_triangles *triangles, double largest,
                                collision_mesh **out) {
  const collision_wall *w = &o->wall[b];
  double period[3] = {0};
  bool longer[3] = {false};
  for (int c = 0; c < 3; c++) {
    if (!o->periodic[c]) continue;
    const double first = o->low[c], last = first + o->size[c];
    const bool turns = w->spin != 0 || w->turning != NULL, sweeps = turns && fabs(w->turn[c]) < 1 - 1e-12;
    const bool moves = w->velocity[c] != 0 || w->motion != NULL;
    double low, high;
    extent_of(triangles, w, c, sweeps, &low, &high);
    const bool within = low > first + largest && high < last - largest && !moves;
    if (within) continue;
    if (sweeps)
      return refuse(o, w, c,
                    "turns about another axis: expected one that stays more than a grain's radius inside the box there "
                    "all the way, and that does not move");
    if (o->shear != 0 && c == 1)
      return refuse(o, w, c, "reaches its sides, which shear moves: expected more than a grain's radius between them");
    longer[c] = high - low > o->size[c] * (1 + 1e-5);
    if (longer[c] && (moves || low > first - largest || high < last + largest))
      return refuse(o, w, c, "is longer than it: expected one that ends where the box does");
    if (!longer[c]) period[c] = o->size[c];
  }
  SIM_TRY(collision_mesh_create(triangles, period, out));
  for (int c = 0; c < 3; c++) {
    const double first = o->low[c], size = o->size[c], close = 1e-4 * largest;
    if (longer[c] &&
        (!repeats(*out, c, first, size, largest, close) || !repeats(*out, c, first + size, -size, largest, close))) {
      collision_mesh_destroy(out);
      return refuse(o, w, c, "is longer than it, and is not the same on both sides of it: cut it where the box ends");
    }
  }
  return SIM_OK;
}
