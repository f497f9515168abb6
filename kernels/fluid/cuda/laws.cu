/* Launches of the kernels with functions of a scenario (laws.c). */
#include "kernels/fluid/cuda/arguments.cuh"
#include "kernels/fluid/cuda/push.cuh"
#include "kernels/fluid/cuda/rheology.cuh"

/* Blocks of FLUID_GROUP x FLUID_PUSH_ROWS cells. */
static dim3 law_blocks(const fluid_device *d) {
  const size_t rows = (size_t)d->l.own * (d->rank == 3 ? (size_t)d->l.n[1] : 1);
  return dim3((unsigned)((size_t)d->l.groups * ((rows + FLUID_PUSH_ROWS - 1) / FLUID_PUSH_ROWS)));
}

/* ---- forces ---- */

template <typename real> using push_kernel = void(fluid_push_step<real>);

template <int RANK, typename real> static void push(const fluid_device *d, bool start) {
  static const sim_kernel kernel = {"fluid_push", "force", SIM_LIMIT_BYTES};
  real *const state = (real *)d->state[start ? d->now : 1 - d->now], *const before = (real *)d->state[d->now];
  fluid_push_step<real> s = {};
  s.l = d->l;
  s.k = factors_of<RANK, real>(d);
  s.solid = d->beside.solid;
  s.to = state;
  s.force = state + d->push;
  s.from = start ? NULL : before;
  s.old = start ? NULL : before + d->push;
  s.rates = d->heat && d->eddies && !start ? state + d->rates : NULL;
  s.shown = d->heat ? d->warm.shown : NULL;
  for (int a = 0; a < 3; a++) {
    s.g[a] = d->g[a];
    s.size[a] = d->size[a];
    s.n[a] = d->box[a];
  }
  s.below = d->from;
  s.dt = d->dt;
  s.unit = d->dx / d->dt;
  s.shift = d->warm.shift;
  s.scale = d->warm.scale;
  s.warm = d->warm.law;
  s.guard = d->told;
  s.step = start ? NULL : d->step + 1 - d->now;
  const double bytes = (2.0 * d->l.numbers + RANK) * sizeof(real) * cells_of(d);
  device_launch(&kernel, bytes, law_blocks(d), FLUID_PUSH_THREADS,
                (push_kernel<real> *)(start ? d->laws.push_start : d->laws.push), s);
}

void fluid_cuda_push(const fluid_device *d) {
  if (d->laws.push) BY_KIND(push, d, false);
}
void fluid_cuda_start_push(const fluid_device *d) {
  if (d->laws.push) BY_KIND(push, d, true);
}

/* Cells with links, whose forces are those of the step before. */
template <int Q, bool EDDY, typename real>
static __global__ void __launch_bounds__(128)
    step_pushed_links(const fluid_step<real> s, const fluid_edges<real> links, const real *push) {
  step_linked<Q, EDDY, true>(s, links, fluid_pushed_cells<Q, real>{link_cells<Q>(s, links), push}, fluid_no_law());
}
template <int Q, typename real> static void pushed_links(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_step_pushed_links", "walls", SIM_LIMIT_BYTES};
  const fluid_edges<real> e = listed_edges_of<real>(d, 1 - d->now);
  if (blocks_of_listed(e) == 0) return;
  device_launch(&kernel, 0.0, dim3(blocks_of_listed(e)), 128,
                d->eddies ? step_pushed_links<Q, true, real> : step_pushed_links<Q, false, real>,
                step_of<fluid_rank(Q), real>(d), e, (const real *)d->state[d->now] + d->push);
}
void fluid_cuda_pushed_links(const fluid_device *d) {
  if (d->rank == 2)
    d->single ? pushed_links<9, float>(d) : pushed_links<9, double>(d);
  else if (d->full)
    d->single ? pushed_links<27, float>(d) : pushed_links<27, double>(d);
  else
    d->single ? pushed_links<19, float>(d) : pushed_links<19, double>(d);
}

/* ---- viscosities ---- */

template <typename real> static fluid_rheology_step<real> rheology_of(const fluid_device *d) {
  fluid_rheology_step<real> r = {};
  r.from = (const real *)d->state[d->now] + d->rates;
  r.to = (real *)d->state[1 - d->now] + d->rates;
  r.push = d->push > 0 ? (const real *)d->state[d->now] + d->push : NULL;
  r.per_stress = d->per_stress;
  r.scale = d->scale;
  r.rounding = d->rounding;
  r.shift = d->warm.shift;
  r.unit = d->warm.scale;
  r.guard = d->told;
  return r;
}

template <typename real> using cells_kernel = void(fluid_step<real>, fluid_rheology_step<real>);
template <typename real> using links_kernel = void(fluid_step<real>, fluid_edges<real>, fluid_rheology_step<real>);
template <typename real> using begin_kernel = void(fluid_view<real>, fluid_factors<real>, real *, double);

template <int RANK, typename real> static void law_cells(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_law_cells", "step", SIM_LIMIT_BYTES};
  static_assert(FLUID_PLAIN_ROWS == FLUID_PUSH_ROWS, "law_blocks");
  device_launch(&kernel, (2.0 * d->l.numbers + 2) * sizeof(real) * cells_of(d), law_blocks(d),
                FLUID_GROUP * FLUID_PLAIN_ROWS, (cells_kernel<real> *)d->laws.cells, step_of<RANK, real>(d),
                rheology_of<real>(d));
}

template <int RANK, typename real> static void law_links(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_law_links", "walls", SIM_LIMIT_BYTES};
  const fluid_edges<real> e = listed_edges_of<real>(d, 1 - d->now);
  if (blocks_of_listed(e) == 0) return;
  device_launch(&kernel, 0.0, dim3(blocks_of_listed(e)), 128, (links_kernel<real> *)d->laws.links,
                step_of<RANK, real>(d), e, rheology_of<real>(d));
}

template <int RANK, typename real> static void law_begin(const fluid_device *d) {
  static const sim_kernel kernel = {"fluid_law_begin", "start", SIM_LIMIT_BYTES};
  device_launch(&kernel, 0.0, blocks_of(cells_of(d)), 256, (begin_kernel<real> *)d->laws.begin, present_view<real>(d),
                factors_of<RANK, real>(d), (real *)d->state[d->now], d->scale);
}

template <typename real>
static __global__ void __launch_bounds__(256)
    clear_rates(const fluid_layout l, const fluid_changed *changed, int count, real *rates, real *other) {
  after_previous();
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const int32_t *at = changed[i].at;
  const size_t cell = ((size_t)at[2] * (size_t)l.n[1] + (size_t)at[1]) * (size_t)l.n[0] + (size_t)at[0];
  rates[cell] = other[cell] = 0;
}
template <int RANK, typename real>
static void clear_some(const fluid_device *d, const fluid_changed *changed, int count) {
  static const sim_kernel kernel = {"fluid_clear_rates", "walls", SIM_LIMIT_BYTES};
  device_launch(&kernel, 0.0, dim3((unsigned)(count + 255) / 256), 256, clear_rates<real>, d->l, changed, count,
                (real *)d->state[1 - d->now] + d->rates, (real *)d->state[d->now] + d->rates);
}

void fluid_cuda_law_cells(const fluid_device *d) { BY_KIND(law_cells, d); }
void fluid_cuda_law_links(const fluid_device *d) { BY_KIND(law_links, d); }
void fluid_cuda_law_begin(const fluid_device *d) { BY_KIND(law_begin, d); }
void fluid_cuda_clear_rates(const fluid_device *d, const fluid_changed *changed, int count) {
  if (d->rates > 0) BY_KIND(clear_some, d, changed, count);
}
