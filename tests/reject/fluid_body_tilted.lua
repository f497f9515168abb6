-- expect: 65 bodies[1].axis: the tilted cylinder does not meet its images across periodic sides
-- lines: 3
return sim.fluid {
  grid = { n = {32, 32, 32}, size = {1, 1, 1} }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  bodies = { sim.cylinder { point = {0.5, 0.5, 0.5}, axis = {1, 2, 0}, radius = 0.2 } } }
