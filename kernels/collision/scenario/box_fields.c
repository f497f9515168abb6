/* The box in a scenario. */
#include "kernels/collision/scenario/fields.h"

#include <math.h>
#include <stdio.h>

static const char *const boundary_names[] = {"periodic", "wall", "open", "outlet", NULL};
static const char *const side_names[] = {"box.boundary", "periodic", "wall", "open", "outlet", NULL};
#define SIDE(k, word, text)                                                                                            \
  {                                                                                                                    \
    .name = word, .offset = offsetof(collision_box, sides) + (k) * sizeof(int), .type = SIM_CHOICE,                    \
    .initial = "box.boundary", .choices = side_names, .doc = text                                                      \
  }
static const sim_field box_fields[] = {
    {FIELD(collision_box, size), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED | POSITIVE, .max = INFINITY,
     .dimension = LENGTH, .doc = "lengths of the sides"},
    {FIELD(collision_box, origin), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}", .dimension = LENGTH,
     .doc = "lower corner"},
    {FIELD(collision_box, boundary), .type = SIM_CHOICE, .initial = "periodic", .choices = boundary_names,
     .doc = "boundary of all sides without their own; grains continue beyond an open side, and are removed beyond an "
            "outlet"},
    {FIELD(collision_box, shear_rate), .type = SIM_REAL, .initial = "0", .dimension = {0, 0, -1},
     .doc = "shear rate dv_x/dy of a box that is periodic in x and y: images across y move along x (Lees and Edwards)"},
    OPTIONAL(
        collision_box, shear_offset, 0, INFINITY,
        "displacement at the start of the image above a sheared box: along x across y, with hill along y across x; "
        "none: 0",
        .dimension = LENGTH),
    SIDE(0, "x_low", "boundary of this side"),
    SIDE(1, "x_high", "boundary of this side"),
    SIDE(2, "y_low", "boundary of this side"),
    SIDE(3, "y_high", "boundary of this side"),
    SIDE(4, "z_low", "boundary of this side"),
    SIDE(5, "z_high", "boundary of this side"),
    {0}};
const sim_schema collision_box_schema = {SIM_SCHEMA(collision_box, "box", "the box", box_fields)};

/* ---- rules ---- */

void collision_check_box(collision_box *box, sim_faults *faults) {
  for (int s = 0; s < 6; s++)
    if (box->sides[s] == COLLISION_SAME) box->sides[s] = box->boundary + 1;
  for (int c = 0; c < 3; c++)
    if ((box->sides[2 * c] == COLLISION_PERIODIC) != (box->sides[2 * c + 1] == COLLISION_PERIODIC)) {
      char path[32];
      snprintf(path, sizeof path, "box.%c_%s", "xyz"[c], box -> sides[2 * c] == COLLISION_PERIODIC ? "low" : "high");
      sim_faults_add(faults, 0, path, "expected \"periodic\" on both sides of %c, or on none", "xyz"[c]);
    }
  const int *s = box->sides;
  if (box->shear_rate != 0 && (s[0] != COLLISION_PERIODIC || s[2] != COLLISION_PERIODIC))
    sim_faults_add(faults, 0, "box.shear_rate", "expected a box that is periodic in x and in y");
}
