-- expect: 65 hostile_G_overwritten.lua:2: assignment to the undefined name '_G'
_G = nil
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
