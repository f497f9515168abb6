/* Clumps at the start of a run: makes bodies and spheres at given positions. */
#include "kernels/collision/start/grains.h"

#include "engine/log.h"
#include "engine/rng.h"

#include <stdlib.h>
#include <string.h>

/* Draws an orientation, uniform among all: a point of the unit sphere in four dimensions (G. Marsaglia, Ann. Math.
 * Stat. 43 (1972) 645). */
static void draw_orientation(uint64_t seed, uint64_t id, double q[4]) {
  double z[4];
  for (uint32_t k = 0; k < 2; k++) sim_rng_normal(seed, id, 0, COLLISION_DRAW_ORIENTATION + k, z + 2 * k);
  memcpy(q, z, sizeof z);
  rigid_unit(q);
}

/* Position of a sphere, moved into the box along periodic axes; its clump's centre is in the box. */
static double wrapped(const collision_box *box, int c, double x) {
  const double low = box->origin[c], high = low + box->size[c];
  if (box->sides[2 * c] != COLLISION_PERIODIC) return x;
  return x < low ? x + box->size[c] : x >= high ? x - box->size[c] : x;
}

/* Makes the body of clump i at its place, and its spheres as grains from `first` on. */
static void put_body(const collision_parameters *p, const collision_part *part, const collision_grains *places,
                     int64_t i, int64_t first, collision_grains *out) {
  const collision_shape *shape = &part->shape;
  collision_body *body = &out->body[out->bodies++];
  double turn[3][3], spin[3], along[3], all = 0, q[4];
  *body = shape->body;
  body->first = (double)first;
  if (part->item->schema == &collision_clumps_schema) {
    draw_orientation(p->common.seed, (uint64_t)i, q);
  } else {
    memcpy(q, ((const collision_clump *)part->item->data)->orientation, sizeof q);
    rigid_unit(q);
  }
  rigid_product(q, body->axes, body->orientation);
  rigid_matrix(body->orientation, turn);
  for (int c = 0; c < 3; c++) {
    body->position[c] = places->position[c][i];
    body->velocity[c] = places->velocity[c][i];
    spin[c] = places->spin[c][i];
  }
  for (int a = 0; a < 3; a++)
    along[a] = body->moment[a] * (turn[0][a] * spin[0] + turn[1][a] * spin[1] + turn[2][a] * spin[2]);
  rigid_apply(turn, along, body->angular);
  for (int64_t k = 0; k < shape->count; k++) all += pow(shape->spheres[4 * k + 3], 3);
  for (int64_t k = 0; k < shape->count; k++) {
    const int64_t to = first + k;
    const double r = shape->spheres[4 * k + 3];
    double lever[3], round[3];
    memcpy(out->member[to], shape->at[k], sizeof out->member[to]);
    rigid_apply(turn, shape->at[k], lever);
    rigid_cross(spin, lever, round);
    out->radius[to] = r;
    out->mass[to] = body->mass * r * r * r / all; /* share of the clump's mass, for outputs */
    out->material[to] = places->material[i];
    for (int c = 0; c < 3; c++) {
      out->position[c][to] = wrapped(&p->box, c, body->position[c] + lever[c]);
      out->velocity[c][to] = body->velocity[c] + round[c];
      out->spin[c][to] = spin[c];
    }
  }
}

sim_status collision_clumps_expand(const collision_parameters *p, const collision_parts *parts,
                                   const collision_grains *places, collision_grains *out) {
  int64_t i = 0, to = 0;
  SIM_TRY(collision_grains_reserve((int64_t)parts->n, out));
  out->body = calloc((size_t)parts->bodies, sizeof *out->body);
  out->member = calloc((size_t)parts->n, sizeof *out->member);
  if (out->body == NULL || out->member == NULL) return sim_no_memory("%.0f clumps", parts->bodies);
  for (size_t k = 0; k < parts->count; k++) {
    const collision_part *part = &parts->part[k];
    for (int64_t end = i + part->places; i < end; i++) {
      if (part->shape.count > 0) {
        put_body(p, part, places, i, to, out);
        to += part->shape.count;
        continue;
      }
      out->radius[to] = places->radius[i];
      out->mass[to] = places->mass[i];
      out->material[to] = places->material[i];
      for (int c = 0; c < 3; c++) {
        out->position[c][to] = places->position[c][i];
        out->velocity[c][to] = places->velocity[c][i];
        out->spin[c][to] = places->spin[c][i];
      }
      to++;
    }
  }
  return SIM_OK;
}

sim_status collision_clumps_check_box(const collision_options *o, const collision_parts *parts) {
  for (int c = 0; c < 3; c++)
    if (o->periodic[c] && o->size[c] < 4 * parts->bound)
      return sim_fail(SIM_ERR_SCENARIO,
                      "box.size: %.9g in %c is periodic and less than 4 times the radius of the sphere about a clump, "
                      "%.9g",
                      o->size[c], "xyz"[c], parts -> bound);
  return SIM_OK;
}

/* Relative error of a sampled clump above which the message is a warning. */
#define COARSE 1e-3

void collision_clumps_tell(const collision_parts *parts) {
  for (size_t k = 0; k < parts->count; k++) {
    const collision_shape *s = &parts->part[k].shape;
    if (!(s->error > 0)) continue;
    sim_log(s->error > COARSE ? SIM_LOG_WARN : SIM_LOG_INFO,
            "grains[%zu]: mass %.6g and moments of inertia %.6g, %.6g, %.6g of each clump are sampled, within %.1g%s",
            k + 1, s->body.mass, s->body.moment[0], s->body.moment[1], s->body.moment[2], s->error,
            s->error > COARSE ? " of the largest: its spheres are small beside it" : "");
  }
}
