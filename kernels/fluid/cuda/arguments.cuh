/* Arguments of kernels on moments (kernels.cu) and on populations (trt.cu), of a run. */
#ifndef FLUID_CUDA_ARGUMENTS_CUH
#define FLUID_CUDA_ARGUMENTS_CUH

#include "kernels/common/launch.cuh"
#include "kernels/fluid/cuda/links.cuh"
#include "kernels/fluid/cuda/measure.cuh"
#include "kernels/fluid/cuda/ranks.cuh"

static inline double cells_of(const fluid_device *d) { return (double)d->l.n[0] * d->l.n[1] * d->l.n[2]; }

/* A launch of a kernel that passes over cells with blocks of 256 threads. */
static inline dim3 blocks_of(double cells) {
  const double wanted = ceil(cells / 256);
  return dim3(wanted < 65536 ? (unsigned)wanted : 65536u);
}

/* Blocks of 128 threads for the cells that make their step; 0: none. */
template <typename real> static unsigned blocks_of_listed(const fluid_edges<real> &e) {
  return (unsigned)(e.cells - e.first + e.end - e.more + 127) / 128;
}

/* The links of the cells that have some. */
template <typename real> static fluid_edges<real> edges_of(const fluid_device *d) {
  fluid_edges<real> e = {};
  e.cell = d->cell;
  e.edge = (const fluid_edge<real> *)d->edge;
  e.first = d->first_cell;
  e.cells = e.more = e.end = d->end_cell;
  e.lost = d->lost;
  e.body = d->edge_body;
  return e;
}

static inline fluid_scene scene_of(const fluid_device *d) {
  fluid_scene s = {};
  s.l = d->l;
  s.beside = d->beside;
  for (int a = 0; a < 3; a++) s.g[a] = d->g[a];
  s.dx = d->dx;
  s.dt = d->dt;
  s.density = d->density;
  s.tau = d->tau;
  s.smagorinsky = d->smagorinsky;
  s.heat = d->heat;
  s.warm = d->warm;
  return s;
}

/* The state and its fields; of populations the fields on their way, in planes [window[0], window[0] + window[1]) along
 * the last axis. window NULL: all planes. */
template <typename real>
static fluid_view<real> view_of(const fluid_device *d, const void *state, void *fields, const int *window) {
  fluid_view<real> v = {};
  static_cast<fluid_scene &>(v) = scene_of(d);
  v.state = (const real *)state;
  v.fields = (real *)fields;
  v.first = window ? window[0] : 0;
  v.planes = window ? window[1] : 0;
  v.push = d->push > 0 ? (const real *)state + d->push : NULL;
  return v;
}

/* ---- of moments ---- */

/* A function of the rank and the precision. */
#define BY_KIND(function, ...)                                                                                         \
  do {                                                                                                                 \
    if (d->rank == 2)                                                                                                  \
      d->single ? function<2, float>(__VA_ARGS__) : function<2, double>(__VA_ARGS__);                                  \
    else                                                                                                               \
      d->single ? function<3, float>(__VA_ARGS__) : function<3, double>(__VA_ARGS__);                                  \
  } while (0)

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

template <typename real> static fluid_warm_factors<real> warm_factors_of(const fluid_device *d) {
  const fluid_warm_law *law = &d->warm.law;
  fluid_warm_factors<real> w = {};
  if (!d->heat) return w;
  w.omega = (real)law->omega;
  w.tau = (real)(1 / law->omega);
  w.conduct = (real)law->conduct;
  w.flow_tau = (real)law->flow_tau;
  for (int a = 0; a < 3; a++) w.push[a] = (real)law->push[a];
  w.reference = (real)law->reference;
  w.least = (real)law->least;
  w.most = (real)law->most;
  return w;
}

template <int RANK, typename real> static fluid_step<real> step_of(const fluid_device *d) {
  fluid_step<real> s = {};
  s.l = d->l;
  s.from = (const real *)d->state[d->now];
  s.to = (real *)d->state[1 - d->now];
  s.skip = d->skip;
  s.begin = d->l.first;
  s.end = d->l.first + d->l.own;
  s.stride = s.chunk = d->chunk;
  s.k = factors_of<RANK, real>(d);
  s.w = warm_factors_of<real>(d);
  s.guard = d->guard;
  s.step = d->step + d->now;
  s.next = d->step + 1 - d->now;
  return s;
}

/* With the cells of sponges; state: which has the rates of relaxation. */
template <typename real> static fluid_edges<real> listed_edges_of(const fluid_device *d, int state) {
  fluid_edges<real> e = edges_of<real>(d);
  e.more = d->first_damped;
  e.end = d->end_damped;
  e.warm = d->warm.edge;
  if (d->heat && d->eddies) e.rate = (real *)d->state[state] + d->numbers + d->members;
  e.covered = d->balls.covered;
  return e;
}

template <typename real> static fluid_view<real> present_view(const fluid_device *d) {
  return view_of<real>(d, d->state[d->now], d->fields, NULL);
}

/* Forces on bodies; cells: what links read (fluid_moment_cells). */
template <int Q, typename source>
static void launch_pull(const sim_kernel *kernel, const fluid_device *d, const source &cells,
                        const fluid_edges<typename source::number> &links) {
  if (d->pull_blocks == 0) return;
  device_launch(kernel, 0.0, dim3((unsigned)d->pull_blocks), FLUID_SEGMENT, pull<Q, source>, cells, links, d->pull,
                d->pull_block, d->g[0], d->g[1], d->g[2], d->pull_sum);
}
/* The same of several ranks: terms of the links of this rank. */
template <int Q, typename source>
static void launch_terms(const sim_kernel *kernel, const fluid_device *d, const source &cells,
                         const fluid_edges<typename source::number> &links) {
  if (d->pull_blocks == 0) return;
  device_launch(kernel, 0.0, dim3((unsigned)d->pull_blocks), FLUID_SEGMENT, pull_terms<Q, source>, cells, links,
                d->pull, d->pull_block, d->g[0], d->g[1], d->g[2], d->terms);
}

#endif
