-- expect: 65 heat.diffusivity
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  heat = {}, integrate = { t_end = 1 } }
