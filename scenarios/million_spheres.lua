-- A million spheres as a gas of simple contacts, in single precision: the form in which most grains a second are moved.

local n       = sim.param("n", 1000000, "grains")
local packing = sim.param("packing", 0.3, "share of the box that they fill")
local time    = sim.param("time", 2.8, "end of the run; by 2.8 the lattice that they start from has melted")
local r       = 0.5
local L       = (4 * math.pi / 3 * r^3 * n / packing)^(1/3)

return sim.collision {
  title     = "A million spheres",
  precision = "single",
  box       = { size = {L, L, L}, boundary = "periodic" },
  grains    = { sim.lattice { n = n, radius = r, density = 6 / math.pi, temperature = 0.03 } },  -- each of mass 1
  contact   = { law = "linear", stiffness = 1000, restitution = 0.9 },
  integrate = { dt = 0.0014, t_end = time },
  output    = { snapshots = "ends", tables = "every 0.07", checkpoint = "never" },
}
