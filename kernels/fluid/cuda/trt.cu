/* Launches of the kernels of populations, by lattice, storage and what the flow has. */
#include "kernels/common/launch.cuh"
#include "kernels/fluid/cuda/arguments.cuh"
#include "kernels/fluid/cuda/outputs.cuh"
#include "kernels/fluid/cuda/trt.cuh"
#include "kernels/fluid/cuda/trt_links.cuh"

typedef fluid_store_whole<float> store_single;
typedef fluid_store_whole<double> store_double;

/* ---- arguments ---- */

template <int Q, typename store> static fluid_slots<store> slots_of(const fluid_device *d) {
  fluid_slots<store> s = {};
  for (int a = 0; a < 3; a++) s.n[a] = d->l.n[a];
  s.pitch = d->pitch;
  s.depth[0] = s.n[1];
  s.depth[1] = s.n[2];
  s.depth[fluid_rank(Q) - 2] /= store::cells;
  s.words = d->words;
  s.state = (typename store::word *)d->state[0];
  s.parity = d->now;
  return s;
}

static float fused(float a, float b, float c) { return fmaf(a, b, c); }
static double fused(double a, double b, double c) { return fma(a, b, c); }

template <int Q, typename store> static fluid_in_place<store> in_place_of(const fluid_device *d) {
  typedef typename store::real real;
  fluid_in_place<store> s = {};
  s.slots = slots_of<Q, store>(d);
  for (int c = 1; c < Q; c += 2) {
    s.own[c / 2] = s.slots.state + (size_t)(c + d->now) * d->words;
    s.other[c / 2] = s.slots.state + (size_t)(c + 1 - d->now) * d->words;
  }
  s.k.half_even = (real)(d->omega / 2);
  s.k.half_odd = (real)(d->omega_odd / 2);
  s.k.push_even = (real)(1 - d->omega / 2);
  s.k.push_odd = (real)(1 - d->omega_odd / 2);
  for (int a = 0; a < 3; a++) s.k.g[a] = (real)d->g[a];
  s.k.part = (real)1 / fluid_shares(Q);
  s.k.rest = fused(-fluid_shares(Q), s.k.part, 1) / fluid_shares(Q);
  s.k.fast = (real)(d->fast * d->fast);
  s.k.fastest = (real)(d->fastest * d->fastest);
  s.drag = (const real *)d->drag;
  s.solid = d->beside.solid;
  s.groups = d->l.groups;
  s.across_shift = d->pitch % 128 == 0 ? 7 : d->pitch % 64 == 0 ? 6 : 5;
  for (int a = 0; a < 2; a++) s.count[a] = s.slots.depth[a];
  if (d->l.own < d->l.n[d->rank - 1]) { /* of several ranks */
    s.first[d->rank - 2] = d->l.first;
    s.count[d->rank - 2] = d->l.own;
  }
  s.seed = d->seed;
  s.guard = d->guard;
  s.step = d->step + d->now;
  s.next = d->step + 1 - d->now;
  return s;
}

template <int Q, typename store> static fluid_population_view<Q, store> population_view_of(const fluid_device *d) {
  fluid_population_view<Q, store> v = {};
  static_cast<fluid_scene &>(v) = scene_of(d);
  v.slots = slots_of<Q, store>(d);
  v.drag = (const typename store::real *)d->drag;
  v.end_velocity = d->end_velocity;
  return v;
}

static size_t plane_cells(const fluid_device *d) {
  return d->rank == 2 ? (size_t)d->l.n[0] : (size_t)d->l.n[0] * (size_t)d->l.n[1];
}

/* ---- steps ---- */

template <int Q, bool FORCE, bool DRAG, typename store> static void launch_cells(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_step_populations", "step", SIM_LIMIT_BYTES};
  const fluid_in_place<store> s = in_place_of<Q, store>(d);
  const int across = 1 << s.across_shift, up = FLUID_TRT_THREADS >> s.across_shift;
  const size_t wide = (size_t)(s.slots.pitch + across - 1) / (size_t)across,
               tall = (size_t)(s.count[0] + up - 1) / (size_t)up;
  const double bytes = 2.0 * Q * sizeof(typename store::word) / store::cells * cells_of(d);
  device_launch(
      &kernel, bytes, dim3((unsigned)(wide * tall * (size_t)s.count[1])), FLUID_TRT_THREADS,
      s.solid ? step_populations<Q, FORCE, DRAG, true, store> : step_populations<Q, FORCE, DRAG, false, store>, s);
}

/* What arrives at walls. */
template <int Q, typename store> static void launch_links(const fluid_device *d) {
  static const sim_kernel find = {"fluid_find_arriving", "walls", SIM_LIMIT_BYTES};
  static const sim_kernel put = {"fluid_put_arriving", "walls", SIM_LIMIT_BYTES};
  static const sim_kernel pack = {"fluid_pack_lost", "walls", SIM_LIMIT_BYTES};
  typedef typename store::real real;
  const fluid_edges<real> e = edges_of<real>(d);
  const dim3 grid(blocks_of_listed(e));
  const double bytes = (double)Q * sizeof(real) * d->cells;
  const fluid_population_cells<Q, store> cells = {slots_of<Q, store>(d)};
  if (grid.x > 0) {
    device_launch(&find, bytes, grid, 128, d->straight ? find_arriving<Q, true, store> : find_arriving<Q, false, store>,
                  cells, e, (real *)d->arrived);
    device_launch(&put, bytes, grid, 128, put_arriving<Q, store>, in_place_of<Q, store>(d), e,
                  (const real *)d->arrived);
  }
  if (d->packed)
    device_launch(&pack, 16.0 * d->members, dim3((unsigned)(d->members + 255) / 256), 256, pack_lost, d->member,
                  d->members, e.first, e.cells, d->lost, d->packed);
}

/* Gives the mass back that interpolation at bodies has taken. */
template <int Q, typename store> static void launch_mass(const fluid_device *d) {
  static const sim_kernel sum = {"fluid_sum_lost", "walls", SIM_LIMIT_BYTES};
  static const sim_kernel give = {"fluid_give_population_mass", "walls", SIM_LIMIT_BYTES};
  typedef typename store::real real;
  if (d->segments == 0) return;
  fluid_slots<store> after = slots_of<Q, store>(d);
  after.parity = 1 - after.parity;
  const fluid_patches p = {d->segment, d->member, d->segment_sum, d->segments, d->packed};
  real *const rest = (real *)(after.state + (size_t)Q * after.words);
  device_launch(&sum, 8.0 * d->cells, dim3((unsigned)d->segments), FLUID_SEGMENT, sum_lost, p, d->lost);
  device_launch(&give, 2.0 * Q * sizeof(real) * d->members, dim3((unsigned)d->segments), FLUID_SEGMENT,
                give_population_mass<Q, store>, after, edges_of<real>(d), p, rest);
}

template <int Q, typename store> static void step_cells(const fluid_device *d) {
  if (d->drag)
    launch_cells<Q, true, true, store>(d);
  else if (d->force)
    launch_cells<Q, true, false, store>(d);
  else
    launch_cells<Q, false, false, store>(d);
  launch_mass<Q, store>(d);
}

template <int Q, typename store> static void step(const fluid_device *d) {
  launch_links<Q, store>(d);
  step_cells<Q, store>(d);
}

/* ---- outputs and the start ---- */

template <int Q, typename store> static void begin(const fluid_device *d, const int window[2], int first, int count) {
  static const sim_kernel kernel = {"fluid_begin_populations", "start", SIM_LIMIT_BYTES};
  typedef typename store::real real;
  const size_t plane = plane_cells(d), cells = plane * (size_t)count;
  const fluid_view<real> v = view_of<real>(d, NULL, d->staged, window);
  device_launch(&kernel, (2.0 * Q) * sizeof(real) * (double)cells, blocks_of((double)cells), 256,
                begin_populations<Q, store>, v, slots_of<Q, store>(d), (const real *)d->drag, d->seed,
                plane * (size_t)first, cells);
}

template <int Q, typename store> static void show(const fluid_device *d, int first, int count) {
  static const sim_kernel kernel = {"fluid_show_populations", "observe", SIM_LIMIT_BYTES};
  typedef typename store::real real;
  const size_t plane = plane_cells(d), cells = plane * (size_t)count;
  device_launch(&kernel, (Q + fluid_rank(Q) + 1.0) * sizeof(real) * (double)cells, blocks_of((double)cells), 256,
                show_populations<Q, store>, population_view_of<Q, store>(d), plane * (size_t)first, cells,
                (real *)d->staged);
}

template <int Q, typename store> static void flow(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_sum_populations", "observe", SIM_LIMIT_BYTES};
  device_launch(&kernel, Q * sizeof(typename store::real) * cells_of(d), dim3((unsigned)d->sum_blocks), 256,
                sum_flow<fluid_rank(Q), fluid_population_view<Q, store>>, population_view_of<Q, store>(d), d->sum);
}

template <int Q, typename store> static void pulls(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_pull_populations", "observe", SIM_LIMIT_BYTES};
  const fluid_population_cells<Q, store> cells = {slots_of<Q, store>(d)};
  launch_pull<Q>(&kernel, d, cells, edges_of<typename store::real>(d));
}

template <int Q, typename store> static void terms(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_terms_of_populations", "observe", SIM_LIMIT_BYTES};
  const fluid_population_cells<Q, store> cells = {slots_of<Q, store>(d)};
  launch_terms<Q>(&kernel, d, cells, edges_of<typename store::real>(d));
}

template <int Q, typename store> static void probe(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_probe_populations", "observe", SIM_LIMIT_BYTES};
  if (d->probes == 0) return;
  device_launch(&kernel, 0.0, dim3(1), 32, probe_populations<Q, store>, population_view_of<Q, store>(d), d->probe,
                d->probes, d->probed);
}

template <int Q, typename store> static void remember(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_remember_populations", "observe", SIM_LIMIT_BYTES};
  typedef typename store::real real;
  device_launch(&kernel, (Q + fluid_rank(Q)) * sizeof(real) * cells_of(d), blocks_of(cells_of(d)), 256,
                remember_cells<fluid_rank(Q), fluid_population_view<Q, store>>, population_view_of<Q, store>(d),
                (real *)d->remembered);
}

template <int Q, typename store> static void find_change(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_change_populations", "observe", SIM_LIMIT_BYTES};
  typedef typename store::real real;
  const fluid_stored_velocities<real> past = {(const real *)d->remembered, (size_t)cells_of(d)};
  device_launch(&kernel, (Q + fluid_rank(Q)) * sizeof(real) * cells_of(d), dim3((unsigned)d->sum_blocks), 256,
                sum_change<fluid_rank(Q), fluid_population_view<Q, store>, fluid_stored_velocities<real>>,
                population_view_of<Q, store>(d), past, d->sum);
}

template <int Q, typename store> static void sample_means(const fluid_device *d, double n, double *means) {
  static const sim_kernel kernel = {"fluid_sample_populations", "means", SIM_LIMIT_BYTES};
  constexpr int RANK = fluid_rank(Q), numbers = RANK + 1 + RANK * (RANK + 1) / 2;
  device_launch(&kernel, (Q * sizeof(typename store::real) + 16.0 * numbers) * cells_of(d), blocks_of(cells_of(d)), 256,
                sample_populations<RANK, Q, store>, population_view_of<Q, store>(d), n, means);
}

template <int Q, typename store> static void gates(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_gates_of_populations", "observe", SIM_LIMIT_BYTES};
  const double bytes =
      Q * sizeof(typename store::real) * (double)d->gates.planes * d->gates.blocks * (double)FLUID_SUMMED;
  device_launch(&kernel, bytes, dim3((unsigned)d->gates.blocks, (unsigned)d->gates.planes), 256,
                sum_gates<fluid_rank(Q), fluid_population_view<Q, store>>, population_view_of<Q, store>(d),
                d->gates.plane, d->gates.sum);
}

template <int Q, typename store> static void find_wall_velocities(const fluid_device *d, double *out) {
  static const sim_kernel kernel = {"fluid_population_velocities", "observe", SIM_LIMIT_BYTES};
  const int own = d->end_cell - d->first_cell;
  if (own == 0) return;
  device_launch(&kernel, 0.0, dim3((unsigned)(own + 127) / 128), 128,
                wall_velocities<fluid_rank(Q), fluid_population_view<Q, store>>, population_view_of<Q, store>(d),
                d->cell + d->first_cell, own, out + 3 * (size_t)d->first_cell);
}

template <int Q, typename store> static void ends(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_find_ends", "observe", SIM_LIMIT_BYTES};
  const double cells = 2.0 * (double)plane_cells(d);
  device_launch(&kernel, Q * sizeof(typename store::real) * cells, blocks_of(cells), 256, find_ends<Q, store>,
                population_view_of<Q, store>(d), d->own_velocity);
}

/* D3Q27 has no half storage (scenario/rules_media.c). */
#define BY_STORE(function, ...)                                                                                        \
  do {                                                                                                                 \
    if (d->rank == 2)                                                                                                  \
      d->half     ? function<9, fluid_store_half>(__VA_ARGS__)                                                         \
      : d->single ? function<9, store_single>(__VA_ARGS__)                                                             \
                  : function<9, store_double>(__VA_ARGS__);                                                            \
    else if (d->full)                                                                                                  \
      d->single ? function<27, store_single>(__VA_ARGS__) : function<27, store_double>(__VA_ARGS__);                   \
    else                                                                                                               \
      d->half     ? function<19, fluid_store_half>(__VA_ARGS__)                                                        \
      : d->single ? function<19, store_single>(__VA_ARGS__)                                                            \
                  : function<19, store_double>(__VA_ARGS__);                                                           \
  } while (0)

void fluid_trt_step(const fluid_device *d) { BY_STORE(step, d); }
void fluid_trt_step_links(const fluid_device *d) { BY_STORE(launch_links, d); }
void fluid_trt_step_cells(const fluid_device *d) { BY_STORE(step_cells, d); }
void fluid_trt_find_ends(const fluid_device *d) { BY_STORE(ends, d); }
void fluid_trt_begin(const fluid_device *d, const int window[2], int first, int count) {
  BY_STORE(begin, d, window, first, count);
}
void fluid_trt_show(const fluid_device *d, int first, int count) { BY_STORE(show, d, first, count); }
void fluid_trt_flow(const fluid_device *d) { BY_STORE(flow, d); }
void fluid_trt_pull(const fluid_device *d) { BY_STORE(pulls, d); }
void fluid_trt_pull_terms(const fluid_device *d) { BY_STORE(terms, d); }
void fluid_trt_probe(const fluid_device *d) { BY_STORE(probe, d); }
void fluid_trt_remember(const fluid_device *d) { BY_STORE(remember, d); }
void fluid_trt_change(const fluid_device *d) { BY_STORE(find_change, d); }
void fluid_trt_sample(const fluid_device *d, double n, double *means) { BY_STORE(sample_means, d, n, means); }
void fluid_trt_gates(const fluid_device *d) { BY_STORE(gates, d); }
void fluid_trt_wall_velocities(const fluid_device *d, double *out) { BY_STORE(find_wall_velocities, d, out); }
