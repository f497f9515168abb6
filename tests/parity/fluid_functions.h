/* Scenarios with functions that are compiled when a run begins, as in fluid_texts.h. */
#ifndef SIM_TESTS_PARITY_FLUID_FUNCTIONS_H
#define SIM_TESTS_PARITY_FLUID_FUNCTIONS_H

static const char *const function_texts[] = {
    /* forces: of the place and the time alone, with all that the marching kernel skips; Coriolis' force and a quadratic
     * drag, with eddies; with heat, of the temperature; 27 directions; and of two axes, with a sponge */
    "return sim.fluid { precision = kind, grid = { n = {75, 20, 26}, size = {3.75, 1, 1.3}, z = 'wall' },\n"
    "  viscosity = 0.02, speed = 1, acceleration = {0.1, 0.05, 0}, sides = { z_high = { velocity = {0.5, 0.2, 0} } },\n"
    "  initial = function(x, y, z) return 0.2 * math.sin(3*x), 0, 0.1 * math.cos(5*y) end,\n"
    "  force = function(x, y, z, t) return 0.2*math.cos(2*x + 9*t), 0.1*y*z, 0.3*t end,\n"
    "  probes = { {2, 0.5, 0.5}, {3, 0.1, 1.2} },\n"
    "  bodies = { sim.ball { point = {0.1, 0.5, 0.6}, radius = 0.3, spin = 1 },\n"
    "             sim.block { low = {1, 0.2, 0.3}, high = {1.3, 0.5, 0.6} } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {64, 33, 40}, size = {6.4, 3.3, 4}, boundary = 'periodic' },\n"
    "  viscosity = 0.003, speed = 1, turbulence = { smagorinsky = 0.2 },\n"
    "  initial = function(x, y, z) return 0.7 * math.sin(2*y), 0.5 * math.sin(3*z), 0.3 * math.cos(2*x), 0.1 end,\n"
    "  force = function(x, y, z, t, ux, uy, uz) local s = math.sqrt(ux^2 + uy^2 + uz^2 + 1e-4)\n"
    "    return 2*uy - 0.3*s*ux, -2*ux - 0.3*s*uy, -0.3*s*uz end, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {75, 20, 26}, size = {3.75, 1, 1.3}, z = 'wall' },\n"
    "  viscosity = 0.01, speed = 1, acceleration = {0.1, 0, 0}, heat = { diffusivity = 0.008, expansion = 0.5,\n"
    "  gravity = {0, 0.1, -1}, reference = 300, z_low = 301, z_high = 299,\n"
    "  initial = function(x, y, z) return 300 - 0.5*z + 0.3*math.sin(4*x) end },\n"
    "  force = function(x, y, z, t, ux, uy, uz, T) return 0.5*uy, -0.5*ux, 0.3*(T - 300) end,\n"
    "  initial = function(x, y, z) return 0.2*math.sin(3*x), 0, 0.1*math.cos(5*y) end, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, lattice = 'D3Q27', grid = { n = {36, 20, 18}, size = {3.6, 2, 1.8}, z = "
    "'wall' "
    "},\n"
    "  viscosity = 0.02, speed = 1, initial = function(x, y, z) return 0.3 * math.sin(2*y), 0.2, 0 end,\n"
    "  bodies = { sim.ball { point = {1.5, 1, 0.9}, radius = 0.42, velocity = {0.3, 0.1, 0} } },\n"
    "  force = function(ux, uy, uz) return -0.5*ux, 0.2*ux - 0.5*uy, -0.5*uz end, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {95, 45}, size = {1.9, 0.9}, boundary = 'wall' },\n"
    "  viscosity = 0.005, speed = 1, sides = { x_low = { velocity = {0.5, 0}, sponge = 0.3 },\n"
    "    x_high = { pressure = 0.1, sponge = 0.4 } },\n"
    "  bodies = { sim.cylinder { point = {0.6, 0.5, 0}, radius = 0.23, spin = -1 } },\n"
    "  force = function(x, y, t, ux, uy) return 0.3 * y - 0.2 * ux^3, 0.1 * ux - 0.4 * uy * math.abs(uy) end,\n"
    "  integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {95, 45}, size = {1.9, 0.9}, boundary = 'wall' },\n"
    "  viscosity = 0.005, speed = 1, sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0.1, sponge = "
    "0.4 "
    "} },\n"
    "  heat = { diffusivity = 0.01, expansion = 0.1, gravity = {0, -1}, x_low = -1, y_high = 0.5, x_high = 0,\n"
    "    reference = -1 }, bodies = { sim.cylinder { point = {0.6, 0.5, 0}, radius = 0.23, temperature = 2 } },\n"
    "  force = function(x, y, t, ux, uy, T) return 0.2 * T * uy, -0.2 * T * ux + 0.1 end, integrate = { t_end = 100 } "
    "}",
    /* with heat and eddies, whose rates of relaxation the force takes; cells at walls and in sponges make their own
     * steps
     */
    "return sim.fluid { precision = kind, grid = { n = {40, 24, 20}, size = {4, 2.4, 2}, boundary = 'wall', y = 'slip' "
    "},\n"
    "  viscosity = 0.01, speed = 1, turbulence = { smagorinsky = 0.15, prandtl = 0.7 },\n"
    "  sides = { x_high = { pressure = 0, sponge = 0.9 }, x_low = { velocity = {0.5, 0, 0} } },\n"
    "  heat = { diffusivity = 0.004, expansion = 0.2, gravity = {0, 0, -1}, x_low = 0.3, z_high = 1, reference = 0.2 "
    "},\n"
    "  bodies = { sim.cylinder { point = {1.5, 1, 1}, axis = {0.2, 1, 0}, radius = 0.42, spin = 0.5, temperature = 1 "
    "} },\n"
    "  force = function(x, y, z, t, ux, uy, uz, T) return 0.5*uy, -0.5*ux + 0.2*T, -0.3*uz end,\n"
    "  integrate = { t_end = 100 } }",
    /* viscosities: a power law around bodies, with a force; Carreau's, 27 directions and a body that moves; of the
     * temperature; and of two axes, with sponges, without and with heat */
    "return sim.fluid { precision = kind, grid = { n = {75, 20, 26}, size = {3.75, 1, 1.3}, z = 'wall' },\n"
    "  viscosity = function(shear) return 0.02 * math.max(shear, 0.05)^-0.4 end, speed = 1,\n"
    "  acceleration = {0.1, 0.05, 0}, sides = { z_high = { velocity = {0.5, 0.2, 0} } },\n"
    "  initial = function(x, y, z) return 0.2 * math.sin(3*x), 0, 0.1 * math.cos(5*y) end,\n"
    "  force = function(x, y, z, t, ux, uy, uz) return 0.2*math.cos(2*x + 9*t), -0.3*uz, 0.3*uy end,\n"
    "  bodies = { sim.ball { point = {0.1, 0.5, 0.6}, radius = 0.3, spin = 1 },\n"
    "             sim.block { low = {1, 0.2, 0.3}, high = {1.3, 0.5, 0.6} } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, lattice = 'D3Q27', grid = { n = {36, 20, 18}, size = {3.6, 2, 1.8}, z = "
    "'wall' "
    "},\n"
    "  viscosity = function(shear) return 0.005 + 0.03 * (1 + (2 * shear)^2)^-0.3 end, speed = 1,\n"
    "  initial = function(x, y, z) return 0.3 * math.sin(2*y), 0.2, 0 end,\n"
    "  bodies = { sim.ball { point = {1.5, 1, 0.9}, radius = 0.42, velocity = {0.3, 0.1, 0}, yplus = true } "
    "},\n"
    "  integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {75, 20, 26}, size = {3.75, 1, 1.3}, z = 'wall' },\n"
    "  viscosity = function(shear, T) return 0.01 * math.exp(-0.3 * (T - 300)) / (1 + shear) + 0.005 end, speed = 1,\n"
    "  acceleration = {0.1, 0, 0}, heat = { diffusivity = 0.008, expansion = 0.5, gravity = {0, 0.1, -1},\n"
    "    reference = 300, z_low = 301, z_high = 299,\n"
    "    initial = function(x, y, z) return 300 - 0.5*z + 0.3*math.sin(4*x) end },\n"
    "  initial = function(x, y, z) return 0.2*math.sin(3*x), 0, 0.1*math.cos(5*y) end, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {95, 45}, size = {1.9, 0.9}, boundary = 'wall' },\n"
    "  viscosity = function(shear) return 0.004 + 0.01 * (1 - math.exp(-shear)) / math.max(shear, 1e-9) end, speed = "
    "1,\n"
    "  sides = { x_low = { velocity = {0.5, 0}, sponge = 0.3 }, x_high = { pressure = 0.1, sponge = 0.4 } },\n"
    "  bodies = { sim.cylinder { point = {0.6, 0.5, 0}, radius = 0.23, spin = -1 } }, integrate = { t_end = 100 } }",
    "return sim.fluid { precision = kind, grid = { n = {95, 45}, size = {1.9, 0.9}, boundary = 'wall' },\n"
    "  viscosity = function(shear, T) return 0.01 * (2 + 0.3 * T) * math.max(shear, 0.1)^-0.2 end, speed = 1,\n"
    "  sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0.1, sponge = 0.4 } },\n"
    "  heat = { diffusivity = 0.01, expansion = 0.1, gravity = {0, -1}, x_low = -1, y_high = 0.5, x_high = 0,\n"
    "    reference = -1 }, bodies = { sim.cylinder { point = {0.6, 0.5, 0}, radius = 0.23, temperature = 2 } },\n"
    "  integrate = { t_end = 100 } }"};

#endif
