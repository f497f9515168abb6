-- expect: 65 integrate.dt
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { dt = 1e-320, t_end = 1 },
}
