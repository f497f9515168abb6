-- Direct sums over all pairs of a Plummer sphere.
--   sim bench bench/bodies.lua --set n=16384
local n = sim.param("n", 16384, "bodies")
return sim.nbody {
  precision = "single",
  bodies    = { sim.plummer { n = n, mass = 1, radius = 1 } },
  gravity   = { softening = 0.01, solver = "direct" },
  integrate = { scheme = sim.param("scheme", "leapfrog", "leapfrog or hermite4"), dt = 2^-14, t_end = 1e6 },
}
