-- expect: 65 bodies[1].high: expected more than `low` along y, 0.5, got 0.4
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  bodies = { sim.block { low = {0.2, 0.5, 0}, high = {0.4, 0.4, 0} } } }
