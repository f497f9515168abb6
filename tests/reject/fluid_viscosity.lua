-- expect: 65 fluid_viscosity.lua:4: viscosity: the relaxation time 0.500553 is too near to 1/2 (cell Reynolds number 312), and the run would be unstable: expected at least 128 cells along x
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1} },
  viscosity = 1e-4, speed = 1, integrate = { t_end = 1 } }
