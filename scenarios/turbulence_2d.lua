-- Decaying turbulence in two dimensions: the vorticity w is carried by the flow whose stream function is psi, with lap psi =
-- w. Vortices of one sign merge: energy moves to long waves and is nearly kept, enstrophy to short ones, where viscosity
-- takes it. psi is a derived field: linear in w at each wavenumber. The start has waves of 4 to 8 periods, from a fixed sum.

local n  = sim.param("n", 192, "cells along an axis")
local nu = sim.param("nu", 1.5e-3, "viscosity")

local waves = {}
for k = 1, 24 do
  local angle, length = 2.39996 * k, 4 + 4 * (k * 0.618034 % 1)
  waves[k] = { math.floor(length * math.cos(angle) + 0.5), math.floor(length * math.sin(angle) + 0.5), 7.3 * k % 6.2831853 }
end

return sim.diffusion {
  title     = "Turbulence in two dimensions",
  grid      = { n = {n, n}, size = {2 * math.pi, 2 * math.pi} },
  fields    = {
    { name = "w", D = nu,
      initial = function(x, y)
        local sum = 0
        for _, k in ipairs(waves) do sum = sum + math.cos(k[1] * x + k[2] * y + k[3]) end
        return sum
      end },
  },
  derived   = { psi = function(kx, ky, w) return -w / (kx^2 + ky^2) end },
  rates     = function(w_x, w_y, psi_x, psi_y) return psi_y * w_x - psi_x * w_y end,
  observe   = {
    energy     = { function(psi_x, psi_y) return (psi_x^2 + psi_y^2) / 2 end, reduce = "mean" },
    enstrophy  = { function(w) return w^2 / 2 end, reduce = "mean" },
    -- d energy/dt = -2 nu enstrophy, d enstrophy/dt = -2 nu palinstrophy
    palinstrophy = { function(w_x, w_y) return (w_x^2 + w_y^2) / 2 end, reduce = "mean" },
  },
  spectrum  = 64,
  integrate = { scheme = "etdrk4", dt = 0.02, t_end = 16, dealias = true },
  output    = { snapshots = "every 0.25", tables = "every 0.1" },
}
