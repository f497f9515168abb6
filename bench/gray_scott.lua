-- Gray and Scott's reaction on a periodic square, from a spot in the middle; one square or many at once.
--   sim bench bench/gray_scott.lua --set n=4096 --device cuda
--   sim bench bench/gray_scott.lua --set n=128 --set side=1.25 --set scheme=etdrk2 --set members=256 --device cuda
local n       = sim.param("n", 4096, "cells an axis")
local side    = sim.param("side", n / 1000, "length of a side")
local members = sim.param("members", 1, "squares, all alike")
local steps   = sim.param("steps", 1e6, "steps; the last one is written")
local F, k    = 0.0367, 0.0649
local function spot(x, y) return math.exp(-50 * ((x / side - 0.5)^2 + (y / side - 0.5)^2)) end
return sim.diffusion {
  precision = "single",
  members   = members,
  grid      = { n = {n, n}, size = {side, side} },
  fields    = { { name = "u", D = 2e-5, initial = function(x, y) return 1 - 0.5 * spot(x, y) end },
                { name = "v", D = 1e-5, initial = function(x, y) return 0.25 * spot(x, y) end } },
  rates     = function(u, v) return -u * v^2 + F * (1 - u), u * v^2 - (F + k) * v end,
  integrate = { scheme = sim.param("scheme", "etdrk4", "lie, strang, etd1, etdrk2 or etdrk4"), dt = 1, t_end = steps },
  output    = { snapshots = "ends", tables = "never", checkpoint = "never" },
}
