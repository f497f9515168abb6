-- Eddies behind a cylinder, at Reynolds number 100: they leave it by turns, and push it up and down. The table `bodies`
-- has the force on it, by length of the cylinder: with speed, density and diameter 1 twice that is its drag and lift.

local re = sim.param("re", 100, "Reynolds number of the diameter")
local n  = sim.param("n", 20, "cells across the cylinder")

return sim.fluid {
  title     = "A street of eddies",
  precision = "single",
  grid      = { n = {15 * n, 6 * n}, size = {15, 6}, boundary = "wall", y = "slip" },
  viscosity = 1 / re,
  speed     = 1.5,
  sides     = { x_low = { velocity = {1, 0} }, x_high = { pressure = 0 } },
  bodies    = { sim.cylinder { name = "cylinder", point = {3, 3, 0}, radius = 0.5 } },
  initial   = function(x, y) return 1, 0.2 * math.sin(x) end, -- uneven, so that the eddies begin early
  integrate = { t_end = 60 },
  output    = { snapshots = "every 2", tables = "every 0.1" },
}
