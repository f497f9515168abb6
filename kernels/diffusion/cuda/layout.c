/* The order of axes and coefficients, and the arrays and tables in this order. */
#include "kernels/diffusion/cuda/work.h"

#include "engine/device/cuda.h"

static int live_kind(const grid_shape *grid, int axis) {
  return grid->n[axis] > 1 && !grid_is_member_axis(grid, axis) ? (int)grid->boundary[axis] : (int)GRID_PERIODIC;
}

/* Returns the first periodic axis with more than one cell, else the first axis with more than one cell. */
static int fast_axis(const grid_shape *grid) {
  for (int axis = 0; axis < 3; axis++)
    if (grid->n[axis] > 1 && grid->boundary[axis] == GRID_PERIODIC) return axis;
  for (int axis = 0; axis < 3; axis++)
    if (grid->n[axis] > 1 && !grid_is_member_axis(grid, axis)) return axis;
  return 0;
}

static bool has_walls(const grid_shape *grid, int axis) {
  return axis < grid->rank && !grid_is_member_axis(grid, axis) && grid->boundary[axis] != GRID_PERIODIC;
}

/* Returns the rank in the order of axes for fields with series of their own: periodic axes, axes with walls, axes of
 * one cell, the axis of members. */
static int rank_of(const grid_shape *grid, int axis) {
  if (axis >= grid->rank) return 3;
  if (grid_is_member_axis(grid, axis)) return 4;
  if (has_walls(grid, axis)) return grid->n[axis] > 1 ? 1 : 2;
  return grid->n[axis] > 1 ? 0 : 3;
}

/* The axis in the middle of slabs, whose coefficients ranks share out. The slow axis of planes is z; the fast one is a
 * periodic axis, if x or y is one. Where only z is periodic, it is the fast axis of the coefficients. */
static int shared_axis(const grid_shape *grid) { return has_walls(grid, 0) && !has_walls(grid, 1) ? 0 : 1; }

static void order_axes(const grid_shape *grid, bool aligned, bool slabs, int axes[3]) {
  int count = 0;
  if (slabs) {
    const bool across = has_walls(grid, 0) && has_walls(grid, 1) && !has_walls(grid, 2);
    axes[1] = shared_axis(grid);
    axes[across ? 2 : 0] = 1 - axes[1];
    axes[across ? 0 : 2] = 2;
    return;
  }
  if (aligned) {
    for (int rank = 0; rank <= 4; rank++)
      for (int axis = 0; axis < 3; axis++)
        if (rank_of(grid, axis) == rank) axes[count++] = axis;
    return;
  }
  axes[count++] = fast_axis(grid);
  for (int axis = 0; axis < 3; axis++)
    if (axis != axes[0] && !grid_is_member_axis(grid, axis)) axes[count++] = axis;
  if (count < 3) axes[count] = grid->member_axis;
}

/* Sets the part of an ensemble's members that a rank has. */
static void set_members(diffusion_layout *layout, const grid_shape *grid, const diffusion_slab *slab) {
  layout->n[2] = slab->end - slab->first;
  layout->first = slab->first;
  layout->all = grid_members(grid);
}

bool diffusion_cuda_aligned(const diffusion_parameters *p, const diffusion_gradients *read) {
  const grid_shape grid = diffusion_grid_of(p);
  const int shared = shared_axis(&grid);
  if (diffusion_aligned(p, read)) return true;
  for (int g = 0; p->integrate.method == DIFFUSION_SLABS && has_walls(&grid, shared) && g < read->count; g++)
    if (read->of[g].kind == shared) return true;
  return false;
}

bool diffusion_cuda_series(const diffusion_parameters *p, const diffusion_gradients *read, diffusion_series *out) {
  if (!diffusion_cuda_aligned(p, read)) return false;
  diffusion_all_series(p, out);
  return true;
}

/* Sets sizes and kinds along the layout's axes. */
static diffusion_layout layout_along(const grid_shape *grid, const diffusion_slab *slab, bool aligned,
                                     const int axes[3]) {
  diffusion_layout layout = {.axis = {axes[0], axes[1], axes[2]}};
  for (int i = 0; i < 3; i++) {
    const int axis = layout.axis[i];
    layout.n[i] = grid->n[axis];
    layout.kind[i] = aligned ? (int)GRID_PERIODIC : live_kind(grid, axis);
    layout.series[i] = aligned && has_walls(grid, axis) ? (int)grid->boundary[axis] : layout.kind[i];
    layout.size[i] = layout.axis[i] < grid->rank ? grid->size[layout.axis[i]] : 0;
    if (grid_is_member_axis(grid, layout.axis[i])) layout.member_axis = i;
  }
  layout.all = layout.n[2];
  if (layout.member_axis && slab) set_members(&layout, grid, slab);
  layout.row = 2 * (layout.n[0] / 2 + 1);
  layout.rows = layout.n[1] * layout.n[2];
  layout.wide = layout.n[1];
  layout.field = layout.row * layout.rows;
  return layout;
}

diffusion_layout diffusion_cuda_layout(const grid_shape *grid, const diffusion_slab *slab, bool aligned, bool slabs) {
  int axes[3];
  order_axes(grid, aligned, slabs, axes);
  return layout_along(grid, slab, aligned, axes);
}

diffusion_layout diffusion_cuda_natural(const grid_shape *grid, const diffusion_slab *slab) {
  diffusion_layout layout = {.row = grid->n[0], .all = grid->n[2]};
  for (int i = 0; i < 3; i++) {
    const int axis = grid->member_axis == 1 ? (3 - i) % 3 : i; /* members are the slow axis */
    layout.n[i] = grid->n[axis];
    layout.axis[i] = axis;
    layout.size[i] = axis < grid->rank ? grid->size[axis] : 0;
  }
  if (grid->member_axis)
    set_members(&layout, grid, slab);
  else if (slab->end - slab->first < grid->n[2] && grid->rank == 3) {
    layout.first = slab->first;
    layout.n[2] = slab->end - slab->first;
  }
  layout.field = layout.n[0] * layout.n[1] * layout.n[2];
  return layout;
}

/* Returns the layout of the planes of z of a slab, in which z has its natural order. */
static diffusion_layout planes_of(const grid_shape *grid, const diffusion_slab *slab, bool aligned,
                                  const diffusion_layout *layout) {
  const int fast = layout->axis[layout->axis[0] == 2 ? 2 : 0], axes[3] = {fast, layout->axis[1], 2};
  diffusion_layout planes = layout_along(grid, slab, aligned, axes);
  planes.kind[2] = planes.series[2] = (int)GRID_PERIODIC;
  planes.n[2] = slab->end - slab->first;
  planes.first = slab->first;
  planes.rows = planes.n[1] * planes.n[2];
  planes.field = planes.row * planes.rows;
  return planes;
}

/* Divides the middle axis in blocks, of which a rank has some. */
static void divide_blocks(const sim_comm *comm, diffusion_layout *layout, diffusion_share *parts) {
  enum { BLOCKS = 16 };
  long long blocks = BLOCKS;
  size_t end;
  while (layout->n[1] % blocks != 0) blocks--; /* the most that are equal */
  layout->wide = layout->n[1] / blocks;
  parts->all = blocks;
  parts->most = (long long)sim_comm_share(comm, (size_t)blocks);
  parts->first = (long long)sim_comm_first(comm, (size_t)blocks, &end);
  parts->own = (long long)end > parts->first ? (long long)end - parts->first : 0;
  parts->numbers = layout->row / 2 * layout->wide * layout->n[2];
  layout->begin = parts->first * layout->wide;
  layout->rows = parts->own * layout->wide * layout->n[2];
  layout->field = layout->row * layout->rows;
}

void diffusion_cuda_divide(const diffusion_parameters *p, const sim_comm *comm, bool aligned, diffusion_layout *layout,
                           diffusion_layout *planes, diffusion_share *parts) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_slab slab = diffusion_own_slab(&grid, diffusion_single(p), comm);
  const bool slabs = p->integrate.method == DIFFUSION_SLABS;
  *layout = *planes = diffusion_cuda_layout(&grid, &slab, aligned, slabs);
  *parts = (diffusion_share){.all = 1, .own = 1, .most = 1, .numbers = layout->field / 2};
  if (slabs) {
    *planes = planes_of(&grid, &slab, aligned, layout);
    divide_blocks(comm, layout, parts);
  }
  if (!grid.member_axis) return;
  const diffusion_slab most = diffusion_slab_of(&grid, diffusion_single(p), comm, 0);
  *parts = (diffusion_share){layout->all, layout->first, layout->n[2], most.end, layout->row / 2 * layout->n[1]};
}

diffusion_spectrum diffusion_cuda_spectrum(const diffusion_layout *layout, bool complex) {
  diffusion_spectrum s = {.n = {layout->row / 2, layout->n[1], layout->n[2]}, .field = layout->field / 2};
  s.factor = layout->series[0] != GRID_PERIODIC ? DIFFUSION_EACH : complex ? DIFFUSION_COMPLEX : DIFFUSION_ALIKE;
  s.table[0] = s.n[0];
  for (int i = 1; i < 3; i++)
    s.table[i] = layout->series[i] == GRID_PERIODIC && !complex && i != layout->member_axis ? layout->n[i] / 2 + 1
                                                                                            : layout->n[i];
  s.tables = s.table[0] * s.table[1] * s.table[2] * (s.factor == DIFFUSION_ALIKE ? 1 : 2);
  return s;
}

int diffusion_cuda_kind(const diffusion_work *w, int source, int axis) {
  if (axis >= w->grid.rank || grid_is_member_axis(&w->grid, axis)) return (int)GRID_PERIODIC;
  return (int)(w->aligned ? w->series.of[source][axis] : w->grid.boundary[axis]);
}

int diffusion_cuda_column_source(const diffusion_work *w, int column, int axis, bool *turns) {
  static const int along[][2] = {[DIFFUSION_X] = {0, 0},  [DIFFUSION_Y] = {1, 1},  [DIFFUSION_Z] = {2, 2},
                                 [DIFFUSION_XY] = {0, 1}, [DIFFUSION_XZ] = {0, 2}, [DIFFUSION_YZ] = {1, 2}};
  const int g = column - w->fields, axes = w->grid.rank - (w->grid.member_axis > 0);
  *turns = false;
  if (g < 0) return column;
  const int i = g - w->gradients.count;
  const int source = i < 0 ? w->gradients.of[g].field : i / axes, kind = i < 0 ? w->gradients.of[g].kind : i % axes;
  *turns = (kind <= DIFFUSION_Z || (kind >= DIFFUSION_XY && kind <= DIFFUSION_YZ)) &&
           (along[kind][0] == axis || along[kind][1] == axis);
  return source;
}

int diffusion_cuda_column_kind(const diffusion_work *w, int column, int axis) {
  bool turns;
  const int source = diffusion_cuda_column_source(w, column, axis, &turns);
  const grid_boundary own = (grid_boundary)diffusion_cuda_kind(w, source, axis);
  return (int)(turns ? diffusion_turned(own) : own);
}

double diffusion_cuda_scale(const grid_shape *grid) {
  double scale = 1;
  for (int axis = 0; axis < 3; axis++)
    if (!grid_is_member_axis(grid, axis)) scale /= (double)grid->n[axis];
  return scale;
}

double diffusion_cuda_number_size(const diffusion_parameters *p) {
  return diffusion_single(p) ? sizeof(float) : sizeof(double);
}

int diffusion_cuda_table_parts(const diffusion_work *w) { return w->crossed ? w->fields * w->fields : w->fields; }

sim_status diffusion_cuda_take_tables(diffusion_work *w) {
  const int64_t shape[] = {w->slots * diffusion_cuda_table_parts(w), w->spectrum.tables};
  for (int t = 0; t < w->method.tables; t++)
    SIM_TRY(sim_buffer_create(&sim_backend_cuda, w->single ? SIM_F32 : SIM_F64, 2, shape, &w->table[t]));
  return SIM_OK;
}

void *diffusion_cuda_table(const diffusion_work *w, int table) {
  const size_t bytes = (size_t)w->spectrum.tables * (w->single ? sizeof(float) : sizeof(double));
  return (char *)w->table[table].data + (size_t)(w->slot * diffusion_cuda_table_parts(w)) * bytes;
}

diffusion_sums diffusion_cuda_sums(const diffusion_work *w) {
  const diffusion_spectrum *spectrum = &w->spectrum;
  diffusion_sums s = {.field = spectrum->field,
                      .rows = spectrum->n[1] * spectrum->n[2],
                      .wide = spectrum->n[1],
                      .tables = spectrum->tables,
                      .scale = w->scale,
                      .force = w->force};
  for (int a = 0; a < DIFFUSION_ARRAYS; a++) s.array[a] = w->array[a].data;
  for (int t = 0; t < DIFFUSION_TABLES; t++)
    if (w->table[t].data) s.table[t] = diffusion_cuda_table(w, t);
  for (int i = 0; i < 3; i++) s.n[i] = spectrum->n[i], s.table_n[i] = spectrum->table[i];
  if (w->slabs) s.rows = w->layout.rows, s.wide = w->layout.wide, s.begin = w->layout.begin;
  return s;
}

bool diffusion_cuda_in_registers(const diffusion_parameters *p, int fields) {
  const diffusion_gradients none = {0};
  return !diffusion_aligned(p, &none) && (int)p->fields.count <= fields && p->members <= 1 && p->rates &&
         diffusion_single(p) && !diffusion_unfolded(p) && !diffusion_crossed(p) && !diffusion_fluctuates(p) &&
         diffusion_forced(p) == 0 && !diffusion_has_gradients(p) && p->integrate.courant == 0 && sim_cuda_overlaps();
}
