/* The kernels of one scenario (PROGRAM), compiled for the host with one thread, against formulas (CASE): ends with 1
 * where they differ by more than rounding. The grid has 8 cells along x and 6 along y, and length 1. */
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>

#define __CUDACC__
#define __device__
#define __global__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(threads)
struct double2 {
  double x, y;
};
struct float2 {
  float x, y;
};
static struct indices { unsigned x, y, z; } blockIdx, threadIdx, blockDim = {1, 1, 1}, gridDim = {1, 1, 1};
using std::isfinite;
static inline void atomicMin(unsigned long long *to, unsigned long long value) {
  if (value < *to) *to = value;
}
#include PROGRAM

typedef std::complex<double> number;
static const double pi = 3.14159265358979323846;
static double worst;
static double draw() { return drand48() - 0.5; }
static void expect(number got, number want) { worst = fmax(worst, std::abs(got - want)); }
static number of(pair a) { return number(a.x, a.y); }

static diffusion_layout layout_of(int kind_x, int kind_y, int planes, int member_axis) {
  diffusion_layout p = {};
  const long long n[3] = {8, 6, planes};
  for (int i = 0; i < 3; i++) p.n[i] = n[i], p.axis[i] = i, p.size[i] = i < 2 ? 1 : planes > 1 ? planes : 0;
  p.row = 10;
  p.rows = 6 * planes;
  p.wide = 6;
  p.field = 60 * planes;
  p.kind[0] = kind_x, p.kind[1] = kind_y;
  p.member_axis = member_axis;
  p.all = planes;
  return p;
}

#if CASE == 0 /* a field between walls along both axes: w_x, w_y, p_x, p_y, p_xx of p = -w/k^2, cosine series */
static double c[6][8];
static double potential(int y, int x) { return x || y ? -c[y][x] / (pi * pi * (x * x + y * y)) : 0; }

static void check() {
  const diffusion_layout p = layout_of(1, 1, 1, 0);
  pair fields[30] = {}, to[150];
  for (int y = 0; y < 6; y++)
    for (int x = 0; x < 8; x++) c[y][x] = draw();
  for (int y = 0; y < 6; y++) /* the real part belongs to k, the imaginary part to 8 - k */
    for (int k = 0; k < 5; k++) fields[y * 5 + k] = {c[y][k], k ? c[y][8 - k] : 0};
  diffusion_derive(fields, to, p);
  for (int y = 0; y < 6; y++)
    for (int e = 0; e < 8; e++) { /* entries of sine series: n, n - 1, ..., 1 */
      const double want[5] = {e ? -pi * (8 - e) * c[y][8 - e] : 0, y ? -pi * (6 - y) * c[6 - y][e] : 0,
                              e ? -pi * (8 - e) * potential(y, 8 - e) : 0, y ? -pi * (6 - y) * potential(6 - y, e) : 0,
                              -pi * pi * e * e * potential(y, e)};
      for (int g = 0; g < 5; g++) {
        const pair *row = to + 30 * g + 5 * y;
        expect(e <= 4 ? row[e].x : row[8 - e].y, want[g]);
      }
    }
}
#elif CASE == 1 /* two members, between fixed walls along y: w_x, w_y, p_x, p_y, p_yy of p = -member w/k^2 */
static number c[2][6][5]; /* [entry y]: sine mode 6 - y */
static number potential(int m, int mode, int k) {
  return -(m + 1.0) * c[m][6 - mode][k] / (pi * pi * (4 * k * k + mode * mode));
}

static void check() {
  const number i(0, 1);
  const diffusion_layout p = layout_of(0, 2, 2, 2);
  pair fields[60], to[300];
  for (int e = 0; e < 60; e++) {
    fields[e] = {draw(), draw()};
    c[e / 30][e / 5 % 6][e % 5] = of(fields[e]);
  }
  diffusion_derive(fields, to, p);
  for (int e = 0; e < 60; e++) {
    const int m = e / 30, y = e / 5 % 6, k = e % 5;
    const double kx = k == 4 ? 0 : 2 * pi * k;
    expect(of(to[e]), i * kx * c[m][y][k]);
    expect(of(to[60 + e]), y ? pi * y * c[m][6 - y][k] : 0);
    expect(of(to[120 + e]), i * kx * potential(m, 6 - y, k));
    expect(of(to[180 + e]), y ? pi * y * potential(m, y, k) : 0);
    expect(of(to[240 + e]), -pi * pi * (6 - y) * (6 - y) * potential(m, 6 - y, k));
  }
}
#else           /* fluxes of two fields along both axes, then the projection of these */
static void check() {
  const number i(0, 1);
  const diffusion_layout p = layout_of(0, 0, 1, 0);
  pair fields[60], fluxes[120];
  number want[60];
  for (int e = 0; e < 60; e++) fields[e] = {draw(), draw()};
  for (int e = 0; e < 120; e++) fluxes[e] = {draw(), draw()};
  for (int e = 0; e < 30; e++) {
    const int x = e % 5, y = e / 5;
    const double k[2] = {x == 4 ? 0 : 2 * pi * x, y == 3 ? 0 : 2 * pi * (y > 3 ? y - 6 : y)}; /* 0: own mirror image */
    const double k2 = k[0] * k[0] + k[1] * k[1];
    number v[2];
    for (int f = 0; f < 2; f++) {
      v[f] = of(fields[30 * f + e]);
      for (int a = 0; a < 2; a++) v[f] -= i * k[a] * of(fluxes[30 * (2 * f + a) + e]);
    }
    const number along = k2 > 0 ? (k[0] * v[0] + k[1] * v[1]) / k2 : 0;
    for (int f = 0; f < 2; f++) want[30 * f + e] = v[f] - k[f] * along;
  }
  diffusion_join(fields, fluxes, p);
  for (int e = 0; e < 60; e++) expect(of(fields[e]), want[e]);
}
#endif

int main() {
  check();
  /* k up to 25, k^2 up to 630, of numbers below 1: 630 times 2^-53 and some operations */
  if (worst < 1e-12) return 0;
  printf("case %d: differs by %g\n", CASE, worst);
  return 1;
}
