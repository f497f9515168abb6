-- expect: 65 viscosity: the stress, viscosity times shear rate, falls from the shear rate
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" },
  viscosity = function(shear) return 0.05 * math.exp(-5 * shear) end, speed = 1, integrate = { t_end = 1 } }
