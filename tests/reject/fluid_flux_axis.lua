-- expect: 65 heat.flux.z_low: the grid has no axis z
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  heat = { diffusivity = 0.1, flux = { z_low = 1 } }, integrate = { t_end = 1 } }
