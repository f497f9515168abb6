/* Outer images of a periodic box: moments of cubes by pieces of their bodies, fields of cubes, forces on bodies. */
#include "kernels/nbody/fmm/cuda/outer.cuh"

#include "engine/device/cuda.h"
#include "kernels/common/launch.cuh"
#include "kernels/nbody/cuda/partials.cuh"

static constexpr int P = NBODY_FMM_OUTER_ORDER, COUNT = NBODY_FMM_OUTER_COUNT, SIDE = NBODY_FMM_OUTER_SIDE;
static constexpr int CUBES = NBODY_FMM_OUTER_CUBES, STRANDS = NBODY_FMM_OUTER_STRANDS, PIECE = NBODY_FMM_OUTER_PIECE;
static constexpr int STAGED = 64;                /* bodies whose powers are in shared memory */
static constexpr int PIECE_THREADS = 3 * STAGED; /* each for an axis of a body, then for a coefficient */
static constexpr int BODY_THREADS = NBODY_PARTIAL_BODIES;
static_assert(COUNT <= PIECE_THREADS && PIECE % STAGED == 0 && STAGED % STRANDS == 0, "whole stages");

/* Finds the first body and the first piece of each cube. */
static __global__ void __launch_bounds__(CUBES + 1) find_cubes(int n, const unsigned long long *key, int *first) {
  after_previous();
  int low = 0, high = n;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (key[middle] >> 57 < (unsigned long long)threadIdx.x)
      low = middle + 1;
    else
      high = middle;
  }
  first[threadIdx.x] = low;
  __syncthreads();
  if (threadIdx.x > 0) return;
  int pieces = 0;
  for (int cube = 0; cube <= CUBES; cube++) {
    first[CUBES + 1 + cube] = pieces;
    if (cube < CUBES) pieces += (first[cube + 1] - first[cube] + PIECE - 1) / PIECE;
  }
}

/* The last cube whose entry in first[0 ... CUBES] is at most `at`: empty ones before it are skipped. */
__device__ static int cube_of(const int *first, int at) {
  int cube = 0;
  for (int step = CUBES / 2; step > 0; step /= 2)
    if (first[cube + step] <= at) cube += step;
  return cube;
}

/* Computes the exponents of coefficient k; coefficients ascend by kx, then ky, then kz. */
__device__ static void exponents_of(int k, int (&of)[3]) {
  of[0] = of[1] = of[2] = 0;
  for (int x = 0; x <= P; x++)
    for (int y = 0; x + y <= P; y++) {
      const int z = k - nbody_fmm_outer_position(x, y);
      if (z >= 0 && z <= P - x - y) of[0] = x, of[1] = y, of[2] = z;
    }
}

__device__ static double component(const float4 &b, int c) { return c == 0 ? b.x : c == 1 ? b.y : b.z; }
__device__ static double component(const double_quad &b, int c) { return c == 0 ? b.x : c == 1 ? b.y : b.z; }

/* Returns a body's distance from the centre of its cube along an axis, in edges of the cube. */
template <typename body_type> __device__ static double away(const body_type &b, const int (&at)[3], int c) {
  return SIDE * component(b, c) - (at[c] + 0.5);
}

/* Makes the moments of pieces, one thread block for each piece. */
template <typename real>
static __global__ void __launch_bounds__(PIECE_THREADS)
    piece_moments(const nbody_fmm_tree<real> t, const nbody_fmm_cuda_outer o) {
  __shared__ double power[STAGED][3][P + 1], mass[STAGED];
  after_previous();
  const int *const first_piece = o.first + CUBES + 1;
  const int piece = blockIdx.x, k = threadIdx.x, body = k % STAGED, axis = k / STAGED;
  if (piece >= first_piece[CUBES]) return;
  const int cube = cube_of(first_piece, piece);
  const int first = o.first[cube] + (piece - first_piece[cube]) * PIECE;
  const int end = min(first + PIECE, o.first[cube + 1]);
  int at[3], exponent[3];
  nbody_fmm_outer_cube(cube, at);
  exponents_of(k < COUNT ? k : 0, exponent);
  double strand[STRANDS] = {0};
  for (int begin = first; begin < end; begin += STAGED) {
    __syncthreads();
    const bool is = begin + body < end;
    const double x = is ? 0.0 - away(t.body[begin + body], at, axis) : 0;
    power[body][axis][0] = 1;
    for (int e = 1; e <= P; e++) power[body][axis][e] = power[body][axis][e - 1] * (x * (1.0 / e));
    if (axis == 0) mass[body] = is ? (double)t.body[begin + body].w : 0;
    __syncthreads();
    for (int from = 0; from < STAGED; from += STRANDS)
#pragma unroll
      for (int s = 0; s < STRANDS; s++) {
        const double both = power[from + s][0][exponent[0]] * power[from + s][1][exponent[1]];
        strand[s] += mass[from + s] * (both * power[from + s][2][exponent[2]]);
      }
  }
#pragma unroll
  for (int half = STRANDS / 2; half > 0; half /= 2)
#pragma unroll
    for (int s = 0; s < STRANDS / 2; s++)
      if (s < half) strand[s] += strand[s + half];
  if (k < COUNT) o.pieces[(size_t)piece * COUNT + k] = strand[0];
}

/* Adds up the pieces of a cube: one thread block for each cube, one thread for each coefficient. */
static __global__ void __launch_bounds__(PIECE_THREADS) add_pieces(const nbody_fmm_cuda_outer o) {
  after_previous();
  const int *const first_piece = o.first + CUBES + 1;
  const int cube = blockIdx.x, k = threadIdx.x;
  int at[3];
  nbody_fmm_outer_cube(cube, at);
  if (k >= COUNT) return;
  double sum = 0;
  for (int piece = first_piece[cube]; piece < first_piece[cube + 1]; piece++)
    sum += o.pieces[(size_t)piece * COUNT + k];
  o.moments[((k * SIDE + at[2]) * SIDE + at[1]) * SIDE + SIDE - 1 - at[0]] = sum;
}

/* One thread block for each coefficient (x) of a cube (y), one thread for each source cube in order of `moments`. */
static __global__ void __launch_bounds__(CUBES) make_fields(const nbody_fmm_cuda_outer o) {
  constexpr int DIFFERENCES = NBODY_FMM_OUTER_ROW * NBODY_FMM_OUTER_ROW * NBODY_FMM_OUTER_ROW;
  __shared__ double upper[CUBES / 2];
  after_previous();
  const int k = blockIdx.x, cube = blockIdx.y, source = threadIdx.x;
  int at[3], exponent[3];
  nbody_fmm_outer_cube(cube, at);
  exponents_of(k, exponent);
  const int x = SIDE - 1 - source % SIDE, y = source / SIDE % SIDE, z = source / (SIDE * SIDE);
  const double *const tensor = o.tensors + nbody_fmm_outer_difference(at[0] - x, at[1] - y, at[2] - z);
  const int rank = exponent[0] + exponent[1] + exponent[2];
  double sum = 0;
  for (int p = 0; rank + p <= P; p++)
    for (int q = 0; rank + p + q <= P; q++) {
      const double *const m = o.moments + (size_t)nbody_fmm_outer_position(p, q) * CUBES + source;
      const double *const d =
          tensor + (size_t)(nbody_fmm_outer_position(exponent[0] + p, exponent[1] + q) + exponent[2]) * DIFFERENCES;
      for (int s = 0; rank + p + q + s <= P; s++) sum += m[(size_t)s * CUBES] * d[(size_t)s * DIFFERENCES];
    }
  if (source >= CUBES / 2) upper[source - CUBES / 2] = sum;
  __syncthreads();
  if (source >= CUBES / 2) return;
  sum += upper[source];
  for (int half = CUBES / 4; half > 0; half /= 2) sum += warp_read_xor(sum, half);
  if (source == 0) o.fields[(size_t)cube * COUNT + k] = sum;
}

/* power[c][e] = t^e / e! of a body of a cube. */
template <typename body_type>
__device__ __forceinline__ void list_powers(const body_type &b, int cube, double (&power)[3][P + 1]) {
  int at[3];
  nbody_fmm_outer_cube(cube, at);
#pragma unroll
  for (int c = 0; c < 3; c++) {
    const double x = away(b, at, c);
    power[c][0] = 1;
#pragma unroll
    for (int e = 1; e <= P; e++) power[c][e] = power[c][e - 1] * (x * (1.0 / e));
  }
}

template <typename real>
static __global__ void __launch_bounds__(BODY_THREADS)
    add_outer(const nbody_fmm_tree<real> t, const nbody_fmm_cuda_outer o, double unit, double *acceleration) {
  after_previous();
  const int body = blockIdx.x * BODY_THREADS + threadIdx.x;
  if (body >= t.n || !fmm_is_target(t, (unsigned)body)) return;
  if (t.own != nullptr && ((unsigned)body < t.own[0] || (unsigned)body >= t.own[1])) return;
  const int cube = cube_of(o.first, body);
  const double *const field = o.fields + (size_t)cube * COUNT;
  double power[3][P + 1], sum[3] = {0, 0, 0};
  list_powers(t.body[body], cube, power);
#pragma unroll
  for (int i = 0; i < P; i++)
#pragma unroll
    for (int j = 0; i + j < P; j++) {
      const double both = power[0][i] * power[1][j];
#pragma unroll
      for (int l = 0; i + j + l < P; l++) {
        const double all = both * power[2][l];
        sum[0] += field[nbody_fmm_outer_position(i + 1, j) + l] * all;
        sum[1] += field[nbody_fmm_outer_position(i, j + 1) + l] * all;
        sum[2] += field[nbody_fmm_outer_position(i, j) + l + 1] * all;
      }
    }
  const double per_edge = t.frame->per_edge;
  for (int c = 0; c < 3; c++) {
    double *const a = acceleration + (size_t)c * (unsigned)t.n + t.id[body];
    *a = (*a + SIDE * sum[c] * (per_edge * per_edge)) * unit;
  }
}

static __global__ void __launch_bounds__(BODY_THREADS)
    outer_potential(const nbody_fmm_tree<double> t, const nbody_fmm_cuda_outer o) {
  __shared__ double shared[32];
  after_previous();
  const int body = blockIdx.x * BODY_THREADS + threadIdx.x;
  double term = 0;
  if (body < t.n) {
    const int cube = cube_of(o.first, body);
    const double *field = o.fields + (size_t)cube * COUNT;
    double power[3][P + 1];
    list_powers(t.body[body], cube, power);
#pragma unroll
    for (int i = 0; i <= P; i++)
#pragma unroll
      for (int j = 0; i + j <= P; j++) {
        const double both = power[0][i] * power[1][j];
#pragma unroll
        for (int l = 0; i + j + l <= P; l++) term += field[nbody_fmm_outer_position(i, j) + l] * (both * power[2][l]);
      }
    term *= t.body[body].w;
    ((double *)t.key)[body] += term;
  }
  term = over_block<reduce_sum>(term, shared);
  if (threadIdx.x == 0) o.partial[blockIdx.x] = term;
}

template <typename real> void nbody_fmm_queue_outer(const nbody_fmm_tree<real> *t, const nbody_fmm_cuda_outer *o) {
  static const sim_kernel kernels[] = {{"nbody_fmm_cubes", "outer images", SIM_LIMIT_BYTES},
                                       {"nbody_fmm_outer_pieces", "outer images", SIM_LIMIT_FP64},
                                       {"nbody_fmm_outer_moments", "outer images", SIM_LIMIT_BYTES},
                                       {"nbody_fmm_outer_fields", "outer images", SIM_LIMIT_FP64}};
  device_launch(&kernels[0], 0, 1, CUBES + 1, find_cubes, t->n, t->key, o->first);
  device_launch(&kernels[1], 4.0 * COUNT * t->n, (unsigned)nbody_fmm_outer_pieces(t->n), PIECE_THREADS,
                piece_moments<real>, *t, *o);
  device_launch(&kernels[2], 8.0 * COUNT * (double)nbody_fmm_outer_pieces(t->n), CUBES, PIECE_THREADS, add_pieces, *o);
  device_launch(&kernels[3], 2.0 * 3003 * CUBES * CUBES, dim3(COUNT, CUBES), CUBES, make_fields, *o);
}

template <typename real>
void nbody_fmm_add_outer(const nbody_fmm_tree<real> *t, const nbody_fmm_cuda_outer *o, double unit,
                         double *acceleration) {
  static const sim_kernel kernel = {"nbody_fmm_add_outer", "outer images", SIM_LIMIT_FP64};
  device_launch(&kernel, 7.0 * 120 * t->n, (unsigned)nbody_partials(t->n), BODY_THREADS, add_outer<real>, *t, *o, unit,
                acceleration);
}

void nbody_fmm_sum_outer(const nbody_fmm_tree<double> *t, const nbody_fmm_cuda_outer *o, double *sum) {
  static const sim_kernel kernel = {"nbody_fmm_outer_potential", "outer images", SIM_LIMIT_FP64};
  device_launch(&kernel, 4.0 * COUNT * t->n, (unsigned)nbody_partials(t->n), BODY_THREADS, outer_potential, *t, *o);
  nbody_reduce_partials<reduce_sum>(o->partial, 1, nbody_partials(t->n), sum);
}

#define OUTER_OF(real)                                                                                                 \
  template void nbody_fmm_queue_outer<real>(const nbody_fmm_tree<real> *, const nbody_fmm_cuda_outer *);               \
  template void nbody_fmm_add_outer<real>(const nbody_fmm_tree<real> *, const nbody_fmm_cuda_outer *, double, double *);
OUTER_OF(float)
OUTER_OF(double)
