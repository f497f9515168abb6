-- Convection between free plates (Rayleigh and Benard): a fluid is heated from below. The vorticity w and the temperature T have
-- fixed values at the plates y = 0 and 1, where the fluid slips without friction; psi, the stream function, is a derived
-- field, and the velocity is (-psi_y, psi_x). Lengths are in heights and times in those of the diffusion of heat. The
-- fluid is at rest below the Rayleigh number 27 pi^4/4 = 657.5; above it rolls carry heat: `nusselt` is the heat's flow over
-- that at rest.

local Ra = sim.param("Ra", 2e4, "Rayleigh number")
local Pr = sim.param("Pr", 1, "Prandtl number")
local n  = sim.param("n", 48, "cells in a height")

return sim.diffusion {
  title     = "Convection between free plates",
  grid      = { n = {4 * n, n}, size = {4, 1}, y = "fixed" },
  fields    = {
    { name = "T", D = 1, walls = {1, 0}, noise = 1e-2, initial = function(y) return 1 - y end },
    { name = "w", D = Pr },
  },
  derived   = { psi = function(kx, ky, w) return -w / (kx^2 + ky^2) end },
  rates     = function(T_x, T_y, w_x, w_y, psi_x, psi_y)
    return psi_y * T_x - psi_x * T_y, psi_y * w_x - psi_x * w_y + Ra * Pr * T_x
  end,
  observe   = {
    nusselt = { function(T, psi_x, T_y) return psi_x * T - T_y end, reduce = "mean" },
    energy  = { function(psi_x, psi_y) return (psi_x^2 + psi_y^2) / 2 end, reduce = "mean" },
  },
  integrate = { scheme = "etdrk4", dt = 1e-4, t_end = 0.4, dealias = true },
  output    = { snapshots = "every 0.01", tables = "every 0.002" },
}
