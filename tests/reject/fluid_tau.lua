-- expect: 65 integrate.dt: the relaxation time is 6.644 with dt = 0.002, and walls are wrong above 3: expected dt = "auto"
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1} }, viscosity = 1, speed = 1,
  integrate = { dt = 0.002, t_end = 1 } }
