/* The arrays of a state: in snapshots and checkpoints, and back. */
#include "kernels/fluid/run/run.h"

#include <string.h>

enum {
  STATE_MOMENTS,
  STATE_VELOCITY,
  STATE_PRESSURE = STATE_VELOCITY + 3,
  STATE_SPONGE,
  STATE_POSES,
  STATE_FAST,
  STATE_HEAT,
  STATE_TEMPERATURE,
  STATE_MESHES,
  STATE_SOLID,
  STATE_COUPLING,
  STATE_BUDGET,
  STATE_DERIVED,
  STATE_MASK = STATE_DERIVED + 6,
  STATE_MEAN
};
#define VELOCITY(letter)                                                                                               \
  {                                                                                                                    \
    .name = "velocity/" letter, .type = SIM_REAL, .doc = "velocity along " letter, .dimension = {1, 0, -1},            \
    .flags = SIM_IN_SNAPSHOT | SIM_NO_CHECKPOINT                                                                       \
  }
#define DERIVED(text, words, ...)                                                                                      \
  {                                                                                                                    \
    .name = text, .type = SIM_REAL, .doc = words ", with output.fields", .dimension = {__VA_ARGS__},                   \
    .flags = SIM_IN_SNAPSHOT | SIM_NO_CHECKPOINT                                                                       \
  }
#define MEAN(text, words, ...)                                                                                         \
  {                                                                                                                    \
    .name = text, .type = SIM_REAL, .doc = words ", with `average`", .dimension = {__VA_ARGS__},                       \
    .flags = SIM_IN_SNAPSHOT                                                                                           \
  }
#define MEAN_VELOCITY(letter)                                                                                          \
  {                                                                                                                    \
    .name = "mean_velocity/" letter, .type = SIM_REAL, .doc = "mean velocity along " letter ", with `average`",        \
    .dimension = {1, 0, -1}, .flags = SIM_IN_SNAPSHOT | SIM_NO_CHECKPOINT                                              \
  }
#define KEPT_MEAN(letter)                                                                                              \
  {                                                                                                                    \
    .name = "mean_" letter, .type = SIM_REAL, .doc = "the same in checkpoints", .dimension = { 1, 0, -1 }              \
  }
const sim_field fluid_state_fields[] = {
    [STATE_MOMENTS] = {.name = "moments",
                       .type = SIM_REAL,
                       .doc = "moments of the populations after collision, in units of the lattice, and in single what "
                              "rounding took from them: kernels/fluid/cpu/kernels.h, cuda/cell.cuh; or, with "
                              "`collision`, these populations: cpu/trt.c, cuda/slots.cuh"},
    [STATE_VELOCITY] = VELOCITY("x"),
    VELOCITY("y"),
    VELOCITY("z"),
    [STATE_PRESSURE] = {.name = "pressure",
                        .type = SIM_REAL,
                        .doc = "pressure above that at rest",
                        .dimension = {-1, 1, -2},
                        .flags = SIM_IN_SNAPSHOT | SIM_NO_CHECKPOINT},
    [STATE_SPONGE] = {.name = "sponge",
                      .type = SIM_REAL,
                      .doc = "running means in sponges, in units of the lattice: kernels/fluid/fluid.h"},
    [STATE_POSES] = {.name = "poses",
                     .type = SIM_REAL,
                     .doc = "bodies that move, half a step ahead: displacement, angle, velocity and spin of all"},
    [STATE_FAST] = {.name = "fast",
                    .type = SIM_REAL,
                    .doc = "where the Mach number was above 0.3 first, if it was: step, row and column of the cell"},
    [STATE_HEAT] = {.name = "heat",
                    .type = SIM_REAL,
                    .doc = "temperature above a middle one, and its flux after collision, in units of the lattice: "
                           "kernels/fluid/cpu/heat_rows.h"},
    [STATE_TEMPERATURE] = {.name = "temperature",
                           .type = SIM_REAL,
                           .doc = "temperature of the fluid",
                           .flags = SIM_IN_SNAPSHOT | SIM_NO_CHECKPOINT},
    [STATE_MESHES] = {.name = FLUID_MESHES,
                      .type = SIM_REAL,
                      .doc = "corners of the triangles of bodies from STL files, at time 0, and the number of each "
                             "one's body"},
    [STATE_SOLID] = {.name = FLUID_SOLID,
                     .type = SIM_INT,
                     .doc = "solid cells of images, a bit for each cell from the lowest one on"},
    [STATE_COUPLING] = {.name = "coupling",
                        .type = SIM_REAL,
                        .doc = "velocity and angular velocity with which each grain acted on the fluid in the last "
                               "step; with grains also the arrays of the model `collision`"},
    [STATE_BUDGET] =
        {.name = "budget",
         .type = SIM_REAL,
         .doc = "work of the fluid and of gravity on grains, and energy dissipated by lubrication and by the drag "
                "of points"},
    [STATE_DERIVED] = DERIVED("vorticity", "vorticity, of two axes", 0, 0, -1),
    DERIVED("vorticity/x", "vorticity along x", 0, 0, -1),
    DERIVED("vorticity/y", "vorticity along y", 0, 0, -1),
    DERIVED("vorticity/z", "vorticity along z", 0, 0, -1),
    DERIVED("q", "half of the squares of the rate of rotation less those of the strain rate", 0, 0, -2),
    DERIVED("shear", "shear rate, the root of twice the squares of the strain rate", 0, 0, -1),
    [STATE_MASK] = {.name = FLUID_SOLID,
                    .type = SIM_INT,
                    .doc = "1 in cells of bodies and of `solid`, 0 in the fluid; where no body moves in the first "
                           "snapshot alone",
                    .flags = SIM_IN_SNAPSHOT | SIM_NO_CHECKPOINT},
    [STATE_MEAN] = MEAN_VELOCITY("x"),
    MEAN_VELOCITY("y"),
    MEAN_VELOCITY("z"),
    MEAN("mean_pressure", "mean pressure above that at rest", -1, 1, -2),
    MEAN("stress_xx", "mean square of the fluctuation of the velocity along x", 2, 0, -2),
    MEAN("stress_yy", "mean square of the fluctuation of the velocity along y", 2, 0, -2),
    MEAN("stress_zz", "mean square of the fluctuation of the velocity along z", 2, 0, -2),
    MEAN("stress_xy", "mean product of the fluctuations of the velocity along x and y", 2, 0, -2),
    MEAN("stress_xz", "mean product of the fluctuations of the velocity along x and z", 2, 0, -2),
    MEAN("stress_yz", "mean product of the fluctuations of the velocity along y and z", 2, 0, -2),
    {.name = "mean_temperature", .type = SIM_REAL, .doc = "mean temperature, with `average`", .flags = SIM_IN_SNAPSHOT},
    KEPT_MEAN("x"),
    KEPT_MEAN("y"),
    KEPT_MEAN("z"),
    {.name = NULL}};
const sim_field *const fluid_derived_fields = fluid_state_fields + STATE_DERIVED;
const sim_field *const fluid_mean_fields = fluid_state_fields + STATE_MEAN;

/* Field f of those that are shown: velocity, and behind it the pressure. */
static void *field_of(const fluid_run *run, int f) {
  const sim_buffer *fields = run->ops->fields(run->work);
  return (char *)fields->data + (size_t)f * (size_t)fields->shape[1] * sim_dtype_size(fields->dtype);
}

/* The whole buffer, with the numbers around its rows. */
static sim_array moments_of(const fluid_run *run) {
  sim_array out;
  sim_array_of(&fluid_state_fields[STATE_MOMENTS], run->ops->state(run->work), &out);
  return out;
}

static sim_array sponge_of(const fluid_run *run) {
  const fluid_sponge *sponge = &run->machine.sponge;
  const sim_buffer *state = run->ops->state(run->work);
  return (sim_array){.field = &fluid_state_fields[STATE_SPONGE],
                     .dtype = SIM_F64,
                     .rank = 1,
                     .shape = {sponge->means},
                     .global = {sponge->means},
                     .data = run->ops->means(run->work),
                     .space = state->space};
}

static sim_array heat_of(const fluid_run *run) {
  const int64_t numbers = run->warmth.numbers;
  return (sim_array){.field = &fluid_state_fields[STATE_HEAT],
                     .dtype = SIM_F64,
                     .rank = 1,
                     .shape = {numbers},
                     .global = {numbers},
                     .data = run->warmth.heat[0],
                     .space = SIM_SPACE_HOST};
}

sim_array fluid_poses_of(fluid_run *run) {
  enum { NUMBERS = sizeof(geometry_pose) / sizeof(double) };
  const int64_t bodies = (int64_t)run->p->bodies.count;
  return (sim_array){.field = &fluid_state_fields[STATE_POSES],
                     .dtype = SIM_F64,
                     .rank = 2,
                     .shape = {bodies, NUMBERS},
                     .global = {bodies, NUMBERS},
                     .data = run->motion.pose,
                     .space = SIM_SPACE_HOST};
}

static sim_array first_of(fluid_run *run) {
  return (sim_array){.field = &fluid_state_fields[STATE_FAST],
                     .dtype = SIM_F64,
                     .rank = 1,
                     .shape = {3},
                     .global = {3},
                     .data = run->first,
                     .space = SIM_SPACE_HOST};
}

static sim_array coupling_of(fluid_run *run) {
  return (sim_array){.field = &fluid_state_fields[STATE_COUPLING],
                     .dtype = SIM_F64,
                     .rank = 2,
                     .shape = {6, run->grains.s.n},
                     .global = {6, run->grains.s.n},
                     .data = run->grains.before,
                     .space = SIM_SPACE_HOST};
}

static sim_array budget_of(fluid_run *run) {
  return (sim_array){.field = &fluid_state_fields[STATE_BUDGET],
                     .dtype = SIM_F64,
                     .rank = 1,
                     .shape = {FLUID_BUDGET},
                     .global = {FLUID_BUDGET},
                     .data = run->grains.budget,
                     .space = SIM_SPACE_HOST};
}

/* ---- the parts of ranks ---- */

/* Numbers of an array of `count` before a plane, where planes have `each`; the first and the last plane have what is
 * around them. */
static int64_t numbers_before(const fluid_part *part, int64_t plane, int64_t each, int64_t count) {
  return plane == 0 ? 0 : plane == part->planes ? count : FLUID_BEFORE + plane * each;
}

/* Makes an array of rows of numbers that of this rank. */
static void divide_numbers(const fluid_run *run, int64_t each, sim_array *array) {
  const fluid_part *part = &run->machine.part;
  array->offset[0] = numbers_before(part, part->first, each, array->global[0]);
  array->shape[0] = numbers_before(part, part->end, each, array->global[0]) - array->offset[0];
  array->data = (char *)array->data + (size_t)array->offset[0] * sim_dtype_size(array->dtype);
}

/* The same of a field; some: it has the planes that are on a device alone. */
static void divide_field(const fluid_run *run, bool some, sim_array *array) {
  const fluid_part *part = &run->machine.part;
  const int64_t first = some ? run->ops->first_plane(run->work) : part->first;
  array->offset[0] = part->first;
  array->shape[0] = part->end - part->first;
  array->data =
      (char *)array->data + (size_t)(first * part->rows * run->machine.grid.n[0]) * sim_dtype_size(array->dtype);
}

static int64_t moments_of_plane(const fluid_run *run) {
  return fluid_plane_numbers(&run->machine.rows, run->machine.part.rows);
}
static int64_t heat_of_plane(const fluid_run *run) {
  return run->machine.part.rows * (1 + run->machine.grid.rank) * run->machine.rows.pitch;
}

/* Restores this rank's part of an array of rows of numbers. */
static sim_status restore_numbers(const fluid_run *run, const sim_setup *setup, sim_array to, int64_t each) {
  const sim_array *from;
  if (run->machine.part.comm->size == 1) return sim_frame_restore(setup->saved, setup->backend, &to);
  SIM_TRY(sim_frame_find(setup->saved, &to, &from));
  divide_numbers(run, each, &to);
  const size_t size = sim_dtype_size(to.dtype);
  memcpy(to.data, (const char *)from->data + (size_t)to.offset[0] * size, (size_t)to.shape[0] * size);
  return SIM_OK;
}

static sim_status restore_moments(fluid_run *run, const sim_setup *setup) {
  sim_array to = moments_of(run);
  const sim_array *from;
  if (!run->ops->divide || run->machine.part.comm->size == 1)
    return restore_numbers(run, setup, to, moments_of_plane(run));
  SIM_TRY(run->ops->divide(run->work, false, &to));
  sim_array whole = to;
  memcpy(whole.shape, to.global, sizeof whole.shape);
  SIM_TRY(sim_frame_find(setup->saved, &whole, &from));
  return run->ops->restore(run->work, from, &to);
}

/* Makes all arrays of a view those of this rank, but for what every rank has. */
static sim_status divide(fluid_run *run, sim_array *arrays, sim_frame *frame) {
  frame->divided = run->machine.part.comm->size > 1;
  if (!frame->divided) return SIM_OK;
  if (!run->ops->divide) SIM_TRY(fluid_sponge_gather(&run->machine)); /* that does it, too */
  for (size_t i = 0; i < frame->array_count; i++) {
    const sim_field *field = arrays[i].field;
    const bool derived = field >= fluid_derived_fields && field < fluid_mean_fields; /* whole, in host memory */
    if (arrays[i].mesh) divide_field(run, run->ops->first_plane && !derived, &arrays[i]);
    if (field == &fluid_state_fields[STATE_MOMENTS] && run->ops->divide)
      SIM_TRY(run->ops->divide(run->work, !frame->partial, &arrays[i]));
    else if (field == &fluid_state_fields[STATE_MOMENTS])
      divide_numbers(run, moments_of_plane(run), &arrays[i]);
    if (field == &fluid_state_fields[STATE_HEAT]) divide_numbers(run, heat_of_plane(run), &arrays[i]);
  }
  return SIM_OK;
}

/* Restores the moments, whose order, and the rank of their array, depend on the operations. */
sim_status fluid_restore(fluid_run *run, const sim_setup *setup) {
  const sim_array first = first_of(run);
  const int64_t *n = run->machine.grid.n;
  if (restore_moments(run, setup) != SIM_OK) return sim_fail_context("moments on %s", setup->backend->name);
  if (run->machine.sponge.means > 0) {
    const sim_array sponge = sponge_of(run);
    SIM_TRY(sim_frame_restore(setup->saved, setup->backend, &sponge));
  }
  if (run->machine.warmth && run->warmth.heat[0])
    SIM_TRY(restore_numbers(run, setup, heat_of(run), heat_of_plane(run)));
  if (run->machine.grains) {
    const sim_array coupling = coupling_of(run), budget = budget_of(run);
    SIM_TRY(sim_frame_restore(setup->saved, &sim_backend_cpu, &coupling));
    SIM_TRY(sim_frame_restore(setup->saved, &sim_backend_cpu, &budget));
  }
  SIM_TRY(fluid_restore_means(run, setup));
  run->fast = sim_frame_array(setup->saved, fluid_state_fields[STATE_FAST].name) != NULL;
  if (run->fast) SIM_TRY(sim_frame_restore(setup->saved, &sim_backend_cpu, &first));
  if (run->fast && !(run->first[0] >= 0 && run->first[0] <= (double)setup->saved->clock.step && run->first[1] >= 0 &&
                     run->first[1] < (double)(n[1] * n[2]) && run->first[2] >= 0 && run->first[2] < (double)n[0]))
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's `fast` is no step and cell before it");
  return run->ops->resume(run->work, setup->saved->clock.step, run->fast);
}

sim_status fluid_view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame) {
  fluid_run *run = self;
  const int rank = run->machine.grid.rank;
  SIM_TRY(fluid_show_fields(run, &frame->clock));
  const sim_buffer *fields = run->ops->fields(run->work);
  arrays[0] = moments_of(run);
  for (int f = 0; f <= rank; f++)
    arrays[1 + f] = grid_view(&run->machine.grid, &run->mesh,
                              &fluid_state_fields[f < rank ? (int)STATE_VELOCITY + f : (int)STATE_PRESSURE],
                              fields->dtype, field_of(run, f), fields->space);
  frame->array_count = (size_t)rank + 2;
  if (run->machine.sponge.means > 0) arrays[frame->array_count++] = sponge_of(run);
  if (run->machine.motion) arrays[frame->array_count++] = fluid_poses_of(run);
  if (run->machine.warmth) {
    double *shown;
    SIM_TRY(run->ops->temperature(run->work, &shown));
    if (run->warmth.heat[0]) arrays[frame->array_count++] = heat_of(run); /* on a GPU it is among the moments */
    arrays[frame->array_count++] = grid_view(&run->machine.grid, &run->mesh, &fluid_state_fields[STATE_TEMPERATURE],
                                             SIM_F64, shown, fields->space);
  }
  if (run->fast) arrays[frame->array_count++] = first_of(run);
  if (run->meshes.triangles > 0)
    arrays[frame->array_count++] = fluid_meshes_array(&run->meshes, &fluid_state_fields[STATE_MESHES]);
  if (run->meshes.solid)
    arrays[frame->array_count++] = fluid_solid_array(&run->meshes, &fluid_state_fields[STATE_SOLID]);
  SIM_TRY(fluid_add_fields(run, arrays, frame));
  frame->species_count = 0;
  SIM_TRY(divide(run, arrays, frame));
  if (run->machine.grains) { /* each rank has all of them */
    arrays[frame->array_count++] = coupling_of(run);
    arrays[frame->array_count++] = budget_of(run);
    collision_coupled_view(run->grains.coupled, arrays, species, frame);
  }
  return SIM_OK;
}
