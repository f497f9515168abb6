-- Direct sums over all pairs of a Plummer sphere.
--   sim bench bench/bodies.lua --set n=16384
--   sim bench bench/bodies.lua --set pair=true     the same force as a function of the scenario
local n         = sim.param("n", 16384, "bodies")
local softening = sim.param("softening", 0.01, "0: on a GPU tiles in shared memory, as for a function, not fixed point")
local pair      = sim.param("pair", false, "gravity as a function of the squared distance")
return sim.nbody {
  precision = "single",
  bodies    = { sim.plummer { n = n, mass = 1, radius = 1 } },
  gravity   = not pair and { softening = softening, solver = "direct" } or nil,
  pair      = pair and function(r2) return -1 / math.sqrt(r2 + softening^2) end or nil,
  integrate = { scheme = sim.param("scheme", "leapfrog", "leapfrog or hermite4"), dt = 2^-14, t_end = 1e6 },
}
