-- Cubic reaction on a periodic cube: u_t = 0.01 lap u + u - u^3, from a known smooth start.
--   sim bench bench/cubic.lua --set n=256
--   sim bench bench/cubic.lua --set hyper=1e-6 --device cuda     cuFFT with separate kernels
local n     = sim.param("n", 256, "cells an axis")
local hyper = sim.param("hyper", 0.0, "hyper-diffusion; above 0 the multiplier is no product, and a GPU takes cuFFT")
local method = sim.param("method", "auto", "auto, or axes, by which grids of 256 and 512 run on several GPUs")
local steps = sim.param("steps", 1e6, "steps; the last one is written")
return sim.diffusion {
  precision = "single",
  grid      = { n = {n, n, n}, size = {2 * math.pi, 2 * math.pi, 2 * math.pi},
                boundary = sim.param("boundary", "periodic", "periodic, no_flux or fixed") },
  fields    = { { name = "u", D = 0.01, hyper = hyper,
                  initial = function(x, y, z) return math.sin(x) * math.cos(2 * y) + 0.5 * math.cos(3 * z) end } },
  rates     = function(u) return u - u^3 end,
  integrate = { scheme = sim.param("scheme", "lie", "lie, strang, etd1, etdrk2 or etdrk4"), dt = 0.01, t_end = 0.01 * steps,
                method = method },
  output    = { snapshots = "ends", tables = "never", checkpoint = "never" },
}
