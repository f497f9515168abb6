-- expect: 65 viscosity: expected a number > 0, got -0.1
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = -0.1, speed = 1, integrate = { t_end = 1 } }
