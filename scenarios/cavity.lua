-- A square cavity whose lid moves (Ghia, Ghia and Shin 1982): one large eddy, and smaller ones in the corners. The
-- kinetic energy in the table `flow` comes to rest at 0.043 for Reynolds number 1000.

local re = sim.param("re", 1000, "Reynolds number")
local n  = sim.param("n", 128, "cells along a side")

return sim.fluid {
  title     = "A cavity whose lid moves",
  precision = "single",
  grid      = { n = {n, n}, size = {1, 1}, boundary = "wall" },
  viscosity = 1 / re,
  speed     = 1,
  sides     = { y_high = { velocity = {1, 0} } },
  integrate = { t_end = 40 },
  output    = { snapshots = "every 2", tables = "every 0.25" },
}
