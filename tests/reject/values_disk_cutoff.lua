-- expect: 65 bodies[1].cutoff: expected at least 2 radii
return sim.nbody {
  bodies    = { sim.exponential_disk { n = 10, mass = 1, radius = 1, cutoff = 1, halo = { n = 10, mass = 5, radius = 3 } } },
  gravity   = { softening = 0.1 },
  integrate = { dt = 1, t_end = 2 },
}
