-- expect: 65 turbulence.smagorinsky: expected a number in (0, 1], got -0.1
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  turbulence = { smagorinsky = -0.1 } }
