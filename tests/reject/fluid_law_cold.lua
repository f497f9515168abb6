-- expect: 65 viscosity: is a function of T, and there is no `heat`: expected a function of shear
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" },
  viscosity = function(shear, T) return 0.05 * math.exp(-T) end, speed = 1, integrate = { t_end = 1 } }
