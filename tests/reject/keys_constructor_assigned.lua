-- expect: 65 keys_constructor_assigned.lua:2: 'sim.galaxy' cannot be assigned
sim.galaxy = 1
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
