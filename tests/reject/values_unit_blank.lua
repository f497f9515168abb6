-- expect: 65 expected '*' or '/' before 's'
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1, velocity = {"3 km s", 0, 0} } },
  gravity   = { softening = 0.1 },
  integrate = { dt = 0.1, t_end = 1 },
  units     = { length = "km", mass = "kg", time = "s" },
}
