-- Spots that grow and divide (Gray and Scott): u feeds v, v decays, and both diffuse.

local n = sim.param("n", 256, "cells along a side")
local F = sim.param("F", 0.0367, "rate at which u is fed")
local k = sim.param("k", 0.0649, "rate at which v decays, beside F")

local function spot(x, y) return math.exp(-400 * ((x - 1.25)^2 + (y - 1.2)^2)) + math.exp(-400 * ((x - 1.05)^2 + (y - 1.35)^2)) end

return sim.diffusion {
  title     = "Spots that divide",
  precision = "single",
  grid      = { n = {n, n}, size = {2.5, 2.5} },
  fields    = {
    { name = "u", D = 2e-5, initial = function(x, y) return 1 - 0.5 * spot(x, y) end },
    { name = "v", D = 1e-5, initial = function(x, y) return 0.3 * spot(x, y) end, noise = 0.001 },
  },
  rates     = function(u, v) return -u*v^2 + F*(1 - u), u*v^2 - (F + k)*v end,
  integrate = { scheme = "strang", dt = 2.0, t_end = 6000 },
  output    = { snapshots = "every 500", tables = "every 50" },
}
