/* Scenarios that run on the CPU and on a GPU in fluid.c; `kind` is the precision. */
#ifndef SIM_TESTS_PARITY_FLUID_TEXTS_H
#define SIM_TESTS_PARITY_FLUID_TEXTS_H

/* All that a run may have. The first ones are made by the marching kernel; widths are no multiples of its tiles. */
static const char *const texts[] = {
    "return sim.fluid { precision = kind, grid = { n = {75, 20, 26}, size = {3.75, 1, 1.3}, z = 'wall' },\n"
    "  viscosity = 0.02, speed = 1, acceleration = {0.1, 0.05, 0}, sides = { z_high = { velocity = {0.5, 0.2, 0} } },\n"
    "  initial = function(x, y, z) return 0.2 * math.sin(3*x), 0, 0.1 * math.cos(5*y) end,\n"
    "  probes = { {2, 0.5, 0.5}, {3, 0.1, 1.2} },\n"
    "  bodies = { sim.ball { point = {0.1, 0.5, 0.6}, radius = 0.3, spin = 1 },\n"
    "             sim.block { low = {1, 0.2, 0.3}, high = {1.3, 0.5, 0.6} } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {64, 33, 40}, size = {6.4, 3.3, 4}, boundary = 'periodic' },\n"
    "  viscosity = 0.003, speed = 1, turbulence = { smagorinsky = 0.2 },\n"
    "  initial = function(x, y, z) return 0.7 * math.sin(2*y), 0.5 * math.sin(3*z), 0.3 * math.cos(2*x), 0.1 end,\n"
    "  integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {40, 24, 20}, size = {4, 2.4, 2}, boundary = 'wall', y = 'slip' "
    "},\n"
    "  viscosity = 0.01, speed = 1, sides = { x_high = { pressure = 0 }, x_low = { profile = function(x, y, z)\n"
    "    return 4 * z * (2 - z) / 4 * 0.8, 0, 0 end } },\n"
    "  bodies = { sim.cylinder { point = {1.5, 1, 1}, axis = {0.2, 1, 0}, radius = 0.42, spin = 0.5 } },\n"
    "  integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {20, 12, 10}, size = {2, 1.2, 1} }, viscosity = 0.01, speed = "
    "1,\n"
    "  turbulence = { smagorinsky = 0.15 }, acceleration = {0.02, 0, 0.01},\n"
    "  bodies = { sim.ball { point = {1, 0.6, 0.5}, radius = 0.31 } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {185, 95}, size = {3.7, 1.9}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.005, speed = 1, sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0.1 } },\n"
    "  probes = { {2, 1, 0} },\n"
    "  bodies = { sim.cylinder { point = {1, 1, 0}, radius = 0.33, spin = -1 } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {40, 37}, size = {4, 3.7} }, viscosity = 0.002, speed = 1,\n"
    "  turbulence = { smagorinsky = 0.1 }, acceleration = {0.02, 0.01},\n"
    "  initial = function(x, y) return 0.5 * math.sin(3*y), 0.4 * math.sin(2*x) end, integrate = { t_end = 100 } }",
    /* heat: convection between plates, by the marching kernel; bodies, inlet and outlet, eddies; in 2-D */
    "return sim.fluid { precision = kind, grid = { n = {75, 20, 26}, size = {3.75, 1, 1.3}, z = 'wall' },\n"
    "  viscosity = 0.01, speed = 1, acceleration = {0.1, 0, 0}, heat = { diffusivity = 0.008, expansion = 0.5,\n"
    "  gravity = {0, 0.1, -1}, reference = 300, z_low = 301, z_high = 299,\n"
    "  initial = function(x, y, z) return 300 - 0.5*z + 0.3*math.sin(4*x) end },\n"
    "  initial = function(x, y, z) return 0.2*math.sin(3*x), 0, 0.1*math.cos(5*y) end, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {40, 24, 20}, size = {4, 2.4, 2}, boundary = 'wall', y = 'slip' "
    "},\n"
    "  viscosity = 0.01, speed = 1, turbulence = { smagorinsky = 0.15, prandtl = 0.7 },\n"
    "  sides = { x_high = { pressure = 0 }, x_low = { profile = function(x, y, z) return z * (2 - z) * 0.8, 0, 0 end } "
    "},\n"
    "  heat = { diffusivity = 0.004, expansion = 0.2, gravity = {0, 0, -1}, x_low = 0.3, z_high = 1, reference = 0.2 "
    "},\n"
    "  bodies = { sim.cylinder { point = {1.5, 1, 1}, axis = {0.2, 1, 0}, radius = 0.42, spin = 0.5, temperature = 1 "
    "},\n"
    "             sim.ball { point = {3, 1.2, 1}, radius = 0.3 } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {95, 45}, size = {1.9, 0.9}, boundary = 'wall' },\n"
    "  viscosity = 0.005, speed = 1, sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0.1 } },\n"
    "  heat = { diffusivity = 0.01, x_low = -1, y_high = 0.5, x_high = 0, reference = -1 },\n"
    "  bodies = { sim.cylinder { point = {0.6, 0.5, 0}, radius = 0.23, spin = -1, temperature = 2 },\n"
    "             sim.block { low = {1, 0.2, 0}, high = {1.3, 0.43, 0} } }, integrate = { t_end = 100 } }",
    /* sponges, two of which meet at an edge */
    "return sim.fluid { precision = kind, grid = { n = {70, 24, 20}, size = {7, 2.4, 2}, boundary = 'wall', z = "
    "'periodic' },\n"
    "  viscosity = 0.01, speed = 1, sides = { x_low = { velocity = {0.5, 0, 0}, sponge = 1 },\n"
    "    x_high = { pressure = 0, sponge = 1.5 }, y_high = { pressure = 0, sponge = 0.9 } },\n"
    "  bodies = { sim.ball { point = {6, 1.1, 1}, radius = 0.4 } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {95, 45}, size = {1.9, 0.9}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.005, speed = 1, turbulence = { smagorinsky = 0.1 },\n"
    "  sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0.1, sponge = 0.4 } },\n"
    "  initial = function(x, y) return 0.5, 0.1*math.sin(7*x), 0.02*math.sin(9*x) end,\n"
    "  integrate = { t_end = 100 } }",
    /* bodies that move, beside one that rests and a sponge */
    "return sim.fluid { precision = kind, grid = { n = {48, 24, 20}, size = {4.8, 2.4, 2}, boundary = 'periodic' },\n"
    "  viscosity = 0.02, speed = 1, acceleration = {0.02, 0, 0.01},\n"
    "  bodies = { sim.ball { point = {1, 1.2, 1}, radius = 0.41, velocity = {0.8, 0.2, 0.1} },\n"
    "             sim.block { low = {2.2, 0.6, 0.7}, high = {2.9, 1.5, 1.4}, axis = {0, 0.3, 1},\n"
    "                         turning = function(t) return 1.1 * math.cos(t) end },\n"
    "             sim.ball { point = {4, 0.7, 0.5}, radius = 0.33, spin = 1 } }, integrate = { t_end = 1 } }",
    "return sim.fluid { precision = kind, grid = { n = {70, 45}, size = {7, 4.5}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.02, speed = 1.2, turbulence = { smagorinsky = 0.1 },\n"
    "  sides = { x_low = { velocity = {0.3, 0} }, x_high = { pressure = 0, sponge = 1.2 } },\n"
    "  bodies = { sim.cylinder { point = {2, 2.2, 0}, radius = 0.52, motion = function(t)\n"
    "    return 0.5, 0.6*math.sin(3*t) end, spin = 0.7 } }, integrate = { t_end = 1 } }",
    /* a body from a file, at rest and turning; solid cells; with sides and eddies */
    "return sim.fluid { precision = kind, grid = { n = {70, 24, 21}, size = {7, 2.4, 2.1}, boundary = 'wall', y = "
    "'slip'\n"
    "  }, viscosity = 0.01, speed = 1, sides = { x_low = { velocity = {0.5, 0, 0} }, x_high = { pressure = 0 } },\n"
    "  bodies = { sim.stl { path = 'parity_fluid.stl', shift = {2, 1.2, 1.04} },\n"
    "             sim.ball { point = {4.5, 0.3, 1}, radius = 0.4 } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {40, 24, 20}, size = {4, 2.4, 2}, boundary = 'periodic' },\n"
    "  viscosity = 0.02, speed = 1.5, acceleration = {0.02, 0, 0.01},\n"
    "  bodies = { sim.stl { path = 'parity_fluid.stl', shift = {2, 1.2, 1}, pivot = {2, 1.2, 1}, axis = {0.2, 0.3, "
    "1},\n"
    "                       turning = function(t) return 1.1 * math.cos(t) end, velocity = {0.4, 0, 0.2} } },\n"
    "  integrate = { t_end = 1 } }",
    "return sim.fluid { precision = kind, grid = { n = {40, 24, 20}, size = {4, 2.4, 2}, y = 'slip', z = 'wall' },\n"
    "  viscosity = 0.02, speed = 1, acceleration = {0.3, 0.02, 0.01}, turbulence = { smagorinsky = 0.1 },\n"
    "  sides = { z_high = { velocity = {0.5, 0.1, 0} } }, probes = { {2.05, 0.75, 0.75} },\n"
    "  solid = { path = 'rock', dataset = 'rock', threshold = 0.5 }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {95, 45}, size = {1.9, 0.9}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.005, speed = 1, sides = { x_low = { pressure = 0.1 }, x_high = { pressure = 0 } },\n"
    "  solid = { path = 'rock', dataset = 'rock', threshold = 0.5, dark = true }, integrate = { t_end = 100 } }",
    /* heat fluxes: of sides and a body from a file, with eddies; of a block, an adiabatic body and a slip side */
    "return sim.fluid { precision = kind, grid = { n = {70, 24, 21}, size = {7, 2.4, 2.1}, boundary = 'wall', y = "
    "'slip'\n"
    "  }, viscosity = 0.01, speed = 1, turbulence = { smagorinsky = 0.15, prandtl = 0.7 },\n"
    "  sides = { x_high = { pressure = 0 }, x_low = { velocity = {0.6, 0, 0} } },\n"
    "  heat = { diffusivity = 0.008, expansion = 0.2, gravity = {0, 0, -1}, x_low = 0.3, reference = 0.3, z_high = 1,\n"
    "           flux = { z_low = 0.01, y_high = -0.02 } },\n"
    "  bodies = { sim.stl { path = 'parity_fluid.stl', shift = {2, 1.2, 1.04}, flux = 0.02 },\n"
    "             sim.ball { point = {4.5, 1.1, 1}, radius = 0.4, temperature = 1, spin = 1 } },\n"
    "  integrate = { t_end = 1 } }",
    "return sim.fluid { precision = kind, grid = { n = {95, 45}, size = {1.9, 0.9}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.005, speed = 1, sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0.1 } },\n"
    "  heat = { diffusivity = 0.01, x_low = -1, x_high = 0, reference = -1, flux = { y_low = 0.03 } },\n"
    "  bodies = { sim.cylinder { point = {0.6, 0.5, 0}, radius = 0.23, spin = -1, flux = 0.05 },\n"
    "             sim.block { low = {1, 0.2, 0}, high = {1.3, 0.43, 0}, flux = -0.02 },\n"
    "             sim.ball { point = {1.4, 0.7, 0}, radius = 0.1 } }, integrate = { t_end = 1 } }",
    /* heat with sponges: two that meet, a body inside one, buoyancy; with eddies and a flux */
    "return sim.fluid { precision = kind, grid = { n = {70, 24, 20}, size = {7, 2.4, 2}, boundary = 'wall', z = "
    "'periodic' },\n"
    "  viscosity = 0.01, speed = 1, sides = { x_low = { velocity = {0.5, 0, 0}, sponge = 1 },\n"
    "    x_high = { pressure = 0, sponge = 1.5 }, y_high = { pressure = 0, sponge = 0.9 } },\n"
    "  heat = { diffusivity = 0.008, expansion = 0.3, gravity = {0.1, -1, 0}, x_low = 0.1, y_low = 0.8,\n"
    "           initial = function(x, y, z) return 0.3 * math.sin(2*x) * math.cos(3*z) end },\n"
    "  bodies = { sim.ball { point = {6, 1.1, 1}, radius = 0.4, temperature = 1 } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {95, 45}, size = {1.9, 0.9}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.005, speed = 1, turbulence = { smagorinsky = 0.1 },\n"
    "  sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0.1, sponge = 0.4 } },\n"
    "  initial = function(x, y) return 0.5, 0.1*math.sin(7*x), 0.02*math.sin(9*x) end,\n"
    "  heat = { diffusivity = 0.004, expansion = 0.2, gravity = {0, -1}, x_low = 0.3, reference = 0.3,\n"
    "           flux = { y_low = 0.01 } },\n"
    "  bodies = { sim.cylinder { point = {1.6, 0.5, 0}, radius = 0.13, flux = 0.02 } }, integrate = { t_end = 1 } }",
    /* grains of two sizes that share cells, through periodic sides, and at walls of which one moves */
    "return sim.fluid { precision = kind, grid = { n = {40, 26, 28}, size = {40, 26, 28} },\n"
    "  viscosity = 0.08, speed = 0.12, initial = function(x, y, z) return 0.02 * math.sin(z/28*2*math.pi), 0, 0 end,\n"
    "  grains = { { radius = 3.1, position = {2, 12, 10}, velocity = {0, 0, -0.1}, density = 9 },\n"
    "    { radius = 3.6, position = {39.7, 12.5, 2.5}, density = 1, angular_velocity = {0.004, 0.002, 0} },\n"
    "    { radius = 3.3, position = {12, 25, 14.2}, velocity = {0.03, 0.02, -0.03}, density = 2.2 } },\n"
    "  gravity = {0, 0, -1e-4}, contact = { contact_time = 5, restitution = 0.8, friction = 0.4 },\n"
    "  integrate = { dt = 1, t_end = 200 } }",
    "return sim.fluid { precision = kind, grid = { n = {36, 20, 22}, size = {36, 20, 22}, z = 'wall', y = 'slip' },\n"
    "  viscosity = 0.08, speed = 0.12, acceleration = {1e-4, 0, 0},\n"
    "  sides = { z_high = { velocity = {0.05, 0.02, 0} } },\n"
    "  grains = { { radius = 3.1, position = {8, 4, 3.2}, velocity = {0, 0, -0.02}, density = 3 },\n"
    "    { radius = 4, position = {20, 9, 17.7}, velocity = {0.05, 0.02, 0.01}, density = 1.5 },\n"
    "    { radius = 3.2, position = {14.5, 4.4, 3.4}, velocity = {-0.05, 0, 0}, density = 2 } },\n"
    "  gravity = {0, 0, -1e-4}, contact = { contact_time = 5, restitution = 0.8 },\n"
    "  integrate = { dt = 1, t_end = 200 } }",
    /* heat on a grid that whole wide tiles cover, with a body */
    "return sim.fluid { precision = kind, grid = { n = {128, 14, 12}, size = {12.8, 1.4, 1.2}, z = 'wall' },\n"
    "  viscosity = 0.01, speed = 1, acceleration = {0.1, 0, 0}, heat = { diffusivity = 0.008, expansion = 0.5,\n"
    "  gravity = {0.2, 0.1, -1}, reference = 3, z_low = 3.5, z_high = 2.5,\n"
    "  initial = function(x, y, z) return 3 + 0.3*math.sin(2*math.pi*x/3.2)*math.cos(2*math.pi*y/1.4) end },\n"
    "  initial = function(x, y, z) return 0.2*math.sin(2*math.pi*y/1.4), 0, 0.1*math.cos(2*math.pi*x/6.4) end,\n"
    "  bodies = { sim.ball { point = {6.5, 0.7, 0.6}, radius = 0.31, temperature = 4 } },\n"
    "  integrate = { t_end = 100 } }",
    /* D3Q27: bodies, walls that move and force; eddies, inlet, outlet, slip and sponge; heat; bodies that move; grains
     */
    "return sim.fluid { precision = kind, lattice = 'D3Q27', grid = { n = {45, 20, 22}, size = {2.25, 1, 1.1}, z = "
    "'wall' "
    "},\n"
    "  viscosity = 0.02, speed = 1, acceleration = {0.1, 0.05, 0}, sides = { z_high = { velocity = {0.5, 0.2, 0} } },\n"
    "  initial = function(x, y, z) return 0.2 * math.sin(3*x), 0, 0.1 * math.cos(5*y) end, probes = { {2, 0.5, 0.5} "
    "},\n"
    "  bodies = { sim.ball { point = {0.1, 0.5, 0.6}, radius = 0.3, spin = 1 },\n"
    "             sim.block { low = {1, 0.2, 0.3}, high = {1.3, 0.5, 0.6} } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, lattice = 'D3Q27', grid = { n = {40, 20, 18}, size = {4, 2, 1.8},\n"
    "  boundary = 'wall', y = 'slip' }, viscosity = 0.01, speed = 1, turbulence = { smagorinsky = 0.15, prandtl = 0.7 "
    "},\n"
    "  sides = { x_high = { pressure = 0, sponge = 0.9 }, x_low = { profile = function(x, y, z)\n"
    "    return z * (1.8 - z) * 0.8, 0, 0 end } },\n"
    "  heat = { diffusivity = 0.004, expansion = 0.2, gravity = {0, 0, -1}, x_low = 0.3, z_high = 1, reference = 0.2 "
    "},\n"
    "  bodies = { sim.cylinder { point = {1.5, 1, 0.9}, axis = {0.2, 1, 0}, radius = 0.42, spin = 0.5, temperature = 1 "
    "}\n"
    "  }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, lattice = 'D3Q27', grid = { n = {40, 22, 20}, size = {4, 2.2, 2},\n"
    "  boundary = 'periodic' }, viscosity = 0.02, speed = 1, acceleration = {0.02, 0, 0.01},\n"
    "  bodies = { sim.ball { point = {1, 1.2, 1}, radius = 0.41, velocity = {0.8, 0.2, 0.1} },\n"
    "             sim.block { low = {2.2, 0.6, 0.7}, high = {2.9, 1.5, 1.4}, axis = {0, 0.3, 1},\n"
    "                         turning = function(t) return 1.1 * math.cos(t) end } }, integrate = { t_end = 1 } }",
    "return sim.fluid { precision = kind, lattice = 'D3Q27', grid = { n = {32, 20, 22}, size = {32, 20, 22}, z = "
    "'wall' },\n"
    "  viscosity = 0.08, speed = 0.12, acceleration = {1e-4, 0, 0}, sides = { z_high = { velocity = {0.05, 0.02, 0} } "
    "},\n"
    "  grains = { { radius = 3.1, position = {8, 4, 3.2}, velocity = {0, 0, -0.02}, density = 3 },\n"
    "    { radius = 4, position = {20, 9, 17.7}, velocity = {0.05, 0.02, 0.01}, density = 1.5 } },\n"
    "  gravity = {0, 0, -1e-4}, contact = { contact_time = 5, restitution = 0.8 },\n"
    "  integrate = { dt = 1, t_end = 200 } }",
    /* sides that change with time, of which one is straight, derived fields, means, gates and coefficients: in 3-D with
     * two bodies and eddies; in 2-D with heat that comes in and leaves by an inlet, and buoyancy; D3Q27 */
    "return sim.fluid { precision = kind, grid = { n = {70, 24, 21}, size = {7, 2.4, 2.1}, boundary = 'wall', y = "
    "'slip'\n"
    "  }, viscosity = 0.01, speed = 1, turbulence = { smagorinsky = 0.1 },\n"
    "  sides = { x_low = { profile = function(x, y, z, t)\n"
    "      return 0.6 * math.sin(9*t) * z * (2.1 - z), 0.1 * math.cos(7*t), 0 end },\n"
    "    x_high = { pressure = function(y, t) return 0.02 * math.sin(11*t) * y end, straight = true },\n"
    "    z_high = { profile = function(t) return 0.3 * math.sin(5*t), 0.1, 0 end },\n"
    "    z_low = { profile = function(x) return 0.02 * x, 0, 0 end } },\n"
    "  bodies = { sim.ball { point = {2, 1.2, 1}, radius = 0.41, spin = 1,\n"
    "    reference = { area = 0.5, length = 0.8, direction = {1, 0, 0} } },\n"
    "    sim.block { name = 'b', low = {4, 0.2, 0.3}, high = {4.8, 1.2, 1.1},\n"
    "      reference = { area = 1, length = 1, direction = {1, 0, 0}, centre = {4, 0, 0} } } },\n"
    "  gates = { { axis = 'x', at = 3.33, z = {0.31, 1.77} }, { name = 'top', axis = 'z', at = 1.9 },\n"
    "    { axis = 'y', at = 0.01, x = {1, 5} } },\n"
    "  average = { from = 0.1, every = 3 }, output = { fields = 'vorticity, q, shear' }, integrate = { t_end = 10 } }",
    "return sim.fluid { precision = kind, grid = { n = {95, 45}, size = {1.9, 0.9}, boundary = 'wall' },\n"
    "  viscosity = 0.005, speed = 1, sides = { x_high = { pressure = 0.1, straight = true },\n"
    "    x_low = { profile = function(y, t) return 0.5 * math.sin(40*t) * math.sin(7*y), 0 end } },\n"
    "  heat = { diffusivity = 0.01, expansion = 0.3, gravity = {0, -1}, x_low = -1, y_high = 0.5, reference = -1 },\n"
    "  bodies = { sim.cylinder { name = 'c', point = {0.6, 0.5, 0}, radius = 0.13, temperature = 2,\n"
    "    reference = { area = 0.26, length = 0.26, direction = {1, 0} } } }, gates = { { axis = 'x', at = 1.5 } },\n"
    "  average = { from = 0 }, output = { fields = 'vorticity, q, shear' }, integrate = { t_end = 10 } }",
    "return sim.fluid { precision = kind, lattice = 'D3Q27', grid = { n = {40, 20, 18}, size = {4, 2, 1.8},\n"
    "  boundary = 'wall', y = 'periodic' }, viscosity = 0.01, speed = 1,\n"
    "  sides = { x_high = { pressure = function(t) return 0.02 * math.sin(11*t) end, straight = true },\n"
    "    x_low = { profile = function(y, z, t) return z * (1.8 - z) * 0.6 * math.sin(9*t), 0, 0 end } },\n"
    "  bodies = { sim.ball { point = {1.5, 1, 0.9}, radius = 0.42, reference = { area = 0.5, length = 0.8,\n"
    "    direction = {1, 0, 0} } } }, gates = { { axis = 'y', at = 1.97 } }, average = { every = 2 },\n"
    "  output = { fields = 'q' }, integrate = { t_end = 10 } }",
    /* the spectrum and the end of a flow that is steady: a periodic box; with heat; coefficients of bodies that move */
    "return sim.fluid { precision = kind, grid = { n = {64, 24, 16}, size = {6.4, 2.4, 1.6} }, viscosity = 0.01,\n"
    "  speed = 1, spectrum = 12, steady = 1e-9, output = { tables = 'every 1 steps', fields = 'vorticity' },\n"
    "  average = {}, initial = function(x, y, z) return 0.7 * math.sin(2*math.pi*y/2.4),\n"
    "    0.5 * math.sin(2*math.pi*z/0.8), 0.3 * math.cos(2*math.pi*x/3.2) end, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {40, 37}, size = {4, 3.7}, y = 'wall' }, viscosity = 0.01,\n"
    "  speed = 1, heat = { diffusivity = 0.01, expansion = 0.5, gravity = {0.2, -1}, y_low = 1, y_high = -1,\n"
    "    initial = function(x) return 0.3 * math.sin(math.pi*x) end }, steady = 1e-9, average = { every = 5 },\n"
    "  output = { tables = 'every 1 steps' }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {70, 45}, size = {7, 4.5}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.02, speed = 1.2, sides = { x_low = { velocity = {0.3, 0} }, x_high = { pressure = 0 } },\n"
    "  gates = { { axis = 'x', at = 2.2 } }, output = { fields = 'vorticity, shear' },\n"
    "  bodies = { sim.cylinder { name = 'c', point = {2, 2.2, 0}, radius = 0.52, motion = function(t)\n"
    "    return 0.5, 0.6*math.sin(3*t) end, spin = 0.7, reference = { area = 1, length = 1 } } },\n"
    "  integrate = { t_end = 1 } }",
    /* an inlet that changes with time, which the means of sponges follow; a body in one of these */
    "return sim.fluid { precision = kind, grid = { n = {48, 20, 18}, size = {4.8, 2, 1.8}, boundary = 'wall',\n"
    "  y = 'slip' }, viscosity = 0.02, speed = 1, sides = { x_high = { pressure = 0, sponge = 1.1 },\n"
    "    x_low = { profile = function(z, t) return math.sin(9*t)*z*(1.8 - z), 0, 0 end, sponge = 0.9 } },\n"
    "  bodies = { sim.ball { point = {4.2, 1, 0.9}, radius = 0.3 } }, integrate = { t_end = 100 } }",
    /* bodies that go through sides, at rest and moving */
    "return sim.fluid { precision = kind, grid = { n = {40, 20, 18}, size = {4, 2, 1.8}, boundary = 'wall',\n"
    "  y = 'slip' }, viscosity = 0.02, speed = 1, acceleration = {0.02, 0.01, -0.03}, sides = {\n"
    "    x_high = { pressure = 0 }, x_low = { pressure = 0.03, straight = true } }, bodies = {\n"
    "      sim.cylinder { point = {0, 1, 0.9}, axis = {1, 0, 0}, radius = 0.83, inside = true },\n"
    "      sim.cylinder { point = {1.23, 0.97, 0}, axis = {0, 0, 1}, radius = 0.42, spin = 0.3 },\n"
    "      sim.block { low = {3.14, -1, -1}, high = {9, 0.86, 0.93} } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {70, 45}, size = {7, 4.5}, boundary = 'wall', y = 'slip' },\n"
    "  viscosity = 0.02, speed = 1.2, acceleration = {0.01, -0.02}, sides = { x_low = { pressure = 0.05 },\n"
    "    x_high = { pressure = 0 } }, bodies = {\n"
    "      sim.block { low = {-9, -1, 0}, high = {19, 0.43, 0}, velocity = {0.5, 0, 0} },\n"
    "      sim.ball { point = {6.6, 4.2, 0}, radius = 0.77 } }, integrate = { t_end = 1 } }",
    /* walls just before the first centres beside an inlet that changes with time */
    "return sim.fluid { precision = kind, grid = { n = {40, 21}, size = {4, 2.1}, boundary = 'wall' },\n"
    "  viscosity = 0.02, speed = 1, sides = { x_high = { pressure = 0 }, x_low = { profile = function(x, y, z, t)\n"
    "    return sim.max(0, (y - 0.23)*(1.87 - y))*math.sin(9*t), 0 end } }, bodies = {\n"
    "      sim.block { low = {-1, -1, 0}, high = {5, 0.23, 0} }, sim.block { low = {-1, 1.87, 0}, high = {5, 3, 0} }\n"
    "    }, integrate = { t_end = 100 } }"};

#endif
