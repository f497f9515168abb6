-- expect: 65 heat.x_low: expected grid.x = "wall" or "slip", got "periodic"
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, y = "wall" }, viscosity = 0.1, speed = 1,
  heat = { diffusivity = 0.1, x_low = 1 }, integrate = { t_end = 1 } }
