-- An inverse cascade: waves of 11 to 13 periods are stirred at random, white in time, so that the vorticity w gets `power`
-- of enstrophy on average, and the flow about power/12^2 of energy. The energy moves on to longer waves, where drag takes
-- it, and enstrophy to shorter ones, where viscosity does: d energy/dt = input - 2 drag energy - 2 nu enstrophy.

local n     = sim.param("n", 192, "cells along an axis")
local nu    = sim.param("nu", 1.1e-3, "viscosity")
local drag  = sim.param("drag", 0.05, "linear drag")
local power = sim.param("power", 1.4, "enstrophy given in a unit of time")

return sim.diffusion {
  title     = "Inverse cascade",
  grid      = { n = {n, n}, size = {2 * math.pi, 2 * math.pi} },
  fields    = { { name = "w", D = nu, decay = drag } },
  derived   = { psi = function(kx, ky, w) return -w / (kx^2 + ky^2) end },
  rates     = function(w_x, w_y, psi_x, psi_y) return psi_y * w_x - psi_x * w_y end,
  forcing   = { fields = "w", k = {11, 13}, power = power, random = true },
  observe   = {
    energy    = { function(psi_x, psi_y) return (psi_x^2 + psi_y^2) / 2 end, reduce = "mean" },
    enstrophy = { function(w) return w^2 / 2 end, reduce = "mean" },
  },
  spectrum  = 64,
  transfer  = 64,
  integrate = { scheme = "etdrk2", dt = 0.01, t_end = 30, dealias = true },
  output    = { snapshots = "every 0.5", tables = "every 0.25" },
}
