-- expect: 65 gravity: acts on `grains` alone
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16} }, viscosity = 0.1, speed = 0.1, gravity = {0, 0, -1},
  integrate = { t_end = 10 } }
