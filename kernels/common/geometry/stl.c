/* STL files, and checks of sets of triangles. */
#include "kernels/common/geometry/geometry.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 84, RECORD = 50 };

static sim_status read_whole(const char *path, char **out, size_t *size) {
  struct stat about;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* opening a FIFO would wait for a writer */
  if (fd < 0) return sim_fail(SIM_ERR_NO_INPUT, "%s: %s", path, strerror(errno));
  const bool regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
  FILE *file = regular ? fdopen(fd, "rb") : NULL;
  if (file == NULL) {
    (void)close(fd);
    return sim_fail(SIM_ERR_SCENARIO, "%s: is not a file", path);
  }
  *size = (size_t)about.st_size;
  *out = *size < sim_backend_cpu.memory_free() ? malloc(*size + 1) : NULL;
  sim_status status = SIM_OK;
  if (*out == NULL)
    status = sim_no_memory("%zu bytes of %s", *size, path);
  else if (fread(*out, 1, *size, file) != *size)
    status = sim_fail(SIM_ERR_IO, "%s: cannot be read", path);
  else
    (*out)[*size] = '\0';
  fclose(file);
  if (status != SIM_OK) {
    free(*out);
    *out = NULL;
  }
  return status;
}

static bool has_area(const double c[9]) {
  double cross[3];
  for (int k = 0; k < 3; k++) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    cross[k] = (c[3 + a] - c[a]) * (c[6 + b] - c[b]) - (c[3 + b] - c[b]) * (c[6 + a] - c[a]);
  }
  return cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2] > 0;
}

/* Appends triangle `number` of the file, unless it has no area. */
static sim_status add(const char *path, int64_t number, geometry_triangles *out, int64_t *room,
                      const double corner[9]) {
  for (int k = 0; k < 9; k++)
    if (!isfinite(corner[k]) || fabs(corner[k]) > 1e30)
      return sim_fail(SIM_ERR_SCENARIO, "%s: a corner of triangle %" PRId64 " is not a finite number", path, number);
  if (!has_area(corner)) return SIM_OK;
  if (out->count == *room) {
    *room = *room > 0 ? 2 * *room : 1024;
    double *more = realloc(out->corner, (size_t)*room * 9 * sizeof *more);
    if (more == NULL) return sim_no_memory("the triangles of %s", path);
    out->corner = more;
  }
  memcpy(out->corner + 9 * out->count++, corner, 9 * sizeof *corner);
  return SIM_OK;
}

/* A little-endian unsigned integer of four bytes. */
static uint32_t read_u32(const char *at) {
  const unsigned char *b = (const unsigned char *)at;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static sim_status read_binary(const char *path, const char *data, int64_t count, geometry_triangles *out) {
  int64_t room = 0;
  for (int64_t i = 0; i < count; i++) {
    double corner[9];
    for (int k = 0; k < 9; k++) { /* corners follow the normal */
      const uint32_t bits = read_u32(data + HEADER + i * RECORD + 12 + 4 * k);
      float value;
      memcpy(&value, &bits, sizeof value);
      corner[k] = (double)value;
    }
    SIM_TRY(add(path, i + 1, out, &room, corner));
  }
  return SIM_OK;
}

/* Copies the next word in lower case; false: the text has ended. */
static bool next_word(const char **at, char out[64]) {
  size_t size = 0;
  while (isspace((unsigned char)**at)) (*at)++;
  for (; **at != '\0' && !isspace((unsigned char)**at); (*at)++)
    if (size < 63) out[size++] = (char)tolower((unsigned char)**at);
  out[size] = '\0';
  return size > 0;
}

static sim_status text_fails(const char *path, int64_t facet, const char *what) {
  return sim_fail(SIM_ERR_SCENARIO, "%s: is not an STL file: facet %" PRId64 " %s", path, facet, what);
}

/* Reads the facets of a text STL file; ignores words that it does not know. A name extends to the end of its line. */
static sim_status read_text(const char *path, const char *at, geometry_triangles *out) {
  char text[64];
  double corner[9];
  int64_t room = 0, facets = 0;
  int corners = 0;
  bool facet = false, ended = false;
  while (next_word(&at, text)) {
    if (strcmp(text, "solid") == 0 || strcmp(text, "endsolid") == 0) {
      if (facet) return text_fails(path, facets, "does not end");
      ended = text[0] == 'e';
      at += strcspn(at, "\r\n");
    } else if (strcmp(text, "vertex") == 0) {
      if (!facet || corners == 3)
        return text_fails(path, facets, facet ? "has more than 3 corners" : "has ended before");
      for (int k = 0; k < 3; k++) {
        char *end;
        if (!next_word(&at, text)) break;
        corner[3 * corners + k] = sim_number_parse(text, &end);
        if (*end != '\0') return sim_fail(SIM_ERR_SCENARIO, "%s: is not an STL file: \"%s\" is no number", path, text);
      }
      corners++;
    } else if (strcmp(text, "facet") == 0) {
      if (facet) return text_fails(path, facets, "does not end");
      facet = true;
      corners = 0;
      facets++;
    } else if (strcmp(text, "endfacet") == 0) {
      if (!facet || corners != 3) return text_fails(path, facets, facet ? "has fewer than 3 corners" : "ends twice");
      SIM_TRY(add(path, facets, out, &room, corner));
      facet = false;
    }
  }
  if (!ended || facet) return sim_fail(SIM_ERR_SCENARIO, "%s: is cut off, or is not an STL file", path);
  return SIM_OK;
}

/* Start of a text STL file, after a byte order mark; NULL: the file is not such a text. */
static const char *text_of(const char *data, size_t size) {
  const char *const first = strncmp(data, "\xef\xbb\xbf", 3) == 0 ? data + 3 : data, *at = first;
  char format[64];
  return next_word(&at, format) && strcmp(format, "solid") == 0 && strlen(data) == size ? first : NULL;
}

sim_status geometry_stl_read(const char *path, geometry_triangles *out) {
  char *data = NULL;
  size_t size = 0;
  *out = (geometry_triangles){0};
  SIM_TRY(read_whole(path, &data, &size));
  const int64_t count = size >= HEADER ? read_u32(data + 80) : 0;
  const size_t whole = (size_t)HEADER + (size_t)count * RECORD;
  sim_status status;
  if (size >= HEADER && size == whole)
    status = read_binary(path, data, count, out);
  else if (text_of(data, size) != NULL)
    status = read_text(path, text_of(data, size), out);
  else if (size >= HEADER && strlen(data) < size)
    status = sim_fail(SIM_ERR_SCENARIO,
                      "%s: is cut off, or is not an STL file: its %" PRId64 " triangles take %zu bytes, it has %zu",
                      path, count, whole, size);
  else
    status = sim_fail(SIM_ERR_SCENARIO, "%s: is cut off, or is not an STL file", path);
  if (status == SIM_OK && out->count == 0)
    status = sim_fail(SIM_ERR_SCENARIO, "%s: holds no triangles with an area", path);
  free(data);
  if (status != SIM_OK) {
    free(out->corner);
    *out = (geometry_triangles){0};
  }
  return status;
}

sim_status geometry_triangles_move(geometry_triangles *triangles, double scale, const double shift[3]) {
  for (int64_t i = 0; i < triangles->count; i++) {
    double *const corner = triangles->corner + 9 * i;
    double largest = 0;
    for (int k = 0; k < 9; k++) {
      corner[k] = scale * corner[k] + shift[k % 3];
      largest = fmax(largest, isfinite(corner[k]) ? fabs(corner[k]) : INFINITY);
    }
    if (largest > 1e30 || !has_area(corner))
      return sim_fail(SIM_ERR_SCENARIO, "with this scale and shift triangle %" PRId64 " of the mesh %s", i + 1,
                      largest > 1e30 ? "is too far away" : "has no area");
  }
  return SIM_OK;
}

/* ---- closed ---- */

typedef struct edge {
  double end[6]; /* end points of an edge, the smaller one first */
} edge;

static int compare(const void *a, const void *b) {
  const double *x = ((const edge *)a)->end, *y = ((const edge *)b)->end;
  for (int k = 0; k < 6; k++)
    if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
  return 0;
}

static edge edge_of(const double *a, const double *b) {
  edge e;
  int first = 0;
  for (int k = 2; k >= 0; k--)
    if (a[k] != b[k]) first = a[k] < b[k] ? 0 : 1;
  for (int k = 0; k < 3; k++) {
    e.end[k] = first == 0 ? a[k] : b[k];
    e.end[3 + k] = first == 0 ? b[k] : a[k];
  }
  return e;
}

sim_status geometry_triangles_closed(const geometry_triangles *triangles) {
  const size_t count = (size_t)triangles->count * 3;
  edge *edges = malloc((count + 1) * sizeof *edges);
  if (edges == NULL) return sim_no_memory("the edges of a mesh");
  for (size_t k = 0; k < count; k++) {
    const double *corner = triangles->corner + 9 * (k / 3);
    edges[k] = edge_of(corner + 3 * (k % 3), corner + 3 * ((k + 1) % 3));
  }
  qsort(edges, count, sizeof *edges, compare);
  sim_status status = SIM_OK;
  for (size_t k = 0, next; k < count && status == SIM_OK; k = next) {
    for (next = k + 1; next < count && compare(&edges[k], &edges[next]) == 0;) next++;
    const double *e = edges[k].end;
    if (next - k != 2)
      status = sim_fail(SIM_ERR_SCENARIO,
                        "the mesh is not closed: the edge from (%.6g, %.6g, %.6g) to (%.6g, %.6g, %.6g) belongs to %zu "
                        "%s, not to two",
                        e[0], e[1], e[2], e[3], e[4], e[5], next - k, next - k == 1 ? "triangle" : "triangles");
  }
  free(edges);
  return status;
}
