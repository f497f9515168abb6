-- expect: 65 keys_typo_model.lua:6: gravty: unknown key, nearest is 'gravity'
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
  gravty    = { G = 2 },
}
