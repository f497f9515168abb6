/* Random forcing of grids whose axes are periodic: the numbers of cpu/stirring.c, drawn on the device. A thread makes
 * one mode of the box around the shell, for all fields, so that a step reads no list of modes and waits for nothing. */
#include "kernels/diffusion/cuda/general/passes.h"
#include "kernels/diffusion/modes.cuh"

#include "engine/device/cuda.h"
#include "kernels/diffusion/cuda/noise.cuh"
#include "kernels/diffusion/waves.h"

#include <cuda_runtime.h>

typedef struct stirring_of {
  diffusion_noise noise;
  double low, high, deviation, helicity;
  double unit[3];    /* lowest wavenumbers along x, y, z; 0 beyond the rank */
  long long n[3];    /* cells along x, y, z */
  long long most[3]; /* along the layout's axes: modes 0 to most of the fast one, -most to most of the others */
  int fields, rank;
  int axes, vector[3]; /* the fields of the forced vector without divergence; axes 0: none */
} stirring_of;

/* Sets the mode of a thread. Returns whether the shell has it. k: unit wavevector. */
__device__ static bool mode_of(const stirring_of &s, const diffusion_layout &p, long long number, long long along[3],
                               long long mode[3], double k[3]) {
  const long long fast = s.most[0] + 1, middle = 2 * s.most[1] + 1;
  double square = 0;
  along[0] = number % fast;
  along[1] = number / fast % middle - s.most[1];
  along[2] = number / (fast * middle) - s.most[2];
  for (int i = 0; i < 3; i++) mode[p.axis[i]] = along[i];
  for (int a = 0; a < 3; a++) {
    k[a] = s.unit[a] * (double)mode[a];
    square += k[a] * k[a];
  }
  if (!diffusion_in_shell(s.low, s.high, square)) return false;
  for (int a = 0; a < 3; a++) k[a] /= sqrt(square);
  return true;
}

/* Returns where a coefficient stands in a field, as in layout_wave; -1: another rank has it. */
__device__ static long long place_of(const diffusion_layout &p, const long long along[3]) {
  const long long middle = (along[1] < 0 ? along[1] + p.n[1] : along[1]) - p.begin;
  const long long slow = along[2] < 0 ? along[2] + p.n[2] : along[2];
  if (middle < 0 || middle >= p.rows / p.n[2]) return -1;
  return ((middle / p.wide * p.n[2] + slow) * p.wide + middle % p.wide) * (p.row / 2) + along[0];
}

/* Removes the part along k from the vector; then gives it the helicity. */
__device__ static void shape_vector(const stirring_of &s, const double k[3], double (*normal)[2]) {
  double v[3][2] = {}, along[2] = {};
  for (int a = 0; a < s.axes; a++)
    for (int part = 0; part < 2; part++) {
      v[a][part] = normal[s.vector[a]][part];
      along[part] += k[a] * v[a][part];
    }
  for (int a = 0; a < s.axes; a++)
    for (int part = 0; part < 2; part++) v[a][part] -= k[a] * along[part];
  if (s.helicity != 0) diffusion_twist(k, s.helicity, v);
  for (int a = 0; a < s.axes; a++)
    for (int part = 0; part < 2; part++) normal[s.vector[a]][part] = v[a][part];
}

template <typename real>
static __global__ void __launch_bounds__(DIFFUSION_THREADS)
    stir(real *fields, const diffusion_layout p, const stirring_of s, long long count) {
  const long long number = blockIdx.x * (long long)DIFFUSION_THREADS + threadIdx.x;
  long long along[3], mode[3] = {0, 0, 0};
  double k[3], normal[DIFFUSION_FIELDS][2];
  if (number >= count || !mode_of(s, p, number, along, mode, k)) return;
  const long long at = place_of(p, along);
  if (at < 0) return;
  const diffusion_mode_key key = diffusion_key_of(s.rank, s.n, 7, mode);
  for (int f = 0; f < s.fields; f++) {
    if (!(s.noise.fields >> f & 1)) continue;
    noise_normals(s.noise, key.number, (unsigned)(DIFFUSION_DRAW_FORCING + f), normal[f]);
    normal[f][0] *= s.deviation;
    normal[f][1] *= key.mirrored ? -s.deviation : s.deviation;
  }
  if (s.axes > 0) shape_vector(s, k, normal);
  for (int f = 0; f < s.fields; f++)
    for (int part = 0; part < 2 && (s.noise.fields >> f & 1); part++)
      fields[f * p.field + 2 * at + part] = (real)normal[f][part];
}

double diffusion_stirred_deviation(const diffusion_parameters *p) {
  return diffusion_stirred(p) ? sqrt(p->forcing.power / diffusion_shell_freedom(p)) : 0;
}

void diffusion_general_stir(diffusion_work *w, int64_t step) {
  static const sim_kernel kernel = {"diffusion_stir", "noise", SIM_LIMIT_BYTES};
  const diffusion_layout *p = &w->layout;
  const diffusion_forcing *forcing = &w->p->forcing;
  stirring_of s = {};
  s.noise = noise_of_step(w->p->common.seed, step, diffusion_forced(w->p));
  s.low = forcing->k[0], s.high = forcing->k[1];
  s.deviation = w->own.general->stirred;
  s.helicity = forcing->helicity;
  s.fields = w->fields, s.rank = w->grid.rank;
  s.axes = diffusion_vector_of(w->p, s.vector);
  if (s.axes == 0 || !(s.noise.fields >> s.vector[0] & 1)) s.axes = 0;
  for (int a = 0; a < 3; a++) {
    s.n[a] = w->grid.n[a];
    s.unit[a] = a < w->grid.rank ? diffusion_first_wave(w->grid.size[a]) : 0;
  }
  long long count = 1;
  for (int i = 0; i < 3; i++) { /* the shell is below the highest wavenumbers (scenario/forcing.c) */
    const int axis = p->axis[i];
    const double highest = axis < w->grid.rank ? floor(s.high * (1 + 1e-9) / s.unit[axis]) : 0;
    s.most[i] = (long long)fmin(highest, (double)((p->n[i] - 1) / 2));
    count *= i == 0 ? s.most[i] + 1 : 2 * s.most[i] + 1;
  }
  const unsigned blocks = (unsigned)((count + DIFFUSION_THREADS - 1) / DIFFUSION_THREADS);
  void *noise = w->array[DIFFUSION_NOISE].data;
  sim_cuda_begin(&kernel);
  if (w->single)
    stir<<<blocks, DIFFUSION_THREADS, 0, (cudaStream_t)sim_cuda_stream()>>>((float *)noise, *p, s, count);
  else
    stir<<<blocks, DIFFUSION_THREADS, 0, (cudaStream_t)sim_cuda_stream()>>>((double *)noise, *p, s, count);
  sim_cuda_end(&kernel, diffusion_cuda_number_size(w->p) * 2 * w->fields * (double)count);
}
