/* The model's parameters: field tables, and what follows from them. The rules between fields: rules.c. */
#include "kernels/fluid/gates.h"
#include "kernels/fluid/heat.h"

#include <math.h>

#define SPEED                                                                                                          \
  { 1, 0, -1 }
#define LENGTH                                                                                                         \
  { 1, 0, 0 }

/* ---- grid ---- */

static const char *const boundaries[] = {"periodic", "slip", "wall", NULL};
static const char *const own_boundaries[] = {"periodic", "slip", "wall", "as others", NULL};

#define ALONG(axis, i)                                                                                                 \
  {                                                                                                                    \
    .name = axis, .type = SIM_CHOICE, .doc = "boundary along " axis, .choices = own_boundaries,                        \
    .initial = "as others", .offset = offsetof(grid_parameters, along) + (i) * sizeof(int)                             \
  }
static const sim_field box_fields[] = {
    {SIM_FIELD(grid_parameters, n), .type = SIM_NUMBERS, .flags = SIM_REQUIRED | SIM_RANGE, .min = 1,
     .max = GRID_AXIS_MAX, .doc = "cells along x, y, or x, y, z"},
    {SIM_FIELD(grid_parameters, size), .type = SIM_NUMBERS, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = INFINITY, .dimension = LENGTH, .doc = "lengths of the box; cells are cubes or squares"},
    {SIM_FIELD(grid_parameters, boundary), .type = SIM_CHOICE, .initial = "periodic", .choices = boundaries,
     .doc = "periodic; slip: walls without friction; wall: walls to which the fluid sticks, and sides with a velocity "
            "or a pressure"},
    ALONG("x", 0),
    ALONG("y", 1),
    ALONG("z", 2),
    {0}};
static const sim_schema box_schema = {
    .doc = "cells; values stand at their centres", .fields = box_fields, .size = sizeof(grid_parameters)};

/* ---- sides ---- */

static const sim_signature profile_signature = {.inputs = (const char *const[]){"x", "y", "z", "t", NULL},
                                                .outputs = {2, 3},
                                                .counted = true,
                                                .returns = "the velocity: a number for each axis of the grid"};
static const sim_signature pressure_signature = {.inputs = (const char *const[]){"x", "y", "z", "t", NULL},
                                                 .outputs = {1}};
static const sim_field side_fields[] = {
    {SIM_FIELD(fluid_side, velocity), .type = SIM_NUMBERS, .dimension = SPEED,
     .doc = "of the wall along itself, or of the fluid that comes in or goes out; a number for each axis"},
    {SIM_FIELD(fluid_side, profile), .type = SIM_FUNCTION, .signature = &profile_signature, .dimension = SPEED,
     .doc = "the velocity as a function of the point and the time, in place of `velocity`"},
    {.name = "pressure",
     .offset = offsetof(fluid_side, push),
     .type = SIM_FUNCTION,
     .flags = SIM_OR_NUMBER,
     .signature = &pressure_signature,
     .dimension = {-1, 1, -2},
     .doc = "of the fluid at an open side, above that at rest: a number, or a function of the point and the time"},
    {SIM_FIELD(fluid_side, straight), .type = SIM_BOOL, .initial = "false",
     .doc =
         "of an open side: the fluid passes it at right angles, as in a channel that goes on beyond; false: no shear "
         "stress acts there, as where it opens"},
    {SIM_FIELD(fluid_side, sponge), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "none", .keyword = "none", .dimension = LENGTH,
     .doc = "width of a layer before a side that the fluid passes, which absorbs sound; none: the side reflects "
            "it"},
    {0}};
static const sim_schema side_schema = {.doc = "a side of the box", .fields = side_fields, .size = sizeof(fluid_side)};

typedef struct sides {
  fluid_side side[FLUID_SIDES];
} sides;
#define SIDE(word, i)                                                                                                  \
  {                                                                                                                    \
    .name = word, .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &side_schema, .doc = "this side",                \
    .offset = offsetof(sides, side) + (i) * sizeof(fluid_side)                                                         \
  }
static const sim_field sides_fields[] = {
    SIDE("x_low", 0), SIDE("x_high", 1), SIDE("y_low", 2), SIDE("y_high", 3), SIDE("z_low", 4), SIDE("z_high", 5), {0}};
static const sim_schema sides_schema = {
    .doc = "velocities and pressures of sides whose boundary is wall", .fields = sides_fields, .size = sizeof(sides)};

/* ---- bodies ---- */

static const sim_signature motion_signature = {.inputs = (const char *const[]){"t", NULL},
                                               .outputs = {2, 3},
                                               .counted = true,
                                               .returns = "the velocity: a number for each axis of the grid"};
static const sim_signature turning_signature = {.inputs = (const char *const[]){"t", NULL}, .outputs = {1}};
static const sim_field reference_fields[] = {
    {SIM_FIELD(fluid_reference, area), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = INFINITY, .doc = "area, such as that of the front; on a grid of two axes a length, of a layer 1 thick"},
    {SIM_FIELD(fluid_reference, length), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = INFINITY, .dimension = LENGTH, .doc = "length, of the coefficient of the moment and the Reynolds number"},
    {SIM_FIELD(fluid_reference, speed), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "speed", .keyword = "speed", .dimension = SPEED,
     .doc = "speed of the flow; speed: that of the scenario"},
    {SIM_FIELD(fluid_reference, direction), .type = SIM_NUMBERS,
     .doc = "direction of the drag, a number for each axis; none: of the fluid that comes in by one side, or of the "
            "acceleration"},
    {SIM_FIELD(fluid_reference, lift), .type = SIM_NUMBERS,
     .doc =
         "direction of the lift, on a grid of three axes, made normal to that of the drag; none: y, or z with a drag "
         "along y"},
    {SIM_FIELD(fluid_reference, centre), .type = SIM_NUMBERS, .dimension = LENGTH,
     .doc = "a point {x, y, z} about which the moment is, of a body that does not move; none: that of its torque"},
    {0}};
static const sim_schema reference_schema = {
    .doc = "what coefficients are of", .fields = reference_fields, .size = sizeof(fluid_reference)};

static const sim_field body_fields[] = {
    {SIM_FIELD(fluid_body, name), .type = SIM_STRING, .doc = "in the columns of the table `bodies`; none: body1, ..."},
    {SIM_FIELD(fluid_body, velocity), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}", .dimension = SPEED,
     .doc = "of the body; 0 along z on a grid of two axes"},
    {SIM_FIELD(fluid_body, motion), .type = SIM_FUNCTION, .signature = &motion_signature, .dimension = SPEED,
     .doc = "velocity as a function of time, instead of `velocity`"},
    {SIM_FIELD(fluid_body, spin), .type = SIM_REAL, .initial = "0", .dimension = {0, 0, -1},
     .doc = "how fast it turns about `axis`; radians a time"},
    {SIM_FIELD(fluid_body, turning), .type = SIM_FUNCTION, .signature = &turning_signature, .dimension = {0, 0, -1},
     .doc = "the same as a function of time, instead of `spin`"},
    {SIM_FIELD(fluid_body, temperature), .type = SIM_REAL, .flags = SIM_RANGE, .min = -FLUID_HEAT_MOST,
     .max = FLUID_HEAT_MOST, .initial = "adiabatic", .keyword = "adiabatic",
     .doc = "of its surface, in a fluid with `heat`; adiabatic: no heat passes, or `flux`"},
    {SIM_FIELD(fluid_body, flux), .type = SIM_REAL, .flags = SIM_RANGE, .min = -FLUID_HEAT_MOST, .max = FLUID_HEAT_MOST,
     .initial = "none", .keyword = "none", .dimension = SPEED,
     .doc = "heat that its surface gives to the fluid, by area, time and heat capacity, instead of a temperature: "
            "diffusivity times the slope of the temperature into the body"},
    {SIM_FIELD(fluid_body, reference), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &reference_schema,
     .doc =
         "area, length and speed of the coefficients of drag, lift and moment, with y+, in the table `bodies`; none: "
         "forces alone"},
    {SIM_FIELD(fluid_body, yplus), .type = SIM_BOOL, .initial = "false",
     .doc = "the table `bodies` has y+ of its first cells, as with a `reference`"},
    {0}};
static const sim_schema body_schema = {
    .name = "body", .doc = "common fields of bodies", .fields = body_fields, .size = sizeof(fluid_body)};
#define POINT(text)                                                                                                    \
  {                                                                                                                    \
    SIM_FIELD(fluid_body, point), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED, .dimension = LENGTH,       \
                                  .doc = text                                                                          \
  }
#define AXIS(text)                                                                                                     \
  { SIM_FIELD(fluid_body, axis), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 1}", .doc = text }
#define RADIUS                                                                                                         \
  {                                                                                                                    \
    SIM_FIELD(fluid_body, radius), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,                 \
                                   .max = INFINITY, .dimension = LENGTH, .doc = "its radius"                           \
  }
#define INSIDE                                                                                                         \
  { SIM_FIELD(fluid_body, inside), .type = SIM_BOOL, .initial = "false", .doc = "the fluid is in it, not around it" }

static const sim_field ball_fields[] = {POINT("its centre"), AXIS("about which it turns"), RADIUS, INSIDE, {0}};
const sim_schema fluid_ball_schema = {.name = "ball",
                                      .doc = "a sphere; a disc on a grid of two axes",
                                      .base = &body_schema,
                                      .fields = ball_fields,
                                      .size = sizeof(fluid_body)};
static const sim_field cylinder_fields[] = {
    POINT("a point of its axis"), AXIS("direction of its axis"), RADIUS, INSIDE, {0}};
const sim_schema fluid_cylinder_schema = {.name = "cylinder",
                                          .doc = "an endless cylinder",
                                          .base = &body_schema,
                                          .fields = cylinder_fields,
                                          .size = sizeof(fluid_body)};
static const sim_field block_fields[] = {
    {SIM_FIELD(fluid_body, low), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED, .dimension = LENGTH,
     .doc = "its lower corner"},
    {SIM_FIELD(fluid_body, high), .type = SIM_REAL, .components = 3, .flags = SIM_REQUIRED, .dimension = LENGTH,
     .doc = "its upper corner"},
    AXIS("about which it turns"),
    {SIM_FIELD(fluid_body, pivot), .type = SIM_NUMBERS, .dimension = LENGTH,
     .doc = "a point {x, y, z} of the axis about which it turns, which moves with it; none: its centre"},
    {0}};
const sim_schema fluid_block_schema = {
    .name = "block", .doc = "a box", .base = &body_schema, .fields = block_fields, .size = sizeof(fluid_body)};

static const sim_field stl_fields[] = {
    {SIM_FIELD(fluid_body, path), .type = SIM_STRING, .flags = SIM_REQUIRED,
     .doc = "STL file of a closed surface, in text or binary; relative to the scenario's folder"},
    {SIM_FIELD(fluid_body, scale), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY, .initial = "1",
     .doc = "length of a unit of the file"},
    {SIM_FIELD(fluid_body, shift), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}", .dimension = LENGTH,
     .doc = "position of the file's origin"},
    AXIS("about which it turns"),
    {SIM_FIELD(fluid_body, pivot), .type = SIM_NUMBERS, .dimension = LENGTH,
     .doc = "a point {x, y, z} of the axis about which it turns, which moves with it; none: the middle of its extent"},
    INSIDE,
    {0}};
const sim_schema fluid_stl_schema = {.name = "stl",
                                     .doc = "a body whose surface is a closed triangle mesh from a file",
                                     .base = &body_schema,
                                     .fields = stl_fields,
                                     .size = sizeof(fluid_body)};

/* ---- the scenario ---- */

static const sim_field turbulence_fields[] = {
    {SIM_FIELD(fluid_turbulence, smagorinsky), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = 1, .doc = "constant C of the eddy viscosity (C cell)^2 |strain|: 0.1 in a channel to 0.2 far from walls"},
    {SIM_FIELD(fluid_turbulence, prandtl), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = 100,
     .initial = "0.85", .doc = "eddy viscosity over the diffusivity of eddies, in a fluid with `heat`"},
    {0}};
static const sim_schema turbulence_schema = {
    .doc = "eddies below a cell", .fields = turbulence_fields, .size = sizeof(fluid_turbulence)};

static const sim_signature temperature_signature = {.inputs = (const char *const[]){"x", "y", "z", NULL},
                                                    .outputs = {1}};
#define SIDE_HEAT(word, i)                                                                                             \
  {                                                                                                                    \
    .name = word, .type = SIM_REAL, .flags = SIM_RANGE, .min = -FLUID_HEAT_MOST, .max = FLUID_HEAT_MOST,               \
    .initial = "adiabatic", .keyword = "adiabatic",                                                                    \
    .doc = "temperature of this side, or of the fluid that comes in; adiabatic: no heat but what flows out passes",    \
    .offset = offsetof(fluid_heat, side) + (i) * sizeof(double)                                                        \
  }
#define SIDE_FLUX(word, i)                                                                                             \
  {                                                                                                                    \
    .name = word, .type = SIM_REAL, .flags = SIM_RANGE, .min = -FLUID_HEAT_MOST, .max = FLUID_HEAT_MOST,               \
    .initial = "none", .keyword = "none", .dimension = SPEED, .doc = "of this side, which the fluid does not pass",    \
    .offset = (i) * sizeof(double)                                                                                     \
  }
static const sim_field flux_fields[] = {SIDE_FLUX("x_low", 0),
                                        SIDE_FLUX("x_high", 1),
                                        SIDE_FLUX("y_low", 2),
                                        SIDE_FLUX("y_high", 3),
                                        SIDE_FLUX("z_low", 4),
                                        SIDE_FLUX("z_high", 5),
                                        {0}};
static const sim_schema flux_schema = {.doc = "heat that sides give to the fluid, by area, time and heat capacity",
                                       .fields = flux_fields,
                                       .size = FLUID_SIDES * sizeof(double)};
static const sim_field heat_fields[] = {
    {SIM_FIELD(fluid_heat, diffusivity), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = INFINITY, .dimension = {2, 0, -1}, .doc = "thermal diffusivity, or that of a solute"},
    {SIM_FIELD(fluid_heat, expansion), .type = SIM_REAL, .initial = "0",
     .doc = "thermal expansion, by a unit of temperature; 0: the temperature does not act on the flow"},
    {SIM_FIELD(fluid_heat, gravity), .type = SIM_NUMBERS, .dimension = {1, 0, -2},
     .doc = "the fluid is accelerated by -expansion (T - reference) gravity: a number for each axis"},
    {SIM_FIELD(fluid_heat, reference), .type = SIM_REAL, .flags = SIM_RANGE, .min = -FLUID_HEAT_MOST,
     .max = FLUID_HEAT_MOST, .initial = "0",
     .doc = "temperature without buoyancy, and that of the start without `initial`"},
    {SIM_FIELD(fluid_heat, initial), .type = SIM_FUNCTION, .signature = &temperature_signature,
     .doc = "temperature at the start; none: `reference`"},
    SIDE_HEAT("x_low", 0),
    SIDE_HEAT("x_high", 1),
    SIDE_HEAT("y_low", 2),
    SIDE_HEAT("y_high", 3),
    SIDE_HEAT("z_low", 4),
    SIDE_HEAT("z_high", 5),
    {SIM_FIELD(fluid_heat, flux), .type = SIM_STRUCT, .table = &flux_schema,
     .doc = "heat that sides give to the fluid, by area, time and heat capacity, instead of a temperature"},
    {0}};
static const sim_schema heat_schema = {
    .doc = "temperature, or a solute, carried by the flow", .fields = heat_fields, .size = sizeof(fluid_heat)};

static const sim_field average_fields[] = {
    {SIM_FIELD(fluid_average, from), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .dimension = {0, 0, 1}, .doc = "time from which on"},
    {SIM_FIELD(fluid_average, every), .type = SIM_INT, .flags = SIM_RANGE, .min = 1, .max = 1e9, .initial = "1",
     .doc = "steps between two samples, which are taken at the multiples of it"},
    {0}};
static const sim_schema average_schema = {
    .doc = "running means", .fields = average_fields, .size = sizeof(fluid_average)};

static const sim_field integrate_fields[] = {
    {SIM_FIELD(fluid_integrate, dt), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "auto", .keyword = "auto", .dimension = {0, 0, 1},
     .doc = "time step; auto: `speed` has the Mach number `mach`, and the relaxation time is at most 1"},
    {SIM_FIELD(fluid_integrate, t_end), .type = SIM_REAL,
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN | SIM_MAY_CHANGE, .max = INFINITY, .dimension = {0, 0, 1},
     .doc = "time at which the run is over, with the first whole step that reaches it"},
    {0}};
static const sim_schema integrate_schema = {
    .doc = "time stepping", .fields = integrate_fields, .size = sizeof(fluid_integrate)};

static const sim_signature initial_signature = {
    .inputs = (const char *const[]){"x", "y", "z", NULL},
    .outputs = {2, 3, 4},
    .counted = true,
    .returns = "the velocity, a number for each axis of the grid, and the pressure or not"};

static const char *const channels[] = {"auto", "grey", "red", "green", "blue", "alpha", NULL};
static const sim_field solid_fields[] = {
    {SIM_FIELD(fluid_solid, path), .type = SIM_STRING, .flags = SIM_REQUIRED,
     .doc =
         "on a grid of two axes a PNG image of a pixel for each cell, its lowest row at y = 0; on one of three a stack "
         "of them, with %d or %03d for the number of the plane; or an HDF5 file; relative to the scenario's folder"},
    {SIM_FIELD(fluid_solid, dataset), .type = SIM_STRING,
     .doc = "of HDF5: the path of a dataset of [nz][ny][nx] numbers; none: solid"},
    {SIM_FIELD(fluid_solid, channel), .type = SIM_CHOICE, .initial = "auto", .choices = channels,
     .doc = "of an image; auto: grey"},
    {SIM_FIELD(fluid_solid, first), .type = SIM_INT, .flags = SIM_RANGE, .min = 0, .max = 1e9, .initial = "0",
     .doc = "number of the first image of a stack"},
    {SIM_FIELD(fluid_solid, threshold), .type = SIM_REAL, .initial = "0.5",
     .doc = "cells of larger values are solid; of an image black is 0, white is 1"},
    {SIM_FIELD(fluid_solid, dark), .type = SIM_BOOL, .initial = "false", .doc = "cells of smaller values are solid"},
    {0}};
static const sim_schema solid_schema = {
    .doc = "solid cells, whose sides are walls", .fields = solid_fields, .size = sizeof(fluid_solid)};

static const char *const collisions[] = {"regularised", "trt", NULL};
static const char *const drags[] = {"none", "stokes", "schiller_naumann", "di_felice", NULL};
static const char *const lattices[] = {"auto", "D3Q27", NULL};

static const sim_signature viscosity_signature = {.inputs = (const char *const[]){"shear", "T", NULL}, .outputs = {1}};
static const sim_signature force_signature = {
    .inputs = (const char *const[]){"x", "y", "z", "t", "ux", "uy", "uz", "T", NULL},
    .outputs = {2, 3},
    .counted = true,
    .returns = "the acceleration: a number for each axis of the grid"};
static const sim_field parameter_fields[] = {
    {SIM_FIELD(fluid_parameters, grid), .type = SIM_STRUCT, .flags = SIM_REQUIRED, .table = &box_schema,
     .doc = "the box and its cells"},
    {.name = "viscosity",
     .offset = offsetof(fluid_parameters, law),
     .type = SIM_FUNCTION,
     .flags = SIM_REQUIRED | SIM_OR_NUMBER,
     .signature = &viscosity_signature,
     .dimension = {2, 0, -1},
     .doc = "kinematic viscosity: a number, or for a generalised Newtonian fluid a function of the shear rate "
            "sqrt(2 S:S), S the strain rate, and with `heat` of the temperature"},
    {SIM_FIELD(fluid_parameters, density), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "1", .dimension = {-3, 1, 0}, .doc = "density of the fluid at rest; 2-D: of a layer 1 thick"},
    {SIM_FIELD(fluid_parameters, speed), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = INFINITY, .dimension = SPEED, .doc = "greatest speed that the flow is expected to have"},
    {SIM_FIELD(fluid_parameters, mach), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = 0.3,
     .initial = "0.1",
     .doc =
         "Mach number that `speed` has in the run: errors of compression grow as its square, the work as its inverse"},
    {SIM_FIELD(fluid_parameters, acceleration), .type = SIM_NUMBERS, .dimension = {1, 0, -2},
     .doc = "driving force or gravity, by mass: a number for each axis"},
    {SIM_FIELD(fluid_parameters, force), .type = SIM_FUNCTION, .signature = &force_signature, .dimension = {1, 0, -2},
     .doc = "force by mass, beside `acceleration`, as a function of the point, the time, the velocity there and with "
            "`heat` the temperature: a number for each axis; none: 0"},
    {SIM_FIELD(fluid_parameters, initial), .type = SIM_FUNCTION, .signature = &initial_signature,
     .doc = "the fluid at the start; none: at rest"},
    {SIM_FIELD(fluid_parameters, collision), .type = SIM_CHOICE, .initial = "regularised", .choices = collisions,
     .doc = "regularised: of moments, which is fastest; trt: of populations with two relaxation times, for walls and "
            "porous bodies whose drag does not depend on the viscosity, and for precision = \"half\""},
    {SIM_FIELD(fluid_parameters, magic), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = 10,
     .initial = "0.1875",
     .doc = "of trt, (tau - 1/2) of one relaxation time times that of the other: at 3/16 a wall stands half-way "
            "between cells, at 1/4 a run is most stable"},
    {SIM_FIELD(fluid_parameters, lattice), .type = SIM_CHOICE, .initial = "auto", .choices = lattices,
     .doc = "directions in which a cell sends what is in it; auto: D2Q9 or D3Q19; D3Q27: to all neighbours, for "
            "flows that lie aslant to the axes of the grid or are carried by a fast mean flow"},
    {SIM_FIELD(fluid_parameters, sides), .type = SIM_STRUCT, .table = &sides_schema,
     .doc = "velocities and pressures of sides whose boundary is wall"},
    {SIM_FIELD(fluid_parameters, bodies), .type = SIM_LIST,
     .variants = (const sim_schema *const[]){&fluid_ball_schema, &fluid_cylinder_schema, &fluid_block_schema,
                                             &fluid_stl_schema, NULL},
     .doc = "bodies to which the fluid sticks; their forces are the table `bodies`"},
    {SIM_FIELD(fluid_parameters, solid), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &solid_schema,
     .doc = "solid cells from images or an array, such as a porous rock; the table `porous` has its permeability"},
    {SIM_FIELD(fluid_parameters, resistance), .type = SIM_FUNCTION, .signature = &temperature_signature,
     .dimension = {0, 0, -1},
     .doc = "of a porous medium that fills cells: viscosity over its permeability, so that the force on the fluid is "
            "-resistance velocity, by mass; 0: free fluid"},
    {SIM_FIELD(fluid_parameters, turbulence), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &turbulence_schema,
     .doc = "eddies below a cell, by an eddy viscosity; none: the viscosity alone"},
    {SIM_FIELD(fluid_parameters, heat), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &heat_schema,
     .doc = "temperature of the fluid, with or without buoyancy; or a solute; none: no such field"},
    {SIM_FIELD(fluid_parameters, grains), .type = SIM_LIST, .variants = collision_grain_variants,
     .doc = "spheres that move in the fluid, as `grains` of sim.collision: groups, or single ones as { radius = , "
            "position = , velocity = }; on a grid of three axes"},
    {SIM_FIELD(fluid_parameters, contact), .type = SIM_STRUCT, .table = &collision_contact_schema,
     .doc = "contact law of grains, as `contact` of sim.collision"},
    {SIM_FIELD(fluid_parameters, gravity), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}",
     .dimension = {1, 0, -2},
     .doc = "acceleration of grains; their weight is less by that of the fluid which they displace, whose pressure is "
            "told without that of its own weight"},
    {SIM_FIELD(fluid_parameters, drag), .type = SIM_CHOICE, .initial = "none", .choices = drags,
     .doc =
         "law of drag of grains below 6 cells across, which are points then, on the CPU; none: cells resolve grains; "
         "stokes: of a slow sphere alone; schiller_naumann: of a sphere alone up to Reynolds numbers of 1000; "
         "di_felice: "
         "that, and larger where others are near"},
    {SIM_FIELD(fluid_parameters, probes), .type = SIM_NUMBERS, .components = 3, .dimension = LENGTH,
     .doc = "points {x, y, z}, z = 0 on a grid of two axes: the table `probes` has velocity and pressure in the cells "
            "that hold them"},
    {SIM_FIELD(fluid_parameters, gates), .type = SIM_LIST, .variants = fluid_gate_variants,
     .doc = "plane sections of the box: the table `gates` has mass flux, pressure and momentum flux of each"},
    {SIM_FIELD(fluid_parameters, spectrum), .type = SIM_INT, .flags = SIM_RANGE, .max = SIM_COLUMNS_FEW, .initial = "0",
     .doc = "number of bins of the table `spectrum`, the kinetic energy by wavenumber of a periodic box: about 0, 1, "
            "2, ... times the least wavenumber; the last one has all above; 0: no table"},
    {SIM_FIELD(fluid_parameters, average), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &average_schema,
     .doc = "running means of velocity, pressure and temperature, and Reynolds stresses, in snapshots; none: no such "
            "fields"},
    {SIM_FIELD(fluid_parameters, steady), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = 0.1,
     .initial = "none", .keyword = "none",
     .doc =
         "ends the run at the first row of the table `flow` whose `change`, of the velocity in a step over `speed`, is "
         "below it"},
    {SIM_FIELD(fluid_parameters, integrate), .type = SIM_STRUCT, .flags = SIM_REQUIRED, .table = &integrate_schema,
     .doc = "time stepping"},
    {0}};
const sim_schema fluid_schema = {.name = "fluid",
                                 .doc = "fluids at low Mach numbers around walls and bodies",
                                 .fields = parameter_fields,
                                 .base = &sim_common_schema,
                                 .size = sizeof(fluid_parameters)};

/* ---- what follows from them ---- */

bool fluid_body_moves(const fluid_parameters *p, int body) {
  const fluid_body *b = fluid_body_of(p, body);
  const bool turns = b->spin != 0 && (p->bodies.items[body].schema == &fluid_block_schema || fluid_is_mesh(p, body));
  return b->motion || b->turning || turns || b->velocity[0] != 0 || b->velocity[1] != 0 || b->velocity[2] != 0;
}

bool fluid_moves(const fluid_parameters *p) {
  bool out = false;
  for (int b = 0; b < (int)p->bodies.count; b++) out = out || fluid_body_moves(p, b);
  return out;
}

grid_shape fluid_grid_of(const fluid_parameters *p) { return grid_shape_of(&p->grid, 1); }

const fluid_lattice *fluid_lattice_for(const fluid_parameters *p) {
  return fluid_lattice_of(fluid_grid_of(p).rank, p->lattice == FLUID_D3Q27);
}

/* The largest number of two decimal digits that is not above x. */
static double round_down(double x) {
  const double unit = pow(10, floor(log10(x)) - 1);
  return floor(x / unit * (1 + 1e-12)) * unit;
}

void fluid_force_of(const fluid_parameters *p, const fluid_numbers *k, double out[3]) {
  for (size_t a = 0; a < 3; a++)
    out[a] = a < p->acceleration.rows ? p->acceleration.data[a] * k->dt * k->dt / k->dx : 0;
}

double fluid_length_of(const grid_shape *grid) {
  double length = INFINITY;
  bool bounded = false;
  for (int axis = 0; axis < grid->rank; axis++) bounded = bounded || !grid_is_periodic(grid, axis);
  for (int axis = 0; axis < grid->rank; axis++)
    if (!bounded || !grid_is_periodic(grid, axis)) length = fmin(length, grid->size[axis]);
  return length;
}

fluid_numbers fluid_numbers_of(const fluid_parameters *p, double dt) {
  const grid_shape grid = fluid_grid_of(p);
  fluid_numbers out = {.dx = grid.size[0] / (double)grid.n[0]};
  /* A relaxation time of at most 1 where the shear rate is that of the flow, and of at most 2.5 everywhere. */
  const double dx = out.dx, sound = p->mach / sqrt(3) * dx / p->speed,
               slow = dx * dx / (6 * fmax(p->viscosity, p->thickest / 4)),
               warm = p->heat.given ? dx * dx / (8 * p->heat.diffusivity) : INFINITY, viscous = fmin(slow, warm),
               length = fluid_length_of(&grid);
  out.viscous = !(dt > 0) && isnan(p->integrate.dt) && viscous < sound;
  out.dt = dt > 0 ? dt : isnan(p->integrate.dt) ? round_down(fmin(sound, viscous)) : p->integrate.dt;
  out.tau = 3 * p->viscosity * out.dt / (dx * dx) + 0.5;
  out.heat_tau = p->heat.given ? 4 * p->heat.diffusivity * out.dt / (dx * dx) + 0.5 : 1;
  out.mach = sqrt(3) * p->speed * out.dt / dx;
  out.reynolds = p->speed * length / p->viscosity;
  out.cell_reynolds = p->speed * dx / p->viscosity;
  return out;
}
