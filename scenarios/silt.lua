-- A cloud of fine sand in water. Each grain is a point with a law of drag, a fifth of a cell across, and pulls water
-- down with it: the cloud sinks faster than a grain alone, 8 mm/s, rolls up into a ring and leaves a tail behind. The
-- table `grains` has its mean speed, and where the energy of the fall goes: about a half is `dragged`, by the slip of
-- grains through the water, the rest moves the water.

local grains = sim.param("grains", 1500, "their number")
local cell   = sim.param("cell", 0.5e-3, "width of a cell, in m; a grain is 0.1 mm across")

return sim.fluid {
  title     = "A cloud of sand in water",
  precision = "single",
  grid      = { n = {0.016 / cell, 0.016 / cell, 0.03 / cell}, size = {0.016, 0.016, 0.03}, boundary = "wall" },
  viscosity = 1e-6,
  density   = 1000,
  speed     = 0.03,
  drag      = "schiller_naumann",
  grains    = { sim.random_spheres { n = grains, radius = 50e-6, density = 2650,
                                     low = {0.0055, 0.0055, 0.0225}, high = {0.0105, 0.0105, 0.0275} } },
  gravity   = {0, 0, -9.81},
  contact   = { contact_time = 2e-3, restitution = 0.5 },
  integrate = { t_end = 0.6 },
  output    = { snapshots = "every 0.1", tables = "every 0.02" },
}
