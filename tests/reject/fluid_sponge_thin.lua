-- expect: 65 sides.x_high.sponge: is 5 cells wide: expected at least 8, 8
return sim.fluid {
  grid = { n = {40, 32}, size = {40, 32}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 },
  sides = { x_low = { velocity = {1, 0} }, x_high = { pressure = 0, sponge = 5 } } }
