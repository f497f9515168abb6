-- expect: 65 keys_typo.lua:4: gravity.sofening: unknown key, nearest is 'softening'
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, sofening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
