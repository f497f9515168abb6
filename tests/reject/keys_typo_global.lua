-- expect: 65 keys_typo_global.lua:3: undefined name 'masss'
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = masss, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
