-- expect: 65 acceleration: the weight of the fluid changes the density by 307 % along y
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, acceleration = {0, -102.4},
  integrate = { dt = 1/320, t_end = 1 } }
