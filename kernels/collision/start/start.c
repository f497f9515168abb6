/* Start of a run: fills the state with grains, chooses the length of the step, computes the first forces. */
#include "kernels/collision/general/functions.h"
#include "kernels/collision/fixed_point/fixed_point.h"
#include "kernels/collision/gravity/gravity.h"
#include "kernels/collision/run.h"
#include "kernels/collision/scenario/sizes.h"
#include "kernels/collision/start/grains.h"
#include "kernels/collision/walls/walls.h"

#include "kernels/common/laws/sides.h"
#include "kernels/common/resolution.h"

#include "engine/log.h"
#include "engine/run/startup.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static sim_status check_inside(const collision_run *run, const collision_grains *g) {
  const collision_box *box = &run->parameters->box;
  for (int64_t b = 0; b < g->bodies; b++)
    for (int c = 0; c < 3; c++) {
      const double x = g->body[b].position[c], low = box->origin[c], high = low + box->size[c];
      if (box->sides[2 * c] == COLLISION_PERIODIC && (x < low || x >= high))
        return sim_fail(SIM_ERR_SCENARIO,
                        "grains: the centre of clump %" PRId64 " is outside the box: %c = %.9g is not in %.9g to %.9g",
                        b + 1, "xyz"[c], x, low, high);
    }
  for (int64_t i = 0; i < g->n; i++)
    for (int c = 0; c < 3; c++) {
      const double x = g->position[c][i], low = box->origin[c], high = low + box->size[c];
      const bool below = x < low && box->sides[2 * c] < COLLISION_OPEN;
      const bool above = x >= high && box->sides[2 * c + 1] < COLLISION_OPEN;
      if (below || above)
        return sim_fail(SIM_ERR_SCENARIO,
                        "grains: %" PRId64 " (id, from 0) is outside the box: %c = %.9g is not in %.9g to %.9g", i,
                        "xyz"[c], x, low, high);
    }
  return SIM_OK;
}

/* Copies a grain's position in its clump, and with the first sphere the clump itself; *body: the next clump. */
static void put_sphere(collision_run *run, const collision_grains *g, const collision_body **body, int64_t id,
                       int64_t at) {
  collision_body *to = run->array[COLLISION_BODIES].data;
  double *member = run->array[COLLISION_MEMBER].data;
  if (*body < g->body + g->bodies && (int64_t)(*body)->first == id) {
    const int64_t number = *body - g->body;
    to[number] = **body;
    to[number].first = (double)at;
    ++*body;
  }
  for (int c = 0; c < 3; c++) member[c * run->n + at] = g->member[id][c];
}

static int by_first(const void *a, const void *b) {
  const collision_body *p = a, *q = b;
  return (p->first > q->first) - (p->first < q->first);
}

/* Numbers the clumps in the order of their spheres. */
static void number_bodies(const collision_run *run) {
  collision_body *body = run->array[COLLISION_BODIES].data;
  uint64_t *of = run->array[COLLISION_BODY].data;
  if (run->bodies > 0) qsort(body, (size_t)run->bodies, sizeof *body, by_first);
  for (int64_t b = 0; b < run->bodies; b++)
    for (int64_t k = 0; k < (int64_t)body[b].count; k++) of[(int64_t)body[b].first + k] = (uint64_t)b + 1;
}

/* Copies grain `id` to the place `at` of the state. */
static void put_grain(const collision_run *run, const collision_grains *g, int64_t id, int64_t at) {
  ((uint64_t *)run->array[COLLISION_ID].data)[at] = (uint64_t)id;
  ((uint64_t *)run->array[COLLISION_MATERIAL].data)[at] = g->material[id];
  collision_put(run, COLLISION_RADIUS, 0, at, g->radius[id]);
  collision_put(run, COLLISION_MASS, 0, at, g->mass[id]);
  if (run->options.heated) ((double *)run->array[COLLISION_TEMPERATURE].data)[at] = g->temperature[id];
  for (int c = 0; c < 3; c++) {
    collision_put(run, COLLISION_POSITION, c, at, g->position[c][id]);
    collision_put(run, COLLISION_VELOCITY, c, at, g->velocity[c][id]);
    collision_put(run, COLLISION_SPIN, c, at, g->spin[c][id]);
  }
}

/* Copies the grains from the order of ids to the order of species. */
static sim_status put_grains(collision_run *run, const collision_parts *parts, const collision_grains *g) {
  int64_t next[SIM_SPECIES_MAX], id = 0;
  const collision_body *body = g->body;
  for (size_t s = 0; s < run->species_count; s++) next[s] = run->species[s].first;
  for (size_t i = 0; i < parts->count; i++) {
    const char *name = ((const collision_group *)parts->part[i].item->data)->species;
    size_t s = 0;
    while (strcmp(run->species[s].name, name) != 0) s++;
    const int64_t n = parts->part[i].n, ahead = next[s] - id;
    for (int64_t k = 0; k < n && run->bodies > 0; k++) put_sphere(run, g, &body, id + k, id + k + ahead);
#pragma omp parallel for schedule(static) num_threads(run->options.threads) if (n > 4096)
    for (int64_t k = id; k < id + n; k++) put_grain(run, g, k, k + ahead);
    next[s] += n;
    id += n;
  }
  number_bodies(run);
  return SIM_OK;
}

/* Sets the range of radii of present and later grains, for neighbour lists and meshes. bound: radius of the largest
 * sphere that holds a clump; grown: some grains may have merged. */
static sim_status bound_size(collision_run *run, double smallest, double largest, double bound, bool grown) {
  collision_options *o = &run->options;
  double least, most, mass;
  o->radius_most = largest;
  o->radius_least = INFINITY;
  for (size_t k = 0; k < run->parameters->insert.count; k++) {
    collision_inlet_bounds(run->parameters->insert.items[k].data, &least, &most, &mass);
    o->radius_most = fmax(o->radius_most, most);
    o->radius_least = fmin(o->radius_least, least);
  }
  least = fmin(smallest, o->radius_least);
  if (run->backend->kind != SIM_BACKEND_CPU && collision_radii_apart(least, o->radius_most, COLLISION_RATIO_GPU))
    return sim_fail(SIM_ERR_NO_DEVICE,
                    "grains: radii of more than 1:%d, here %.9g to %.9g, are supported on the CPU alone: give --device "
                    "cpu",
                    COLLISION_RATIO_GPU, least, o->radius_most);
  if (!grown && collision_radii_apart(least, o->radius_most, COLLISION_RATIO))
    return sim_fail(
        SIM_ERR_SCENARIO,
        "insert: expected radii within 1:%d of each other and of those at the start, got %.9g to %.9g in all",
        COLLISION_RATIO, least, o->radius_most);
  for (int c = 0; c < 3; c++)
    if (o->periodic[c] && o->size[c] < 5 * o->radius_most)
      return sim_fail(SIM_ERR_SCENARIO,
                      "box.size: %.9g in %c is periodic and less than 5 times the largest radius of an inlet, %.9g",
                      o->size[c], "xyz"[c], o -> radius_most);
  collision_reach_set(o);
  SIM_TRY(collision_reach_check(o, least));
  return collision_meshes_create(run, fmax(o->radius_most + o->reach, bound));
}

static sim_status set_size(void *context, double smallest, double largest, double bound) {
  return bound_size(context, smallest, largest, bound, false);
}

static sim_status bound_radii(collision_run *run) {
  const collision_body *body = run->array[COLLISION_BODIES].data;
  double least = INFINITY, most = 0, bound = 0;
  for (int64_t b = 0; b < run->bodies; b++) bound = fmax(bound, body[b].bound);
  for (int64_t i = 0; i < run->n; i++) {
    least = fmin(least, collision_get(run, COLLISION_RADIUS, 0, i));
    most = fmax(most, collision_get(run, COLLISION_RADIUS, 0, i));
  }
  return bound_size(run, least, most, bound, run->options.merge != COLLISION_MERGE_NEVER);
}

static sim_status make_meshes(collision_run *run, const sim_setup *setup) {
  sim_startup("reading meshes", 0, 0);
  geometry_triangles *meshes = calloc(run->parameters->walls.count + 1, sizeof *meshes);
  size_t count = 0;
  if (meshes == NULL) return sim_no_memory("meshes");
  sim_status status = collision_meshes_read(run->parameters, setup, meshes, &count);
  for (size_t i = 0; i < count; i++) run->triangles += meshes[i].count;
  if (status == SIM_OK) status = collision_create_arrays(run);
  double *to = run->array[COLLISION_MESHES].data;
  for (size_t i = 0; i < count && status == SIM_OK; i++)
    for (int64_t k = 0; k < meshes[i].count; k++, to += 10) {
      memcpy(to, meshes[i].corner + 9 * k, 9 * sizeof *to);
      to[9] = (double)i;
    }
  collision_meshes_free(meshes, count);
  free(meshes);
  return status;
}

/* Velocity of the flow of a sheared box, along its axis `along`, at grain i. */
static double flow_at(const collision_run *run, int64_t i) {
  const collision_options *o = &run->options;
  const double middle = o->low[o->across] + 0.5 * o->size[o->across];
  return o->shear * (collision_get(run, COLLISION_POSITION, o->across, i) - middle);
}

/* Adds the flow of a sheared box to the velocities. */
static void add_flow(collision_run *run) {
  const int along = run->options.along;
  for (int64_t i = 0; i < run->n && run->options.shear != 0; i++)
    collision_put(run, COLLISION_VELOCITY, along, i,
                  collision_get(run, COLLISION_VELOCITY, along, i) + flow_at(run, i));
}

static sim_status make(collision_run *run, const sim_setup *setup) {
  collision_parts parts;
  collision_grains grains = {0};
  SIM_TRY(collision_parts_list(run->parameters, setup, &parts));
  run->n = run->options.n = (int64_t)parts.n;
  run->bodies = (int64_t)parts.bodies;
  run->species_count = collision_parts_species(&parts, run->species);
  sim_status status = make_meshes(run, setup);
  sim_startup("making grains", 0, 0);
  if (status == SIM_OK)
    status = collision_grains_create(run->parameters, setup, &parts, &run->options, set_size, run, &grains);
  if (status == SIM_OK) status = check_inside(run, &grains);
  if (status == SIM_OK) status = put_grains(run, &parts, &grains);
  if (status == SIM_OK) status = collision_heat_start(run);
  if (status == SIM_OK) collision_clumps_tell(&parts);
  collision_grains_free(&grains);
  collision_parts_free(&parts);
  return status;
}

double collision_step_count(double t_end, double dt) { return ceil(t_end / dt * (1 - 1e-12)); }

/* Appends the lightest grain of each inlet to the arrays. */
static void add_newcomers(const collision_run *run, double *mass, double *radius, uint64_t *material) {
  const char *names[COLLISION_MATERIALS_MAX];
  int count = 0;
  if (collision_materials(run->parameters, names, &count) != SIM_OK) return;
  for (size_t k = 0; k < run->parameters->insert.count; k++) {
    const collision_inlet *inlet = run->parameters->insert.items[k].data;
    double most;
    collision_inlet_bounds(inlet, &radius[k], &most, &mass[k]);
    material[k] = (uint64_t)collision_material_index(names, count, inlet->group.material);
  }
}

double collision_judged_mass(const collision_run *run, int64_t i) {
  const uint64_t *of = run->array[COLLISION_BODY].data;
  if (of == NULL || of[i] == 0) return collision_get(run, COLLISION_MASS, 0, i);
  const double *member = run->array[COLLISION_MEMBER].data;
  const double at[3] = {member[i], member[run->n + i], member[2 * run->n + i]};
  return rigid_least_mass((const collision_body *)run->array[COLLISION_BODIES].data + of[i] - 1, at,
                          collision_get(run, COLLISION_RADIUS, 0, i), run->options.law_springs > 0);
}

/* Computes the durations of the shortest contact, and of the shortest one under a custom law, among grains at the start
 * and grains of inlets. */
static sim_status shortest_contact(const collision_run *run, bool saved, double *out, double *most,
                                   collision_custom_contact *own) {
  const size_t n = (size_t)run->n, all = n + run->parameters->insert.count;
  double *mass = malloc(2 * (all + 1) * sizeof *mass), *radius = mass + all;
  uint64_t *material = malloc((all + 1) * sizeof *material);
  sim_status status = SIM_OK;
  if (mass == NULL || material == NULL) status = sim_no_memory("%zu grains", n);
#pragma omp parallel for schedule(static) num_threads(run->options.threads) if (n > 4096)
  for (size_t i = 0; i < (status == SIM_OK ? n : 0); i++) {
    mass[i] = collision_judged_mass(run, (int64_t)i);
    radius[i] = collision_get(run, COLLISION_RADIUS, 0, (int64_t)i);
    material[i] = ((const uint64_t *)run->array[COLLISION_MATERIAL].data)[i];
  }
  if (status == SIM_OK) {
    add_newcomers(run, mass + n, radius + n, material + n);
    *out = collision_contact_time(&run->options, (int64_t)all, mass, radius, material, most);
    *own = (collision_custom_contact){.time = INFINITY};
    if (!saved) status = collision_fields_shortest(&run->options, (int64_t)all, mass, radius, own);
  }
  free(mass), free(material);
  return status;
}

/* Chooses the step. A restart keeps the step of the first start, because grains have been inserted or removed since. */
static sim_status choose_step(collision_run *run, bool saved) {
  const collision_integrate *integrate = &run->parameters->integrate;
  double *step = (double *)run->array[COLLISION_CONTROLLER].data + COLLISION_STEP, shortest, most;
  collision_custom_contact own;
  SIM_TRY(shortest_contact(run, saved, &shortest, &most, &own));
  const bool by_force = 0.1 * own.time < most;
  if (by_force) most = 0.1 * own.time;
  shortest = fmin(shortest, own.time);
  if (saved && run->n == 0 && !isfinite(shortest))
    shortest = *step * integrate->steps_per_contact; /* no grain is present or expected */
  run->dt = isnan(integrate->dt) ? fmin(shortest / integrate->steps_per_contact, most) : integrate->dt;
  if (saved) run->dt = *step;
  *step = run->dt;
  if (!(run->dt > 0) || !isfinite(run->dt))
    return sim_fail(SIM_ERR_SCENARIO, "integrate.dt: no step follows from contacts that last %.9g", shortest);
  if (by_force && run->dt > most * (1 + 1e-6))
    return sim_fail(SIM_ERR_SCENARIO,
                    "integrate.dt: expected at most %.9g, got %.9g: contact.force, up to an overlap of %.3g %% of the "
                    "smaller radius, would be unstable at a reduced mass of %.6g and radius of %.6g",
                    most, run->dt, 100 * run->options.overlap_limit, own.mass, own.radius);
  SIM_TRY(collision_step_check(run->dt, most));
  if (!saved) SIM_TRY(collision_step_check_count(run->parameters, run->dt));
  SIM_TRY(collision_hill_check_step(&run->options, run->dt));
  const double steps = collision_step_count(integrate->t_end, run->dt);
  if (!(steps <= 0x1p62))
    return sim_fail(SIM_ERR_SCENARIO, "integrate.dt: expected at most 2^62 steps, got %.9g", steps);
  return SIM_OK;
}

static sim_status check_start(collision_run *run, const collision_sums **sums) {
  SIM_TRY(collision_sums_at(run, &(sim_clock){0}, sums));
  if (!((*sums)->overlap > run->options.overlap_limit)) return SIM_OK;
  char text[128];
  collision_overlap_name(run, *sums, 0, text, sizeof text);
  return sim_fail(SIM_ERR_SCENARIO, "grains: %s at the start; at most %.3g is possible", text,
                  run->options.overlap_limit);
}

/* Displacement of grain i in a step, in a sheared box relative to the flow, over its radius. */
static double way_of(const collision_run *run, int64_t i) {
  double square = 0;
  for (int c = 0; c < 3; c++) {
    const double flow = c == run->options.along ? flow_at(run, i) : 0;
    const double speed = collision_get(run, COLLISION_VELOCITY, c, i) - flow;
    square += speed * speed;
  }
  return sqrt(square) * run->dt / collision_get(run, COLLISION_RADIUS, 0, i);
}

/* Returns the largest of these displacements; *at: the first grain that has it. */
static double largest_way(const collision_run *run, int64_t *at) {
  enum { PIECE = 1 << 16 };
  double most = 0;
  *at = 0;
#pragma omp parallel for schedule(static) num_threads(run->options.threads) if (run->n > PIECE)
  for (int64_t from = 0; from < run->n; from += PIECE) {
    double own = 0;
    int64_t which = 0;
    for (int64_t i = from; i < from + PIECE && i < run->n; i++) {
      const double way = way_of(run, i);
      if (way > own) own = way, which = i;
    }
#pragma omp critical
    if (own > most || (own == most && own > 0 && which < *at)) most = own, *at = which;
  }
  return most;
}

/* Whether grain i is too fast: its energy is out of the range of the state's precision, or it moves by a side of a
 * periodic box in a step, after which it is not in the box. */
static bool too_fast(const collision_run *run, int64_t i) {
  const collision_options *o = &run->options;
  const double m = collision_get(run, COLLISION_MASS, 0, i), r = collision_get(run, COLLISION_RADIUS, 0, i);
  double speed = 0, spin = 0;
  bool far = false;
  for (int c = 0; c < 3; c++) {
    const double v = collision_get(run, COLLISION_VELOCITY, c, i), w = collision_get(run, COLLISION_SPIN, c, i);
    speed += v * v;
    spin += w * w;
    far = far || (o->periodic[c] && fabs(v) * run->dt >= o->size[c]);
  }
  const double most = run->array[COLLISION_VELOCITY].dtype == SIM_F32 ? FLT_MAX : DBL_MAX;
  return far || !(speed <= most && spin * r * r <= most && m * (speed + spin * r * r) <= most);
}

sim_status collision_check_speeds(const collision_run *run, sim_status fault) {
  int64_t first = run->n;
#pragma omp parallel for schedule(static) num_threads(run->options.threads) if (run->n > 65536)
  for (int64_t i = 0; i < run->n; i++)
    if (too_fast(run, i)) {
#pragma omp critical
      if (i < first) first = i;
    }
  if (first == run->n) return SIM_OK;
  double v[3];
  for (int c = 0; c < 3; c++) v[c] = collision_get(run, COLLISION_VELOCITY, c, first);
  return sim_fail(fault,
                  "grain %" PRIu64
                  " (id, from 0) is too fast: its velocity is {%.3g, %.3g, %.3g}: expected less than a side of a "
                  "periodic box in a step of %.3g, and squares and an energy in the range of the precision",
                  ((const uint64_t *)run->array[COLLISION_ID].data)[first], v[0], v[1], v[2], run->dt);
}

/* The same for the grains of inlets. */
static sim_status check_inlet_speeds(const collision_run *run) {
  const collision_options *o = &run->options;
  for (size_t k = 0; k < run->parameters->insert.count; k++) {
    const collision_inlet *inlet = run->parameters->insert.items[k].data;
    const double *v = inlet->group.velocity, square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const double most = run->ops->dtype == SIM_F32 ? FLT_MAX : DBL_MAX, pi = COLLISION_PI;
    double least, greatest, mass;
    bool far = false;
    collision_inlet_bounds(inlet, &least, &greatest, &mass);
    for (int c = 0; c < 3; c++) far = far || (o->periodic[c] && fabs(v[c]) * run->dt >= o->size[c]);
    mass = inlet->group.density * 4 * pi / 3 * greatest * greatest * greatest;
    if (far || !(square <= most && mass * square <= most))
      return sim_fail(
          SIM_ERR_SCENARIO,
          "insert[%zu].velocity: grains are too fast: expected less than a side of a periodic box in a step "
          "of %.3g, and squares and an energy in the range of the precision",
          k + 1, run->dt);
  }
  return SIM_OK;
}

/* Warns of grains that move farther than their radius in a step (in a sheared box relative to the flow): they may
 * pass through others and walls without a contact. */
static void warn_of_speed(const collision_run *run) {
  int64_t at = 0;
  const double most = largest_way(run, &at);
  if (most > 1)
    sim_log(SIM_LOG_WARN,
            "grain %" PRIu64
            " moves %.3g of its radius in a step: it may pass others without a contact; integrate.dt below %.3g "
            "keeps below a tenth",
            ((const uint64_t *)run->array[COLLISION_ID].data)[at], most, 0.1 * run->dt / most);
  const double steps = run->options.attracted ? (double)collision_gravity_every(run->parameters, run->dt) : 1;
  if (steps > 1 && most * steps > 1)
    sim_log(SIM_LOG_WARN,
            "grain %" PRIu64
            " moves %.3g of its radius while accelerations of self_gravity are kept, as if it met no other grain; "
            "self_gravity.step below %.3g keeps below a half",
            ((const uint64_t *)run->array[COLLISION_ID].data)[at], most * steps, 0.5 * run->dt / most);
  for (size_t k = 0; k < run->parameters->insert.count; k++) {
    const collision_inlet *inlet = run->parameters->insert.items[k].data;
    const double *v = inlet->group.velocity;
    double least, greatest, mass;
    collision_inlet_bounds(inlet, &least, &greatest, &mass);
    const double way = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) * run->dt / least;
    if (way > 1)
      sim_log(SIM_LOG_WARN,
              "insert[%zu]: its grains move up to %.3g of their radius in a step: they may pass others without a "
              "contact; integrate.dt below %.3g keeps below a tenth",
              k + 1, way, 0.1 * run->dt / way);
  }
}

/* Warns where the rounding of single-precision positions, in the box or outside open sides, is not small compared with
 * the smallest radius. */
static void warn_of_places(const collision_run *run) {
  double far = 0, least = INFINITY;
  if (run->ops->dtype != SIM_F32 || run->ops->exact) return;
  for (int c = 0; c < 3; c++)
    far = fmax(far, fmax(fabs(run->options.low[c]), fabs(run->options.low[c] + run->options.size[c])));
  for (int64_t i = 0; i < run->n; i++) {
    least = fmin(least, collision_get(run, COLLISION_RADIUS, 0, i));
    for (int c = 0; c < 3; c++) far = fmax(far, fabs(collision_get(run, COLLISION_POSITION, c, i)));
  }
  sim_resolution_warn(far, least, "the smallest radius", "give the box an origin nearer to 0");
}

static bool any_turns(const collision_run *run) {
  for (int64_t i = 0; i < run->n; i++)
    for (int c = 0; c < 3; c++)
      if (collision_get(run, COLLISION_SPIN, c, i) != 0) return true;
  return false;
}

/* Switches to the general solver where the fixed-point solver does not support the grains, which are known only now. */
static sim_status choose_again(collision_run *run, const sim_setup *setup) {
  fixed_point_system system;
  if (!run->ops->exact) return SIM_OK;
  run->options.turning = any_turns(run);
  const float *mass = run->array[COLLISION_MASS].data;
  if (collision_fixed_point_excludes(&run->options, run->n, mass, run->array[COLLISION_RADIUS].data, &system) == NULL &&
      (setup->saved != NULL ||
       collision_fixed_point_in_range(&system, run->n, mass, run->array[COLLISION_VELOCITY].data)))
    return SIM_OK;
  run->ops = collision_ops_of(setup->backend->kind)->f32;
  sim_buffer_destroy(&run->array[COLLISION_QUANTA]);
  return SIM_OK;
}

/* Checks the coefficient of restitution up to a speed at which grains would overlap by their radius; inlets may insert
 * the largest grains. */
static sim_status check_restitution(const collision_run *run) {
  double largest = 0, least, most, mass;
  for (int64_t i = 0; i < run->n; i++) largest = fmax(largest, collision_get(run, COLLISION_RADIUS, 0, i));
  for (size_t k = 0; k < run->parameters->insert.count; k++) {
    collision_inlet_bounds(run->parameters->insert.items[k].data, &least, &most, &mass);
    largest = fmax(largest, most);
  }
  return collision_fields_check_restitution(&run->options, 0.1 * largest / run->dt);
}

sim_status collision_start(collision_run *run, const sim_setup *setup) {
  SIM_TRY(collision_options_fill(run->parameters, &run->options));
  run->options.threads = setup->threads;
  run->options.comm = setup->comm;
  run->options.isa = setup->isa;
  run->backend = setup->backend;
  run->varies = run->options.varies || run->options.merge != COLLISION_MERGE_NEVER;
  SIM_TRY(setup->saved != NULL ? collision_restore(run, setup->saved) : make(run, setup));
  sim_buffer *a = run->array;
  sim_startup("choosing the step", 0, 0);
  SIM_TRY(choose_step(run, setup->saved != NULL));
  SIM_TRY(collision_heat_check(run));
  /* a contact of two grains like the first one, for ten steps */
  if (run->options.custom != NULL && setup->saved == NULL && run->n > 0)
    SIM_TRY(collision_fields_check(&run->options, 0.5 * collision_get(run, COLLISION_RADIUS, 0, 0),
                                   0.5 * collision_get(run, COLLISION_MASS, 0, 0), 10 * run->dt));
  if (setup->saved == NULL) SIM_TRY(check_restitution(run));
  if (setup->saved != NULL) SIM_TRY(bound_radii(run));
  SIM_TRY(collision_motion_create(run));
  SIM_TRY(collision_flow_create(run));
  if (setup->saved == NULL) {
    SIM_TRY(collision_motion_step(run, 0, 0));
    add_flow(run);
  }
  SIM_TRY(collision_check_speeds(run, SIM_ERR_SCENARIO));
  SIM_TRY(check_inlet_speeds(run));
  warn_of_speed(run);
  SIM_TRY(laws_check_sides(run->options.external, run->options.low, run->options.size, run->options.periodic, 0));
  run->options.dt = run->dt;
  run->options.before = setup->saved != NULL && setup->saved->clock.step > 0 ? setup->saved->clock.dt : run->dt;
  SIM_TRY(choose_again(run, setup));
  warn_of_places(run);
  double *controls = a[COLLISION_CONTROLLER].data;
  if (setup->saved == NULL && run->options.springs > 0) {
    memset(a[COLLISION_CONTACT_GRAIN].data, 0xff, (size_t)run->room * sizeof(uint64_t));
    memset(a[COLLISION_CONTACT_PARTNER].data, 0xff, (size_t)run->room * sizeof(uint64_t));
  }
  sim_startup("finding neighbours and first forces", 0, 0);
  SIM_TRY(collision_gravity_create(run));
  SIM_TRY(collision_create_work(run, setup->saved != NULL ? setup->saved->clock.t : 0));
  if (run->n > 0) SIM_TRY(run->ops->load(run->work));
  if (setup->saved != NULL) return SIM_OK;
  const collision_sums *sums;
  if (run->n > 0) run->ops->begin(run->work, 0);
  SIM_TRY(check_start(run, &sums));
  SIM_TRY(collision_merge_check_start(run, sums));
  controls[COLLISION_INITIAL_ENERGY] = collision_energy(sums);
  const double scale = collision_energy_scale(sums);
  controls[COLLISION_ENERGY_SCALE] = scale > 0 || run->n == 0 ? scale : 1;
  controls[COLLISION_NEXT_ID] = (double)run->n;
  return SIM_OK;
}
