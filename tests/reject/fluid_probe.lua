-- expect: 65 probes: point 1: expected x from 0 to 1, got 2
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  probes = { {2, 0.5, 0} } }
