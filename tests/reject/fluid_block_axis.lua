-- expect: 65 bodies[1].axis: expected {0, 0, 1} on a grid of two axes
return sim.fluid {
  grid = { n = {40, 32}, size = {40, 32}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 20 },
  bodies = { sim.block { low = {10, 14, 0}, high = {20, 18, 0}, axis = {1, 0, 0}, spin = 0.01 } } }
