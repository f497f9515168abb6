/* Triangles as a wall: a grid of cells, each with the triangles that a grain in it may touch. */
#include "kernels/collision/collision.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct collision_mesh {
  double *corner; /* [count][9] */
  int64_t count;
  double low[3], width, reach;
  int64_t cells[3], *first; /* [cells + 1] */
  int32_t *triangle;
};

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

void collision_mesh_destroy(collision_mesh **mesh) {
  if (*mesh == NULL) return;
  free((*mesh)->corner), free((*mesh)->first), free((*mesh)->triangle);
  free(*mesh);
  *mesh = NULL;
}

/* Cells that the box about triangle i meets, widened by the reach. */
static void range_of(const collision_mesh *m, int64_t i, int64_t from[3], int64_t to[3]) {
  const double *p = m->corner + 9 * i;
  for (int c = 0; c < 3; c++) {
    const double least = fmin(p[c], fmin(p[3 + c], p[6 + c])), most = fmax(p[c], fmax(p[3 + c], p[6 + c]));
    from[c] = (int64_t)fmax(0, floor((least - m->reach - m->low[c]) / m->width));
    to[c] = (int64_t)fmin((double)m->cells[c] - 1, floor((most + m->reach - m->low[c]) / m->width));
  }
}

/* `triangle` NULL: only counts them into first[cell + 1]. */
static void fill(collision_mesh *m, int32_t *triangle) {
  for (int64_t i = 0; i < m->count; i++) {
    int64_t from[3], to[3];
    range_of(m, i, from, to);
    for (int64_t x = from[0]; x <= to[0]; x++)
      for (int64_t y = from[1]; y <= to[1]; y++)
        for (int64_t z = from[2]; z <= to[2]; z++) {
          const int64_t cell = (x * m->cells[1] + y) * m->cells[2] + z;
          if (triangle == NULL)
            m->first[cell + 1]++;
          else
            triangle[m->first[cell]++] = (int32_t)i;
        }
  }
}

static sim_status make_cells(collision_mesh *m) {
  double high[3], extent = 0;
  for (int c = 0; c < 3; c++) {
    m->low[c] = INFINITY;
    high[c] = -INFINITY;
    for (int64_t k = 0; k < 3 * m->count; k++) {
      m->low[c] = fmin(m->low[c], m->corner[3 * k + c]);
      high[c] = fmax(high[c], m->corner[3 * k + c]);
    }
    m->low[c] -= m->reach;
    high[c] += m->reach;
    extent = fmax(extent, high[c] - m->low[c]);
  }
  /* As many cells as a few a triangle. */
  const double most = 8 * (double)m->count + 4096;
  for (m->width = fmax(m->reach, extent / 512);; m->width *= 1.2) {
    double total = 1;
    for (int c = 0; c < 3; c++) {
      m->cells[c] = (int64_t)floor((high[c] - m->low[c]) / m->width) + 1;
      total *= (double)m->cells[c];
    }
    if (total <= most) break;
  }
  const int64_t cells = m->cells[0] * m->cells[1] * m->cells[2];
  m->first = calloc((size_t)cells + 2, sizeof *m->first);
  if (m->first == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the cells of a mesh");
  fill(m, NULL);
  for (int64_t k = 0; k < cells; k++) m->first[k + 1] += m->first[k];
  m->triangle = malloc((size_t)(m->first[cells] + 1) * sizeof *m->triangle);
  if (m->triangle == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the cells of a mesh");
  fill(m, m->triangle);
  for (int64_t k = cells; k > 0; k--) m->first[k] = m->first[k - 1];
  m->first[0] = 0;
  return SIM_OK;
}

sim_status collision_mesh_create(const collision_triangles *triangles, double largest, collision_mesh **out) {
  collision_mesh *m = *out = calloc(1, sizeof *m);
  if (m == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for a mesh");
  if (triangles->count > INT32_MAX) {
    collision_mesh_destroy(out);
    return sim_fail(SIM_ERR_SCENARIO, "a mesh has 2^31 triangles or more");
  }
  const size_t bytes = (size_t)triangles->count * 9 * sizeof(double);
  m->count = triangles->count;
  m->reach = 1.2 * largest; /* more than a grain that touches, or will in a step */
  m->corner = malloc(bytes + 1);
  sim_status status = SIM_OK;
  if (m->corner == NULL)
    status = sim_fail(SIM_ERR_NO_MEMORY, "no memory for a mesh");
  else
    memcpy(m->corner, triangles->corner, bytes);
  if (status == SIM_OK) status = make_cells(m);
  if (status != SIM_OK) collision_mesh_destroy(out);
  return status;
}

double collision_mesh_bytes(int64_t triangles) { return (double)triangles * (72 + 8 * 8 + 32 * 4) + 40e3; }

/* Point of a triangle that is nearest to x, by the region of its corners, sides or face in which x lies (C. Ericson,
 * Real-Time Collision Detection, 2005, 5.1.5). */
static void nearest(const double *a, const double x[3], double out[3]) {
  double ab[3], ac[3], ap[3], bp[3], cp[3];
  for (int k = 0; k < 3; k++) {
    ab[k] = a[3 + k] - a[k];
    ac[k] = a[6 + k] - a[k];
    ap[k] = x[k] - a[k];
    bp[k] = x[k] - a[3 + k];
    cp[k] = x[k] - a[6 + k];
  }
  const double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp),
               d6 = dot(ac, cp);
  const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  double v, w; /* x = a + v ab + w ac */
  if (d1 <= 0 && d2 <= 0)
    v = w = 0;
  else if (d3 >= 0 && d4 <= d3)
    v = 1, w = 0;
  else if (vc <= 0 && d1 >= 0 && d3 <= 0)
    v = d1 / (d1 - d3), w = 0;
  else if (d6 >= 0 && d5 <= d6)
    v = 0, w = 1;
  else if (vb <= 0 && d2 >= 0 && d6 <= 0)
    v = 0, w = d2 / (d2 - d6);
  else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
    w = (d4 - d3) / (d4 - d3 + (d5 - d6)), v = 1 - w;
  else
    v = vb / (va + vb + vc), w = vc / (va + vb + vc);
  for (int k = 0; k < 3; k++) out[k] = a[k] + v * ab[k] + w * ac[k];
}

typedef struct candidate {
  double distance, point[3];
  int32_t triangle;
} candidate;

enum { CANDIDATES = 64 };

/* The nearest ones, in order; triangles come in the order of their numbers. */
static int look(const collision_mesh *m, const double x[3], double reach, candidate *out) {
  int64_t at[3];
  int count = 0;
  for (int c = 0; c < 3; c++) {
    const double k = floor((x[c] - m->low[c]) / m->width);
    if (!(k >= 0 && k < (double)m->cells[c])) return 0;
    at[c] = (int64_t)k;
  }
  const int64_t cell = (at[0] * m->cells[1] + at[1]) * m->cells[2] + at[2];
  for (int64_t e = m->first[cell]; e < m->first[cell + 1]; e++) {
    candidate c = {.triangle = m->triangle[e]};
    double d[3];
    nearest(m->corner + 9 * (int64_t)c.triangle, x, c.point);
    for (int k = 0; k < 3; k++) d[k] = x[k] - c.point[k];
    c.distance = sqrt(dot(d, d));
    if (!(c.distance < reach) || (count == CANDIDATES && c.distance >= out[count - 1].distance)) continue;
    int k = count < CANDIDATES ? count++ : count - 1;
    for (; k > 0 && out[k - 1].distance > c.distance; k--) out[k] = out[k - 1];
    out[k] = c;
  }
  return count;
}

/* A face counts once; an edge or a corner only where no nearer contact's triangle holds it: neither the seam between
 * two faces that lie in a plane, nor the rest of those that share it. */
int collision_mesh_touch(const collision_mesh *m, const double x[3], double reach,
                         collision_touch out[COLLISION_TOUCHES_MAX]) {
  candidate near[CANDIDATES];
  int32_t taken[COLLISION_TOUCHES_MAX];
  int found = 0;
  const int count = look(m, x, reach, near);
  const double same = 1e-6 * reach;
  for (int k = 0; k < count && found < COLLISION_TOUCHES_MAX; k++) {
    bool held = !(near[k].distance > 0);
    for (int other = 0; other < found && !held; other++) {
      double point[3], square = 0;
      nearest(m->corner + 9 * (int64_t)taken[other], near[k].point, point);
      for (int c = 0; c < 3; c++) square += (point[c] - near[k].point[c]) * (point[c] - near[k].point[c]);
      held = square < same * same;
    }
    if (held) continue;
    taken[found] = near[k].triangle;
    out[found].distance = near[k].distance;
    for (int c = 0; c < 3; c++) out[found].normal[c] = (x[c] - near[k].point[c]) / near[k].distance;
    found++;
  }
  return found;
}
