-- expect: 65 is out of the range of single precision
return sim.nbody {
  precision = "single",
  units     = { length = "m", mass = "kg", time = "s" },
  bodies    = { sim.plummer { n = 10, mass = "1e12 Msun", radius = "1 pc" } },
  integrate = { dt = "1 yr", t_end = "2 yr" },
}
