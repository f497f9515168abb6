/* The number pi, and products of vectors. */
#ifndef COMMON_VECTOR_H
#define COMMON_VECTOR_H

static const double pi = 3.14159265358979323846;

static inline double vector_dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* out may not be a or b. */
static inline void vector_cross(const double a[3], const double b[3], double out[3]) {
  for (int c = 0; c < 3; c++) out[c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
}

#endif
