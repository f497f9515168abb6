-- expect: 65 heat: buoyancy needs both `expansion` and `gravity`, got one of them
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  heat = { diffusivity = 0.1, expansion = 1 }, integrate = { t_end = 1 } }
