-- expect: 65 heat.diffusivity: the relaxation time of heat 0.50
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  heat = { diffusivity = 1e-6 }, integrate = { t_end = 1 } }
