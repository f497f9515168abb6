-- expect: 65 fields[1].hyper: expected a number of at least 0, got -1
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 1, hyper = -1 } },
  integrate = { dt = 0.1, t_end = 1 },
}
