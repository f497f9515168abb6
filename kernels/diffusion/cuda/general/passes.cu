/* Launches of the kernels over fields: kernels with the scenario's rates and the scheme's sums (text.c), copies between
 * the fields for outputs and the transformed fields, and conversions between Fourier coefficients and cosine or sine
 * coefficients. */
#include "kernels/diffusion/cuda/general/passes.h"

#include "engine/device/cuda.h"
#include "kernels/diffusion/cuda/general/fold.cuh"
#include "kernels/diffusion/cuda/noise.cuh"

#include <cuda_runtime.h>

static_assert(sizeof(diffusion_sums::array) / sizeof(void *) == DIFFUSION_ARRAYS, "sums.cuh has as many arrays");
static_assert(sizeof(diffusion_sums::table) / sizeof(void *) == DIFFUSION_TABLES, "sums.cuh has as many tables");

static cudaStream_t stream() { return (cudaStream_t)sim_cuda_stream(); }

/* ---- shapes of launches ---- */

typedef struct shape {
  dim3 grid, block;
} shape;

/* Launch shape for rows of n numbers; grid-stride loops cover the rest. */
static shape shape_of(long long n, long long rows, int fields) {
  const unsigned along = rows < 8 ? 256 : n <= 32 ? 32 : n <= 64 ? 64 : n <= 128 ? 128 : 32;
  shape s;
  s.block = dim3(along, DIFFUSION_THREADS / along);
  const long long most = 32LL * sim_cuda_multiprocessors();
  const long long across = (rows + s.block.y - 1) / s.block.y, pieces = (n + along - 1) / along;
  s.grid.x = (unsigned)(across < most ? across : most);
  s.grid.y = rows < 8 ? (unsigned)(pieces < most ? pieces : most) : 1;
  s.grid.z = (unsigned)fields;
  return s;
}

static void launch(const sim_kernel *kernel, double amount, const shape &s, void *function, void **arguments) {
  if (s.grid.x == 0) return; /* a rank without members */
  sim_cuda_begin(kernel);
  sim_cuda_failed(cudaLaunchKernel(function, s.grid, s.block, arguments, 0, stream()), "cudaLaunchKernel",
                  kernel->name);
  sim_cuda_end(kernel, amount);
}

/* ---- rates and sums ---- */

void diffusion_cuda_rates(diffusion_work *w, void *fields, void *derivatives, const diffusion_layout *layout,
                          const diffusion_step_context *context) {
  static const sim_kernel kernel = {"diffusion_rates", "rates", SIM_LIMIT_BYTES};
  diffusion_step_context m = *context;
  diffusion_layout p = *layout;
  const long long rows = p.n[1] * p.n[2];
  if (rows == 0) return;
  void *arguments[] = {&fields, &derivatives, &p, &m.t, &m.h, &m.substeps};
  launch(&kernel,
         (2 * w->fields + w->gradients.count + w->gradients.fluxes) * diffusion_cuda_number_size(w->p) *
             (double)(p.n[0] * rows),
         shape_of(p.n[0], rows, 1), w->rates, arguments);
}

template <typename real>
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    noise_of(real *fields, const diffusion_layout p, const diffusion_noise noise) {
  const long long rows = p.n[1] * p.n[2];
  const int field = blockIdx.z;
  for (long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y; row < rows;
       row += (long long)gridDim.x * blockDim.y) {
    const long long b = layout_cell(p.kind[1], p.n[1], row % p.n[1]), c = layout_cell(p.kind[2], p.n[2], row / p.n[1]);
    const bool turned = layout_negated(p.kind[1], b) != layout_negated(p.kind[2], c);
    for (long long at = blockIdx.y * (long long)blockDim.x + threadIdx.x; at < p.n[0];
         at += (long long)gridDim.y * blockDim.x) {
      const long long cell[3] = {layout_cell(p.kind[0], p.n[0], at), b, p.first + c};
      const double normal = noise.fields >> field & 1 ? noise_normal(noise, layout_number(p, cell), field) : 0;
      fields[field * p.field + row * p.row + at] =
          (real)(turned != layout_negated(p.kind[0], cell[0]) ? -normal : normal);
    }
  }
}

void diffusion_general_noise(diffusion_work *w, void *fields, int64_t step) {
  static const sim_kernel kernel = {"diffusion_noise", "noise", SIM_LIMIT_BYTES};
  const diffusion_layout *p = &w->planes;
  const shape s = shape_of(p->n[0], p->n[1] * p->n[2], w->fields);
  const diffusion_noise noise = noise_of_step(w->p->common.seed, step, w->fluctuating);
  if (s.grid.x == 0) return;
  sim_cuda_begin(&kernel);
  if (w->single)
    noise_of<float><<<s.grid, s.block, 0, stream()>>>((float *)fields, *p, noise);
  else
    noise_of<double><<<s.grid, s.block, 0, stream()>>>((double *)fields, *p, noise);
  sim_cuda_end(&kernel, diffusion_cuda_number_size(w->p) * w->fields * (double)p->field);
}

void diffusion_general_visit_of(diffusion_work *w, int visit, const diffusion_sums *sums) {
  static const sim_kernel kernel = {"diffusion_sums", "sums", SIM_LIMIT_BYTES};
  const diffusion_spectrum *spectrum = &w->spectrum;
  diffusion_sums s = *sums;
  void *arguments[] = {&s};
  const double arrays = w->method.arrays + 2; /* estimate of the arrays read and written */
  launch(&kernel, arrays * 2 * diffusion_cuda_number_size(w->p) * w->fields * (double)spectrum->field,
         shape_of(spectrum->n[0], s.rows, w->crossed ? 1 : w->fields), w->own.general->visit[visit], arguments);
}

void diffusion_general_visit(diffusion_work *w, int visit) {
  const diffusion_sums s = diffusion_cuda_sums(w);
  diffusion_general_visit_of(w, visit, &s);
}

void diffusion_general_pointwise(diffusion_work *w, const sim_kernel *kernel, double columns, void *function,
                                 void **arguments) {
  const diffusion_layout *p = &w->planes;
  const long long rows = p->n[1] * p->n[2];
  launch(kernel, columns * diffusion_cuda_number_size(w->p) * (double)(p->n[0] * rows), shape_of(p->n[0], rows, 1),
         function, arguments);
}

void diffusion_general_derive(diffusion_work *w) {
  static const sim_kernel kernel = {"diffusion_derive", "sums", SIM_LIMIT_BYTES};
  diffusion_layout p = w->layout;
  const void *fields = w->array[0].data;
  void *to = w->own.general->derivatives.data;
  void *arguments[] = {&fields, &to, &p};
  launch(&kernel, (w->fields + w->gradients.count) * diffusion_cuda_number_size(w->p) * (double)p.field,
         shape_of(p.row / 2, p.rows, 1), w->own.general->derive, arguments);
}

void diffusion_general_join(diffusion_work *w, void *fields, const void *fluxes) {
  static const sim_kernel kernel = {"diffusion_join", "sums", SIM_LIMIT_BYTES};
  diffusion_layout p = w->layout;
  void *arguments[] = {&fields, &fluxes, &p};
  launch(&kernel,
         (2 * w->fields + (fluxes ? w->gradients.fluxes : 0)) * diffusion_cuda_number_size(w->p) * (double)p.field,
         shape_of(p.row / 2, p.rows, 1), w->own.general->join, arguments);
}

void diffusion_general_check(diffusion_work *w, void *function, void *bad) {
  static const sim_kernel kernel = {"diffusion_check", "tables", SIM_LIMIT_BYTES};
  diffusion_layout p = w->layout;
  void *arguments[] = {&bad, &p};
  launch(&kernel, 0, shape_of(p.row / 2, p.rows, 1), function, arguments);
}

/* ---- copies ---- */

/* Copies between fields for outputs, [z][y][x], and the layout of transforms. */
template <typename real, bool LOADS>
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    move(real *natural, real *transformed, const diffusion_layout p, long long nx, long long ny, long long nz) {
  const long long step[3] = {1, p.row, p.row * p.n[1]}, rows = ny * nz;
  natural += blockIdx.z * nx * rows;
  transformed += blockIdx.z * p.field;
  for (long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y; row < rows;
       row += (long long)gridDim.x * blockDim.y)
    for (long long x = blockIdx.y * (long long)blockDim.x + threadIdx.x; x < nx;
         x += (long long)gridDim.y * blockDim.x) {
      long long to = 0;
      bool negated = false;
#pragma unroll
      for (int i = 0; i < 3; i++) {
        const long long cell = p.axis[i] == 0 ? x : p.axis[i] == 1 ? row % ny : row / ny;
        negated = negated != layout_negated(p.kind[i], cell);
        to += layout_position(p.kind[i], p.n[i], cell) * step[i];
      }
      if (LOADS)
        transformed[to] = negated ? -natural[row * nx + x] : natural[row * nx + x];
      else
        natural[row * nx + x] = negated ? -transformed[to] : transformed[to];
    }
}

template <typename real, bool LOADS>
static void move_fields(diffusion_work *w, void *natural, void *transformed, int fields) {
  static const sim_kernel kernel = {LOADS ? "diffusion_load" : "diffusion_store", "output", SIM_LIMIT_BYTES};
  int64_t n[3];
  for (int i = 0; i < 3; i++) n[w->planes.axis[i]] = w->planes.n[i];
  const shape s = shape_of(n[0], n[1] * n[2], fields);
  if (s.grid.x == 0) return;
  sim_cuda_begin(&kernel);
  move<real, LOADS>
      <<<s.grid, s.block, 0, stream()>>>((real *)natural, (real *)transformed, w->planes, n[0], n[1], n[2]);
  sim_cuda_end(&kernel, 2.0 * sizeof(real) * fields * (double)w->natural.field);
}

void diffusion_general_load(diffusion_work *w, void *to) {
  if (w->single)
    move_fields<float, true>(w, w->real.data, to, w->fields);
  else
    move_fields<double, true>(w, w->real.data, to, w->fields);
}

void diffusion_general_store(diffusion_work *w, void *from, int first, int fields) {
  char *to = (char *)w->real.data + (size_t)first * (size_t)w->natural.field * (size_t)diffusion_cuda_number_size(w->p);
  if (w->single)
    move_fields<float, false>(w, to, from, fields);
  else
    move_fields<double, false>(w, to, from, fields);
}

void diffusion_general_blank(diffusion_work *w, void *spectrum, int fields) {
  const size_t size = (size_t)diffusion_cuda_number_size(w->p);
  if (fields == 0) return;
  sim_cuda_failed(cudaMemset2DAsync((char *)spectrum + size, 2 * size, 0, size, (size_t)fields, stream()),
                  "cudaMemset2DAsync", "a single cell");
}

/* ---- walls ---- */

/* In place; one thread handles all wavenumbers +-k of the axes with walls. */
template <typename real, bool FORWARD>
static __global__ void __launch_bounds__(DIFFUSION_THREADS) fold(complex_of<real> *field, const diffusion_layout p) {
  const long long n0 = p.row / 2, n1 = p.n[1], n2 = p.n[2];
  const long long half1 = p.kind[1] ? n1 / 2 + 1 : n1, half2 = p.kind[2] ? n2 / 2 + 1 : n2, rows = half1 * half2;
  field += blockIdx.z * n0 * n1 * n2;
  for (long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y; row < rows;
       row += (long long)gridDim.x * blockDim.y) {
    const long long k1 = row % half1, k2 = row / half1;
    const long long m1 = p.kind[1] && k1 ? n1 - k1 : k1, m2 = p.kind[2] && k2 ? n2 - k2 : k2;
    const complex_of<real> w1 = turn(k1, n1, (real)0), w2 = turn(k2, n2, (real)0);
    for (long long k0 = blockIdx.y * (long long)blockDim.x + threadIdx.x; k0 < n0;
         k0 += (long long)gridDim.y * blockDim.x) {
      complex_of<real> *at[2][2] = {{field + (k2 * n1 + k1) * n0 + k0, field + (k2 * n1 + m1) * n0 + k0},
                                    {field + (m2 * n1 + k1) * n0 + k0, field + (m2 * n1 + m1) * n0 + k0}};
      complex_of<real> v[2][2];
      const complex_of<real> w0 = turn(k0, p.n[0], (real)0);
#pragma unroll
      for (int c = 0; c < 2; c++)
#pragma unroll
        for (int b = 0; b < 2; b++) {
          v[c][b] = *at[c][b];
          /* real part: wavenumber k0; imaginary part: n0 - k0 */
          if (!FORWARD && p.kind[0]) v[c][b] = times<real>({w0.re, -w0.im}, {v[c][b].re, k0 ? -v[c][b].im : 0});
        }
      if (p.kind[1])
        for (int c = 0; c < 2; c++) fold_pair<real, FORWARD>(v[c][0], v[c][1], w1, k1);
      if (p.kind[2])
        for (int b = 0; b < 2; b++) fold_pair<real, FORWARD>(v[0][b], v[1][b], w2, k2);
#pragma unroll
      for (int c = 1; c >= 0; c--)
#pragma unroll
        for (int b = 1; b >= 0; b--) { /* the first one last, because both may be the same number */
          if (FORWARD && p.kind[0]) {
            v[c][b] = times(w0, v[c][b]);
            v[c][b].im = -v[c][b].im;
          }
          *at[c][b] = v[c][b];
        }
    }
  }
}

template <typename real, bool FORWARD> static void fold_fields(void *spectrum, const diffusion_layout *p, int fields) {
  static const sim_kernel kernel = {"diffusion_fold", "transforms", SIM_LIMIT_BYTES};
  const long long rows = (p->kind[1] ? p->n[1] / 2 + 1 : p->n[1]) * (p->kind[2] ? p->n[2] / 2 + 1 : p->n[2]);
  const shape s = shape_of(p->row / 2, rows, fields);
  if (s.grid.x == 0) return;
  sim_cuda_begin(&kernel);
  fold<real, FORWARD><<<s.grid, s.block, 0, stream()>>>((complex_of<real> *)spectrum, *p);
  sim_cuda_end(&kernel, 2.0 * sizeof(real) * fields * (double)(p->row * p->n[1] * p->n[2]));
}

void diffusion_general_fold(diffusion_work *w, void *spectrum, const diffusion_layout *p, int fields, bool forward) {
  if (!p->kind[0] && !p->kind[1] && !p->kind[2]) return;
  if (w->single && forward)
    fold_fields<float, true>(spectrum, p, fields);
  else if (w->single)
    fold_fields<float, false>(spectrum, p, fields);
  else if (forward)
    fold_fields<double, true>(spectrum, p, fields);
  else
    fold_fields<double, false>(spectrum, p, fields);
}

/* ---- lifts ---- */

/* A lift in units of cells, times a sign: low + sum over the axes of (slope + curve x) x, x = cell + 1/2. */
struct lifted {
  double low, slopes[3], curves[3];
  long long n[3], first; /* cells of the rank's part along x, y, z, and its first one along z */
};

template <typename real>
static __global__ void __launch_bounds__(DIFFUSION_THREADS) lift(real *natural, const lifted l) {
  for (long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y; row < l.n[1] * l.n[2];
       row += (long long)gridDim.x * blockDim.y)
    for (long long x = blockIdx.y * (long long)blockDim.x + threadIdx.x; x < l.n[0];
         x += (long long)gridDim.y * blockDim.x) {
      const double at[3] = {(double)x + 0.5, (double)(row % l.n[1]) + 0.5, (double)(l.first + row / l.n[1]) + 0.5};
      double sum = l.low;
#pragma unroll
      for (int a = 0; a < 3; a++) sum += (l.slopes[a] + l.curves[a] * at[a]) * at[a];
      natural[row * l.n[0] + x] += (real)sum;
    }
}

void diffusion_cuda_lift(diffusion_work *w, double sign, double t) {
  static const sim_kernel kernel = {"diffusion_lift", "output", SIM_LIMIT_BYTES};
  const long long *n = w->natural.n;
  const shape s = shape_of(n[0], n[1] * n[2], 1);
  for (int f = 0; f < w->fields && w->natural.field > 0; f++) {
    const diffusion_lift *own = &w->lift[f];
    lifted l = {};
    if (own->axis < 0) continue;
    l.low = sign * (own->low + own->growth * t);
    l.first = w->natural.first;
    for (int a = 0; a < 3; a++) {
      const double cell = w->grid.size[a] / (double)w->grid.n[a];
      l.n[a] = n[a];
      l.slopes[a] = own->slopes[a] != 0 ? sign * own->slopes[a] * cell : 0;
      l.curves[a] = own->curves[a] != 0 ? sign * own->curves[a] * cell * cell : 0;
    }
    void *values =
        (char *)w->real.data + (size_t)f * (size_t)w->natural.field * (size_t)diffusion_cuda_number_size(w->p);
    sim_cuda_begin(&kernel);
    if (w->single)
      lift<float><<<s.grid, s.block, 0, stream()>>>((float *)values, l);
    else
      lift<double><<<s.grid, s.block, 0, stream()>>>((double *)values, l);
    sim_cuda_end(&kernel, 2.0 * diffusion_cuda_number_size(w->p) * (double)w->natural.field);
  }
}
