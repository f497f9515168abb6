-- expect: 65 heat.x_low: expected the temperature of the fluid that comes in through sides.x_low
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0 } },
  heat = { diffusivity = 0.1, x_high = 1 }, integrate = { t_end = 1 } }
