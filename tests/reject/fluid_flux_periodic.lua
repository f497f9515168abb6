-- expect: 65 heat.flux.x_low: expected grid.x = "wall" or "slip", got "periodic"
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1} }, viscosity = 0.1, speed = 1,
  heat = { diffusivity = 0.1, flux = { x_low = 1 } }, integrate = { t_end = 1 } }
