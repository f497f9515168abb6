-- expect: 65 solid.path: a stack of images needs a grid of three axes
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1} }, viscosity = 0.1, speed = 1, solid = { path = "nothing%d.png" },
  integrate = { t_end = 1 } }
