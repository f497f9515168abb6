-- expect: 65 turbulence.prandtl: expected
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  heat = { diffusivity = 0.1 }, turbulence = { smagorinsky = 0.1, prandtl = 0 }, integrate = { t_end = 1 } }
