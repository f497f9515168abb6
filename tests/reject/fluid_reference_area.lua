-- expect: 65 bodies[1].reference.area: expected a number above 0, got 0
return sim.fluid {
  grid = { n = {32, 32}, size = {32, 32} }, viscosity = 0.1, speed = 1, integrate = { t_end = 20 },
  bodies = { sim.ball { point = {16, 16, 0}, radius = 6, reference = { area = 0, length = 12 } } } }
