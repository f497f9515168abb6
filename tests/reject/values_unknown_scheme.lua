-- expect: 65 leapfrog
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  integrate = { scheme = "leapfrogg", dt = 0.1, t_end = 1 },
}
