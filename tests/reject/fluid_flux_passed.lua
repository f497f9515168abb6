-- expect: 65 heat.flux.x_high: the fluid passes sides.x_high
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0 } },
  heat = { diffusivity = 0.1, x_low = 0, flux = { x_high = 1 } }, integrate = { t_end = 1 } }
