-- expect: 65 heat.flux.x_low: expected one of heat.x_low and heat.flux.x_low, got both
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  heat = { diffusivity = 0.1, x_low = 0, flux = { x_low = 1 } }, integrate = { t_end = 1 } }
