-- expect: 65 heat.y_low: expected
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  heat = { diffusivity = 0.1, y_low = 1e308, y_high = 0 }, integrate = { t_end = 1 } }
