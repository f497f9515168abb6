-- A granular gas cools by itself: each collision keeps nine tenths of the speed at which two grains meet, and the
-- temperature (table `gas`) falls as (1 + t/tc)^-2, Haff's law, until the grains gather in clusters.

local n           = sim.param("n", 2000, "grains")
local packing     = sim.param("packing", 0.1, "share of the box that they fill")
local restitution = sim.param("restitution", 0.9, "speed after a head-on collision over that before")

return sim.collision {
  title     = "A cooling granular gas",
  precision = "single",
  box       = { size = {1, 1, 1}, boundary = "periodic" },
  grains    = {
    sim.random_spheres { n = n, radius = (3 * packing / (4 * math.pi * n))^(1/3), density = 1 / packing * n,
                         temperature = 1 },                      -- each of mass 1, so that its speed is about 1
  },
  contact   = { law = "linear", contact_time = 0.0008, restitution = restitution },
  integrate = { dt = "auto", t_end = 0.5 },
  output    = { snapshots = "every 0.1", tables = "every 0.01" },
}
