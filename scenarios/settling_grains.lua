-- Glass beads that settle in a viscous oil: each pulls fluid down with it, which rises beside them; those behind others
-- catch up with them. The table `grains` has their mean height and speed, and where the energy of their fall goes: most
-- of it into the fluid, the rest into films between surfaces that come close, and into contacts.

local beads = sim.param("beads", 8, "their number")
local cell  = sim.param("cell", 0.5e-3, "width of a cell, in m; a bead is 3.2 mm across")

return sim.fluid {
  title     = "Beads that settle in oil",
  precision = "single",
  grid      = { n = {0.014 / cell, 0.014 / cell, 0.022 / cell}, size = {0.014, 0.014, 0.022}, boundary = "wall" },
  viscosity = 1e-4,
  density   = 900,
  speed     = 0.09,
  mach      = 0.15,
  grains    = { sim.random_spheres { n = beads, radius = 1.6e-3, density = 2500, low = {0, 0, 0.01} } },
  gravity   = {0, 0, -9.81},
  contact   = { contact_time = 1e-3, restitution = 0.9, friction = 0.3 },
  integrate = { t_end = 0.4 },
  output    = { snapshots = "every 0.04", tables = "every 0.01" },
}
