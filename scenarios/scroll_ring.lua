-- A scroll ring (Barkley's excitable medium in three axes): a wave turns about a closed line. Where a plane
-- through its axis cuts the ring, it shows as two spirals. All 41 slices of that plane take less room than one whole
-- snapshot, of which the run keeps the first and the last; in between, every second cell along each axis is enough.

local n = sim.param("n", 72, "cells along a side")
local R = sim.param("R", 7, "radius of the ring at the start")
local L = 30
local a, b, eps = 0.75, 0.06, 0.02

return sim.diffusion {
  title     = "A scroll ring",
  precision = "single",
  grid      = { n = {n, n, n}, size = {L, L, L}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, initial = function(x, y, z)
        return sim.step(R - sim.hypot(x - L/2, y - L/2)) * sim.box(z, L/2, L/2 + 3)
      end },
    { name = "v", initial = function(z) return 0.5 * a * sim.step(L/2 - z) end },
  },
  rates     = function(u, v) return u * (1 - u) * (u - (v + b) / a) / eps, u - v end,
  integrate = { scheme = "strang", dt = 0.02, t_end = 10 },
  observe   = { excited = { function(u) return sim.step(u - 0.5) end, reduce = "mean" } },
  output    = {
    snapshots = "ends", tables = "every 0.2",
    slices    = {
      { name = "middle", y = L/2, when = "every 0.25" },
      { name = "coarse", stride = 2, when = "every 2" },
    },
  },
}
