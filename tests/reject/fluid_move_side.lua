-- expect: 65 bodies[1]: passes the side x_high of the box at t = 15.5
-- lines: 3
return sim.fluid {
  grid = { n = {40, 32}, size = {40, 32}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 20 },
  bodies = { sim.ball { point = {20, 16, 0}, radius = 6, velocity = {0.9, 0, 0} } } }
