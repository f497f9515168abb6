-- expect: 65 gravity.softening
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = math.huge },
  integrate = { dt = 0.1, t_end = 1 },
}
