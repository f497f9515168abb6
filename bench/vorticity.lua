-- Two-dimensional flow by its vorticity, of which rates read derivatives alone; timed as navier_stokes.lua.

local n     = sim.param("n", 4096, "cells along an axis")
local steps = sim.param("steps", 100, "steps")
local method = sim.param("method", "auto", "how a GPU makes steps; cufft: by cuFFT")

return sim.diffusion {
  precision = "single",
  grid      = { n = {n, n}, size = {2 * math.pi, 2 * math.pi} },
  fields    = {
    { name = "w", D = 1e-5,
      initial = function(x, y) return math.sin(x) * math.cos(2 * y) + math.cos(3 * x + 1) * math.sin(y) end },
  },
  derived   = { psi = function(kx, ky, w) return -w / (kx^2 + ky^2) end },
  rates     = function(w_x, w_y, psi_x, psi_y) return psi_y * w_x - psi_x * w_y end,
  integrate = { scheme = "etdrk2", dt = 1e-4, t_end = steps * 1e-4, dealias = true, method = method },
  output    = { snapshots = "never", checkpoint = "never", tables = "ends" },
}
