-- expect: 65 sides.z_low: the grid has no axis z: grid.n has 2 numbers
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  sides = { z_low = { pressure = 0 } } }
