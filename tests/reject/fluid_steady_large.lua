-- expect: 65 steady: expected a number in (0, 0.1], got 1
return sim.fluid { grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1,
  sides = { y_high = { velocity = {1, 0} } }, steady = 1, integrate = { t_end = 10 } }
