-- expect: 65 bodies[1].velocity: expected 0 along z on a grid of two axes
return sim.fluid {
  grid = { n = {40, 32}, size = {40, 32}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 20 },
  bodies = { sim.ball { point = {20, 16, 0}, radius = 6, velocity = {0, 0, 1} } } }
