-- expect: 65 bodies[1].reference.lift: expected a direction across that of the drag, {1, 0, 0}
return sim.fluid {
  grid = { n = {32, 32, 32}, size = {32, 32, 32} }, viscosity = 0.1, speed = 1, integrate = { t_end = 20 },
  bodies = { sim.ball { point = {16, 16, 16}, radius = 6, reference = { area = 12, length = 12, direction = {1, 0, 0}, lift = {2, 0, 0} } } } }
