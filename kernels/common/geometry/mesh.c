/* Creates a mesh from triangles: their order, the tree of boxes, and shared vertices. */
#include "kernels/common/geometry/geometry.h"
#include "kernels/common/geometry/mesh_cache.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void geometry_mesh_destroy(geometry_mesh **mesh) {
  if (*mesh == NULL) return;
  free((*mesh)->corner), free((*mesh)->bound), free((*mesh)->box);
  free((*mesh)->vertex), free((*mesh)->around_first), free((*mesh)->around);
  free(*mesh);
  *mesh = NULL;
}

/* ---- order ---- */

typedef struct key {
  uint64_t code;
  int64_t number;
} key;

static int compare_keys(const void *a, const void *b) {
  const key *p = a, *q = b;
  if (p->code != q->code) return p->code < q->code ? -1 : 1;
  return (p->number > q->number) - (p->number < q->number);
}

/* Spreads the lowest 21 bits of x: two zero bits follow each. */
static uint64_t spread(uint64_t x) {
  x = (x | x << 32) & 0x1f00000000ffff;
  x = (x | x << 16) & 0x1f0000ff0000ff;
  x = (x | x << 8) & 0x100f00f00f00f00f;
  x = (x | x << 4) & 0x10c30c30c30c30c3;
  return (x | x << 2) & 0x1249249249249249;
}

static void bounds_of(const double *corner, int64_t corners, double low[3], double high[3]) {
  for (int c = 0; c < 3; c++) {
    low[c] = INFINITY;
    high[c] = -INFINITY;
    for (int64_t k = 0; k < corners; k++) {
      low[c] = fmin(low[c], corner[3 * k + c]);
      high[c] = fmax(high[c], corner[3 * k + c]);
    }
  }
}

/* Copies the triangles sorted by the Morton code of their centres, so that neighbours in memory are near in space. */
static sim_status copy_corners(geometry_mesh *m, const double *corner) {
  key *sorted = malloc((size_t)(m->count + 1) * sizeof *sorted);
  m->corner = malloc((size_t)m->count * 9 * sizeof *m->corner + 1);
  if (sorted == NULL || m->corner == NULL) {
    free(sorted);
    return sim_no_memory("a mesh");
  }
  bounds_of(corner, 3 * m->count, m->low, m->high);
  const double extent = fmax(m->high[0] - m->low[0], fmax(m->high[1] - m->low[1], m->high[2] - m->low[2]));
  for (int64_t i = 0; i < m->count; i++) {
    double low[3], high[3];
    bounds_of(corner + 9 * i, 3, low, high);
    sorted[i] = (key){.number = i};
    for (int c = 0; c < 3; c++) {
      const double middle = (0.5 * (low[c] + high[c]) - m->low[c]) / extent;
      sorted[i].code |= spread((uint64_t)(2097151 * fmin(fmax(middle, 0), 1))) << c;
    }
  }
  qsort(sorted, (size_t)m->count, sizeof *sorted, compare_keys);
  for (int64_t i = 0; i < m->count; i++) memcpy(m->corner + 9 * i, corner + 9 * sorted[i].number, 9 * sizeof *corner);
  free(sorted);
  return SIM_OK;
}

static double largest_of(const geometry_mesh *m) {
  double largest = 0;
  for (int64_t k = 0; k < 9 * m->count; k++) largest = fmax(largest, fabs(m->corner[k]));
  return largest;
}

/* ---- boxes ---- */

/* Box around one triangle, rounded outwards to single precision by more than the rounding of points on it. */
static void box_of(const double *corner, double largest, float low[3], float high[3]) {
  double least[3], most[3];
  bounds_of(corner, 3, least, most);
  for (int c = 0; c < 3; c++) {
    low[c] = nextafterf((float)(least[c] - 1e-14 * largest), -INFINITY);
    high[c] = nextafterf((float)(most[c] + 1e-14 * largest), INFINITY);
  }
}

/* Fills in the boxes of a group; absent members get empty boxes. */
static void fill_group(geometry_mesh *m, int level, int64_t group, int64_t below, double largest) {
  float *const box = m->box + 48 * (m->level[level] + group);
  for (int k = 0; k < 8; k++) {
    const int64_t child = 8 * group + k;
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    if (child < below && level == 0) box_of(m->corner + 9 * child, largest, low, high);
    for (int e = 0; e < 8 && level > 0 && child < below; e++)
      for (int c = 0; c < 3; c++) {
        const float *const inner = m->box + 48 * (m->level[level - 1] + child) + 8 * c + e;
        low[c] = fminf(low[c], inner[0]);
        high[c] = fmaxf(high[c], inner[24]);
      }
    for (int c = 0; c < 3; c++) {
      box[8 * c + k] = low[c];
      box[24 + 8 * c + k] = high[c];
    }
  }
}

static sim_status make_boxes(geometry_mesh *m) {
  int64_t below = m->count;
  const double largest = largest_of(m);
  do {
    m->roots = (below + 7) / 8;
    m->level[m->levels++] = m->groups;
    m->groups += m->roots;
    below = m->roots;
  } while (m->roots > 1 && m->levels < GEOMETRY_MESH_LEVELS);
  m->box = malloc((size_t)m->groups * 48 * sizeof *m->box);
  if (m->box == NULL) return sim_no_memory("a mesh");
  below = m->count;
  for (int level = 0; level < m->levels; level++) {
    const int64_t groups = (below + 7) / 8;
    for (int64_t g = 0; g < groups; g++) fill_group(m, level, g, below, largest);
    below = groups;
  }
  return SIM_OK;
}

/* ---- neighbours ---- */

typedef struct corner {
  double x[3];
  int64_t number;
} corner;

static int compare(const void *a, const void *b) {
  const corner *p = a, *q = b;
  for (int c = 0; c < 3; c++)
    if (p->x[c] != q->x[c]) return p->x[c] < q->x[c] ? -1 : 1;
  return (p->number > q->number) - (p->number < q->number);
}

typedef struct coordinate {
  double value;
  int64_t number;
} coordinate;

static int compare_coordinates(const void *a, const void *b) {
  const coordinate *p = a, *q = b;
  return p->value != q->value ? (p->value < q->value ? -1 : 1) : (p->number > q->number) - (p->number < q->number);
}

/* Lists the coordinates of the corners; runs of values within `same` of their smallest become equal to it. `joined`:
 * the upper end of the mesh along an axis coincides with the lower end of its image. */
static sim_status join_coordinates(const geometry_mesh *m, double same, const bool joined[3], corner *out) {
  const int64_t corners = 3 * m->count;
  coordinate *sorted = malloc((size_t)(corners + 1) * sizeof *sorted);
  if (sorted == NULL) return sim_no_memory("the edges of a mesh");
  for (int c = 0; c < 3; c++) {
    for (int64_t k = 0; k < corners; k++) {
      const double x = m->corner[3 * k + c];
      sorted[k] = (coordinate){joined[c] && x == m->high[c] ? m->low[c] : x, k};
    }
    qsort(sorted, (size_t)corners, sizeof *sorted, compare_coordinates);
    double least = -INFINITY;
    for (int64_t k = 0; k < corners; k++) {
      if (!(sorted[k].value - least <= same)) least = sorted[k].value;
      out[sorted[k].number].x[c] = least;
    }
  }
  for (int64_t k = 0; k < corners; k++) out[k].number = k;
  free(sorted);
  return SIM_OK;
}

static double shortest_edge(const geometry_mesh *m) {
  double shortest = INFINITY;
  for (int64_t i = 0; i < 3 * m->count; i++) {
    const double *p = m->corner + 3 * i, *q = i % 3 < 2 ? p + 3 : p - 6;
    const double d[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]};
    shortest = fmin(shortest, sqrt(mesh_dot(d, d)));
  }
  return shortest;
}

/* Makes the ends of the mesh exact along axes where it is as long as its period, within six decimal digits, so that it
 * joins its images. */
static void join_ends(geometry_mesh *m, double same, double shortest, bool joined[3]) {
  for (int c = 0; c < 3; c++) {
    const double period = m->period[c], near = fmax(same, fmin(1e-5 * period, 0.1 * shortest));
    joined[c] = period > 0 && fabs(m->high[c] - m->low[c] - period) <= near;
    if (!joined[c]) continue;
    m->high[c] = m->low[c] + period;
    for (int64_t k = c; k < 9 * m->count; k += 3) {
      if (m->corner[k] <= m->low[c] + near) m->corner[k] = m->low[c];
      if (m->corner[k] >= m->high[c] - near) m->corner[k] = m->high[c];
    }
  }
}

/* Moves a corner to the first corner of its vertex, or to the image of that corner. */
static void move_corner(geometry_mesh *m, int64_t number, int64_t first, const bool joined[3]) {
  for (int c = 0; c < 3; c++) {
    double *const x = &m->corner[3 * number + c];
    if (!joined[c] || (*x != m->high[c] && m->corner[3 * first + c] != m->high[c])) *x = m->corner[3 * first + c];
  }
}

/* Finds the vertices: corners at one position share a vertex and move to the first of them. */
static sim_status make_vertices(geometry_mesh *m) {
  const int64_t corners = 3 * m->count;
  corner *sorted = malloc((size_t)(corners + 1) * sizeof *sorted);
  m->vertex = malloc((size_t)(corners + 1) * sizeof *m->vertex);
  m->around = malloc((size_t)(corners + 1) * sizeof *m->around);
  m->around_first = malloc((size_t)(corners + 1) * sizeof *m->around_first);
  if (sorted == NULL || m->vertex == NULL || m->around == NULL || m->around_first == NULL) {
    free(sorted);
    return sim_no_memory("the edges of a mesh");
  }
  /* Corners of one vertex may differ by two roundings in single precision, but only by little compared with the
   * shortest edge. */
  const double shortest = shortest_edge(m), close = fmin(2 * (double)FLT_EPSILON * largest_of(m), 1e-3 * shortest);
  bool joined[3];
  join_ends(m, close, shortest, joined);
  const sim_status status = join_coordinates(m, close, joined, sorted);
  if (status != SIM_OK) {
    free(sorted);
    return status;
  }
  qsort(sorted, (size_t)corners, sizeof *sorted, compare);
  for (int64_t k = 0, first = 0; k < corners; k++) {
    bool same = k > 0;
    for (int c = 0; c < 3 && same; c++) same = sorted[k].x[c] == sorted[k - 1].x[c];
    const int64_t number = sorted[k].number;
    if (!same) {
      m->around_first[m->vertices++] = (int32_t)k;
      first = number;
    }
    m->vertex[number] = (int32_t)(m->vertices - 1);
    m->around[k] = (int32_t)number;
    if (same) move_corner(m, number, first, joined);
  }
  m->around_first[m->vertices] = (int32_t)corners;
  bounds_of(m->corner, corners, m->low, m->high);
  free(sorted);
  return SIM_OK;
}

/* Makes balls around the triangles, each centred in the triangle's box; the margin of 1e-9 exceeds rounding. */
static sim_status make_balls(geometry_mesh *m) {
  m->bound = malloc((size_t)m->count * 4 * sizeof *m->bound + 1);
  if (m->bound == NULL) return sim_no_memory("a mesh");
  for (int64_t i = 0; i < m->count; i++) {
    const double *p = m->corner + 9 * i;
    double *ball = m->bound + 4 * i;
    for (int c = 0; c < 3; c++)
      ball[c] = 0.5 * (fmin(p[c], fmin(p[3 + c], p[6 + c])) + fmax(p[c], fmax(p[3 + c], p[6 + c])));
    ball[3] = 0;
    for (int k = 0; k < 9; k += 3) {
      const double d[3] = {p[k] - ball[0], p[k + 1] - ball[1], p[k + 2] - ball[2]};
      ball[3] = fmax(ball[3], sqrt(mesh_dot(d, d)) * (1 + 1e-9));
    }
  }
  return SIM_OK;
}

sim_status geometry_mesh_create(const geometry_triangles *triangles, const double period[3], geometry_mesh **out) {
  geometry_mesh *m = *out = calloc(1, sizeof *m);
  if (m == NULL) return sim_no_memory("a mesh");
  if (triangles->count > (int64_t)1 << MESH_TRIANGLE_BITS) {
    geometry_mesh_destroy(out);
    return sim_fail(SIM_ERR_SCENARIO, "a mesh has more than 2.6e8 triangles");
  }
  m->count = triangles->count;
  for (int c = 0; c < 3; c++) m->period[c] = period != NULL ? period[c] : 0;
  sim_status status = copy_corners(m, triangles->corner);
  if (status == SIM_OK) status = make_vertices(m);
  if (status == SIM_OK) status = make_balls(m);
  if (status == SIM_OK) status = make_boxes(m);
  if (status != SIM_OK) geometry_mesh_destroy(out);
  return status;
}

double geometry_mesh_bytes(int64_t triangles) {
  return (double)triangles * (104 + 3 * 12 + 24 * 8 / 7.0 + 3 * 48) + 40e3;
}
