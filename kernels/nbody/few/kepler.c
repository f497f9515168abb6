#include "kernels/nbody/few/kepler.h"
#include "kernels/common/vector.h"

#include <math.h>

/* Computes G_k(beta, s) = s^k c_k(beta s^2), k = 0 ... 3, with Stumpff's functions c_k(z) = sum (-z)^i / (k + 2 i)!.
 * The series are summed for |z| < 0.1, where seven terms give full precision. A larger z is divided by four, and the
 * results are doubled: c_0(4z) = 2 c_0^2 - 1, in Stumpff's form, which avoids differences of large numbers. */
static void stumpff(double beta, double s, double G[4]) {
  double z = beta * s * s;
  int quarters = 0;
  for (; fabs(z) > 0.1 && quarters < 1000; quarters++) z *= 0.25;
  /* 1 / 3!, 1 / 5!, ... and 1 / 2!, 1 / 4!, ... */
  double c3 = 1.0 / 6 -
              z * (1.0 / 120 -
                   z * (1.0 / 5040 - z * (1.0 / 362880 -
                                          z * (1.0 / 39916800 - z * (1.0 / 6227020800 - z * (1.0 / 1307674368000))))));
  double c2 =
      0.5 -
      z * (1.0 / 24 -
           z * (1.0 / 720 - z * (1.0 / 40320 - z * (1.0 / 3628800 - z * (1.0 / 479001600 - z * (1.0 / 87178291200))))));
  double c1 = 1 - z * c3, c0 = 1 - z * c2;
  for (; quarters > 0; quarters--) {
    c3 = 0.25 * (c2 + c0 * c3);
    c2 = 0.5 * c1 * c1;
    c1 = c0 * c1;
    c0 = 2 * c0 * c0 - 1;
  }
  G[0] = c0;
  G[1] = s * c1;
  G[2] = s * s * c2;
  G[3] = s * s * s * c3;
}

/* Solves r0 s + eta G2(s) + zeta G3(s) = dt, dt > 0 and at most a period, for s. The left side rises everywhere: its
 * derivative is the distance. Halley's iteration, which triples the digits, is kept within a bracket; s beta^0.5 is the
 * change of the eccentric anomaly, at most 2 pi. Far from the root, where the bend is strong, a step of Halley's is
 * short as well, and one of Newton's is not. Fills in G[1 to 3] at the root, and *r, the distance there. */
static bool solve(double r0, double eta, double zeta, double beta, double dt, double G[4], double *r) {
  double low = 0, high = beta > 0 ? 6.3 / sqrt(beta) : INFINITY;
  const double u = dt / r0;
  double s = u * (1 - 0.5 * u * eta / r0 + (u * u) * (0.5 * eta * eta / (r0 * r0) - zeta / (6 * r0)));
  if (!(s > 0 && s < 2 * u)) s = u;
  if (s >= high) s = 0.5 * high;
  for (int k = 0; k < 200; k++) {
    stumpff(beta, s, G);
    *r = r0 + eta * G[1] + zeta * G[2];
    const double excess = r0 * s + eta * G[2] + zeta * G[3] - dt;
    if (excess < 0)
      low = s;
    else
      high = s;
    const double bend = eta * G[0] + zeta * G[1];
    double next = s - excess * *r / (*r * *r - 0.5 * excess * bend);
    const double ds = next - s;
    if (fabs(ds) <= 1e-6 * s &&
        fabs(excess) <= 2e-6 * *r * s) { /* last digits by Taylor's series: G_k' = G_k-1, and G_0' = -beta G_1 */
      G[3] += ds * (G[2] + 0.5 * ds * G[1]);
      G[2] += ds * (G[1] + 0.5 * ds * G[0]);
      G[1] += ds * (G[0] - 0.5 * ds * beta * G[1]);
      *r = r0 + eta * G[1] + zeta * G[2];
      return *r > 0 && isfinite(G[3]);
    }
    if (!(next > low && next < high)) next = isinf(high) ? 2 * s : 0.5 * (low + high);
    if (!isfinite(next) || next == low || next == high) return false;
    s = next;
  }
  return false;
}

bool nbody_kepler_step(double mu, double dt, const double x[3], const double v[3], double dx[3], double dv[3]) {
  const double r0 = sqrt(vector_dot(x, x)), forward = dt < 0 ? -1 : 1;
  const double eta = forward * vector_dot(x, v), beta = 2 * mu / r0 - vector_dot(v, v), zeta = mu - beta * r0;
  double span = fabs(dt), G[4], r;
  if (beta > 0) { /* whole orbits change nothing */
    const double period = 2 * pi * mu / (beta * sqrt(beta));
    if (span > period) span = fmod(span, period);
  }
  if (span == 0) {
    for (int c = 0; c < 3; c++) dx[c] = dv[c] = 0;
    return true;
  }
  if (!solve(r0, eta, zeta, beta, span, G, &r)) return false;
  /* Gauss's f - 1, g, f' and g' - 1 */
  const double f = -mu * G[2] / r0, g = forward * (span - mu * G[3]);
  const double fdot = -forward * mu * G[1] / (r0 * r), gdot = -mu * G[2] / r;
  for (int c = 0; c < 3; c++) {
    dx[c] = f * x[c] + g * v[c];
    dv[c] = fdot * x[c] + gdot * v[c];
  }
  return isfinite(dx[0] + dx[1] + dx[2] + dv[0] + dv[1] + dv[2]);
}

bool nbody_elements_place(const nbody_elements *el, double mu, double x[3], double v[3]) {
  const double cn = cos(el->node), sn = sin(el->node), ci = cos(el->inc), si = sin(el->inc);
  const double cp = cos(el->peri), sp = sin(el->peri);
  const double toward[3] = {cn * cp - sn * sp * ci, sn * cp + cn * sp * ci, sp * si};
  const double along[3] = {-cn * sp - sn * cp * ci, -sn * sp + cn * cp * ci, cp * si};
  const double q = el->a * (1 - el->e), speed = sqrt(mu * (1 + el->e) / q);
  const double motion = sqrt(mu / fabs(el->a)) / fabs(el->a);
  const double M = el->a > 0 ? remainder(el->M, 2 * pi) : el->M;
  double G[4] = {1}, r = q;
  if (M != 0 && !solve(q, 0, mu * el->e, mu / el->a, fabs(M) / motion, G, &r)) return false;
  /* towards the pericentre and at right angles to it, without differences of numbers that are larger by 1/(1 - e) */
  const double forward = M < 0 ? -1 : 1;
  const double place[2] = {q - mu * G[2], forward * speed * q * G[1]};
  const double rate[2] = {-forward * mu * G[1] / r, speed * (q - mu * (1 - el->e) * G[2]) / r};
  for (int c = 0; c < 3; c++) {
    x[c] = place[0] * toward[c] + place[1] * along[c];
    v[c] = rate[0] * toward[c] + rate[1] * along[c];
  }
  return isfinite(x[0] + x[1] + x[2] + v[0] + v[1] + v[2]);
}

/* Whether two vectors are parallel, or one is 0; products may not underflow. */
static bool is_straight(const double x[3], const double v[3]) {
  const double a = fmax(fabs(x[0]), fmax(fabs(x[1]), fabs(x[2]))), b = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
  double h[3];
  if (a == 0 || b == 0) return true;
  vector_cross((const double[]){x[0] / a, x[1] / a, x[2] / a}, (const double[]){v[0] / b, v[1] / b, v[2] / b}, h);
  return h[0] == 0 && h[1] == 0 && h[2] == 0;
}

/* An angle from -pi to pi as one from 0 to below 2 pi (and 360 degrees): one below 0 by a rounding is 0. */
static double turned(double angle) {
  const double out = angle < 0 ? angle + 2 * pi : angle;
  return out < 2 * pi - 1e-15 ? out : 0;
}

void nbody_elements_of(double mu, const double x[3], const double v[3], nbody_elements *out) {
  const double r = sqrt(vector_dot(x, x)), v2 = vector_dot(v, v), eta = vector_dot(x, v), beta = 2 * mu / r - v2;
  double h[3], e[3], across[3];
  vector_cross(x, v, h);
  const double h1 = sqrt(vector_dot(h, h)), flat = hypot(h[0], h[1]);
  for (int c = 0; c < 3; c++) e[c] = ((v2 - mu / r) * x[c] - eta * v[c]) / mu;
  out->a = mu / beta;
  out->e = sqrt(vector_dot(e, e));
  if ((h1 == 0 && is_straight(x, v)) || (h1 > 0 && beta == 0)) {
    *out = (nbody_elements){out->a, out->e, NAN, NAN, NAN, NAN};
    return;
  }
  const double rounding = 1e-15; /* smaller components of a direction are rounding errors */
  double node[3] = {1, 0, 0}, apse[3];
  if (flat > rounding * h1) node[0] = -h[1] / flat, node[1] = h[0] / flat;
  out->inc = flat > rounding * h1 ? atan2(flat, h[2]) : h[2] < 0 ? pi : 0;
  out->node = turned(atan2(node[1], node[0]));
  const double unit[3] = {h[0] / h1, h[1] / h1, h[2] / h1};
  vector_cross(unit, node, across);
  const double circle = 1e-12; /* smaller eccentricities are roundings of positions far from the origin */
  const bool round = out->e <= circle;
  for (int c = 0; c < 3; c++) apse[c] = round ? node[c] : e[c] / out->e;
  out->peri = round ? 0 : turned(atan2(vector_dot(apse, across), vector_dot(apse, node)));
  const double sine = eta * sqrt(fabs(beta)) / mu; /* e sin E, or e sinh H */
  if (round) {
    vector_cross(unit, apse, across);
    out->M = turned(atan2(vector_dot(x, across), vector_dot(x, apse)));
  } else if (beta > 0) {
    out->M = turned(atan2(sine, 1 - r * beta / mu) - sine);
  } else {
    out->M = sine - asinh(sine / out->e);
  }
}
