-- expect: 65 viscosity: the relaxation time 0.500307 is too near to 1/2 (cell Reynolds number 3.12)
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1} }, viscosity = 0.01, speed = 1, integrate = { dt = 1e-5, t_end = 1 } }
