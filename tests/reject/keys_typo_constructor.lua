-- expect: 65 keys_typo_constructor.lua:3: undefined name 'sim.plumer', nearest is 'sim.plummer'
return sim.nbody {
  bodies    = { sim.plumer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
