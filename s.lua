return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { dt = 1/64, t_end = 1/8 },
  output    = { checkpoint = "every 1 steps" },
}
