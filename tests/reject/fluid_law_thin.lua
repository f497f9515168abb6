-- expect: 65 viscosity: the viscosity 1e-06 at the shear rate 1 has the relaxation time 0.500006, and the run would be unstable below 0.502
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" },
  viscosity = function(shear) return 1e-6 * math.max(shear, 1e-3)^-0.5 end, speed = 1, integrate = { t_end = 1 } }
