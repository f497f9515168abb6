-- expect: 65 sides.x_low: expected one of velocity, profile and pressure
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  sides = { x_low = { velocity = {1, 0}, pressure = 0 } } }
