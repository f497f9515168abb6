-- expect: 65 bodies[1]: passes the side y_low of the box at t = 
-- lines: 3
return sim.fluid {
  grid = { n = {40, 32}, size = {40, 32}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 20 },
  bodies = { sim.block { low = {4, 12, 0}, high = {30, 18, 0}, pivot = {10, 15, 0}, spin = -0.04 } } }
