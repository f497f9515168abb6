-- expect: 65 sides.y_high.velocity: is faster, 2, than `speed`, 1, which sets the time step: expected a larger speed
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  sides = { y_high = { velocity = {2, 0} } } }
