-- expect: 65 fluid_law_infinite.lua:4: viscosity: is inf at the shear rate 0: expected a number above 0 at every shear rate from 0 on
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" },
  viscosity = function(shear) return 0.05 * shear^-0.5 end, speed = 1, integrate = { t_end = 1 } }
