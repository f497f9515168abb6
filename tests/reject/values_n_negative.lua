-- expect: 65 bodies[1].n
return sim.nbody {
  bodies    = { sim.plummer { n = -16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { dt = 0.1, t_end = 1 },
}
