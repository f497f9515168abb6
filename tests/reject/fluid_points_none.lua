-- expect: 65 drag: has an effect with `grains` alone
return sim.fluid {
  grid = { n = {16, 16, 16}, size = {16, 16, 16} }, viscosity = 0.1, speed = 0.1, drag = "stokes",
  integrate = { t_end = 10 } }
