-- expect: 65 bodies[1]: its surface is faster, 1.5, at t = 
-- lines: 3
return sim.fluid {
  grid = { n = {40, 32}, size = {40, 32}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 20 },
  bodies = { sim.ball { point = {20, 16, 0}, radius = 6, velocity = {1.5, 0, 0} } } }
