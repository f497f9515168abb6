-- expect: 65 bodies[1].pivot: expected a point {x, y, z}, got 2 numbers
return sim.fluid {
  grid = { n = {40, 32}, size = {40, 32}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 20 },
  bodies = { sim.block { low = {10, 14, 0}, high = {20, 18, 0}, pivot = {10, 10}, spin = 0.01 } } }
