/* Mass, centre and inertia of clumps of spheres. */
#include "kernels/collision/clumps/clumps.h"

#include <stdlib.h>
#include <string.h>

/* Volume integrals of 1, x and x x. */
typedef struct moments {
  double volume, first[3], second[3][3];
} moments;

const collision_rigid *collision_rigid_of(const sim_item *item) {
  return item->schema == &collision_clump_schema || item->schema == &collision_clumps_schema ? item->data : NULL;
}

bool collision_any_clumps(const collision_parameters *p) {
  for (size_t i = 0; i < p->grains.count; i++)
    if (collision_rigid_of(&p->grains.items[i]) != NULL) return true;
  return false;
}

static bool overlap(const double *p, const double *q) {
  const double both = p[3] + q[3];
  double square = 0;
  for (int c = 0; c < 3; c++) square += (p[c] - q[c]) * (p[c] - q[c]);
  return square < both * both * (1 - 1e-12); /* touching ones: rounded */
}

bool collision_spheres_overlap(const collision_rigid *rigid, size_t pair[2]) {
  const double *s = rigid->spheres.data;
  for (size_t i = 0; i < rigid->spheres.rows; i++)
    for (size_t j = 0; j < i; j++) {
      if (!overlap(s + 4 * i, s + 4 * j)) continue;
      pair[0] = j, pair[1] = i;
      return true;
    }
  return false;
}

/* ---- volume integrals ---- */

static void add_spheres(const double *s, size_t count, const double from[3], moments *out) {
  for (size_t i = 0; i < count; i++, s += 4) {
    const double volume = 4 * COLLISION_PI / 3 * s[3] * s[3] * s[3];
    out->volume += volume;
    for (int a = 0; a < 3; a++) {
      const double x = s[a] - from[a];
      out->first[a] += volume * x;
      for (int b = 0; b < 3; b++) out->second[a][b] += volume * x * (s[b] - from[b]);
      out->second[a][a] += 0.2 * volume * s[3] * s[3];
    }
  }
}

typedef struct interval {
  double low, high;
} interval;

static int by_low(const void *p, const void *q) {
  const interval *a = p, *b = q;
  return (a->low > b->low) - (a->low < b->low);
}

/* Adds a line along `axis` in the union of the intervals, which it sorts. at: the line's other two coordinates. */
static void add_line(interval *in, size_t count, int axis, const double at[2], double area, moments *out) {
  const int b = (axis + 1) % 3, c = (axis + 2) % 3;
  qsort(in, count, sizeof *in, by_low);
  double length = 0, first = 0, second = 0;
  for (size_t k = 0; k < count;) {
    double low = in[k].low, high = in[k].high;
    for (k++; k < count && in[k].low <= high; k++) high = fmax(high, in[k].high);
    length += high - low;
    first += 0.5 * (high * high - low * low);
    second += (high * high * high - low * low * low) / 3;
  }
  out->volume += area * length;
  out->first[axis] += area * first;
  out->first[b] += area * length * at[0];
  out->first[c] += area * length * at[1];
  out->second[axis][axis] += area * second;
  out->second[b][b] += area * length * at[0] * at[0];
  out->second[c][c] += area * length * at[1] * at[1];
  out->second[axis][b] += area * first * at[0];
  out->second[axis][c] += area * first * at[1];
  out->second[b][c] += area * length * at[0] * at[1];
}

/* Lines along each side of the face that they pass: at first, and where the error asks for more. */
enum { LINES = 400, LINES_MOST = 1600 };
static const double error_aim = 1e-4, tests_most = 6e7; /* of lines and spheres, along one axis */

/* Adds the union of spheres by lines along `axis`, which are exact, through a grid of midpoints with `side` of them
 * along each side. room [2 count]. */
static void add_lines(const double *s, size_t count, const double from[3], int axis, int side, interval *room,
                      moments *out) {
  const int b = (axis + 1) % 3, c = (axis + 2) % 3;
  interval *row = room + count; /* of the spheres that a row of lines meets: squares of radii there, and numbers */
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (size_t i = 0; i < count; i++)
    for (int k = 0; k < 2; k++) {
      const double x = s[4 * i + (size_t)(k ? c : b)] - from[k ? c : b], r = s[4 * i + 3];
      low[k] = fmin(low[k], x - r);
      high[k] = fmax(high[k], x + r);
    }
  const double step[2] = {(high[0] - low[0]) / side, (high[1] - low[1]) / side}, area = step[0] * step[1];
  for (int v = 0; v < side; v++) {
    double at[2] = {0, low[1] + (v + 0.5) * step[1]};
    size_t met = 0;
    for (size_t i = 0; i < count; i++) {
      const double y = s[4 * i + (size_t)c] - from[c] - at[1], square = s[4 * i + 3] * s[4 * i + 3] - y * y;
      if (square > 0) row[met++] = (interval){square, (double)i};
    }
    for (int u = 0; u < side; u++) {
      size_t lines = 0;
      at[0] = low[0] + (u + 0.5) * step[0];
      for (size_t k = 0; k < met; k++) {
        const double *p = s + 4 * (size_t)row[k].high, x = p[b] - from[b] - at[0], square = row[k].low - x * x;
        if (!(square > 0)) continue;
        const double half = sqrt(square), middle = p[axis] - from[axis];
        room[lines++] = (interval){middle - half, middle + half};
      }
      if (lines > 0) add_line(room, lines, axis, at, area, out);
    }
  }
  for (int a = 0; a < 3; a++)
    for (int d = 0; d < a; d++) { /* one of the two was added */
      const double both = out->second[a][d] + out->second[d][a];
      out->second[a][d] = out->second[d][a] = both;
    }
}

static double greater(double error, const moments *a, const moments *b, double size) {
  error = fmax(error, fabs(a->volume / b->volume - 1));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) error = fmax(error, fabs(a->second[i][j] - b->second[i][j]) / size);
  return error;
}

/* Sets `out` to the mean of the sums along the three axes; returns the largest deviation, of volume and second moments,
 * of one of them from these means and from the sums over half as many lines a side. These err more by 2^1.5: by edges
 * where lengths begin as a square root. */
static double mean_of(const moments by[3], const moments rough[3], moments *out) {
  double error = 0;
  *out = (moments){0};
  for (int k = 0; k < 3; k++) {
    out->volume += by[k].volume / 3;
    for (int a = 0; a < 3; a++) {
      out->first[a] += by[k].first[a] / 3;
      for (int b = 0; b < 3; b++) out->second[a][b] += by[k].second[a][b] / 3;
    }
  }
  const double size = out->second[0][0] + out->second[1][1] + out->second[2][2];
  for (int k = 0; k < 3; k++) error = greater(greater(error, &by[k], out, size), &rough[k], &by[k], size);
  return error;
}

/* Adds the sums over the union; *error: also the error of these, which the number of lines follows: few lines pass a
 * slender group askew in its box. room [2 count]. */
static void sample_group(const double *s, size_t count, const double from[3], interval *room, moments *out,
                         double *error) {
  moments by[3] = {{0}}, rough[3], mean;
  double own;
  int side = LINES;
  for (int axis = 0; axis < 3; axis++) add_lines(s, count, from, axis, LINES / 2, room, &by[axis]);
  for (;; side *= 2) {
    memcpy(rough, by, sizeof by);
    memset(by, 0, sizeof by);
    for (int axis = 0; axis < 3; axis++) add_lines(s, count, from, axis, side, room, &by[axis]);
    own = mean_of(by, rough, &mean);
    if (own <= error_aim || 2 * side > LINES_MOST || 4.0 * side * side * (double)count > tests_most) break;
  }
  *error = fmax(*error, own);
  out->volume += mean.volume;
  for (int a = 0; a < 3; a++) {
    out->first[a] += mean.first[a];
    for (int b = 0; b < 3; b++) out->second[a][b] += mean.second[a][b];
  }
}

/* Numbers the groups of spheres that hang together by overlaps, each by its first sphere. */
static void find_groups(const double *s, size_t count, size_t *group) {
  for (size_t i = 0; i < count; i++) {
    group[i] = i;
    for (size_t j = 0; j < i; j++) {
      if (group[j] == group[i] || !overlap(s + 4 * i, s + 4 * j)) continue;
      const size_t low = group[i] < group[j] ? group[i] : group[j], high = group[i] < group[j] ? group[j] : group[i];
      for (size_t k = 0; k <= i; k++)
        if (group[k] == high) group[k] = low;
    }
  }
}

/* Sums over the union: groups are sampled each by lines of its own, so that parts far from each other do not make these
 * coarse; spheres that overlap none are exact, unless `all` are sampled. */
static sim_status sample(const double *s, size_t count, const double from[3], bool all, moments *out, double *error) {
  interval *room = malloc(2 * count * sizeof *room);
  size_t *group = malloc(count * sizeof *group);
  double *part = malloc(4 * count * sizeof *part);
  const bool there = room != NULL && group != NULL && part != NULL;
  if (there) find_groups(s, count, group);
  for (size_t g = 0; g < count && there; g++) {
    size_t members = 0;
    for (size_t i = g; i < count; i++)
      if (group[i] == g) memcpy(part + 4 * members++, s + 4 * i, 4 * sizeof *part);
    if (members == 1 && !all)
      add_spheres(part, 1, from, out);
    else if (members > 0)
      sample_group(part, members, from, room, out, error);
  }
  free(room), free(group), free(part);
  return there ? SIM_OK : sim_no_memory("a clump of %zu spheres", count);
}

/* ---- principal axes ---- */

/* Exchanges two principal axes, and turns one of them round: they stay right-handed. */
static void exchange(double m[3][3], double turn[3][3], int p, int q) {
  const double moment = m[p][p];
  m[p][p] = m[q][q];
  m[q][q] = moment;
  for (int i = 0; i < 3; i++) {
    const double x = turn[i][p];
    turn[i][p] = turn[i][q];
    turn[i][q] = -x;
  }
}

/* Turns a symmetric matrix to its principal axes by Jacobi's method, in the order of the moments, so that the motion
 * does not depend on the scenario's axes; turn: columns are these axes, right-handed. */
static void diagonalize(double m[3][3], double turn[3][3]) {
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) turn[a][b] = a == b;
  const double scale = fabs(m[0][0]) + fabs(m[1][1]) + fabs(m[2][2]);
  for (int pass = 0; pass < 50; pass++)
    for (int k = 0; k < 3; k++) {
      const int p = k, q = (k + 1) % 3;
      if (fabs(m[p][q]) <= 1e-15 * scale) continue;
      const double theta = 0.5 * (m[q][q] - m[p][p]) / m[p][q];
      const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
      const double cosine = 1 / sqrt(t * t + 1), sine = t * cosine;
      for (int i = 0; i < 3; i++) {
        const double x = m[i][p], y = m[i][q];
        m[i][p] = cosine * x - sine * y;
        m[i][q] = sine * x + cosine * y;
      }
      for (int i = 0; i < 3; i++) {
        const double x = m[p][i], y = m[q][i];
        m[p][i] = cosine * x - sine * y;
        m[q][i] = sine * x + cosine * y;
      }
      for (int i = 0; i < 3; i++) {
        const double x = turn[i][p], y = turn[i][q];
        turn[i][p] = cosine * x - sine * y;
        turn[i][q] = sine * x + cosine * y;
      }
    }
  for (int k = 0; k < 3; k++)
    if (m[k % 2][k % 2] > m[k % 2 + 1][k % 2 + 1]) exchange(m, turn, k % 2, k % 2 + 1);
}

/* Quaternion of a matrix that turns (S. W. Shepperd, J. Guidance Control 1 (1978) 223: the largest part first). */
static void quaternion_of(double m[3][3], double q[4]) {
  const double trace = m[0][0] + m[1][1] + m[2][2];
  int a = -1;
  double most = trace;
  for (int k = 0; k < 3; k++)
    if (m[k][k] > most) most = m[k][k], a = k;
  if (a < 0) {
    q[0] = 1 + trace, q[1] = m[2][1] - m[1][2], q[2] = m[0][2] - m[2][0], q[3] = m[1][0] - m[0][1];
  } else {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    q[0] = m[c][b] - m[b][c];
    q[1 + a] = 1 + 2 * m[a][a] - trace;
    q[1 + b] = m[b][a] + m[a][b];
    q[1 + c] = m[c][a] + m[a][c];
  }
  rigid_unit(q);
}

sim_status collision_shape_create(const collision_rigid *rigid, collision_shape *out) {
  const double *s = rigid->spheres.data;
  const size_t count = rigid->spheres.rows;
  double from[3] = {0}, inertia[3][3], turn[3][3];
  size_t pair[2];
  moments m = {0};
  *out = (collision_shape){.spheres = s, .count = (int64_t)count};
  for (size_t i = 0; i < count; i++)
    for (int c = 0; c < 3; c++) from[c] += s[4 * i + (size_t)c] / (double)count;
  if (rigid->volume == COLLISION_VOLUME_SAMPLED ||
      (rigid->volume == COLLISION_VOLUME_AUTO && collision_spheres_overlap(rigid, pair)))
    SIM_TRY(sample(s, count, from, rigid->volume == COLLISION_VOLUME_SAMPLED, &m, &out->error));
  else
    add_spheres(s, count, from, &m);
  out->at = malloc(count * sizeof *out->at);
  if (out->at == NULL) return sim_no_memory("a clump of %zu spheres", count);
  collision_body *body = &out->body;
  const double density = isnan(rigid->mass) ? rigid->group.density : rigid->mass / m.volume;
  *body = (collision_body){.mass = density * m.volume, .count = (double)count, .orientation = {1}};
  out->volume = m.volume;
  double trace = 0;
  for (int a = 0; a < 3; a++) {
    out->centre[a] = from[a] + m.first[a] / m.volume;
    trace += m.second[a][a] - m.first[a] * m.first[a] / m.volume;
  }
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++)
      inertia[a][b] = density * ((a == b ? trace : 0) - (m.second[a][b] - m.first[a] * m.first[b] / m.volume));
  diagonalize(inertia, turn);
  quaternion_of(turn, body->axes);
  rigid_matrix(body->axes, turn);
  for (int a = 0; a < 3; a++) body->moment[a] = inertia[a][a];
  for (size_t i = 0; i < count; i++) {
    double square = 0;
    for (int a = 0; a < 3; a++) {
      double x = 0;
      for (int c = 0; c < 3; c++) x += turn[c][a] * (s[4 * i + (size_t)c] - out->centre[c]);
      out->at[i][a] = x;
      square += x * x;
    }
    body->bound = fmax(body->bound, sqrt(square) + s[4 * i + 3]);
  }
  return SIM_OK;
}

void collision_shape_free(collision_shape *shape) {
  free(shape->at);
  *shape = (collision_shape){0};
}
