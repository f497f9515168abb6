-- expect: 65 spectrum: expected an integer in [0, 64], got 65
return sim.fluid { grid = { n = {32, 32}, size = {1, 1} }, viscosity = 0.01, speed = 1, spectrum = 65,
  integrate = { t_end = 1 } }
