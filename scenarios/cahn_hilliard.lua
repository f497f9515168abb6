-- A mixture that separates (Cahn and Hilliard): u_t = lap (u^3 - u - kappa lap u). Drops form and grow; the mean of u
-- stays to rounding, since all of it stands under a Laplacian, and the free energy in the table `observe` never rises.

local n     = sim.param("n", 256, "cells along a side")
local mean  = sim.param("mean", -0.3, "of u; 0: two equal phases")
local kappa = 1

return sim.diffusion {
  title     = "A mixture that separates",
  precision = "single",
  seed      = 1,
  grid      = { n = {n, n}, size = {n / 2, n / 2} },
  fields    = { { name = "u", hyper = kappa, conserved = true, initial = mean, noise = 0.05 } },
  rates     = function(u) return u^3 - u end,
  integrate = { scheme = "etdrk2", dt = 0.1, t_end = 500 },
  observe   = { energy = function(u, u_x, u_y) return (u^2 - 1)^2 / 4 + kappa / 2 * (u_x^2 + u_y^2) end },
  output    = { snapshots = "every 50", tables = "every 1" },
}
