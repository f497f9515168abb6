-- expect: 65 probes: point 2: expected y from 0 to 1, got 1.5
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01 } },
  integrate = { t_end = 1 },
  probes    = { {0, 0, 0}, {0.5, 1.5, 0} },
}
