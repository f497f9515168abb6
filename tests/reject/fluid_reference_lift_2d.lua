-- expect: 65 bodies[1].reference.lift: has no effect on a grid of two axes
return sim.fluid {
  grid = { n = {32, 32}, size = {32, 32} }, viscosity = 0.1, speed = 1, integrate = { t_end = 20 },
  bodies = { sim.ball { point = {16, 16, 0}, radius = 6, reference = { area = 12, length = 12, direction = {1, 0}, lift = {0, 1} } } } }
