-- The wake of a cylinder at Reynolds number 100, and its mean: from t = 50 on, when the eddies come by turns, snapshots
-- have the mean of velocity and pressure and the Reynolds stresses, and the vorticity of the moment. In the mean the
-- fluid behind the cylinder flows back along 1.4 diameters. The table `bodies` has coefficients of drag and lift, about
-- 1.6 and up to 0.37 in a channel this narrow, and y+ of the first cells. In the mean over time the drag is also what
-- pressure times 8 and momentum in the table `gates` lose between both planes.

local re   = sim.param("re", 100, "Reynolds number of the diameter")
local n    = sim.param("n", 12, "cells across the cylinder")
local from = sim.param("from", 50, "time from which on means are taken")

return sim.fluid {
  title     = "The mean wake of a cylinder",
  precision = "single",
  grid      = { n = {15 * n, 8 * n}, size = {15, 8}, boundary = "wall", y = "slip" },
  viscosity = 1 / re,
  speed     = 1.5,
  sides     = { x_low = { velocity = {1, 0} }, x_high = { pressure = 0, sponge = 2 } },
  bodies    = { sim.cylinder { name = "cylinder", point = {4, 4, 0}, radius = 0.5,
                               reference = { area = 1, length = 1, speed = 1 } } },
  initial   = function(x, y) return 1, 0.2 * math.sin(x) end, -- uneven, so that the eddies begin early
  gates     = { { name = "before", axis = "x", at = 2 }, { name = "behind", axis = "x", at = 12 } },
  average   = { from = from, every = 8 },
  integrate = { t_end = from + 40 },
  output    = { snapshots = "every 10", tables = "every 0.1", fields = "vorticity" },
}
