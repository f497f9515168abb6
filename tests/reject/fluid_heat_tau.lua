-- expect: 65 integrate.dt: the relaxation time of heat is
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  heat = { diffusivity = 10 }, integrate = { dt = 1e-3, t_end = 1 } }
