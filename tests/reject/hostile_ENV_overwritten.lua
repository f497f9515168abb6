-- expect: 65 hostile_ENV_overwritten.lua:3: attempt to index a nil value (global 'sim')
_ENV = {}
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
