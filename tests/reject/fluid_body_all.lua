-- expect: 65 bodies: no cell is fluid
-- lines: 3
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  bodies = { sim.block { low = {-1, -1, 0}, high = {2, 2, 0} } } }
