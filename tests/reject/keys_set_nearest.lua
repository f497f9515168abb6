-- expect: 64 has no sim.param of that name, nearest is stars
-- args: --set star=5
local n = sim.param("stars", 16, "stars")
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
