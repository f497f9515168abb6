-- expect: 65 viscosity: the relaxation time 0.5 is too near to 1/2
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 1e-9, speed = 1, integrate = { t_end = 1 },
  turbulence = { smagorinsky = 1e-300 } }
