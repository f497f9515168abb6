-- expect: 65 average.every: expected an integer in [1, 1000000000], got 0
return sim.fluid { grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1,
  sides = { y_high = { velocity = {1, 0} } }, integrate = { t_end = 10 }, average = { every = 0 } }
