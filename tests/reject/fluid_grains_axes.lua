-- expect: 65 grains: are spheres: expected a grid of three axes, got 2
return sim.fluid {
  grid = { n = {16, 16}, size = {16, 16} }, viscosity = 0.1, speed = 0.1, contact = { contact_time = 10 },
  grains = { { radius = 3.1, position = {8, 8, 0} } }, integrate = { t_end = 10 } }
