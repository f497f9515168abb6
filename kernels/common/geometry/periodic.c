/* Walls in periodic boxes: which walls need images, and which meshes have images that fit. */
#include "kernels/common/geometry/geometry.h"
#include "kernels/common/geometry/mesh_contact.h"

#include <math.h>

/* ---- walls without images ---- */

/* Extent of the wall along axis c at time 0; false: the wall is the same everywhere along the axis. */
static bool wall_extent(const geometry_wall *w, int c, double *low, double *high) {
  const double along = fabs(w->axis[c]), across = sqrt(fmax(0, 1 - along * along));
  double reach = w->radius;
  *low = *high = w->point[c];
  switch (w->shape) {
  case GEOMETRY_PLANE: /* a face of a block with grains inside, or a tilted plane */
    if (along < 1e-12) return false;
    if (along < 1 - 1e-12) *low = -INFINITY, *high = INFINITY;
    return true;
  case GEOMETRY_CYLINDER:
    if (along > 1 - 1e-12) return false;
    if (along > 1e-12) reach = INFINITY;
    break;
  case GEOMETRY_CONE: {
    const double end = w->point[c] + w->length * w->axis[c];
    *low = fmin(w->point[c] - across * w->radius, end - across * w->end_radius);
    *high = fmax(w->point[c] + across * w->radius, end + across * w->end_radius);
    return true;
  }
  case GEOMETRY_BLOCK: reach = w->half[c]; break;
  case GEOMETRY_MESH: return false; /* has images */
  default: break;
  }
  *low -= reach;
  *high += reach;
  return true;
}

bool geometry_wall_room(const geometry_wall *w, bool paired, const geometry_box *box, double largest, int c,
                        double room[2]) {
  double low, high;
  if (!box->periodic[c] || !wall_extent(w, c, &low, &high)) return false;
  const bool around = w->shape == GEOMETRY_PLANE ? paired : w->shape != GEOMETRY_BLOCK && !w->outside;
  const double margin = around && w->shape != GEOMETRY_CONE ? 0 : largest;
  const double first = box->low[c], last = first + box->size[c];
  const bool straight = w->shape == GEOMETRY_BLOCK || (fabs(w->axis[c]) > 1 - 1e-12 && w->radius == w->end_radius);
  const bool spans = straight && low <= first && high >= last && isfinite(high) && w->shape != GEOMETRY_PLANE;
  if (w->shape == GEOMETRY_PLANE && !paired) low = -INFINITY;
  room[0] = spans ? last - high : first + margin - low;
  room[1] = spans ? first - low : last - margin - high;
  return true;
}

sim_status geometry_wall_check_images(const geometry_wall *w, bool paired, const geometry_box *box, double largest,
                                      double end) {
  for (int c = 0; c < 3; c++) {
    double room[2];
    if (!geometry_wall_room(w, paired, box, largest, c, room)) continue;
    if (!(room[0] <= 0 && room[1] >= 0))
      return sim_fail(SIM_ERR_SCENARIO,
                      "the box is periodic in %c, where walls have no images: expected one that is the same all along "
                      "%c, or that stays more than a grain's radius inside the box there",
                      "xyz"[c], "xyz"[c]);
    const double v = w->velocity[c], leaves = v > 0 ? room[1] / v : v < 0 ? room[0] / v : INFINITY;
    if (leaves < end)
      return sim_fail(SIM_ERR_SCENARIO,
                      "the box is periodic in %c, where walls have no images, and the wall leaves its room there at "
                      "t = %.6g: expected t_end up to that",
                      "xyz"[c], leaves);
  }
  return SIM_OK;
}

/* ---- meshes ---- */

/* Extent of the triangles along axis c: at time 0, or, if they turn about another axis (`sweeps`), at any time. */
static void mesh_extent(const geometry_triangles *t, const geometry_wall *w, int c, bool sweeps, double *low,
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

/* Whether a triangle is within `close` of x. */
static bool covers(const geometry_mesh *m, const double x[3], double close) {
  geometry_contact touch[GEOMETRY_CONTACTS_MAX];
  /* A point on a triangle has no normal, so points beside it along each axis are tried. */
  for (int c = 0; c < 3; c++) {
    double beside[3] = {x[0], x[1], x[2]};
    beside[c] += close;
    if (mesh_contacts(m, beside, 2 * close, touch) > 0) return true;
  }
  return false;
}

/* Whether the part of the mesh within `reach` of a side of the box, at `from` along axis c, has a copy displaced by
 * `shift`: checks its corners, and the points where its edges cross planes beside the side. */
static bool repeats(const geometry_mesh *m, int c, double from, double shift, double reach, double close) {
  for (int64_t k = 0; k < 3 * m->count; k++) {
    const double *const p = m->corner + 3 * k, *const q = k % 3 < 2 ? p + 3 : p - 6;
    for (int s = -1; s <= 1; s++) {
      const double part = s == 0 ? 0 : (from + s * reach - p[c]) / (q[c] - p[c]);
      double x[3];
      if (!(part >= 0 && part <= 1)) continue;
      for (int e = 0; e < 3; e++) x[e] = p[e] + part * (q[e] - p[e]);
      if (fabs(x[c] - from) > reach * (1 + 1e-9)) continue;
      x[c] += shift;
      if (!covers(m, x, close)) return false;
    }
  }
  return true;
}

static sim_status refuse(int c, const char *why) {
  return sim_fail(SIM_ERR_SCENARIO, "the box is periodic in %c, and the mesh %s", "xyz"[c], why);
}

sim_status geometry_mesh_create_periodic(const geometry_triangles *triangles, const geometry_wall *w,
                                         const geometry_box *box, double largest, geometry_mesh **out) {
  double period[3] = {0};
  bool longer[3] = {false};
  for (int c = 0; c < 3; c++) {
    if (!box->periodic[c]) continue;
    const double first = box->low[c], last = first + box->size[c];
    const bool turns = w->spin != 0 || w->turning != NULL, sweeps = turns && fabs(w->turn[c]) < 1 - 1e-12;
    const bool moves = w->velocity[c] != 0 || w->motion != NULL;
    double low, high;
    mesh_extent(triangles, w, c, sweeps, &low, &high);
    const bool within = low > first + largest && high < last - largest && !moves;
    if (within) continue;
    if (sweeps)
      return refuse(c, "turns about another axis: expected one that stays more than a grain's radius inside the box "
                       "there all the way, and that does not move");
    if (box->sheared && c == 1)
      return refuse(c, "reaches its sides, which shear moves: expected more than a grain's radius between them");
    longer[c] = high - low > box->size[c] * (1 + 1e-5);
    if (longer[c] && (moves || low > first - largest || high < last + largest))
      return refuse(c, "is longer than it: expected one that ends where the box does");
    if (!longer[c]) period[c] = box->size[c];
  }
  SIM_TRY(geometry_mesh_create(triangles, period, out));
  for (int c = 0; c < 3; c++) {
    const double first = box->low[c], size = box->size[c], close = 1e-4 * largest;
    if (longer[c] &&
        (!repeats(*out, c, first, size, largest, close) || !repeats(*out, c, first + size, -size, largest, close))) {
      geometry_mesh_destroy(out);
      return refuse(c, "is longer than it, and is not the same on both sides of it: cut it where the box ends");
    }
  }
  return SIM_OK;
}
