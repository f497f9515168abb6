-- Taylor and Green's eddies in a periodic box: they stretch each other into smaller and smaller ones, until the viscosity
-- ends them. The table `spectrum` has their kinetic energy by wavenumber, `flow` the enstrophy, which is highest at t = 4.5.

local re = sim.param("re", 100, "Reynolds number of the side over 2 pi")
local n  = sim.param("n", 48, "cells along a side")

return sim.fluid {
  title     = "Eddies break up",
  precision = "single",
  grid      = { n = {n, n, n}, size = {2 * math.pi, 2 * math.pi, 2 * math.pi} },
  viscosity = 1 / re,
  speed     = 1,
  initial   = function(x, y, z)
    return math.sin(x) * math.cos(y) * math.cos(z), -math.cos(x) * math.sin(y) * math.cos(z), 0,
           (math.cos(2 * x) + math.cos(2 * y)) * (math.cos(2 * z) + 2) / 16
  end,
  spectrum  = n // 2,
  integrate = { t_end = 10 },
  output    = { snapshots = "every 2.5", tables = "every 0.25", fields = "vorticity, q" },
}
