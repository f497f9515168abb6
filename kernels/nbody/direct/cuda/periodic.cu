/* The solver table of direct sums in a periodic box on an NVIDIA GPU: a thread a target, sources in tiles in shared
 * memory, few bodies in parts that are added in order later. */
#include "kernels/nbody/direct/cuda/periodic.cuh"

#include "engine/device/cuda.h"
#include "kernels/common/launch.cuh"
#include "kernels/nbody/cuda/partials.cuh"
#include "kernels/nbody/cuda/range.h"
#include "kernels/nbody/cuda/targets.cuh"
#include "kernels/nbody/direct/cuda/ranks.h"
#include "kernels/nbody/direct/direct.h"

#include <math.h>
#include <stdlib.h>

enum { THREADS = NBODY_PARTIAL_BODIES, BLOCKS = 1024 /* wanted */, SPLITS_MOST = 64 };

struct nbody_solver_work {
  nbody_options options;
  nbody_state state;
  double mass_unit;       /* a power of two */
  nbody_cuda_share share; /* thread blocks of this rank, of forces and of the potential energy */
  int blocks, splits;
  void *memory;        /* one allocation in device memory for all arrays below */
  double *table;       /* [NBODY_TABLE_ROWS][NBODY_TABLE_ROW] */
  float *single_table; /* with options.single_pairs */
  double *parts;       /* [splits][3][n]; individual steps: [some_splits][3][targets] too */
  double *partial;     /* [splits][blocks] */
  double *result;
  int *target;            /* individual steps: [n], bodies whose forces are computed */
  unsigned *target_count; /* number of bodies in `target` */
};

/* ---- memory ---- */

/* Byte offsets of the arrays. */
struct layout {
  size_t table, single_table, parts, partial, result, target, total;
};

static const size_t table_size = (size_t)NBODY_TABLE_ROWS * NBODY_TABLE_ROW;

/* Parts of the sources for a sum over n bodies for `count` of them. */
static int splits_for(int64_t n, int64_t count) {
  const int splits = BLOCKS / nbody_partials(count), groups = (int)((n + 31) / 32);
  const int most = groups < SPLITS_MOST ? groups : SPLITS_MOST;
  return splits < 1 ? 1 : splits > most ? most : splits;
}

/* Most vectors of all parts of a sum for some of n bodies, or for all. */
static size_t parts_for(const nbody_options *options) {
  const size_t n = (size_t)options->n, all = n * (size_t)splits_for(options->n, options->n);
  if (!options->individual) return all;
  const size_t split = n * (size_t)splits_for(options->n, 1), filled = (size_t)BLOCKS * THREADS;
  const size_t some = split < filled ? split : filled;
  return some > all ? some : all;
}

static size_t take(size_t *total, size_t bytes) {
  const size_t at = *total;
  *total = (at + bytes + 255) / 256 * 256;
  return at;
}

static layout layout_of(const nbody_options *options) {
  const size_t splits = (size_t)splits_for(options->n, options->n);
  layout l = {};
  l.table = take(&l.total, table_size * sizeof(double));
  l.single_table = take(&l.total, options->single_pairs ? table_size * sizeof(float) : 0);
  l.parts = take(&l.total, 3 * parts_for(options) * sizeof(double));
  l.partial = take(&l.total, splits * (size_t)nbody_partials(options->n) * sizeof(double));
  l.result = take(&l.total, sizeof(double));
  l.target = take(&l.total, options->individual ? (size_t)options->n * sizeof(int) + sizeof(unsigned) : 0);
  return l;
}

static void bytes(const nbody_options *options, double *host, double *device) {
  *host = nbody_cuda_share_bytes(options->comm, options->n, THREADS);
  *device = *host + (double)layout_of(options).total;
}

static void destroy(nbody_solver_work **work) {
  if (*work == NULL) return;
  nbody_cuda_share_destroy(&(*work)->share);
  sim_backend_cuda.free((*work)->memory);
  free(*work);
  *work = NULL;
}

/* Fills the tables on the device. */
static sim_status copy_tables(nbody_solver_work *w) {
  double *table = (double *)malloc(table_size * sizeof *table);
  if (table == NULL) return sim_no_memory("the table of images");
  nbody_lattice_fill_table(w->options.softening / w->options.box, w->options.threads > 0 ? w->options.threads : 1,
                           table);
  sim_status status = sim_backend_cuda.copy(w->table, table, table_size * sizeof *table);
  if (status == SIM_OK && w->options.single_pairs) {
    float *single = (float *)malloc(table_size * sizeof *single);
    if (single == NULL) status = sim_no_memory("the table of images");
    for (size_t k = 0; single != NULL && k < table_size; k++) single[k] = (float)table[k];
    if (single != NULL) status = sim_backend_cuda.copy(w->single_table, single, table_size * sizeof *single);
    free(single);
  }
  free(table);
  return status;
}

static sim_status create(const nbody_options *options, const nbody_state *state, nbody_solver_work **out) {
  nbody_solver_work *w = *out = (nbody_solver_work *)calloc(1, sizeof *w);
  if (w == NULL) return sim_no_memory("the direct sum");
  const layout l = layout_of(options);
  nbody_range mass = {};
  w->options = *options;
  w->state = *state;
  w->blocks = nbody_partials(options->n);
  w->splits = splits_for(options->n, options->n);
  sim_status status = nbody_cuda_share_create(options->comm, options->n, THREADS, !options->laws.no_pairs, &w->share);
  if (status == SIM_OK) status = sim_backend_cuda.alloc(l.total, &w->memory);
  if (status == SIM_OK) {
    char *const at = (char *)w->memory;
    w->table = (double *)(at + l.table);
    w->single_table = (float *)(at + l.single_table);
    w->parts = (double *)(at + l.parts);
    w->partial = (double *)(at + l.partial);
    w->result = (double *)(at + l.result);
    w->target = (int *)(at + l.target);
    w->target_count = (unsigned *)(w->target + options->n);
    status = nbody_cuda_range(state->mass, state->dtype, 0, (size_t)state->n, &mass);
  }
  if (status == SIM_OK && !options->laws.no_pairs) status = copy_tables(w);
  if (status != SIM_OK)
    destroy(out);
  else
    w->mass_unit = nbody_power_above(mass.high);
  return status;
}

static const char *describe(const nbody_solver_work *) { return "nearest images and Ewald's expansions of all others"; }

/* ---- sums ---- */

template <typename real> struct tile_of { typename quad<real>::type body[THREADS]; };

/* Position in edges of the box, and mass; none from n on. */
template <typename pair_real, typename real>
__device__ static typename quad<pair_real>::type load(int n, const real *mass, const real *position, double per_size,
                                                      double per_mass, int i) {
  typename quad<pair_real>::type out = {};
  if (i >= n) return out;
  out.x = (pair_real)((double)position[i] * per_size);
  out.y = (pair_real)((double)position[(size_t)n + i] * per_size);
  out.z = (pair_real)((double)position[2 * (size_t)n + i] * per_size);
  out.w = (pair_real)((double)mass[i] * per_mass);
  return out;
}

/* parts[split][3][count] of the bodies target[count], NULL: of all; or with POTENTIAL partial[split][blocks]: the sums
 * of m m' (1 / s + E), of the thread blocks from `begin_block` on. */
template <bool POTENTIAL, typename real, typename pair_real>
static __global__ void __launch_bounds__(THREADS)
    periodic_sum(int n, const real *mass, const real *position, double per_size, double per_mass,
                 const periodic_pairs<pair_real> pairs, const int *target, int count, int per_split, int begin_block,
                 int blocks, double *out) {
  __shared__ tile_of<pair_real> tile;
  __shared__ double shared[32];
  after_previous();
  const int block = begin_block + blockIdx.x;
  const int place = block * THREADS + threadIdx.x, begin = blockIdx.y * per_split, end = min(n, begin + per_split);
  const int i = target == nullptr ? place : place < count ? target[place] : n;
  const typename quad<pair_real>::type mine = load<pair_real>(n, mass, position, per_size, per_mass, i);
  double total[3] = {0, 0, 0};
  for (int first = begin; first < end; first += THREADS) {
    __syncthreads();
    tile.body[threadIdx.x] = load<pair_real>(n, mass, position, per_size, per_mass, first + threadIdx.x);
    __syncthreads();
    const int in_tile = min((int)THREADS, end - first);
    pair_real sum[3] = {0, 0, 0};
    for (int k = 0; k < in_tile; k++) {
      const typename quad<pair_real>::type q = tile.body[k];
      pair_real d[3] = {q.x - mine.x, q.y - mine.y, q.z - mine.z};
      if constexpr (POTENTIAL)
        sum[0] = fused(q.w, pairs.potential(d, first + k == i), sum[0]);
      else
        pairs.add(d, q.w, first + k == i, sum);
    }
    for (int c = 0; c < (POTENTIAL ? 1 : 3); c++) total[c] += (double)sum[c];
  }
  if constexpr (POTENTIAL) {
    const double all = over_block<reduce_sum>(i < n ? (double)mine.w * total[0] : 0, shared);
    if (threadIdx.x == 0) out[(size_t)blockIdx.y * blocks + block] = all;
  } else if (i < n)
    for (int c = 0; c < 3; c++) out[((size_t)blockIdx.y * 3 + c) * count + place] = total[c];
}

/* `blocks` thread blocks from `begin_block` on, for the first w->target[count], or for all bodies. */
template <bool POTENTIAL, typename real, typename pair_real>
static void launch_blocks(nbody_solver_work *w, const pair_real *table, const int *target, int count, int splits,
                          unsigned blocks, double *out) {
  static const sim_kernel kernel = {POTENTIAL ? "nbody_periodic_potential" : "nbody_periodic",
                                    POTENTIAL ? "observe" : "force", SIM_LIMIT_BYTES};
  const double per_size = 1 / w->options.box, softening = w->options.softening * per_size;
  const int n = (int)w->options.n;
  const periodic_pairs<pair_real> pairs = {table, (pair_real)(softening * softening)};
  device_launch(&kernel, (double)n * blocks * (double)THREADS * (NBODY_TABLE_ROW * sizeof(pair_real)),
                dim3(blocks, (unsigned)splits), THREADS, periodic_sum<POTENTIAL, real, pair_real>, n,
                (const real *)w->state.mass, (const real *)w->state.position, per_size, 1 / w->mass_unit, pairs, target,
                count, (n + splits - 1) / splits, target == nullptr ? w->share.first : 0, w->blocks, out);
}

/* The share of this rank. */
template <bool POTENTIAL, typename real, typename pair_real>
static void launch(nbody_solver_work *w, const pair_real *table, double *out) {
  const unsigned own = (unsigned)w->share.count;
  if (own > 0) launch_blocks<POTENTIAL, real, pair_real>(w, table, nullptr, (int)w->options.n, w->splits, own, out);
}

static double unit_of(const nbody_solver_work *w) {
  return w->options.G * w->mass_unit / (w->options.box * w->options.box);
}

static void accelerate(nbody_solver_work *w, bool zeroed, nbody_raw_force *out) {
  const bool single = w->state.dtype == SIM_F32;
  *out = {};
  if (w->options.laws.no_pairs) {
    const size_t size = 3 * (size_t)w->state.n * sizeof(double);
    if (!zeroed)
      sim_cuda_failed(cudaMemsetAsync(w->state.acceleration, 0, size, (cudaStream_t)sim_cuda_stream()),
                      "cudaMemsetAsync", "the acceleration");
    out->kind = NBODY_FORCE_FINAL;
    return;
  }
  if (single)
    launch<false, float, float>(w, w->single_table, w->parts);
  else if (w->options.single_pairs)
    launch<false, double, float>(w, w->single_table, w->parts);
  else
    launch<false, double, double>(w, w->table, w->parts);
  out->kind = NBODY_FORCE_PARTS;
  out->parts = w->splits;
  out->acceleration = w->parts;
  out->unit = unit_of(w);
  if (w->share.exchange == NULL) return;
  nbody_cuda_share_sums(&w->share, w->parts, w->splits, w->state.acceleration);
  out->parts = 1;
  out->acceleration = w->state.acceleration;
}

/* On several ranks each of them has all targets. */
static void accelerate_some(nbody_solver_work *w, const nbody_targets *targets) {
  const int n = (int)w->options.n, count = (int)targets->count, splits = splits_for(n, count);
  const unsigned blocks = (unsigned)nbody_partials(count);
  if (w->options.laws.no_pairs) {
    nbody_raw_force none;
    accelerate(w, false, &none);
    return;
  }
  nbody_cuda_list_targets(n, targets, w->target, w->target_count);
  if (w->state.dtype == SIM_F32)
    launch_blocks<false, float, float>(w, w->single_table, w->target, count, splits, blocks, w->parts);
  else if (w->options.single_pairs)
    launch_blocks<false, double, float>(w, w->single_table, w->target, count, splits, blocks, w->parts);
  else
    launch_blocks<false, double, double>(w, w->table, w->target, count, splits, blocks, w->parts);
  nbody_cuda_add_target_parts(n, w->target, count, w->parts, splits, unit_of(w), w->state.acceleration);
}

static double potential(nbody_solver_work *w) {
  if (w->options.laws.no_pairs) return 0;
  if (w->state.dtype == SIM_F32)
    launch<true, float, double>(w, w->table, w->partial);
  else
    launch<true, double, double>(w, w->table, w->partial);
  nbody_cuda_share_partials(&w->share, w->partial, w->splits);
  nbody_reduce_partials<reduce_sum>(w->partial, 1, w->splits * w->blocks, w->result);
  double sum;
  if (sim_backend_cuda.copy(&sum, w->result, sizeof sum) != SIM_OK) return NAN;
  return -0.5 * (w->options.G * w->mass_unit * w->mass_unit / w->options.box) * sum;
}

/* ---- the table ---- */

static sim_status estimate(const nbody_options *options, double n, nbody_cost *out) {
  out->most_ranks = nbody_partials(options->n);
  out->rate = options->single_pairs ? 1e10 : 5e9;
  return nbody_direct_count(options, n, out);
}

const nbody_solver nbody_direct_periodic_cuda = {
    .name = "direct sum",
    .supports = nbody_direct_fits_gpu,
    .bytes = bytes,
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .describe = describe,
    .accelerate = accelerate,
    .accelerate_some = accelerate_some,
    .potential = potential,
};
