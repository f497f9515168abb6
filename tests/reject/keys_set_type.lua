-- expect: 64 --set n=many: expected an integer
-- args: --set n=many
local n = sim.param("n", 16, "stars")
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
