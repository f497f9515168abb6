-- expect: 65 keys_typo_item.lua:3: bodies[1].radus: unknown key, nearest is 'radius'
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1, radus = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
