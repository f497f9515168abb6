-- expect: 65 bodies[1]: meets its own image across the periodic sides along y
-- lines: 3
return sim.fluid {
  grid = { n = {40, 32}, size = {40, 32}, boundary = "periodic" }, viscosity = 0.1, speed = 1, integrate = { t_end = 20 },
  bodies = { sim.block { low = {1, 12, 0}, high = {39, 18, 0}, spin = 0.05 } } }
