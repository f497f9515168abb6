/* Launches of the kernels of fluids, by lattice, precision and what the flow has. */
#include "kernels/common/launch.cuh"
#include "kernels/fluid/cuda/arguments.cuh"
#include "kernels/fluid/cuda/cover.cuh"
#include "kernels/fluid/cuda/grains.cuh"
#include "kernels/fluid/cuda/outputs.cuh"
#include "kernels/fluid/cuda/plain.cuh"
#include "kernels/fluid/cuda/ranks.cuh"
#include "kernels/fluid/cuda/sponge.cuh"
#include "kernels/fluid/cuda/tiles.cuh"
#include "kernels/fluid/cuda/timed.cuh"

/* ---- steps ---- */

void fluid_cuda_choose_tile(fluid_device *d) {
  enum { LEAST = 8, MOST = 64, BLOCKS = 65535 };
  const int *n = d->l.n;
  const tile_size wide = tile_of(d, true), narrow = tile_of(d, false);
  d->wide = has_shared(wide.bytes) &&
            tiles_of(n[0], wide.columns) * wide.columns <= tiles_of(n[0], narrow.columns) * narrow.columns;
  const tile_size *const tile = d->wide ? &wide : &narrow;
  d->march = false;
  if (!has_shared(tile->bytes) || d->rank != 3 || d->full || n[0] < 32 || n[1] < 8 || n[2] < LEAST) return;
  if (n[1] / tile->rows >= BLOCKS || n[2] / LEAST >= BLOCKS) return;
  const int64_t columns = (int64_t)tiles_of(n[0], tile->columns) * tiles_of(n[1], tile->rows);
  int chunk = MOST;
  while (chunk > LEAST && columns * tiles_of(n[2], chunk) < 8 * sim_cuda_multiprocessors()) chunk /= 2;
  d->chunk = chunk < n[2] ? chunk : n[2];
  d->march = true;
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
  const double planes = s.stride == s.chunk ? s.end - s.begin : grid.z;
  sim_cuda_end(kernel, 2.0 * s.l.numbers * sizeof(real) * s.l.n[0] * s.l.n[1] * planes);
}

template <typename form, bool SKIP, bool FORCE, bool EDDY, bool HEAT, typename real>
static void launch_form(const sim_kernel *kernel, const fluid_step<real> &s) {
  using made = march_kernel<form, HEAT>;
  void (*const function)(fluid_step<real>) = made::template function<SKIP, FORCE, EDDY, real>();
  const size_t shared = made::tile::template bytes<real>();
  static int ready = 0; /* the kernel may use so much shared memory */
  if (!ready)
    ready = !sim_cuda_failed(
        cudaFuncSetAttribute((const void *)function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared),
        "cudaFuncSetAttribute", kernel->name);
  const dim3 grid((unsigned)tiles_of(s.l.n[0], form::tx), (unsigned)tiles_of(s.l.n[1], form::ty - 2),
                  (unsigned)tiles_of(s.end - s.begin, s.stride));
  launch_with(kernel, grid, made::tile::threads, shared, function, s);
}
template <bool SKIP, bool FORCE, bool EDDY, bool HEAT, typename real>
static void launch_march(const fluid_device *d, const fluid_step<real> &s) {
  static const sim_kernel kernel = {"fluid_march", "step", SIM_LIMIT_BYTES};
  typedef tile_forms<HEAT, real> forms;
  if (d->wide)
    launch_form<typename forms::wide, SKIP, FORCE, EDDY, HEAT, real>(&kernel, s);
  else
    launch_form<typename forms::narrow, SKIP, FORCE, EDDY, HEAT, real>(&kernel, s);
}

/* Which planes of this rank: all; those at both ends, or all where they are not made in parts; the other ones. */
enum fluid_planes { FLUID_PLANES_ALL, FLUID_PLANES_ENDS, FLUID_PLANES_INNER };

/* Whether the planes at both ends are made before the other ones. */
static bool makes_ends(const fluid_device *d) { return d->march && d->l.own > 2; }

template <typename real> static void choose_planes(const fluid_device *d, fluid_planes which, fluid_step<real> *s) {
  if (!makes_ends(d) || which == FLUID_PLANES_ALL) return;
  if (which == FLUID_PLANES_ENDS) {
    s->stride = d->l.own - 1;
    s->chunk = 1;
  } else {
    s->begin++;
    s->end--;
  }
}

template <int Q, bool FORCE, bool EDDY, bool HEAT, typename real>
static void launch_cells(const fluid_device *d, fluid_planes which) {
  constexpr int RANK = fluid_rank(Q);
  static const sim_kernel plain = {"fluid_step_cells", "step", SIM_LIMIT_BYTES};
  fluid_step<real> s = step_of<RANK, real>(d);
  if (which == FLUID_PLANES_INNER && !makes_ends(d)) return;
  choose_planes(d, which, &s);
  if constexpr (Q == 19) {
    if (d->march) {
      if (d->skip)
        launch_march<true, FORCE, EDDY, HEAT, real>(d, s);
      else
        launch_march<false, FORCE, EDDY, HEAT, real>(d, s);
      return;
    }
  }
  const size_t rows = (size_t)(s.end - s.begin) * (RANK == 3 ? (size_t)s.l.n[1] : 1);
  const dim3 grid((unsigned)((size_t)s.l.groups * ((rows + FLUID_PLAIN_ROWS - 1) / FLUID_PLAIN_ROWS)));
  device_launch(&plain, 2.0 * d->l.numbers * sizeof(real) * cells_of(d), grid, FLUID_GROUP * FLUID_PLAIN_ROWS,
                step_cells<Q, FORCE, EDDY, HEAT, real>, s);
}

/* ---- sponges ---- */

static void *damped_state(const fluid_device *d, fluid_damping what) {
  return d->state[what == FLUID_DAMP_STEP ? 1 - d->now : d->now];
}
/* Planes of a layer that this rank damps, and its cells in each. */
static int damped_planes(const fluid_damped *layer) {
  return layer->across ? layer->end - layer->first : layer->planes;
}
static double damped_cells(const fluid_damped *layer) {
  return (double)(layer->across ? layer->cells : (layer->end - layer->first) * layer->line);
}

template <int RANK, typename real> static void sum_layer(const fluid_device *d, int which, fluid_damping what) {
  static const sim_kernel kernel = {"fluid_sum_planes", "sponges", SIM_LIMIT_BYTES};
  const fluid_view<real> v = view_of<real>(d, damped_state(d, what), d->fields, NULL);
  const fluid_damped *layer = &d->damped[which];
  const int planes = damped_planes(layer), lines = layer->end - layer->first;
  const int blocks = layer->across ? layer->blocks : layer->line == 1 ? (lines + 255) / 256 : lines * layer->parts;
  if (planes <= 0) return;
  device_launch(&kernel, damped_cells(layer) * planes * sizeof(real), dim3((unsigned)blocks, (unsigned)planes), 256,
                !layer->across && layer->line == 1 ? sum_cells<real> : sum_planes<real>, v, *layer, d->through);
}

template <int RANK, typename real> static void damp_layer(const fluid_device *d, int which, fluid_damping what) {
  static const sim_kernel damp = {"fluid_damp_planes", "sponges", SIM_LIMIT_BYTES};
  static const sim_kernel follow = {"fluid_follow_planes", "sponges", SIM_LIMIT_BYTES};
  const fluid_damped *layer = &d->damped[which];
  real *state = (real *)damped_state(d, what);
  const int planes = damped_planes(layer);
  const double cells = damped_cells(layer);
  if (planes <= 0) return;
  if (what != FLUID_DAMP_DELAY)
    device_launch(&damp, 2 * fluid_moments(RANK) * cells * planes * sizeof(real),
                  dim3((unsigned)ceil(cells / (double)FLUID_SUMMED), (unsigned)planes), 256,
                  what == FLUID_DAMP_BEGIN ? damp_planes<RANK, true, real> : damp_planes<RANK, false, real>,
                  view_of<real>(d, state, d->fields, NULL), factors_of<RANK, real>(d), *layer, d->through, state);
  device_launch(&follow, 0.0, dim3((unsigned)planes), 256, follow_planes, *layer, what, d->through);
}

/* What several ranks exchange begins with 0 where other ranks have sums. */
static void clear_through(const fluid_device *d) {
  if (d->through_numbers > 0)
    sim_cuda_failed(cudaMemsetAsync(d->through, 0, (size_t)d->through_numbers * sizeof *d->through,
                                    (cudaStream_t)sim_cuda_stream()),
                    "cudaMemsetAsync", "sponges");
}

void fluid_cuda_shift_sponge(const fluid_device *d, int layer, double gain) {
  static const sim_kernel kernel = {"fluid_shift_planes", "sponges", SIM_LIMIT_BYTES};
  const fluid_damped *of = &d->damped[layer];
  device_launch(&kernel, 0.0, dim3((unsigned)(of->planes + 255) / 256), 256, shift_planes, *of, gain);
}

template <int Q, typename real> static double listed_bytes(const fluid_device *d) {
  return (double)(Q * 4 + fluid_moments(fluid_rank(Q))) * sizeof(real) * d->listed;
}

/* The walls' part of a step, and that of sponges with heat; without the temperature, and without what the patches get
 * back. */
template <int Q, typename real> static void step_listed(const fluid_device *d) {
  constexpr int RANK = fluid_rank(Q);
  static const sim_kernel links = {"fluid_step_links", "walls", SIM_LIMIT_BYTES};
  static const sim_kernel pack = {"fluid_pack_lost", "walls", SIM_LIMIT_BYTES};
  const fluid_step<real> s = step_of<RANK, real>(d);
  const fluid_edges<real> e = listed_edges_of<real>(d, 1 - d->now);
  if (d->laws.links)
    fluid_cuda_law_links(d);
  else if (d->push > 0)
    fluid_cuda_pushed_links(d);
  else if (blocks_of_listed(e) > 0)
    device_launch(&links, listed_bytes<Q, real>(d), dim3(blocks_of_listed(e)), 128,
                  d->straight ? d->eddies ? step_links<Q, true, true, real> : step_links<Q, false, true, real>
                  : d->eddies ? step_links<Q, true, false, real>
                              : step_links<Q, false, false, real>,
                  s, e);
  if (d->packed)
    device_launch(&pack, 16.0 * d->members, dim3((unsigned)(d->members + 255) / 256), 256, pack_lost, d->member,
                  d->members, e.first, e.cells, d->lost, d->packed);
}

template <int RANK, typename real> static void give_back(const fluid_device *d) {
  static const sim_kernel sum = {"fluid_sum_lost", "walls", SIM_LIMIT_BYTES};
  static const sim_kernel give = {"fluid_give_mass", "walls", SIM_LIMIT_BYTES};
  const fluid_step<real> s = step_of<RANK, real>(d);
  const fluid_edges<real> e = listed_edges_of<real>(d, 1 - d->now);
  const fluid_patches p = {d->segment, d->member, d->segment_sum, d->segments, d->packed};
  if (d->segments == 0) return;
  device_launch(&sum, 8.0 * d->cells, dim3((unsigned)d->segments), FLUID_SEGMENT, sum_lost, p, d->lost);
  device_launch(&give, 4.0 * sizeof(real) * d->cells, dim3((unsigned)d->segments), FLUID_SEGMENT, give_mass<RANK, real>,
                s, e, p, s.from + d->numbers, s.to + d->numbers);
}

template <int RANK, typename real> static void step_warm(const fluid_device *d) {
  static const sim_kernel warm = {"fluid_step_warm_links", "walls", SIM_LIMIT_BYTES};
  const fluid_edges<real> e = listed_edges_of<real>(d, 1 - d->now);
  if (!d->heat || blocks_of_listed(e) == 0) return;
  device_launch(&warm, listed_bytes<fluid_directions(RANK), real>(d), dim3(blocks_of_listed(e)), 128,
                d->eddies ? step_warm_links<RANK, true, real> : step_warm_links<RANK, false, real>,
                step_of<RANK, real>(d), e);
}

template <int Q, typename real> static void step_planes(const fluid_device *d, fluid_planes which) {
  if (d->laws.cells) {
    if (which != FLUID_PLANES_INNER) fluid_cuda_law_cells(d);
  } else if (d->heat && d->eddies)
    launch_cells<Q, true, true, true, real>(d, which);
  else if (d->heat)
    launch_cells<Q, true, false, true, real>(d, which);
  else if (d->force && d->eddies)
    launch_cells<Q, true, true, false, real>(d, which);
  else if (d->force)
    launch_cells<Q, true, false, false, real>(d, which);
  else if (d->eddies)
    launch_cells<Q, false, true, false, real>(d, which);
  else
    launch_cells<Q, false, false, false, real>(d, which);
}

template <int Q, typename real> static void step(const fluid_device *d) {
  step_planes<Q, real>(d, FLUID_PLANES_ALL);
  if (d->listed == 0) return;
  step_listed<Q, real>(d);
  give_back<fluid_rank(Q), real>(d);
}

/* ---- bodies that move ---- */

template <bool SET, typename real> static void launch_mass(const fluid_device *d, double *mass) {
  static const sim_kernel kernel = {"fluid_member_mass", "walls", SIM_LIMIT_BYTES};
  device_launch(&kernel, 16.0 * d->members, dim3((unsigned)(d->members + 255) / 256), 256, member_mass<SET, real>, d->l,
                (real *)d->state[1 - d->now], d->cell, d->first_cell, d->end_cell, d->member, d->members, mass);
}

template <int Q, typename real>
static void launch_cover(const fluid_device *d, const fluid_changed *changed, int count, double *mass) {
  static const sim_kernel kernel = {"fluid_cover_cells", "walls", SIM_LIMIT_BYTES};
  device_launch(&kernel, 0.0, dim3((unsigned)(count + 63) / 64), 64, cover_cells<Q, real>, d->l,
                factors_of<fluid_rank(Q), real>(d), d->g[0], d->g[1], d->g[2], (real *)d->state[1 - d->now],
                (real *)d->state[d->now], changed, count, mass);
}

/* ---- sides that change with time ---- */

static void upload(void *to, const void *from, size_t bytes) {
  sim_cuda_failed(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, (cudaStream_t)sim_cuda_stream()),
                  "cudaMemcpyAsync", "sides that change with time");
}

template <typename real> static void set_edges(const fluid_device *d, int which) {
  static const sim_kernel kernel = {"fluid_set_constants", "walls", SIM_LIMIT_BYTES};
  static const sim_kernel warm = {"fluid_set_warm_edges", "walls", SIM_LIMIT_BYTES};
  const fluid_timed_edges *t = &d->timed;
  upload(t->constant, t->host[which], (size_t)t->count * sizeof(real));
  device_launch(&kernel, (2.0 * sizeof(real) + 4) * t->count, dim3((unsigned)(t->count + 255) / 256), 256,
                set_constants<real>, (fluid_edge<real> *)d->edge, t->which, (const real *)t->constant, t->count);
  if (t->warm_count == 0) return;
  upload(t->warm, t->warm_host[which], (size_t)t->warm_count * sizeof *t->warm);
  device_launch(&warm, 2.0 * sizeof *t->warm * t->warm_count, dim3((unsigned)(t->warm_count + 255) / 256), 256,
                set_warm_edges, d->warm.edge, t->warm_which, t->warm, t->warm_count);
}

/* ---- grains ---- */

static void mark_cells(const fluid_device *d) {
  static const sim_kernel mark = {"fluid_mark_balls", "grains", SIM_LIMIT_BYTES};
  static const sim_kernel join = {"fluid_join_masks", "grains", SIM_LIMIT_BYTES};
  const size_t words = (size_t)d->l.n[1] * (size_t)d->l.n[2] * (size_t)d->l.groups;
  const size_t blocks = (words + 255) / 256;
  sim_cuda_failed(cudaMemsetAsync(d->balls.covered, 0, words * sizeof(uint32_t), (cudaStream_t)sim_cuda_stream()),
                  "cudaMemsetAsync", "cells with grains");
  device_launch(&mark, 0.0, dim3((unsigned)d->balls.count), FLUID_BALL_THREADS, mark_balls, d->l, d->balls);
  device_launch(&join, 12.0 * (double)words, dim3((unsigned)(blocks < 65536 ? blocks : 65536)), 256, join_masks,
                d->balls, words, d->skip);
}

template <int Q, typename real> static void step_grains(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_step_balls", "grains", SIM_LIMIT_BYTES};
  device_launch(&kernel, 0.0, dim3((unsigned)d->balls.count), FLUID_BALL_THREADS, step_balls<Q, real>,
                step_of<3, real>(d), listed_edges_of<real>(d, 1 - d->now), d->balls, d->tau);
}

template <typename real> static void begin_grains(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_begin_balls", "start", SIM_LIMIT_BYTES};
  device_launch(&kernel, 0.0, dim3((unsigned)d->balls.count), FLUID_BALL_THREADS, begin_balls<real>, d->l,
                factors_of<3, real>(d), d->balls, d->tau, (real *)d->state[d->now]);
}

/* ---- outputs and the start ---- */

template <int RANK, typename real> static void show(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_show_cells", "observe", SIM_LIMIT_BYTES};
  device_launch(&kernel, (fluid_moments(RANK) + RANK + 1.0) * sizeof(real) * cells_of(d), blocks_of(cells_of(d)), 256,
                show_cells<RANK, real>, present_view<real>(d));
}

template <int RANK, typename real> static void begin(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_begin_cells", "start", SIM_LIMIT_BYTES};
  device_launch(&kernel, (fluid_moments(RANK) + RANK + 1.0) * sizeof(real) * cells_of(d), blocks_of(cells_of(d)), 256,
                begin_cells<RANK, real>, present_view<real>(d), factors_of<RANK, real>(d), (real *)d->state[d->now]);
}

template <int RANK, typename real> static void flow(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_sum_flow", "observe", SIM_LIMIT_BYTES};
  device_launch(&kernel, (fluid_moments(RANK) + RANK) * sizeof(real) * cells_of(d), dim3((unsigned)d->sum_blocks), 256,
                sum_flow<RANK, fluid_view<real>>, present_view<real>(d), d->sum);
}

/* What forces on bodies read of the present state. */
template <int Q, typename real> static fluid_moment_cells<Q, real> pulling_cells(const fluid_device *d) {
  const fluid_warm_factors<real> w = warm_factors_of<real>(d);
  return {d->l, (const real *)d->state[d->now], d->heat, {w.push[0], w.push[1], w.push[2]}, w.reference};
}

template <int Q, typename real> static void pulls(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_pull", "observe", SIM_LIMIT_BYTES};
  const fluid_moment_cells<Q, real> cells = pulling_cells<Q, real>(d);
  if (d->push > 0)
    launch_pull<Q>(&kernel, d, fluid_pushed_cells<Q, real>{cells, cells.from + d->push}, edges_of<real>(d));
  else
    launch_pull<Q>(&kernel, d, cells, edges_of<real>(d));
}

template <int Q, typename real> static void terms(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_pull_terms", "observe", SIM_LIMIT_BYTES};
  const fluid_moment_cells<Q, real> cells = pulling_cells<Q, real>(d);
  if (d->push > 0)
    launch_terms<Q>(&kernel, d, fluid_pushed_cells<Q, real>{cells, cells.from + d->push}, edges_of<real>(d));
  else
    launch_terms<Q>(&kernel, d, cells, edges_of<real>(d));
}

/* ---- the temperature ---- */

template <int RANK, typename real>
static void begin_heat(const fluid_device *d, const fluid_warm_surface *surface, const uint32_t *walls) {
  static const sim_kernel kernel = {"fluid_begin_warm", "start", SIM_LIMIT_BYTES};
  const fluid_view<real> v = present_view<real>(d);
  const fluid_factors<real> k = factors_of<RANK, real>(d);
  real *state = (real *)d->state[d->now];
  device_launch(&kernel, 2.0 * d->l.numbers * sizeof(real) * cells_of(d), blocks_of(cells_of(d)), 256,
                begin_warm<RANK, real>, v, k, walls, state);
  const int own = d->end_cell - d->first_cell;
  if (own > 0)
    device_launch(&kernel, 0.0, dim3((unsigned)(own + 127) / 128), 128, begin_warm_links<RANK, real>, v, k,
                  d->cell + d->first_cell, own, surface + (size_t)(2 * RANK * d->first_cell), state);
}

template <int RANK, typename real> static void show_heat(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_show_warm", "observe", SIM_LIMIT_BYTES};
  device_launch(&kernel, ((1 + RANK) * sizeof(real) + 8.0) * cells_of(d), blocks_of(cells_of(d)), 256,
                show_warm<RANK, real>, present_view<real>(d));
}

template <int RANK, typename real> static void sum_heat(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_sum_warm", "observe", SIM_LIMIT_BYTES};
  static const sim_kernel links = {"fluid_pull_warm", "observe", SIM_LIMIT_BYTES};
  device_launch(&kernel, (1.0 + RANK) * sizeof(real) * cells_of(d), dim3((unsigned)d->sum_blocks), 256,
                sum_warm<RANK, real>, present_view<real>(d), d->sum);
  if (d->warm.pull_blocks > 0 && d->warm.terms)
    device_launch(&links, 0.0, dim3((unsigned)d->warm.pull_blocks), FLUID_SEGMENT, warm_terms<RANK, real>,
                  present_view<real>(d), listed_edges_of<real>(d, d->now), d->warm.pull, d->warm.pull_block,
                  d->warm.terms);
  else if (d->warm.pull_blocks > 0)
    device_launch(&links, 0.0, dim3((unsigned)d->warm.pull_blocks), FLUID_SEGMENT, pull_warm<RANK, real>,
                  present_view<real>(d), listed_edges_of<real>(d, d->now), d->warm.pull, d->warm.pull_block,
                  d->warm.pull_sum);
}

template <int RANK, typename real> static void probe(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_probe_cells", "observe", SIM_LIMIT_BYTES};
  if (d->probes == 0) return;
  device_launch(&kernel, 0.0, dim3(1), 64, probe_cells<RANK, real>, (const real *)d->fields,
                (size_t)d->l.n[0] * (size_t)d->l.n[1] * (size_t)d->l.n[2], d->probe, d->probes, d->probed);
}

template <int RANK, typename real> static void find_change(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_sum_change", "observe", SIM_LIMIT_BYTES};
  static const sim_kernel warm = {"fluid_sum_warm_change", "observe", SIM_LIMIT_BYTES};
  const fluid_view<real> now = present_view<real>(d), past = view_of<real>(d, d->state[1 - d->now], d->fields, NULL);
  const dim3 grid((unsigned)d->sum_blocks);
  device_launch(&kernel, 2.0 * fluid_moments(RANK) * sizeof(real) * cells_of(d), grid, 256,
                sum_change<RANK, fluid_view<real>, fluid_view<real>>, now, past, d->sum);
  if (d->heat)
    device_launch(&warm, 2.0 * (1 + RANK) * sizeof(real) * cells_of(d), grid, 256, sum_warm_change<RANK, real>, now,
                  past, d->sum + d->sum_blocks);
}

template <int RANK, typename real> static void sample_means(const fluid_device *d, double n, double *means) {
  static const sim_kernel kernel = {"fluid_sample_cells", "means", SIM_LIMIT_BYTES};
  constexpr int numbers = RANK + 1 + RANK * (RANK + 1) / 2;
  device_launch(&kernel, (fluid_moments(RANK) * sizeof(real) + 16.0 * numbers) * cells_of(d), blocks_of(cells_of(d)),
                256, sample_cells<RANK, real>, present_view<real>(d), n, means);
}

template <int RANK, typename real> static void gates(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_sum_gates", "observe", SIM_LIMIT_BYTES};
  const double bytes =
      fluid_moments(RANK) * sizeof(real) * (double)d->gates.planes * d->gates.blocks * (double)FLUID_SUMMED;
  device_launch(&kernel, bytes, dim3((unsigned)d->gates.blocks, (unsigned)d->gates.planes), 256,
                sum_gates<RANK, fluid_view<real>>, present_view<real>(d), d->gates.plane, d->gates.sum);
}

template <int RANK, typename real> static void find_wall_velocities(const fluid_device *d, double *out) {
  static const sim_kernel kernel = {"fluid_wall_velocities", "observe", SIM_LIMIT_BYTES};
  const int own = d->end_cell - d->first_cell;
  if (own == 0) return;
  device_launch(&kernel, 0.0, dim3((unsigned)(own + 127) / 128), 128, wall_velocities<RANK, fluid_view<real>>,
                present_view<real>(d), d->cell + d->first_cell, own, out + 3 * (size_t)d->first_cell);
}

/* A function of the lattice and the precision. */
#define BY_LATTICE(function, ...)                                                                                      \
  do {                                                                                                                 \
    if (d->rank == 2)                                                                                                  \
      d->single ? function<9, float>(__VA_ARGS__) : function<9, double>(__VA_ARGS__);                                  \
    else if (d->full)                                                                                                  \
      d->single ? function<27, float>(__VA_ARGS__) : function<27, double>(__VA_ARGS__);                                \
    else                                                                                                               \
      d->single ? function<19, float>(__VA_ARGS__) : function<19, double>(__VA_ARGS__);                                \
  } while (0)

void fluid_cuda_step(const fluid_device *d) { BY_LATTICE(step, d); }
void fluid_cuda_step_links(const fluid_device *d) { BY_LATTICE(step_listed, d); }
void fluid_cuda_give_back(const fluid_device *d) { BY_KIND(give_back, d); }
void fluid_cuda_step_ends(const fluid_device *d) { BY_LATTICE(step_planes, d, FLUID_PLANES_ENDS); }
void fluid_cuda_step_inner(const fluid_device *d) { BY_LATTICE(step_planes, d, FLUID_PLANES_INNER); }
void fluid_cuda_pull_terms(const fluid_device *d) { BY_LATTICE(terms, d); }
void fluid_cuda_sum_terms(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_sum_terms", "observe", SIM_LIMIT_BYTES};
  if (d->pull_blocks == 0) return;
  device_launch(&kernel, 0.0, dim3((unsigned)d->pull_blocks), FLUID_SEGMENT, sum_terms, d->pull_block, d->terms,
                d->pull_sum);
}
void fluid_cuda_sum_warm_terms(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_sum_warm_terms", "observe", SIM_LIMIT_BYTES};
  if (d->warm.pull_blocks == 0) return;
  device_launch(&kernel, 0.0, dim3((unsigned)d->warm.pull_blocks), FLUID_SEGMENT, sum_warm_terms, d->warm.pull_block,
                d->warm.terms, d->warm.pull_sum);
}
void fluid_cuda_sum_layer(const fluid_device *d, int layer, fluid_damping what) {
  clear_through(d);
  BY_KIND(sum_layer, d, layer, what);
}
void fluid_cuda_damp_layer(const fluid_device *d, int layer, fluid_damping what) {
  BY_KIND(damp_layer, d, layer, what);
}
void fluid_cuda_warm(const fluid_device *d) { BY_KIND(step_warm, d); }
void fluid_cuda_mark_balls(const fluid_device *d) { mark_cells(d); }
void fluid_cuda_balls(const fluid_device *d) {
  if (d->full)
    d->single ? step_grains<27, float>(d) : step_grains<27, double>(d);
  else
    d->single ? step_grains<19, float>(d) : step_grains<19, double>(d);
}
void fluid_cuda_begin_balls(const fluid_device *d) { d->single ? begin_grains<float>(d) : begin_grains<double>(d); }
void fluid_cuda_get_mass(const fluid_device *d, double *mass) {
  d->single ? launch_mass<false, float>(d, mass) : launch_mass<false, double>(d, mass);
}
void fluid_cuda_set_mass(const fluid_device *d, const double *mass) {
  double *in = const_cast<double *>(mass);
  d->single ? launch_mass<true, float>(d, in) : launch_mass<true, double>(d, in);
}
void fluid_cuda_cover(const fluid_device *d, const fluid_changed *changed, int count, double *mass) {
  BY_LATTICE(launch_cover, d, changed, count, mass);
}
void fluid_cuda_set_edges(const fluid_device *d, int which) {
  d->single ? set_edges<float>(d, which) : set_edges<double>(d, which);
}
void fluid_cuda_show(const fluid_device *d) { BY_KIND(show, d); }
void fluid_cuda_begin(const fluid_device *d) {
  if (d->laws.begin)
    fluid_cuda_law_begin(d);
  else
    BY_KIND(begin, d);
}
void fluid_cuda_flow(const fluid_device *d) { BY_KIND(flow, d); }
void fluid_cuda_pull(const fluid_device *d) { BY_LATTICE(pulls, d); }
void fluid_cuda_probe(const fluid_device *d) { BY_KIND(probe, d); }
void fluid_cuda_show_heat(const fluid_device *d) { BY_KIND(show_heat, d); }
void fluid_cuda_sum_heat(const fluid_device *d) { BY_KIND(sum_heat, d); }
void fluid_cuda_begin_heat(const fluid_device *d, const fluid_warm_surface *surface, const uint32_t *walls) {
  BY_KIND(begin_heat, d, surface, walls);
}
void fluid_cuda_find_change(const fluid_device *d) { BY_KIND(find_change, d); }
void fluid_cuda_sample_cells(const fluid_device *d, double n, double *means) { BY_KIND(sample_means, d, n, means); }
void fluid_cuda_sum_gates(const fluid_device *d) { BY_KIND(gates, d); }
void fluid_cuda_find_wall_velocities(const fluid_device *d, double *out) { BY_KIND(find_wall_velocities, d, out); }
