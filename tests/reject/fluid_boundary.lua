-- expect: 65 wall
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "no_slip" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 } }
