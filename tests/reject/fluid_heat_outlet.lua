-- expect: 65 heat.x_high: has no effect: the fluid leaves through sides.x_high
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  sides = { x_low = { pressure = 0 }, x_high = { velocity = {0.5, 0} } },
  heat = { diffusivity = 0.1, x_low = 1, x_high = 0 }, integrate = { t_end = 1 } }
