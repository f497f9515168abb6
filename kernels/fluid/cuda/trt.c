/* The operations of populations on an NVIDIA GPU: one state, which steps change in place. Fields are in host memory and
 * are made there by windows of planes, so that the device has little beside the state. Twin: cpu/trt.c. */
#include "kernels/fluid/cuda/host.h"
#include "kernels/fluid/start/start.h"

#include "engine/device/cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 4 };
static const double window_bytes = 0x1p24; /* of fields on their way, at most, where some planes take no more */

static double pitch_of(const grid_shape *g) { return ceil((double)g->n[0] / FLUID_GROUP) * FLUID_GROUP; }
static double word_bytes(const fluid_parameters *p) { return fluid_single(p) ? sizeof(float) : sizeof(double); }

/* Words of a slot: with half storage two cells are in each. */
static double words_of(const fluid_parameters *p) {
  const grid_shape g = fluid_grid_of(p);
  return pitch_of(&g) * (double)g.n[1] * (double)g.n[2] / (fluid_half(p) ? 2 : 1);
}

/* Words of a state; the last ones have the rests of `members` cells. */
static double state_words(const fluid_parameters *p, double members) {
  return words_of(p) * fluid_lattice_for(p)->directions + ceil(members / FLUID_GROUP) * FLUID_GROUP;
}

/* Bytes of a plane of fields along the last axis, and planes on their way. */
static double plane_bytes(const fluid_parameters *p) {
  const grid_shape g = fluid_grid_of(p);
  return (g.rank + 1) * word_bytes(p) * grid_cells_wanted(&g) / (double)g.n[g.rank - 1];
}
static int window_planes(const fluid_parameters *p) {
  const grid_shape g = fluid_grid_of(p);
  return (int)fmin((double)g.n[g.rank - 1], fmax(8, floor(window_bytes / plane_bytes(p))));
}

static void plan(const fluid_parameters *p, const fluid_meshes *meshes, const sim_setup *setup, sim_plan *out) {
  const grid_shape g = fluid_grid_of(p);
  const double members = p->bodies.count > 0 ? fluid_wall_cells(p, meshes) : 0; /* at most */
  const double cells = grid_cells_wanted(&g), state = word_bytes(p) * state_words(p, members);
  const double here = fluid_part_share(&g, setup->comm, true),
               plane = word_bytes(p) * words_of(p) / (double)g.n[g.rank - 1];
  int crossing = 0; /* pairs of directions that cross planes */
  for (int c = 1; c < fluid_lattice_for(p)->directions; c += 2) crossing += fluid_lattice_for(p)->c[c][g.rank - 1] != 0;
  if (setup->comm->size > 1) {
    sim_plan_add(out, "populations, and what ranks exchange",
                 fluid_cuda_exchange_bytes(setup->comm, 1, state * here, p->bodies.count > 0 ? members : 1));
    sim_plan_add_host(out, "populations of all ranks, of the last one", state);
    sim_plan_add_host(out, "staged for other ranks, at most", 2 * plane);
    out->bytes_received = 2 * crossing * plane + sizeof(double) * members;
    out->exchanges = 2 * crossing + (p->bodies.count > 0);
  } else {
    sim_plan_add(out, fluid_half(p) ? "populations, in fp16" : "populations", state);
  }
  sim_plan_add(out, "velocity and pressure on their way", plane_bytes(p) * window_planes(p));
  sim_plan_add_host(out, "velocity and pressure", (g.rank + 1) * cells * word_bytes(p) * here);
  fluid_cuda_plan_walls(p, meshes, out);
  if (p->resistance) {
    sim_plan_add(out, "resistance", cells * word_bytes(p) * here);
    sim_plan_add_host(out, "resistance on its way", cells * word_bytes(p));
  }
  if (!isnan(p->steady)) sim_plan_add(out, "velocity before a step", fluid_cuda_remembered_bytes(p) * here);
  out->checkpoint_bytes = state;
  out->work_rate_guess = (fluid_half(p)     ? 4.4e10
                          : fluid_single(p) ? 2.4e10
                                            : 1.2e10) *
                         19 / fluid_lattice_for(p)->directions;
}

static int64_t cells_here(const fluid_work *w) { return (int64_t)w->d.l.n[0] * w->d.l.n[1] * w->d.l.n[2]; }

int64_t fluid_cuda_slot_rows(const fluid_work *w) {
  return (int64_t)ceil(state_words(w->p, (double)w->m->walls.members) / w->d.pitch);
}

/* The resistance in numbers of the device, of the planes that are here. */
static sim_status send_drag(fluid_work *w) {
  const size_t size = w->m->single ? sizeof(float) : sizeof(double);
  const int64_t plane = w->m->part.rows * w->m->grid.n[0], planes = w->d.l.n[w->d.rank - 1];
  if (!w->m->drag) return SIM_OK;
  void *drag = malloc((size_t)(planes * plane) * size);
  for (int64_t i = 0; drag && i < planes * plane; i++)
    grid_set_number(drag, w->m->single, i, w->m->drag[fluid_cuda_plane(w->m, &w->d, i / plane) * plane + i % plane]);
  return fluid_cuda_send_away(drag, (size_t)(planes * plane) * size, &w->d.drag);
}

/* Several ranks: velocities of planes at their ends. */
static sim_status allocate_ends(fluid_work *w) {
  const size_t bytes = 2 * (size_t)(w->m->part.rows * w->m->grid.n[0]) * (size_t)w->d.rank * sizeof(double);
  void *made = NULL;
  SIM_TRY(fluid_cuda_send(NULL, bytes, &made));
  w->d.end_velocity = made;
  SIM_TRY(fluid_cuda_send(NULL, bytes, &made));
  w->d.own_velocity = made;
  return SIM_OK;
}

static sim_status allocate(fluid_work *w) {
  const grid_shape *g = &w->m->grid;
  fluid_device *d = &w->d;
  void *made = NULL;
  const int pitch = (int)pitch_of(g), each = d->half ? pitch / 2 : pitch; /* half: 64 bits are two words */
  const int64_t members = w->m->walls.members, cells = cells_here(w);
  const sim_dtype type = d->half ? SIM_U64 : d->single ? SIM_F32 : SIM_F64;
  d->pitch = pitch;
  d->words = (size_t)(words_of(w->p) / (double)w->m->part.planes) * (size_t)d->l.n[d->rank - 1];
  if (!fluid_cuda_divided(w->m)) d->words = (size_t)words_of(w->p);
  d->numbers = d->words * (size_t)w->m->lattice->directions;
  w->listed = members;
  const double rows = ceil(((double)d->numbers + ceil((double)members / FLUID_GROUP) * FLUID_GROUP) / pitch);
  if (!(rows * pitch < 0x1p56)) return sim_no_memory("the fluid");
  if (fluid_cuda_divided(w->m)) {
    d->l.numbers = 1; /* of a slot */
    SIM_TRY(fluid_cuda_join(w, 1, (int64_t[]){(int64_t)rows, each}));
    SIM_TRY(allocate_ends(w));
  } else {
    SIM_TRY(sim_buffer_create(&sim_backend_cuda, type, 2, (int64_t[]){(int64_t)rows, each}, &w->state[0]));
  }
  d->state[0] = w->state[0].data;
  SIM_TRY(sim_buffer_create(&sim_backend_cpu, d->single ? SIM_F32 : SIM_F64, 2, (int64_t[]){g->rank + 1, cells},
                            &w->fields));
  d->staged_planes = window_planes(w->p);
  SIM_TRY(sim_backend_cuda.alloc((size_t)(plane_bytes(w->p) * d->staged_planes), &made));
  d->staged = made;
  if (fluid_cuda_remembered_bytes(w->p) > 0)
    SIM_TRY(fluid_cuda_send(NULL, (size_t)(g->rank * cells) * (d->single ? sizeof(float) : sizeof(double)),
                            &d->remembered));
  return fluid_cuda_allocate_guards(w);
}

static sim_status create(fluid_machine *m, const fluid_parameters *p, const fluid_numbers *k, const sim_setup *setup,
                         fluid_work **out) {
  (void)setup;
  SIM_TRY(fluid_cuda_new(m, p, k, out));
  fluid_work *w = *out;
  w->d.populations = true;
  w->d.half = fluid_half(p);
  w->d.omega_odd = m->collision.omega_odd;
  w->d.seed = p->common.seed;
  SIM_TRY(allocate(w));
  SIM_TRY(fluid_cuda_build(m, p, k, &w->d));
  SIM_TRY(send_drag(w));
  return fluid_cuda_allocate_sums(w);
}

static const sim_buffer *state_of(const fluid_work *w) { return &w->state[0]; }

/* ---- windows of fields ---- */

/* Numbers of a plane of a field. */
static size_t plane_cells(const fluid_work *w) {
  const grid_shape *g = &w->m->grid;
  return (size_t)(grid_cells(g) / g->n[g->rank - 1]);
}
/* Field f from a plane on. */
static char *field_plane(const fluid_work *w, int f, int64_t plane) {
  const size_t at = (size_t)f * (size_t)w->fields.shape[1] + (size_t)plane * plane_cells(w);
  return (char *)w->fields.data + at * sim_dtype_size(w->fields.dtype);
}

/* Copies planes [first, first + count) of the fields, around those that are here, to the device. */
static sim_status stage(fluid_work *w, int64_t first, int64_t count) {
  const int64_t n = w->d.l.n[w->d.rank - 1];
  const size_t bytes = plane_cells(w) * sim_dtype_size(w->fields.dtype);
  char *to = w->d.staged;
  for (int f = 0; f <= w->d.rank; f++)
    for (int64_t k = 0; k < count;) {
      const int64_t plane = (first + k) % n, run = count - k < n - plane ? count - k : n - plane;
      SIM_TRY(sim_backend_cuda.copy(to, field_plane(w, f, plane), (size_t)run * bytes));
      to += (size_t)run * bytes;
      k += run;
    }
  return SIM_OK;
}

static sim_status start(fluid_work *w, const sim_setup *setup) {
  const int n = w->d.l.n[w->d.rank - 1], most = w->d.staged_planes, end = w->d.l.first + w->d.l.own;
  void *values[FIELDS] = {NULL};
  for (int f = 0; f <= w->d.rank; f++) values[f] = field_plane(w, f, 0);
  if (!w->exchange)
    SIM_TRY(fluid_fill(w->m, w->p, setup, 0, values));
  else if (w->p->initial || fluid_rests(w->p))
    SIM_TRY(fluid_cuda_fill_fields(w, setup));
  SIM_TRY(fluid_cuda_set_step(w, 0, false));
  w->d.now = 0;
  /* a plane needs the one below and the one above; where all fit they are in one window */
  const int each = most >= n ? n : most - 2;
  for (int first = w->d.l.first; first < end; first += each) {
    const int count = first + each < end ? each : end - first;
    const int window[2] = {most >= n ? 0 : (first + n - 1) % n, most >= n ? n : count + 2};
    SIM_TRY(stage(w, window[0], window[1]));
    fluid_trt_begin(&w->d, window, first, count);
    SIM_TRY(sim_queue_cuda.status());
  }
  return w->exchange ? fluid_cuda_swap_slots(w) : SIM_OK;
}

static sim_status resume(fluid_work *w, int64_t step, bool fast) {
  w->d.now = (int)(step & 1);
  SIM_TRY(fluid_cuda_time_sides(w, step, false));
  return fluid_cuda_set_step(w, step, fast);
}

static sim_status step_graph(fluid_work *w) {
  sim_graph **graph = &w->graph[w->d.now];
  if (!*graph) {
    SIM_TRY(sim_queue_cuda.graph_begin());
    fluid_trt_step(&w->d);
    SIM_TRY(sim_queue_cuda.graph_end(graph)); /* NULL: the step has run */
  }
  if (*graph) SIM_TRY(sim_queue_cuda.graph_launch(*graph));
  w->d.now = 1 - w->d.now;
  return SIM_OK;
}

static sim_status step(fluid_work *w, int64_t number) {
  SIM_TRY(w->exchange ? fluid_cuda_step_slots(w) : step_graph(w));
  w->made = number;
  w->stepped = true;
  return fluid_cuda_time_sides(w, number, true);
}

static sim_status show(fluid_work *w) {
  const int end = w->d.l.first + w->d.l.own;
  const size_t size = sim_dtype_size(w->fields.dtype);
  for (int first = w->d.l.first; first < end; first += w->d.staged_planes) {
    const int count = first + w->d.staged_planes < end ? w->d.staged_planes : end - first;
    const size_t bytes = plane_cells(w) * (size_t)count * size;
    fluid_trt_show(&w->d, first, count);
    for (int f = 0; f <= w->d.rank; f++)
      SIM_TRY(sim_backend_cuda.copy(field_plane(w, f, first), (char *)w->d.staged + (size_t)f * bytes, bytes));
  }
  return sim_queue_cuda.status();
}

static sim_status probes(fluid_work *w, double *values) {
  fluid_trt_probe(&w->d);
  SIM_TRY(sim_backend_cuda.copy(values, w->d.probed, (size_t)(w->d.probes * (w->d.rank + 1)) * sizeof *values));
  return fluid_cuda_gather_probes(w, values);
}

const fluid_ops fluid_ops_cuda_trt = {.tables_of_state = true,
                                      .plan = plan,
                                      .create = create,
                                      .destroy = fluid_cuda_destroy,
                                      .state = state_of,
                                      .fields = fluid_cuda_fields,
                                      .first_plane = fluid_cuda_first_plane,
                                      .plane = fluid_cuda_plane_of,
                                      .divide = fluid_cuda_divide_slots,
                                      .restore = fluid_cuda_restore_slots,
                                      .start = start,
                                      .resume = resume,
                                      .step = step,
                                      .guards = fluid_cuda_guards,
                                      .show = show,
                                      .flow = fluid_cuda_flow_row,
                                      .bodies = fluid_cuda_bodies,
                                      .probes = probes,
                                      .wall_velocities = fluid_cuda_wall_velocities,
                                      .gates = fluid_cuda_gates,
                                      .sample = fluid_cuda_sample,
                                      .change = fluid_cuda_change,
                                      .remember = fluid_cuda_remember,
                                      .excess = fluid_cuda_excess};
