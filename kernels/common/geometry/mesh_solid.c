/* Closed meshes as solids: which points are inside, and where a segment enters. Images of meshes are left out. */
#include "kernels/common/geometry/geometry.h"
#include "kernels/common/geometry/mesh_contact.h"

#include <stdlib.h>

/* ---- closed meshes ---- */

/* An edge between two vertices, the smaller number first; `sense` is 1 where its triangle goes from the first to the
 * second one, else -1. */
typedef struct directed_edge {
  int32_t end[2], sense;
  int64_t corner; /* where it begins */
} directed_edge;

static int compare_edges(const void *a, const void *b) {
  const directed_edge *x = a, *y = b;
  for (int k = 0; k < 2; k++)
    if (x->end[k] != y->end[k]) return x->end[k] < y->end[k] ? -1 : 1;
  return (x->corner > y->corner) - (x->corner < y->corner);
}

static sim_status edge_fails(const geometry_mesh *m, const directed_edge *edge, int64_t count, bool turned) {
  const double *a = m->corner + 3 * edge->corner, *b = m->corner + 3 * (edge->corner / 3 * 3 + (edge->corner + 1) % 3);
  if (turned)
    return sim_fail(SIM_ERR_SCENARIO,
                    "the triangles at the edge from (%.6g, %.6g, %.6g) to (%.6g, %.6g, %.6g) are turned against each "
                    "other: expected the corners of all in one order as seen from outside",
                    a[0], a[1], a[2], b[0], b[1], b[2]);
  return sim_fail(SIM_ERR_SCENARIO,
                  "the mesh is not closed: the edge from (%.6g, %.6g, %.6g) to (%.6g, %.6g, %.6g) belongs to %lld %s: "
                  "expected two, one on each side of it",
                  a[0], a[1], a[2], b[0], b[1], b[2], (long long)count, count == 1 ? "triangle" : "triangles");
}

sim_status geometry_mesh_check_closed(const geometry_mesh *m) {
  const int64_t count = 3 * m->count;
  directed_edge *edges = malloc((size_t)(count + 1) * sizeof *edges);
  if (edges == NULL) return sim_no_memory("the edges of a mesh");
  for (int64_t k = 0; k < count; k++) {
    const int32_t from = m->vertex[k], to = m->vertex[k / 3 * 3 + (k + 1) % 3];
    edges[k] = (directed_edge){.end = {from < to ? from : to, from < to ? to : from}, from < to ? 1 : -1, k};
  }
  qsort(edges, (size_t)count, sizeof *edges, compare_edges);
  sim_status status = SIM_OK;
  for (int64_t k = 0, next; k < count && status == SIM_OK; k = next) {
    int64_t sum = 0;
    for (next = k; next < count && edges[next].end[0] == edges[k].end[0] && edges[next].end[1] == edges[k].end[1];)
      sum += edges[next++].sense;
    if (sum != 0) status = edge_fails(m, &edges[k], next - k, (next - k) % 2 == 0);
  }
  free(edges);
  return status;
}

/* The normal of a triangle, twice as long as its area is large. */
static void normal_of(const double *p, double out[3]) {
  for (int c = 0; c < 3; c++) {
    const int d = (c + 1) % 3, e = (c + 2) % 3;
    out[c] = (p[3 + d] - p[d]) * (p[6 + e] - p[e]) - (p[3 + e] - p[e]) * (p[6 + d] - p[d]);
  }
}

double geometry_mesh_area(const geometry_mesh *m) {
  double out = 0, normal[3];
  for (int64_t i = 0; i < m->count; i++) {
    normal_of(m->corner + 9 * i, normal);
    out += sqrt(mesh_dot(normal, normal)) / 2;
  }
  return out;
}

/* ---- points inside ---- */

/* Whether the line through p along x passes the triangle as seen along x: 1 or -1 by its sense, else 0. Each edge is
 * taken from its lower end to its upper one, and a point on it belongs to one side, so that the triangles at an edge
 * decide by the same operations: of a closed mesh every line passes as many triangles one way as the other. */
static int passes(const double *corner, const double p[3]) {
  int out = 0;
  for (int k = 0; k < 3; k++) {
    const double *a = corner + 3 * k, *b = corner + 3 * ((k + 1) % 3);
    const bool up = b[2] > p[2];
    if ((a[2] > p[2]) == up) continue;
    const double *low = up ? a : b, *high = up ? b : a;
    const double side = (high[1] - low[1]) * (p[2] - low[2]) - (high[2] - low[2]) * (p[1] - low[1]);
    if (side > 0) out += up ? 1 : -1;
  }
  return out;
}

/* Where this line passes the plane of the triangle, within the triangle's extent: a triangle along x decides nothing
 * beyond it. */
static double passed_at(const double *a, const double p[3]) {
  double normal[3], low = a[0], high = a[0];
  normal_of(a, normal);
  for (int k = 3; k < 9; k += 3) {
    low = fmin(low, a[k]);
    high = fmax(high, a[k]);
  }
  const double x = a[0] - (normal[1] * (p[1] - a[1]) + normal[2] * (p[2] - a[2])) / normal[0];
  return fmin(fmax(x, low), high); /* NaN: high */
}

/* Mask of the boxes of a group that the half line from p along x may meet. */
static unsigned boxes_ahead(const float *box, const double p[3]) {
  unsigned mask = 0;
  for (int k = 0; k < 8; k++) {
    bool in = (double)box[24 + k] >= p[0];
    for (int c = 1; c < 3; c++) in = in && (double)box[8 * c + k] <= p[c] && (double)box[24 + 8 * c + k] >= p[c];
    mask |= (unsigned)in << k;
  }
  return mask;
}

/* Sum of `passes` over the triangles of a group that are ahead of p. */
static int winding_of(const geometry_mesh *m, int level, int64_t group, const double p[3]) {
  int out = 0;
  for (unsigned left = boxes_ahead(m->box + 48 * (m->level[level] + group), p); left != 0; left &= left - 1) {
    const int64_t child = 8 * group + MESH_LOWEST(left);
    if (level > 0) {
      out += winding_of(m, level - 1, child, p);
      continue;
    }
    const double *corner = m->corner + 9 * child;
    const int way = passes(corner, p);
    if (way != 0 && passed_at(corner, p) > p[0]) out += way;
  }
  return out;
}

bool geometry_mesh_holds(const geometry_mesh *m, const double x[3], double thick) {
  double point[3], d[3], most = 0;
  int winding = 0;
  for (int c = 0; c < 3; c++) most = fmax(most, fmax(fabs(m->low[c]), fabs(m->high[c])));
  const double reach = thick + 1e-14 * most; /* rounding of points on it */
  for (int c = 0; c < 3; c++)
    if (!(x[c] >= m->low[c] - reach && x[c] <= m->high[c] + reach)) return false;
  for (int64_t group = 0; group < m->roots; group++) winding += winding_of(m, m->levels - 1, group, x);
  if (winding != 0) return true;
  mesh_walk walk = mesh_begin(m);
  for (int64_t i; (i = mesh_next(m, x, reach * reach, &walk)) >= 0;) {
    (void)mesh_nearest(m->corner + 9 * i, x, point);
    for (int c = 0; c < 3; c++) d[c] = x[c] - point[c];
    if (mesh_dot(d, d) < reach * reach) return true;
  }
  return false;
}

double geometry_mesh_nearest(const geometry_mesh *m, const double x[3], double point[3], double normal[3]) {
  double square = INFINITY, next[3], d[3];
  int64_t best = 0;
  mesh_walk walk = mesh_begin(m);
  for (int64_t i; (i = mesh_next(m, x, square, &walk)) >= 0;) {
    (void)mesh_nearest(m->corner + 9 * i, x, next);
    for (int c = 0; c < 3; c++) d[c] = x[c] - next[c];
    if (!(mesh_dot(d, d) < square)) continue;
    square = mesh_dot(d, d);
    best = i;
    for (int c = 0; c < 3; c++) point[c] = next[c];
  }
  normal_of(m->corner + 9 * best, normal);
  const double length = sqrt(mesh_dot(normal, normal));
  for (int c = 0; c < 3; c++) normal[c] /= length;
  return sqrt(square);
}

/* ---- segments ---- */

/* The part of the segment p + s u before it meets the triangle (Moeller and Trumbore, J. Graph. Tools 2 (1997) 21);
 * INFINITY: it does not. The edges count, with room for rounding. */
static double cut_of(const double *a, const double p[3], const double u[3]) {
  static const double room = 1e-9;
  double e[2][3], h[3], t[3], q[3];
  for (int c = 0; c < 3; c++) {
    e[0][c] = a[3 + c] - a[c];
    e[1][c] = a[6 + c] - a[c];
    t[c] = p[c] - a[c];
  }
  for (int c = 0; c < 3; c++) {
    const int d = (c + 1) % 3, f = (c + 2) % 3;
    h[c] = u[d] * e[1][f] - u[f] * e[1][d];
    q[c] = t[d] * e[0][f] - t[f] * e[0][d];
  }
  const double det = mesh_dot(e[0], h);
  const double v = mesh_dot(t, h) / det, w = mesh_dot(u, q) / det, s = mesh_dot(e[1], q) / det;
  return v >= -room && w >= -room && v + w <= 1 + room && s >= 0 && s <= 1 ? s : INFINITY; /* det = 0: not met */
}

double geometry_mesh_cut(const geometry_mesh *m, const double from[3], const double to[3]) {
  double u[3], middle[3], least = INFINITY;
  for (int c = 0; c < 3; c++) {
    u[c] = to[c] - from[c];
    middle[c] = from[c] + u[c] / 2;
  }
  mesh_walk walk = mesh_begin(m);
  const double square = mesh_dot(u, u) / 4 * MESH_PAD;
  for (int64_t i; (i = mesh_next(m, middle, square, &walk)) >= 0;)
    least = fmin(least, cut_of(m->corner + 9 * i, from, u));
  return least;
}
