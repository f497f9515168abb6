-- expect: 65 spectrum: is not supported together with bodies, where the fluid has no velocity
return sim.fluid { grid = { n = {32, 32}, size = {1, 1} }, viscosity = 0.01, speed = 1, spectrum = 8,
  bodies = { sim.ball { point = {0.5, 0.5, 0}, radius = 0.2 } }, integrate = { t_end = 1 } }
