-- expect: 65 sides.x_low.pressure: changes the density by
-- lines: 3
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  sides = { x_low = { pressure = 1000 } } }
