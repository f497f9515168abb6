-- expect: 66 solid.path: nothing.png
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1} }, viscosity = 0.1, speed = 1, solid = { path = "nothing.png" },
  integrate = { t_end = 1 } }
