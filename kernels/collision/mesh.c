/* Triangles as a wall: how their cells and neighbours are made. */
#include "kernels/collision/collision.h"
#include "kernels/collision/mesh_touch.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void collision_mesh_destroy(collision_mesh **mesh) {
  if (*mesh == NULL) return;
  free((*mesh)->corner), free((*mesh)->bound), free((*mesh)->first), free((*mesh)->triangle);
  free((*mesh)->vertex), free((*mesh)->around_first), free((*mesh)->around);
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

/* Whether a grain in this cell may reach triangle i: by the ball about the cell; 1e-9 is more than rounding. */
static bool reaches(const collision_mesh *m, int64_t i, int64_t x, int64_t y, int64_t z) {
  const double cell[3] = {(double)x + 0.5, (double)y + 0.5, (double)z + 0.5};
  double centre[3], point[3], d[3];
  for (int c = 0; c < 3; c++) centre[c] = m->low[c] + m->width * cell[c];
  mesh_nearest(m->corner + 9 * i, centre, point);
  for (int c = 0; c < 3; c++) d[c] = centre[c] - point[c];
  return sqrt(mesh_dot(d, d)) <= (m->reach + sqrt(0.75) * m->width) * (1 + 1e-9);
}

/* `triangle` NULL: only counts them into first[cell + 1]. */
static void fill(collision_mesh *m, int32_t *triangle) {
  for (int64_t i = 0; i < m->count; i++) {
    int64_t from[3], to[3];
    range_of(m, i, from, to);
    for (int64_t x = from[0]; x <= to[0]; x++)
      for (int64_t y = from[1]; y <= to[1]; y++)
        for (int64_t z = from[2]; z <= to[2]; z++) {
          if (!reaches(m, i, x, y, z)) continue;
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

/* Coordinates of corners, of which those within `same` of the least of them become it. */
static sim_status join_coordinates(const collision_mesh *m, double same, corner *out) {
  const int64_t corners = 3 * m->count;
  coordinate *sorted = malloc((size_t)(corners + 1) * sizeof *sorted);
  if (sorted == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for the edges of a mesh");
  for (int c = 0; c < 3; c++) {
    for (int64_t k = 0; k < corners; k++) sorted[k] = (coordinate){m->corner[3 * k + c], k};
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

/* How far corners that meet may lie apart, written with different roundings: two roundings in single precision, and
 * little beside the shortest edge. */
static double rounding_of(const collision_mesh *m) {
  double largest = 0, shortest = INFINITY;
  for (int64_t k = 0; k < 9 * m->count; k++) largest = fmax(largest, fabs(m->corner[k]));
  for (int64_t i = 0; i < 3 * m->count; i++) {
    const double *p = m->corner + 3 * i, *q = i % 3 < 2 ? p + 3 : p - 6;
    const double d[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]};
    shortest = fmin(shortest, sqrt(mesh_dot(d, d)));
  }
  return fmin(2 * (double)FLT_EPSILON * largest, 1e-3 * shortest);
}

/* Corners at the same place are one vertex, and take the place of the first. */
static sim_status make_vertices(collision_mesh *m) {
  const int64_t corners = 3 * m->count;
  corner *sorted = malloc((size_t)(corners + 1) * sizeof *sorted);
  m->vertex = malloc((size_t)(corners + 1) * sizeof *m->vertex);
  m->around = malloc((size_t)(corners + 1) * sizeof *m->around);
  m->around_first = malloc((size_t)(corners + 1) * sizeof *m->around_first);
  sim_status status = SIM_OK;
  if (sorted == NULL || m->vertex == NULL || m->around == NULL || m->around_first == NULL)
    status = sim_fail(SIM_ERR_NO_MEMORY, "no memory for the edges of a mesh");
  if (status == SIM_OK) status = join_coordinates(m, rounding_of(m), sorted);
  if (status != SIM_OK) {
    free(sorted);
    return status;
  }
  qsort(sorted, (size_t)corners, sizeof *sorted, compare);
  for (int64_t k = 0, first = 0; k < corners; k++) {
    bool same = k > 0;
    for (int c = 0; c < 3 && same; c++) same = sorted[k].x[c] == sorted[k - 1].x[c];
    if (!same) {
      m->around_first[m->vertices++] = (int32_t)k;
      first = sorted[k].number;
    }
    const int64_t number = sorted[k].number;
    m->vertex[number] = (int32_t)(m->vertices - 1);
    m->around[k] = (int32_t)(number / 3);
    if (same) memcpy(m->corner + 3 * number, m->corner + 3 * first, 3 * sizeof *m->corner);
  }
  m->around_first[m->vertices] = (int32_t)corners;
  free(sorted);
  return SIM_OK;
}

/* The ball about the middle of the box about a triangle; 1e-9 is more than rounding. */
static sim_status make_balls(collision_mesh *m) {
  m->bound = malloc((size_t)m->count * 4 * sizeof *m->bound + 1);
  if (m->bound == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for a mesh");
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

sim_status collision_mesh_create(const collision_triangles *triangles, double largest, collision_mesh **out) {
  collision_mesh *m = *out = calloc(1, sizeof *m);
  if (m == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for a mesh");
  if (triangles->count > INT32_MAX / 3) {
    collision_mesh_destroy(out);
    return sim_fail(SIM_ERR_SCENARIO, "a mesh has more than 7e8 triangles");
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
  if (status == SIM_OK) status = make_vertices(m);
  if (status == SIM_OK) status = make_balls(m);
  if (status == SIM_OK) status = make_cells(m);
  if (status != SIM_OK) collision_mesh_destroy(out);
  return status;
}

double collision_mesh_bytes(int64_t triangles) {
  return (double)triangles * (104 + 3 * 12 + 3 * 32 + 8 * 8 + 32 * 4) + 40e3;
}

int collision_mesh_touch(const collision_mesh *mesh, const double x[3], double reach,
                         collision_touch out[COLLISION_TOUCHES_MAX]) {
  return mesh_touch(mesh, x, reach, out);
}
