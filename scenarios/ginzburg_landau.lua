-- Spirals (the complex Ginzburg-Landau equation): A_t = A + (1 + ib) lap A - (1 + ic) |A|^2 A for A = u + i v. Its dispersion
-- b couples the two fields by cross-diffusion, and each step is as long as its error allows.

local n = sim.param("n", 128, "cells along a side")
local b = sim.param("b", 0.5, "dispersion of waves")
local c = sim.param("c", -0.8, "dependence of their frequency on the amplitude")

return sim.diffusion {
  title     = "Spirals",
  seed      = 3,
  grid      = { n = {n, n}, size = {n, n} },
  fields    = {
    { name = "u", D = 1, cross = {0, -b}, noise = 0.1 },
    { name = "v", D = 1, cross = {b, 0}, noise = 0.1 },
  },
  rates     = function(u, v)
    local square = u^2 + v^2
    return u - square * (u - c * v), v - square * (v + c * u)
  end,
  integrate = { scheme = "etdrk4", rtol = 1e-4, t_end = 100 },
  observe   = { amplitude = { function(u, v) return math.sqrt(u^2 + v^2) end, reduce = "mean" } },
  output    = { snapshots = "every 10", tables = "every 1" },
}
