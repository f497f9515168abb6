-- A warm cylinder in a cold stream: eddies carry its heat away. The table `heat` has what it gives off and its Nusselt number,
-- of its diameter and its temperature above `reference`, that of the stream: 5.16 by the correlation of Churchill and
-- Bernstein (1977) at Reynolds number 100 in a wide stream of air, and more where the sides are near. Without
-- `expansion` the temperature does not act on the flow.

local re = sim.param("re", 100, "Reynolds number of the diameter")
local pr = sim.param("pr", 0.7, "Prandtl number: viscosity over diffusivity")
local n  = sim.param("n", 10, "cells across the cylinder")

return sim.fluid {
  title     = "A warm cylinder in a stream",
  precision = "single",
  grid      = { n = {12 * n, 6 * n}, size = {12, 6}, boundary = "wall", y = "slip" },
  viscosity = 1 / re,
  speed     = 1.5,
  sides     = { x_low = { velocity = {1, 0} }, x_high = { pressure = 0 } },
  bodies    = { sim.cylinder { name = "cylinder", point = {3, 3, 0}, radius = 0.5, temperature = 1 } },
  heat      = { diffusivity = 1 / (re * pr), x_low = 0 },
  initial   = function(x, y) return 1, 0.2 * math.sin(x) end, -- uneven, so that the eddies begin early
  integrate = { t_end = 40 },
  output    = { snapshots = "every 2", tables = "every 0.1" },
}
