-- expect: 65 keys_duplicate.lua:5: key 'dt' is given twice (first at line 5)
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { dt = 1/256, t_end = 1, dt = 1/128 },
}
