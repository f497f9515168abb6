-- A Navier-Stokes stage: velocity times vorticity, which is a derived field, projected. The time of a stage is half the
-- difference of two runs, by their numbers of steps (docs/performance.md).

local n     = sim.param("n", 256, "cells along an axis")
local steps = sim.param("steps", 100, "steps")
local snapshots = sim.param("snapshots", "never", "when snapshots are written")
local method = sim.param("method", "auto", "how a GPU makes steps; cufft: by cuFFT")

return sim.diffusion {
  precision  = "single",
  grid       = { n = {n, n, n}, size = {2 * math.pi, 2 * math.pi, 2 * math.pi} },
  fields     = {
    { name = "u", D = 1e-3, initial = function(x, y, z) return math.sin(x) * math.cos(y) * math.cos(z) end },
    { name = "v", D = 1e-3, initial = function(x, y, z) return -math.cos(x) * math.sin(y) * math.cos(z) end },
    { name = "w", D = 1e-3 },
  },
  solenoidal = "u, v, w",
  derived    = {
    a = function(ky, kz, v, w) return 0, ky * w - kz * v end,
    b = function(kz, kx, u, w) return 0, kz * u - kx * w end,
    c = function(kx, ky, u, v) return 0, kx * v - ky * u end,
  },
  rates      = function(u, v, w, a, b, c) return v * c - w * b, w * a - u * c, u * b - v * a end,
  integrate  = { scheme = "etdrk2", dt = 1e-3, t_end = steps * 1e-3, dealias = true, method = method },
  output     = { snapshots = snapshots, checkpoint = "never", tables = "ends" },
}
