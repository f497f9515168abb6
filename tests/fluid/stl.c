#include "tests/fluid/stl.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void write_block(FILE *file, const double low[3], const double high[3]) {
  static const int faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  for (int f = 0; f < 6; f++)
    for (int half = 0; half < 2; half++) {
      fprintf(file, "facet normal 0 0 0\nouter loop\n");
      for (int k = 0; k < 3; k++) {
        const int corner = faces[f][k == 0 ? 0 : k + half];
        fprintf(file, "vertex");
        for (int a = 0; a < 3; a++) fprintf(file, " %.17g", corner & 1 << a ? high[a] : low[a]);
        fprintf(file, "\n");
      }
      fprintf(file, "endloop\nendfacet\n");
    }
}

void stl_block(const char *path, const double low[3], const double high[3], const double (*extra)[3]) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "solid block\n");
  write_block(file, low, high);
  if (extra) write_block(file, extra[0], extra[1]);
  fprintf(file, "endsolid block\n");
  fclose(file);
}

/* A triangle of the unit sphere, cut `cuts` times. */
typedef struct sphere {
  FILE *file;
  const double *centre;
  double r, inner;
  uint32_t count;
} sphere;

static void middle(const double a[3], const double b[3], double out[3]) {
  double square = 0;
  for (int k = 0; k < 3; k++) {
    out[k] = a[k] + b[k];
    square += out[k] * out[k];
  }
  for (int k = 0; k < 3; k++) out[k] /= sqrt(square);
}

static void write_triangle(sphere *s, double t[3][3]) {
  float numbers[12] = {0};
  double n[3], square = 0, far = 0;
  for (int k = 0; k < 3; k++) {
    const int d = (k + 1) % 3, e = (k + 2) % 3;
    n[k] = (t[1][d] - t[0][d]) * (t[2][e] - t[0][e]) - (t[1][e] - t[0][e]) * (t[2][d] - t[0][d]);
    square += n[k] * n[k];
    far += n[k] * t[0][k];
    for (int c = 0; c < 3; c++) numbers[3 + 3 * c + k] = (float)(s->centre[k] + s->r * t[c][k]);
  }
  s->inner = fmin(s->inner, s->r * far / sqrt(square));
  assert_int_equal(fwrite(numbers, 1, sizeof numbers, s->file), sizeof numbers);
  assert_int_equal(fwrite("\0", 1, 2, s->file), 2);
  s->count++;
}

static void cut(sphere *s, const double a[3], const double b[3], const double c[3], int cuts) {
  double ab[3], bc[3], ca[3];
  if (cuts == 0) {
    double t[3][3];
    memcpy(t[0], a, sizeof t[0]);
    memcpy(t[1], b, sizeof t[1]);
    memcpy(t[2], c, sizeof t[2]);
    write_triangle(s, t);
    return;
  }
  middle(a, b, ab);
  middle(b, c, bc);
  middle(c, a, ca);
  cut(s, a, ab, ca, cuts - 1);
  cut(s, ab, b, bc, cuts - 1);
  cut(s, ca, bc, c, cuts - 1);
  cut(s, ab, bc, ca, cuts - 1);
}

double stl_sphere(const char *path, const double centre[3], double r, int cuts) {
  static const int faces[20][3] = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                                   {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                                   {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
  const double g = (1 + sqrt(5)) / 2, none[3] = {0};
  const double raw[12][3] = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                             {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
  sphere s = {.file = fopen(path, "wb"), .centre = centre, .r = r, .inner = r};
  char header[84] = {0};
  assert_non_null(s.file);
  assert_int_equal(fwrite(header, 1, sizeof header, s.file), sizeof header);
  for (int f = 0; f < 20; f++) {
    double unit[3][3];
    for (int k = 0; k < 3; k++) middle(raw[faces[f][k]], none, unit[k]);
    cut(&s, unit[0], unit[1], unit[2], cuts);
  }
  for (int k = 0; k < 4; k++) header[80 + k] = (char)(s.count >> (8 * k));
  assert_int_equal(fseek(s.file, 0, SEEK_SET), 0);
  assert_int_equal(fwrite(header, 1, sizeof header, s.file), sizeof header);
  fclose(s.file);
  return s.inner;
}
