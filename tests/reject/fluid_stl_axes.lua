-- expect: 65 bodies[1]: a body from an STL file needs a grid of three axes
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1} }, viscosity = 0.1, speed = 1,
  bodies = { sim.stl { path = "nothing.stl" } }, integrate = { t_end = 1 } }
