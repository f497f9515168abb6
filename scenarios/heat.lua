-- Heat in a plate: a hot disk and a cold bar between walls that hold 0 on two sides and let nothing through on the
-- others. Without rates the solution is exact at every time: no step is too long.

local n = sim.param("n", 256, "cells along a side")

return sim.diffusion {
  title     = "A plate that cools",
  grid      = { n = {n, n}, size = {1, 1}, x = "fixed", y = "no_flux" },
  fields    = {
    {
      name = "heat", D = 1,
      initial = function(x, y)
        local disk = sim.where(sim.lt((x - 0.3)^2 + (y - 0.6)^2, 0.02), 1, 0)
        return disk - sim.box(x, 0.6, 0.8) * sim.box(y, 0.1, 0.9)
      end,
    },
  },
  integrate = { t_end = 0.05 },
  output    = { snapshots = "every 0.005", tables = "every 0.0005" },
}
