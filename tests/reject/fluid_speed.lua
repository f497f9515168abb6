-- expect: 65 missing
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1} }, viscosity = 0.01, integrate = { t_end = 1 } }
