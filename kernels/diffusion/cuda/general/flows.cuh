/* Work on the coefficients of all fields at one wavenumber: derivatives, derived fields, fluxes, and the projection to
 * fields without divergence. Twin: cpu/spectral/derive.c. Device code for NVRTC, with `real`, `pair`, and constants
 * along the layout's axes, `scenario_axes`: kind(i), a grid_boundary; unit(i), the lowest wavenumber, 0 where nothing
 * is transformed; index(a), the layout's axis that is x, y or z; waves(i), the place of the wavenumbers in the
 * layout's `waves` where walls mix value and slope, else -1; aligned(), whether fields have series of their own
 * (series.cu): then `axes_0`, `axes_1`, ... are the same of each field and derived field. */
#ifndef DIFFUSION_CUDA_FLOWS_CUH
#define DIFFUSION_CUDA_FLOWS_CUH

#include "kernels/diffusion/cuda/layout.cuh"

/* A coefficient, and its wavenumbers along the layout's axes. Where the fast axis has walls, `other` is the wavenumber
 * of the imaginary part. entry: of the real part. */
struct flow_at {
  long long entry[3], number;
  double k[3], other, member;
  int own; /* bit i: the mode along axis i is its own mirror image */
};

template <typename Axes>
__device__ __forceinline__ double flow_wave(const diffusion_layout &p, int i, long long entry) {
  const long long n = p.n[i];
  if (Axes::unit(i) == 0) return 0;
  if (Axes::aligned() && Axes::kind(i)) { /* entries behind the last one are 0, with the last wavenumber */
    const long long k = entry < n ? entry : n - 1;
    if (Axes::waves(i) >= 0) return p.waves[Axes::waves(i) + k];
    const double half = Axes::kind(i) >= 4 ? 0.5 : 0;
    return Axes::unit(i) * ((double)(Axes::kind(i) == 2 && k == 0 ? n : k) + half);
  }
  const long long mode = Axes::kind(i) == 2 ? n - entry : Axes::kind(i) == 0 && 2 * entry > n ? entry - n : entry;
  return Axes::unit(i) * (double)mode;
}

template <typename Axes>
__device__ __forceinline__ void flow_set(flow_at &at, const diffusion_layout &p, int i, long long entry) {
  at.entry[i] = entry;
  at.k[i] = flow_wave<Axes>(p, i, entry);
  if (Axes::kind(i) == 0 && Axes::unit(i) > 0) at.own = at.own & ~(1 << i) | (2 * entry == p.n[i] ? 1 << i : 0);
  if (i > 0) return;
  const long long other = Axes::aligned() ? entry + 1 : entry ? p.n[0] - entry : 0;
  at.other = Axes::kind(0) ? flow_wave<Axes>(p, 0, other) : at.k[0];
}

/* The same coefficient with the wavenumbers of other series. */
template <typename Axes> __device__ __forceinline__ flow_at flow_of(const flow_at &at, const diffusion_layout &p) {
  flow_at own = at;
#pragma unroll
  for (int i = 0; i < 3; i++) flow_set<Axes>(own, p, i, at.entry[i]);
  return own;
}

/* The number of the coefficient along axis i that gives the coefficient at `at` of a first derivative between walls: n
 * - entry where entry > 0. The cosine series becomes a sine series, with entries in the order n, n - 1, ..., 1. */
template <typename Axes>
__device__ __forceinline__ flow_at flow_turned(const flow_at &at, const diffusion_layout &p, int i) {
  flow_at from = at;
  const long long step = i == 1 ? p.row / 2 : p.row / 2 * p.wide;
  flow_set<Axes>(from, p, i, at.entry[i] ? p.n[i] - at.entry[i] : 0);
  from.number += (from.entry[i] - at.entry[i]) * step;
  return from;
}

template <int I> __device__ __forceinline__ double flow_odd(const flow_at &at) { return at.own >> I & 1 ? 0 : at.k[I]; }

/* First derivative along a periodic axis. */
template <int I> __device__ __forceinline__ pair flow_first(pair a, const flow_at &at) {
  const real k = (real)flow_odd<I>(at);
  return pair{-k * a.y, k * a.x};
}
/* Between walls, from `from` of flow_turned: (cos kx)' = -k sin kx, (sin kx)' = k cos kx. */
template <typename Axes, int I> __device__ __forceinline__ pair flow_between(pair a, const flow_at &from) {
  const double sign = Axes::kind(I) == 2 ? 1 : -1;
  if (from.entry[I] == 0) return pair{0, 0};
  if (I == 0) return pair{(real)(sign * from.other) * a.y, (real)(sign * from.k[0]) * a.x};
  const real k = (real)(sign * from.k[I]);
  return pair{k * a.x, k * a.y};
}

/* First derivative along an axis, for fields with series of their own. Of a sine series, or of quarter waves of sines,
 * it is +k; else it is -k. For mode n of a sine series it is 0 in all cells. */
template <typename Axes, int I> __device__ __forceinline__ pair flow_factors(const flow_at &at) {
  const double sign = Axes::kind(I) == 2 || Axes::kind(I) == 4 ? 1 : -1;
  const double k = Axes::kind(I) == 2 && at.entry[I] == 0 ? 0 : at.k[I], other = I == 0 ? at.other : k;
  return pair{(real)(sign * k), (real)(sign * other)};
}
template <typename Axes, int I> __device__ __forceinline__ pair flow_along(pair a, const flow_at &at) {
  if (Axes::kind(I) == 0) return flow_first<I>(a, at);
  const pair f = flow_factors<Axes, I>(at);
  return pair{f.x * a.x, f.y * a.y};
}

template <int I> __device__ __forceinline__ pair flow_second(pair a, const flow_at &at) {
  const double other = I == 0 ? at.other : at.k[I];
  return pair{(real)(-at.k[I] * at.k[I]) * a.x, (real)(-other * other) * a.y};
}
template <int I, int J> __device__ __forceinline__ pair flow_mixed(pair a, const flow_at &at) {
  const real f = (real)(-flow_odd<I>(at) * flow_odd<J>(at));
  return pair{f * a.x, f * a.y};
}
__device__ __forceinline__ pair flow_laplacian(pair a, const flow_at &at) {
  const double others = at.k[1] * at.k[1] + at.k[2] * at.k[2];
  return pair{(real)(-(at.k[0] * at.k[0] + others)) * a.x, (real)(-(at.other * at.other + others)) * a.y};
}

/* ---- derived fields ---- */

/* The coefficient of a field in a derived field: the mean over the signs of wavenumbers that are their own mirror
 * images; 0 at k = 0 where it is not finite there. Returns false where it is not finite elsewhere. `fast`: the
 * wavenumber along the fast axis. */
template <typename Axes, typename Symbol>
__device__ __forceinline__ bool flow_symbol(const flow_at &at, double fast, double out[2]) {
  const double k[3] = {fast, at.k[1], at.k[2]};
  int count = 0;
  out[0] = out[1] = 0;
#pragma unroll 1
  for (int signs = at.own;; signs = (signs - 1) & at.own) {
    double c[2] = {0, 0}, x[3];
#pragma unroll
    for (int a = 0; a < 3; a++) x[a] = signs >> Axes::index(a) & 1 ? -k[Axes::index(a)] : k[Axes::index(a)];
    Symbol::of(x[0], x[1], x[2], x[0] * x[0] + x[1] * x[1] + x[2] * x[2], at.member, c);
    out[0] += c[0];
    out[1] += c[1];
    count++;
    if (signs == 0) break;
  }
  if (count > 1) out[0] /= count, out[1] /= count;
  if (isfinite(out[0]) && isfinite(out[1])) return true;
  out[0] = out[1] = 0;
  return k[0] == 0 && k[1] == 0 && k[2] == 0;
}

/* sum += coefficient times a. Returns false where the coefficient is not finite. */
template <typename Axes, typename Symbol>
__device__ __forceinline__ bool flow_add(const flow_at &at, pair a, pair &sum) {
  double c[2];
  bool finite = flow_symbol<Axes, Symbol>(at, at.k[0], c);
  if (Axes::kind(0)) { /* coefficients are real */
    sum.x += (real)c[0] * a.x;
    finite = flow_symbol<Axes, Symbol>(at, at.other, c) && finite;
    sum.y += (real)c[0] * a.y;
  } else {
    const real re = (real)c[0], im = (real)c[1];
    sum.x += re * a.x - im * a.y;
    sum.y += re * a.y + im * a.x;
  }
  return finite;
}

/* ---- fluxes and the projection ---- */

/* a -= i k flux */
template <int I> __device__ __forceinline__ void flow_divergence(pair &a, pair flux, const flow_at &at) {
  const real k = (real)flow_odd<I>(at);
  a.x += k * flux.y;
  a.y -= k * flux.x;
}

/* The same for fields with series of their own. The flux has the series of the field's derivative, so its derivative
 * has the opposite sign. */
template <typename Axes, int I> __device__ __forceinline__ void flow_outflow(pair &a, pair flux, const flow_at &at) {
  if (Axes::kind(I) == 0) return flow_divergence<I>(a, flux, at);
  const pair f = flow_factors<Axes, I>(at);
  a.x += f.x * flux.x;
  a.y += f.y * flux.y;
}

/* v -= k (k . v)/k^2; no change where k = 0 */
template <int N> __device__ __forceinline__ void flow_project(pair *v, const real *k) {
  real over = 0;
#pragma unroll
  for (int a = 0; a < N; a++) over += k[a] * k[a];
  over = over > 0 ? 1 / over : 0;
  pair along = {0, 0};
#pragma unroll
  for (int a = 0; a < N; a++) along.x += k[a] * v[a].x, along.y += k[a] * v[a].y;
  along.x *= over, along.y *= over;
#pragma unroll
  for (int a = 0; a < N; a++) v[a].x -= k[a] * along.x, v[a].y -= k[a] * along.y;
}

/* The same where all axes have walls. k[N]: the factors of the components' derivatives, of re and im. */
template <int N> __device__ __forceinline__ void flow_project_walled(pair *v, const pair *k) {
  pair over = {0, 0}, along = {0, 0};
#pragma unroll
  for (int a = 0; a < N; a++) {
    over.x += k[a].x * k[a].x, over.y += k[a].y * k[a].y;
    along.x += k[a].x * v[a].x, along.y += k[a].y * v[a].y;
  }
  along.x = over.x > 0 ? along.x / over.x : 0, along.y = over.y > 0 ? along.y / over.y : 0;
#pragma unroll
  for (int a = 0; a < N; a++) v[a].x -= k[a].x * along.x, v[a].y -= k[a].y * along.y;
}

/* A component of the vector along its own axis I: its wavenumber, and the component changed so that i times the
 * wavenumber gives its derivative. Mode n of a sine series is removed: its divergence is 0 in all cells, so no pressure
 * balances it. flow_projected undoes `back`. */
template <typename Axes, int I> __device__ __forceinline__ void flow_component(pair &v, real &k, const flow_at &at) {
  if (Axes::kind(I) == 0) {
    k = (real)flow_odd<I>(at);
    return;
  }
  const pair a = v;
  k = flow_factors<Axes, I>(at).x;
  v = Axes::kind(I) == 2 && at.entry[I] == 0 ? pair{0, 0} : pair{a.y, -a.x};
}
template <typename Axes, int I> __device__ __forceinline__ pair flow_projected(pair v) {
  return Axes::kind(I) == 0 ? v : pair{-v.y, v.x};
}
/* The same where all axes have walls: v as it is. */
template <typename Axes, int I> __device__ __forceinline__ pair flow_dropped(pair v, const flow_at &at) {
  if (Axes::kind(I) != 2 || at.entry[I] != 0) return v;
  return pair{0, I == 0 ? v.y : 0};
}

/* ---- all coefficients ---- */

template <typename Axes, typename Work>
__device__ __forceinline__ void flow_each(const diffusion_layout &p, Work work) {
  const long long n0 = p.row / 2;
  const int parts = Axes::aligned() && Axes::kind(0) ? 2 : 1; /* entries of a number along the fast axis */
  flow_at at = {};
  for (long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y; row < p.rows;
       row += (long long)gridDim.x * blockDim.y) {
    long long middle, slow;
    layout_wave(p, row, middle, slow);
    flow_set<Axes>(at, p, 1, middle);
    flow_set<Axes>(at, p, 2, slow);
    at.member = p.member_axis ? (double)(p.first + at.entry[2]) + 1 : 1;
    for (long long k0 = blockIdx.y * (long long)blockDim.x + threadIdx.x; k0 < n0;
         k0 += (long long)gridDim.y * blockDim.x) {
      flow_set<Axes>(at, p, 0, parts * k0);
      at.number = row * n0 + k0;
      work(at);
    }
  }
}

#endif
