-- expect: 65 steady: heat that enters at a given `flux` is not supported
return sim.fluid { grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1,
  sides = { y_high = { velocity = {1, 0} } }, steady = 1e-8, integrate = { t_end = 10 },
  heat = { diffusivity = 0.01, x_low = 1, flux = { x_high = 1 } } }
