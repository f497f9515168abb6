/* Computes the tables of the schemes' coefficients (schemes.c) for steps of dt, always in double. Device code for
 * NVRTC, with `real`. `Linear::of(field, k2, kx, ky, kz, member, out)` gives the scenario's functions of the
 * wavenumber. */
#ifndef DIFFUSION_CUDA_FILL_CUH
#define DIFFUSION_CUDA_FILL_CUH

#include "kernels/diffusion/cuda/factors.cuh"
#include "kernels/diffusion/modes.cuh"

/* Values of diffusion_factor, diffusion_scheme and grid_boundary. */
enum { FILL_ALIKE, FILL_EACH, FILL_COMPLEX };
enum { FILL_EXACT, FILL_LIE, FILL_STRANG, FILL_ETD1, FILL_ETDRK2, FILL_ETDRK4, FILL_RODAS3 };
enum { FILL_PERIODIC, FILL_COSINE, FILL_SINE, FILL_NONE, FILL_QUARTER_SINE, FILL_QUARTER_COSINE, FILL_MIXED };
enum { FILL_TABLES = 7, FILL_THREADS = 128 };

struct fill_number {
  double re, im;
};
__device__ __forceinline__ fill_number fill_times(fill_number a, fill_number b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__device__ __forceinline__ fill_number fill_scaled(fill_number a, double by) { return {a.re * by, a.im * by}; }
/* a p + b q */
__device__ __forceinline__ fill_number fill_sum(double p, fill_number a, double q, fill_number b) {
  return {p * a.re + q * b.re, p * a.im + q * b.im};
}
__device__ inline fill_number fill_exp(fill_number c) {
  const double e = exp(c.re);
  if (c.im == 0) return {e, 0};
  double s, t;
  sincos(c.im, &s, &t);
  return {e * t, e * s};
}

/* phi_1, phi_2, phi_3 of c, phi_j = (phi_{j-1} - 1/(j-1)!)/c with phi_0 = e^c; for |c| < 1 from the series of phi_3,
 * whose next term is c^17/20! < 1e-18. */
__device__ inline void fill_phis(fill_number c, fill_number e, fill_number phi[3]) {
  const double size = c.re * c.re + c.im * c.im;
  if (size < 1) {
    fill_number sum = {1, 0};
#pragma unroll
    for (int j = 16; j > 0; j--) {
      sum = fill_scaled(fill_times(sum, c), 1.0 / (j + 3));
      sum.re += 1;
    }
    phi[2] = fill_scaled(sum, 1.0 / 6);
    phi[1] = fill_times(c, phi[2]);
    phi[1].re += 0.5;
    phi[0] = fill_times(c, phi[1]);
    phi[0].re += 1;
  } else {
    const fill_number over = {c.re / size, -c.im / size};
    phi[0] = fill_times({e.re - 1, e.im}, over);
    phi[1] = fill_times({phi[0].re - 1, phi[0].im}, over);
    phi[2] = fill_times({phi[1].re - 0.5, phi[1].im}, over);
  }
}

/* Signed wavenumber of a table entry along an axis. */
__device__ inline long long fill_mode(const diffusion_making &m, int field, int axis, long long entry) {
  const long long n = m.n[axis];
  const int kind = m.field[field].kind[axis];
  if (kind == FILL_SINE) return m.aligned && entry > 0 ? entry : n - entry;
  return kind == FILL_PERIODIC && 2 * entry > n ? entry - n : entry;
}

__device__ inline bool fill_is_member_axis(const diffusion_making &m, int axis) {
  return axis > 0 && axis == m.member_axis;
}

/* A wavenumber, and whether dealiasing keeps it. */
struct fill_wave {
  double k[3], odd[3], k2; /* odd parts are 0 where k is its own mirror image */
  bool mirrored, keep;
};

__device__ inline fill_wave fill_wave_of(const diffusion_making &m, int field, const long long mode[3]) {
  const double pi = 3.14159265358979323846;
  fill_wave w = {{0}, {0}, 0, false, true};
#pragma unroll
  for (int a = 0; a < 3; a++) {
    const long long n = m.n[a], most = mode[a] < 0 ? -mode[a] : mode[a];
    const int kind = m.field[field].kind[a], quarter = kind >= FILL_QUARTER_SINE; /* the wavenumber of mode + 1/2 */
    const bool periodic = kind == FILL_PERIODIC;
    w.k[a] = a >= m.rank || fill_is_member_axis(m, a) ? 0
             : kind == FILL_MIXED                     ? m.waves[m.field[field].waves[a] + mode[a]]
                                  : (periodic ? 2 * pi : pi) * ((double)mode[a] + 0.5 * quarter) / m.size[a];
    w.odd[a] = periodic && 2 * most == n ? 0 : w.k[a];
    w.mirrored = w.mirrored || w.odd[a] != w.k[a];
    if (a < m.rank && !fill_is_member_axis(m, a) && !diffusion_mode_kept(mode[a] + quarter, n, periodic, m.dealias))
      w.keep = false;
    w.k2 += w.k[a] * w.k[a];
  }
  return w;
}

/* Factor of the noise, as diffusion_filling_norm. */
__device__ inline double fill_norm(const diffusion_making &m, int field, const long long mode[3]) {
  double factor = 1;
#pragma unroll
  for (int a = 0; a < 3; a++)
    if (m.field[field].kind[a] == FILL_MIXED)
      factor *= sqrt((mode[a] == 0 ? 1 : 2) / m.waves[m.field[field].waves[a] + m.n[a] + 2 + mode[a]]);
  return factor;
}

/* L of one field. */
template <typename Linear>
__device__ inline fill_number fill_own(const diffusion_making &m, int field, const fill_wave &w,
                                       const long long mode[3]) {
  const diffusion_own &own = m.field[field];
  double values[2] = {0, 0};
  fill_number l = {-own.decay, 0};
#pragma unroll
  for (int a = 0; a < 3; a++) {
    l.re -= own.D[a] * (w.k[a] * w.k[a]);
    l.im -= own.drift[a] * w.odd[a];
  }
  l.re -= own.hyper * w.k2 * w.k2 + 2 * (own.tensor[0] * w.odd[0] * w.odd[1] + own.tensor[1] * w.odd[0] * w.odd[2] +
                                         own.tensor[2] * w.odd[1] * w.odd[2]);
  Linear::of(field, w.k2, w.k[0], w.k[1], w.k[2],
             m.member_axis ? (double)(m.first_member + mode[m.member_axis]) + 1 : 1, values);
  l.re += values[0];
  if (!w.mirrored) l.im += values[1];
  return l;
}

/* Table values of a wavenumber: out[tables]. */
template <typename Linear>
__device__ inline void fill_at(const diffusion_making &m, int field, const long long mode[3],
                               fill_number out[FILL_TABLES]) {
  const fill_wave w = fill_wave_of(m, field, mode);
  if (!w.keep) {
#pragma unroll
    for (int t = 0; t < FILL_TABLES; t++) out[t] = {0, 0};
    return;
  }
  if (m.scheme == FILL_RODAS3) {
    out[0] = fill_own<Linear>(m, field, w, mode);
    out[1] = {m.field[field].conserved ? -w.k2 : 1, 0};
    return;
  }
  const fill_number c = fill_scaled(fill_own<Linear>(m, field, w, mode), m.dt), half = fill_scaled(c, 0.5);
  const fill_number e = fill_exp(c);
  const double by = m.dt * (m.field[field].conserved ? -w.k2 : 1);
  out[0] = m.scheme == FILL_LIE || m.scheme == FILL_STRANG ? fill_scaled(e, m.scale) : e;
  if (m.scheme > FILL_STRANG) {
    fill_number phi[3];
    if (m.scheme == FILL_ETDRK4) {
      out[1] = fill_exp(half);
      fill_phis(half, out[1], phi);
      out[2] = fill_scaled(phi[0], by / 2);
      out[6] = fill_times(out[2], {out[1].re - 1, out[1].im});
    }
    fill_phis(c, e, phi);
    if (m.scheme == FILL_ETDRK4) {
      out[3] = fill_scaled(fill_sum(1, phi[0], 1, fill_sum(-3, phi[1], 4, phi[2])), by);
      out[4] = fill_scaled(fill_sum(1, phi[1], -2, phi[2]), by);
      out[5] = fill_scaled(fill_sum(-1, phi[1], 4, phi[2]), by);
    } else {
      out[1] = fill_scaled(phi[0], by);
      out[2] = fill_scaled(phi[1], by);
    }
  }
#pragma unroll
  for (int t = 1; t < FILL_TABLES; t++) /* replaces tables that the scheme does not have */
    if (t == m.weights)
      out[t] = m.forced
                   ? fill_number{diffusion_in_shell(m.field[field].shell[0], m.field[field].shell[1], w.k2) *
                                     (m.stirred ? diffusion_noise_weight(m.dt, 2 * c.re) : 1),
                                 0}
                   : fill_number{m.field[field].noise * fill_norm(m, field, mode) *
                                     (m.field[field].conserved ? -w.k2 : 1) * diffusion_noise_weight(m.dt, 2 * c.re),
                                 0};
}

/* Wavenumber of entry i; where the fast axis has walls, `other` is the wavenumber of the imaginary part. */
__device__ inline void fill_modes(const diffusion_making &m, int field, long long i, long long mode[3],
                                  long long other[3]) {
  const long long k = i % m.entries[0], row = i / m.entries[0];
  const bool pairs = m.aligned && m.factor == FILL_EACH; /* then entries 2k and 2k + 1 are a number's parts */
  const long long entry[3] = {pairs ? 2 * k : k, row % m.entries[1], row / m.entries[1]};
#pragma unroll
  for (int order = 0; order < 3; order++)
#pragma unroll
    for (int axis = 0; axis < 3; axis++)
      if (m.axis[order] == axis) {
        const long long last = m.n[axis] - 1, at = pairs && order == 0 && entry[0] > last ? last : entry[order];
        const long long next = pairs ? (at < last ? at + 1 : last) : k > 0 ? m.n[axis] - k : 0;
        mode[axis] = fill_mode(m, field, axis, at);
        other[axis] = order == 0 ? fill_mode(m, field, axis, next) : mode[axis];
      }
}

__device__ __forceinline__ void fill_put(const diffusion_making &m, real *table, long long i, fill_number own,
                                         fill_number mirror) {
  if (m.factor == FILL_ALIKE) {
    table[i] = (real)own.re;
  } else {
    table[2 * i] = (real)own.re;
    table[2 * i + 1] = (real)(m.factor == FILL_EACH ? mirror.re : own.im);
  }
}

/* One thread computes one entry of all tables of field blockIdx.y. */
template <typename Linear> __device__ __forceinline__ void fill_entries(const diffusion_making &m) {
  const long long i = (long long)blockIdx.x * FILL_THREADS + threadIdx.x;
  long long mode[3], other[3];
  fill_number own[FILL_TABLES], mirror[FILL_TABLES];
  if (i >= m.entries[0] * m.entries[1] * m.entries[2]) return;
  fill_modes(m, blockIdx.y, i, mode, other);
  fill_at<Linear>(m, blockIdx.y, mode, own);
  if (m.factor == FILL_EACH) fill_at<Linear>(m, blockIdx.y, other, mirror);
#pragma unroll
  for (int t = 0; t < FILL_TABLES; t++)
    if (t < m.tables) fill_put(m, (real *)m.table[t] + blockIdx.y * m.numbers, i, own[t], mirror[t]);
}

/* The same in the order of flat/columns.cuh: [kx][k / 256][k % 16][k / 16 % 16]. */
template <typename Linear> __device__ __forceinline__ void fill_flat(const diffusion_making &m) {
  const long long i = (long long)blockIdx.x * FILL_THREADS + threadIdx.x, entries = m.entries[1];
  const long long kx = i / entries, at = i % entries, ky = (at & ~255LL) | (at & 15) << 4 | (at >> 4 & 15);
  const bool there = 2 * kx <= m.n[0] && 2 * ky <= m.n[1];
  if (i >= m.numbers) return;
  fill_number out[FILL_TABLES];
  const long long mode[3] = {kx, ky, 0};
  if (there) fill_at<Linear>(m, blockIdx.y, mode, out);
#pragma unroll
  for (int t = 0; t < FILL_TABLES; t++)
    if (t < m.tables) ((real *)m.table[t])[blockIdx.y * m.numbers + i] = there ? (real)out[t].re : 0;
}

/* The same in the order of flow/columns.cuh: [tile][as in fill_flat][column of the tile]. */
template <typename Linear> __device__ __forceinline__ void fill_flow(const diffusion_making &m) {
  const long long i = (long long)blockIdx.x * FILL_THREADS + threadIdx.x, columns = m.entries[0];
  const long long own = i % columns, at = i / columns % m.entries[1], tile = i / columns / m.entries[1];
  const long long last = (at & ~255LL) | (at & 15) << 4 | (at >> 4 & 15);
  const long long kx = tile / m.across * m.wide + own % m.wide;
  const long long q = tile % m.across * (columns / m.wide) + own / m.wide, ky = q < m.low ? q : q - m.kept;
  const bool there = 2 * kx <= m.n[0] && q < m.kept && 2 * last <= m.n[m.rank - 1];
  if (i >= m.numbers) return;
  fill_number out[FILL_TABLES];
  const long long mode[3] = {kx, m.rank == 2 ? last : ky, m.rank == 2 ? 0 : last};
  if (there) fill_at<Linear>(m, blockIdx.y, mode, out);
#pragma unroll
  for (int t = 0; t < FILL_TABLES; t++)
    if (t < m.tables) ((real *)m.table[t])[blockIdx.y * m.numbers + i] = there ? (real)out[t].re : 0;
}

#endif
