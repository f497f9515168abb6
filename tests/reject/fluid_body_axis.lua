-- expect: 65 bodies[1].axis: expected {0, 0, 1} on a grid of two axes
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  bodies = { sim.cylinder { point = {0.5, 0.5, 0}, radius = 0.1, axis = {1, 0, 0} } } }
