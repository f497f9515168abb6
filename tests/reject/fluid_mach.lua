-- expect: 65 fluid_mach.lua:4: integrate.dt: speed = 1 has the Mach number 0.554 with dt = 0.01: expected at most 0.3, so dt of at most 0.00541
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1} }, viscosity = 0.01, speed = 1,
  integrate = { dt = 0.01, t_end = 1 } }
