/* Launches of the kernels of fluids, by lattice, precision and what the flow has. */
#include "kernels/common/launch.cuh"
#include "kernels/fluid/cuda/links.cuh"
#include "kernels/fluid/cuda/march.cuh"
#include "kernels/fluid/cuda/measure.cuh"
#include "kernels/fluid/cuda/plain.cuh"

/* ---- arguments ---- */

template <int RANK, typename real> static fluid_factors<real> factors_of(const fluid_device *d) {
  fluid_factors<real> k = {};
  k.keep = (real)(1 - d->omega);
  k.add = (real)d->omega;
  for (int a = 0; a < 3; a++) {
    k.g[a] = (real)d->g[a];
    k.push[a] = (real)((2 - d->omega) * d->g[a]);
  }
  k.tau = (real)(1 / d->omega);
  k.tau_square = (real)(1 / (d->omega * d->omega));
  k.eddy = (real)(18 * sqrt(2.0) * d->smagorinsky * d->smagorinsky);
  const double unit = RANK == 3 ? d->unit : 2 * d->unit; /* 10 bits, or 9 */
  k.unit = (real)unit;
  k.per_unit = (real)(1 / ((RANK == 3 ? 1022 : 510) * unit));
  k.fast = (real)(d->fast * d->fast);
  k.fastest = (real)(d->fastest * d->fastest);
  return k;
}

template <int RANK, typename real> static fluid_step<real> step_of(const fluid_device *d) {
  fluid_step<real> s = {};
  s.l = d->l;
  s.from = (const real *)d->state[d->now];
  s.to = (real *)d->state[1 - d->now];
  s.skip = d->skip;
  s.chunk = d->chunk;
  s.k = factors_of<RANK, real>(d);
  s.guard = d->guard;
  s.step = d->step + d->now;
  s.next = d->step + 1 - d->now;
  return s;
}

template <typename real> static fluid_edges<real> edges_of(const fluid_device *d) {
  fluid_edges<real> e = {};
  e.cell = d->cell;
  e.edge = (const fluid_edge<real> *)d->edge;
  e.cells = d->cells;
  e.lost = d->lost;
  e.body = d->edge_body;
  return e;
}

template <typename real> static fluid_view<real> view_of(const fluid_device *d) {
  fluid_view<real> v = {};
  v.l = d->l;
  v.state = (const real *)d->state[d->now];
  v.fields = (real *)d->fields;
  v.beside = d->beside;
  for (int a = 0; a < 3; a++) v.g[a] = d->g[a];
  v.dx = d->dx;
  v.dt = d->dt;
  v.density = d->density;
  v.tau = d->tau;
  v.smagorinsky = d->smagorinsky;
  return v;
}

static double cells_of(const fluid_device *d) { return (double)d->l.n[0] * d->l.n[1] * d->l.n[2]; }

/* ---- steps ---- */

/* Inner columns and rows of the marching kernel's tiles, two of the rows outer; blocks of a multiprocessor. */
enum { TILE_X = 64, TILE_Y = 8, TILE_BLOCKS = 2, TILE_UNROLL = 2, TILE_Y_DOUBLE = 6 };

/* Whether a block may have so many bytes of shared memory. */
static bool has_shared(size_t bytes) {
  int device = 0, most = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
    return false;
  return bytes <= (size_t)most;
}

int fluid_cuda_chunk(int rank, bool single, const int64_t n[3]) {
  enum { LEAST = 8, MOST = 64, BLOCKS = 65535 };
  if (!has_shared(single ? march_tile<TILE_X, TILE_Y>::all * sizeof(float)
                         : march_tile<TILE_X, TILE_Y_DOUBLE>::all * sizeof(double)))
    return 0;
  const int64_t columns = (n[0] + TILE_X - 1) / TILE_X * ((n[1] + TILE_Y - 3) / (TILE_Y - 2));
  int chunk = MOST;
  if (rank != 3 || n[0] < 32 || n[1] < TILE_Y || n[2] < LEAST) return 0;
  if (n[1] / (TILE_Y_DOUBLE - 2) >= BLOCKS || n[2] / LEAST >= BLOCKS) return 0;
  while (chunk > LEAST && columns * ((n[2] + chunk - 1) / chunk) < 4 * TILE_BLOCKS * sim_cuda_multiprocessors())
    chunk /= 2;
  return chunk < n[2] ? chunk : (int)n[2];
}

/* As device_launch, with `shared` bytes of shared memory. */
template <typename real>
static void launch_with(const sim_kernel *kernel, dim3 grid, unsigned threads, size_t shared,
                        void (*function)(fluid_step<real>), fluid_step<real> s) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = (cudaStream_t)sim_cuda_stream();
  config.attrs = &attribute;
  config.numAttrs = device_overlaps() ? 1 : 0;
  sim_cuda_begin(kernel);
  sim_cuda_failed(cudaLaunchKernelEx(&config, function, s), "cudaLaunchKernelEx", kernel->name);
  sim_cuda_end(kernel, 20.0 * sizeof(real) * s.l.n[0] * s.l.n[1] * s.l.n[2]);
}

template <int TX, int TY, int BLOCKS, bool SKIP, bool FORCE, bool EDDY, typename real>
static void launch_march(const sim_kernel *kernel, fluid_step<real> s) {
  using tile = march_tile<TX, TY>;
  const int shared = tile::all * (int)sizeof(real);
  static int ready = 0; /* the kernel may use so much shared memory */
  if (!ready)
    ready =
        !sim_cuda_failed(cudaFuncSetAttribute((const void *)march<TX, TY, BLOCKS, TILE_UNROLL, SKIP, FORCE, EDDY, real>,
                                              cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
                         "cudaFuncSetAttribute", kernel->name);
  const dim3 grid((unsigned)((s.l.n[0] + TX - 1) / TX), (unsigned)((s.l.n[1] + TY - 3) / (TY - 2)),
                  (unsigned)((s.l.n[2] + s.chunk - 1) / s.chunk));
  launch_with(kernel, grid, tile::threads, (size_t)shared, march<TX, TY, BLOCKS, TILE_UNROLL, SKIP, FORCE, EDDY, real>,
              s);
}

template <int RANK, bool FORCE, bool EDDY, typename real> static void launch_cells(const fluid_device *d) {
  static const sim_kernel plain = {"fluid_step_cells", "step", SIM_LIMIT_BYTES};
  static const sim_kernel marching = {"fluid_march", "step", SIM_LIMIT_BYTES};
  const fluid_step<real> s = step_of<RANK, real>(d);
  if constexpr (RANK == 3) {
    if (d->march) {
      constexpr int y = sizeof(real) == 4 ? TILE_Y : TILE_Y_DOUBLE, blocks = sizeof(real) == 4 ? TILE_BLOCKS : 1;
      if (d->skip)
        launch_march<TILE_X, y, blocks, true, FORCE, EDDY, real>(&marching, s);
      else
        launch_march<TILE_X, y, blocks, false, FORCE, EDDY, real>(&marching, s);
      return;
    }
  }
  const size_t rows = (size_t)s.l.n[1] * (size_t)s.l.n[2];
  const dim3 grid((unsigned)((size_t)s.l.groups * ((rows + FLUID_PLAIN_ROWS - 1) / FLUID_PLAIN_ROWS)));
  device_launch(&plain, 2.0 * fluid_moments(RANK) * sizeof(real) * cells_of(d), grid, FLUID_GROUP * FLUID_PLAIN_ROWS,
                step_cells<RANK, FORCE, EDDY, real>, s);
}

template <int RANK, typename real> static void step(const fluid_device *d) {
  static const sim_kernel links = {"fluid_step_links", "walls", SIM_LIMIT_BYTES};
  static const sim_kernel sum = {"fluid_sum_lost", "walls", SIM_LIMIT_BYTES};
  static const sim_kernel give = {"fluid_give_mass", "walls", SIM_LIMIT_BYTES};
  if (d->force && d->eddies)
    launch_cells<RANK, true, true, real>(d);
  else if (d->force)
    launch_cells<RANK, true, false, real>(d);
  else if (d->eddies)
    launch_cells<RANK, false, true, real>(d);
  else
    launch_cells<RANK, false, false, real>(d);
  if (d->cells == 0) return;
  const fluid_step<real> s = step_of<RANK, real>(d);
  const fluid_edges<real> e = edges_of<real>(d);
  const double bytes = (double)(fluid_directions(RANK) * 4 + fluid_moments(RANK)) * sizeof(real) * d->cells;
  device_launch(&links, bytes, dim3((unsigned)(d->cells + 127) / 128), 128,
                d->eddies ? step_links<RANK, true, real> : step_links<RANK, false, real>, s, e);
  if (d->segments == 0) return;
  const fluid_patches p = {d->segment, d->member, d->segment_sum, d->segments};
  const real *rest = s.from + d->numbers;
  device_launch(&sum, 8.0 * d->cells, dim3((unsigned)d->segments), FLUID_SEGMENT, sum_lost, p, d->lost);
  device_launch(&give, 4.0 * sizeof(real) * d->cells, dim3((unsigned)d->segments), FLUID_SEGMENT, give_mass<RANK, real>,
                s, e, p, rest, s.to + d->numbers);
}

/* ---- outputs and the start ---- */

static dim3 blocks_of(const fluid_device *d) {
  const double wanted = (cells_of(d) + 255) / 256;
  return dim3(wanted < 65536 ? (unsigned)wanted : 65536u);
}

template <int RANK, typename real> static void show(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_show_cells", "observe", SIM_LIMIT_BYTES};
  device_launch(&kernel, (fluid_moments(RANK) + RANK + 1.0) * sizeof(real) * cells_of(d), blocks_of(d), 256,
                show_cells<RANK, real>, view_of<real>(d));
}

template <int RANK, typename real> static void begin(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_begin_cells", "start", SIM_LIMIT_BYTES};
  device_launch(&kernel, (fluid_moments(RANK) + RANK + 1.0) * sizeof(real) * cells_of(d), blocks_of(d), 256,
                begin_cells<RANK, real>, view_of<real>(d), factors_of<RANK, real>(d), (real *)d->state[d->now]);
}

template <int RANK, typename real> static void flow(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_sum_flow", "observe", SIM_LIMIT_BYTES};
  device_launch(&kernel, (fluid_moments(RANK) + RANK) * sizeof(real) * cells_of(d), dim3((unsigned)d->sum_blocks), 256,
                sum_flow<RANK, real>, view_of<real>(d), d->sum);
}

template <int RANK, typename real> static void pulls(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_pull", "observe", SIM_LIMIT_BYTES};
  if (d->pull_blocks == 0) return;
  device_launch(&kernel, 0.0, dim3((unsigned)d->pull_blocks), FLUID_SEGMENT, pull<RANK, real>, d->l,
                (const real *)d->state[d->now], edges_of<real>(d), d->pull, d->pull_block, d->g[0], d->g[1], d->g[2],
                d->pull_sum);
}

template <int RANK, typename real> static void probe(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_probe_cells", "observe", SIM_LIMIT_BYTES};
  if (d->probes == 0) return;
  device_launch(&kernel, 0.0, dim3(1), 64, probe_cells<RANK, real>, (const real *)d->fields,
                (size_t)d->l.n[0] * (size_t)d->l.n[1] * (size_t)d->l.n[2], d->probe, d->probes, d->probed);
}

#define BY_KIND(function)                                                                                              \
  do {                                                                                                                 \
    if (d->rank == 2)                                                                                                  \
      d->single ? function<2, float>(d) : function<2, double>(d);                                                      \
    else                                                                                                               \
      d->single ? function<3, float>(d) : function<3, double>(d);                                                      \
  } while (0)

void fluid_cuda_step(const fluid_device *d) { BY_KIND(step); }
void fluid_cuda_show(const fluid_device *d) { BY_KIND(show); }
void fluid_cuda_begin(const fluid_device *d) { BY_KIND(begin); }
void fluid_cuda_flow(const fluid_device *d) { BY_KIND(flow); }
void fluid_cuda_pull(const fluid_device *d) { BY_KIND(pulls); }
void fluid_cuda_probe(const fluid_device *d) { BY_KIND(probe); }
