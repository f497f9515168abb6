-- expect: 65 bodies[1]: expected z = 0 on a grid of two axes, got 0.5
-- lines: 3
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  bodies = { sim.ball { point = {0.5, 0.5, 0.5}, radius = 0.2 } } }
