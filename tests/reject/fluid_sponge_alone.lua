-- expect: 65 sides.y_high: expected velocity, profile or pressure
return sim.fluid {
  grid = { n = {40, 32}, size = {40, 32}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 },
  sides = { y_high = { sponge = 10 } } }
