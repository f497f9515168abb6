-- expect: 65 acceleration: expected 2 numbers, one for each axis of the grid, got 3
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  acceleration = {0, 0, -9.81} }
