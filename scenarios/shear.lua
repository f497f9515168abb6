-- Dissipative grains in a box that is sheared (Lees and Edwards): the flow heats what collisions cool, until both are
-- equal. The viscosity is -stress_xy/rate, of table `gas`, where stresses are counted as pressures are; the tables
-- profile_* show the linear flow.

local n       = sim.param("n", 1500, "grains")
local packing = sim.param("packing", 0.3, "share of the box that they fill")
local rate    = sim.param("rate", 1, "dv_x/dy")
local r       = 0.5
local L       = (4 * math.pi / 3 * r^3 * n / packing)^(1/3)

return sim.collision {
  title     = "A sheared granular gas",
  box       = { size = {L, L, L}, boundary = "periodic", shear_rate = rate },
  grains    = { sim.random_spheres { n = n, radius = r, density = 6 / math.pi, temperature = 1 } },  -- each of mass 1
  contact   = { law = "linear", contact_time = 0.01, restitution = 0.8 },
  profile   = { axis = "y", bins = 20 },
  integrate = { dt = "auto", t_end = 10 },
  output    = { snapshots = "every 2", tables = "every 0.1" },
}
