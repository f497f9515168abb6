-- expect: 65 solid: is not supported together with `heat`
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1} }, viscosity = 0.1, speed = 1, solid = { path = "nothing.png" },
  heat = { diffusivity = 0.1 }, integrate = { t_end = 1 } }
