-- expect: 65 integrate.dt
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  integrate = { dt = "adaptive", t_end = 1 },
}
