/* Checks a checkpoint's state, which may be forged, and restores it. */
#include "kernels/collision/run.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static sim_status refuse(const char *name, int64_t at, const char *why) {
  return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's %s[%" PRId64 "] %s", name, at, why);
}

/* Finds an array of real numbers; NULL where it is absent or has another shape. */
static const sim_array *find_reals(const sim_frame *saved, const char *name, int rank, int64_t first, int64_t second) {
  const sim_array *a = sim_frame_array(saved, name);
  const bool fits = a != NULL && (a->dtype == SIM_F32 || a->dtype == SIM_F64) && a->rank == rank;
  return fits && a->shape[0] == first && (rank < 2 || a->shape[1] == second) ? a : NULL;
}

static const void *find_integers(const sim_frame *saved, const char *name, sim_dtype dtype, int64_t count) {
  const sim_array *a = sim_frame_array(saved, name);
  return a != NULL && a->dtype == dtype && a->rank == 1 && a->shape[0] == count ? a->data : NULL;
}

static double real_at(const sim_array *a, int64_t i) {
  return a->dtype == SIM_F32 ? (double)((const float *)a->data)[i] : ((const double *)a->data)[i];
}

static sim_status missing(const char *name) {
  return sim_fail(
      SIM_ERR_INCOMPATIBLE,
      "the checkpoint's %s is missing or has another type or shape: the checkpoint is of another version of sim, "
      "or another scenario made it",
      name);
}

/* Positions must be inside a periodic box (or at its rounded end), and within 1e12 box sizes elsewhere. */
static sim_status check_positions(const collision_options *o, const sim_frame *saved, int64_t n) {
  const sim_array *x = find_reals(saved, "position", 2, 3, n);
  if (x == NULL) return missing("position");
  for (int c = 0; c < 3; c++)
    for (int64_t i = 0; i < n; i++) {
      const double off = (real_at(x, c * n + i) - o->low[c]) / o->size[c];
      if (o->periodic[c] ? !(off >= -1 && off <= 2) : !(fabs(off) <= 1e12))
        return refuse("position", i, "is far from the box");
    }
  return SIM_OK;
}

static sim_status check_grains(const collision_options *o, const sim_frame *saved, int64_t n) {
  static const char *const positive[] = {"radius", "mass"};
  for (int k = 0; k < 2; k++) {
    const sim_array *a = find_reals(saved, positive[k], 1, n, 0);
    if (a == NULL) return missing(positive[k]);
    for (int64_t i = 0; i < n; i++)
      if (!(real_at(a, i) > 0)) return refuse(positive[k], i, "is not positive");
  }
  const uint64_t *material = find_integers(saved, "material", SIM_U64, n);
  if (material == NULL) return missing("material");
  for (int64_t i = 0; i < n; i++)
    if (material[i] >= (uint64_t)o->materials) return refuse("material", i, "is a material that is not there");
  const sim_array *crossed = sim_frame_array(saved, "crossed");
  if (o->gates > 0 && (crossed == NULL || crossed->dtype != SIM_I64 || crossed->rank != 2 ||
                       crossed->shape[0] != o->gates || crossed->shape[1] != n))
    return missing("crossed");
  for (int64_t i = 0; i < o->gates * n; i++) {
    const int64_t times = ((const int64_t *)crossed->data)[i];
    if (times < INT32_MIN || times > INT32_MAX) return refuse("crossed", i, "is too large");
  }
  return check_positions(o, saved, n);
}

/* Whether a clump's numbers are possible: positive masses, a quaternion of length 1, and spheres that are the clump's
 * own by `of`. *next: first sphere that belongs to no clump so far. */
static bool is_body(const collision_options *o, const collision_body *body, uint64_t number, const uint64_t *of,
                    int64_t n, int64_t *next) {
  const double *all = (const double *)body, *q = body->orientation, *a = body->axes;
  for (int k = 0; k < COLLISION_BODY_NUMBERS; k++)
    if (!isfinite(all[k])) return false;
  for (int c = 0; c < 3; c++)
    if (!(body->moment[c] > 0) || !(fabs(body->position[c] - o->low[c]) <= 1e12 * o->size[c])) return false;
  for (int c = 0; c < 3; c++)
    if (o->periodic[c] && !(fabs(body->position[c] - o->low[c]) <= 2 * o->size[c])) return false;
  if (!(body->mass > 0) || !(body->bound >= 0)) return false;
  if (!(fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) < 1e-6)) return false;
  if (!(fabs(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3] - 1) < 1e-6)) return false;
  if (!(body->first >= (double)*next && body->count >= 1 && body->first + body->count <= (double)n)) return false;
  if (body->first != floor(body->first) || body->count != floor(body->count)) return false;
  for (; *next < (int64_t)body->first; ++*next)
    if (of[*next] != 0) return false;
  for (; *next < (int64_t)(body->first + body->count); ++*next)
    if (of[*next] != number) return false;
  return true;
}

/* Checks the clumps, whose spheres follow each other in the order of the grains. */
static sim_status check_bodies(const collision_options *o, const sim_frame *saved, int64_t n) {
  const sim_array *a = sim_frame_array(saved, "bodies");
  if (a == NULL && !o->clumps) return SIM_OK;
  if (a == NULL || a->dtype != SIM_F64 || a->rank != 2 || a->shape[1] != COLLISION_BODY_NUMBERS || a->shape[0] < 1 ||
      a->shape[0] > n || !o->clumps)
    return missing("bodies");
  const uint64_t *of = find_integers(saved, "body", SIM_U64, n);
  const sim_array *member = find_reals(saved, "member", 2, 3, n);
  if (of == NULL || member == NULL || member->dtype != SIM_F64) return missing(of == NULL ? "body" : "member");
  int64_t next = 0;
  for (int64_t b = 0; b < a->shape[0]; b++)
    if (!is_body(o, (const collision_body *)a->data + b, (uint64_t)b + 1, of, n, &next))
      return refuse("bodies", b, "is no clump of these grains");
  for (; next < n; next++)
    if (of[next] != 0) return refuse("body", next, "is a clump that is not there");
  for (int64_t i = 0; i < 3 * n; i++)
    if (!(fabs(real_at(member, i)) <= 1e150)) return refuse("member", i % n, "is too far away");
  return SIM_OK;
}

/* Checks the contacts. Entries without a contact have UINT64_MAX for both grains. */
static sim_status check_contacts(const collision_options *o, const sim_frame *saved, int64_t n) {
  const int64_t room = collision_contact_room(n, o->springs);
  if (room == 0) return SIM_OK;
  const uint64_t *grain = find_integers(saved, "contact_grain", SIM_U64, room);
  const uint64_t *partner = find_integers(saved, "contact_partner", SIM_U64, room);
  if (grain == NULL || partner == NULL) return missing(grain == NULL ? "contact_grain" : "contact_partner");
  for (int64_t k = 0; k < room; k++) {
    const bool none = grain[k] == UINT64_MAX && partner[k] == UINT64_MAX;
    if (!none && (grain[k] >= (uint64_t)n || partner[k] >= (uint64_t)n || grain[k] == partner[k]))
      return refuse("contact_grain", k, "or its partner is a grain that is not there");
  }
  return SIM_OK;
}

/* Checks the meshes: the corners of a triangle are followed by the number of its mesh; meshes are contiguous. */
static sim_status check_meshes(const collision_options *o, const sim_frame *saved) {
  const sim_array *a = sim_frame_array(saved, "meshes");
  if (a == NULL && o->meshes == 0) return SIM_OK;
  if (a == NULL || a->dtype != SIM_F64 || a->rank != 2 || a->shape[1] != 10 || o->meshes == 0) return missing("meshes");
  double before = 0;
  for (int64_t i = 0; i < a->shape[0]; i++) {
    const double mesh = real_at(a, 10 * i + 9);
    if (!(mesh >= before && mesh < o->meshes && mesh == floor(mesh)))
      return refuse("meshes", i, "is of a mesh that is not there");
    before = mesh;
  }
  return SIM_OK;
}

static bool is_count(double x) { return x >= 0 && x <= 0x1p53 && x == floor(x); }

static sim_status check_controls(const sim_frame *saved, int64_t n) {
  const sim_array *a = find_reals(saved, "controller", 1, COLLISION_CONTROLS, 0);
  if (a == NULL || a->dtype != SIM_F64) return missing("controller");
  const double *x = a->data;
  const uint64_t *id = sim_frame_array(saved, "id")->data;
  if (!(x[COLLISION_STEP] > 0)) return refuse("controller", COLLISION_STEP, "is no length of a step");
  static const int counts[] = {COLLISION_NEXT_ID, COLLISION_INSERTED, COLLISION_REMOVED};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
    if (!is_count(x[counts[k]])) return refuse("controller", counts[k], "is no number of grains");
  for (int k = COLLISION_OF_INLET; k < COLLISION_CARRIED_GRAINS; k++)
    if (!is_count(x[k])) return refuse("controller", k, "is no number of grains");
  for (int64_t i = 0; i < n; i++)
    if (id[i] >= (uint64_t)x[COLLISION_NEXT_ID]) return refuse("id", i, "is above the greatest that was given");
  return SIM_OK;
}

sim_status collision_saved_check(const collision_options *o, bool varies, const sim_frame *saved, int64_t *n) {
  SIM_TRY(sim_frame_check_species(saved, n));
  if (*n < !varies || *n >= UINT32_MAX) return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint has no list of grains");
  SIM_TRY(check_grains(o, saved, *n));
  SIM_TRY(check_bodies(o, saved, *n));
  SIM_TRY(check_contacts(o, saved, *n));
  SIM_TRY(check_meshes(o, saved));
  return check_controls(saved, *n);
}

sim_status collision_restore(collision_run *run, const sim_frame *saved) {
  SIM_TRY(collision_saved_check(&run->options, run->varies, saved, &run->n));
  memcpy(run->species, saved->species, saved->species_count * sizeof *run->species);
  run->species_count = saved->species_count;
  const sim_array *meshes = sim_frame_array(saved, "meshes");
  run->triangles = meshes != NULL ? meshes->shape[0] : 0;
  const sim_array *bodies = sim_frame_array(saved, "bodies");
  run->bodies = bodies != NULL ? bodies->shape[0] : 0;
  SIM_TRY(collision_create_arrays(run));
  for (int which = 0; which < COLLISION_ARRAYS; which++) {
    sim_array here;
    if (collision_view_array(run, which, &here)) SIM_TRY(sim_frame_restore(saved, &sim_backend_cpu, &here));
  }
  return SIM_OK;
}
