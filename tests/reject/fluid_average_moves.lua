-- expect: 65 average: bodies that move are not supported
return sim.fluid { grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1,
  sides = { y_high = { velocity = {1, 0} } }, integrate = { t_end = 10 }, average = {},
  bodies = { sim.ball { point = {0.5, 0.5, 0}, radius = 0.2, velocity = {0.01, 0, 0} } } }
